/** Properties of the wire of PostgREST: random requests of two tenants, and hostile texts. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { resource, type RestEngine } from '../../lib/index.ts'
import { postgrest } from '../../lib/wires/postgrest/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { entities, seed } from './supabase-model.ts'

async function ask(engine: RestEngine, path: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await engine.fetch(`http://api.test${path}`)
  return { status: response.status, text: await response.text() }
}

/** A small generator of numbers, the same in each run. */
function random(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

describeStores('requests in the grammar of PostgREST', () => {
  it('show no row out of scope', async () => {
    const Team = defineEntity({
      name: 'Team',
      tableName: 'teams',
      properties: () => ({
        id: p.integer().primary(),
        tenant: p.integer(),
        secret: p.string(),
        tasks: () => p.oneToMany(Task).mappedBy('team'),
        labels: () => p.manyToMany(Label),
      }),
    })
    const Task = defineEntity({
      name: 'Task',
      tableName: 'tasks',
      properties: () => ({ id: p.integer().primary(), tenant: p.integer(), secret: p.string(), team: () => p.manyToOne(Team).nullable() }),
    })
    const Label = defineEntity({
      name: 'Label',
      tableName: 'labels',
      properties: () => ({
        id: p.integer().primary(),
        tenant: p.integer(),
        secret: p.string(),
        teams: () => p.manyToMany(Team).mappedBy('labels'),
      }),
    })
    const rows = (make: (id: number) => object): object[] => Array.from({ length: 12 }, (_, index) => make(index + 1))
    const own = (id: number): object => ({ id, tenant: id % 2, secret: `of ${id % 2}` })
    const scope = () => ({ tenant: 0 })
    await using engine = await createEngine({
      entities: [Team, Task, Label],
      versions: [],
      wire: postgrest(),
      resources: [resource(Team, { scope }), resource(Task, { scope }), resource(Label, { scope })],
      seed: {
        labels: rows(own),
        teams: rows(id => ({ ...own(id), labels: [1 + (id % 12), 1 + ((id * 5) % 12)] })),
        tasks: rows(id => ({ ...own(id), team: 1 + ((id * 7) % 12) })),
      },
    })
    const pick = random(7)
    const one = (...from: readonly string[]): string => from[pick(from.length)]!
    const embeds: Record<string, readonly string[]> = { teams: ['tasks', 'labels'], tasks: ['teams', 'team_id'], labels: ['teams'] }
    const tableOf = (name: string): string => (name === 'team_id' ? 'teams' : name)
    const select = (table: string, level: number): string => {
      const parts = [one('*', 'id,tenant,secret', 'secret', 'count()', 'secret.max()')]
      if (level > 0)
        for (const name of embeds[table]!)
          if (pick(2) === 0)
            parts.push(`${one('', '', 'x:', '...')}${name}${one('', '!inner', '!left')}(${select(tableOf(name), level - 1)})`)
      return parts.join(',')
    }
    const filter = (): string =>
      `${one('id', 'tenant', 'secret')}${one('=', '=not.')}${one('eq.1', 'in.(1,2,3)', 'gt.0', 'neq.0', 'is.null', 'isdistinct.0')}`
    const seen = { rows: 0, answers: 0 }
    for (let turn = 0; turn < 400; turn++) {
      const table = one('teams', 'tasks', 'labels')
      const name = embeds[table]![0]!
      const parts = [`select=${select(table, 2)}`, filter()]
      if (pick(3) === 0) parts.push(`${name}.${filter()}`)
      if (pick(3) === 0) parts.push(`or=(secret.like.*1,${name}.is.null,not.and(id.gt.2,tenant.eq.1))`)
      if (pick(3) === 0) parts.push(`order=${one('secret.desc', 'id', 'tenant.nullsfirst')}`)
      const { status, text } = await ask(engine, `/${table}?${parts.join('&').replaceAll(' ', '%20')}`)
      assert.ok(status < 500, `${status} ${text}`)
      assert.ok(!text.includes('of 1') && !/"tenant":1/.test(text), `${parts.join('&')} shows ${text}`)
      if (status === 200) seen.answers++
      if (text.includes('of 0')) seen.rows++
    }
    assert.ok(seen.answers > 100 && seen.rows > 30, JSON.stringify(seen))
  })

  it('are never a failure of the server, however hostile', async () => {
    await using engine = await createEngine({ entities, seed, versions: [], wire: postgrest() })
    const pick = random(11)
    const words = [
      'id',
      'name',
      'posts',
      'users',
      'author_id',
      'meta',
      'not',
      'or',
      'and',
      'eq',
      'in',
      'is',
      'like',
      'cs',
      'fts',
      'null',
      '*',
      'count()',
      '"',
      '\\',
      '(',
      ')',
      '{',
      '}',
      '[',
      ',',
      '.',
      ':',
      '::',
      '::int',
      '->',
      '->>',
      '!',
      '!inner',
      '...',
      '-1',
      '1e999',
      '%',
      '\0',
      'é',
      '__proto__',
      'constructor',
      ' ',
      '9'.repeat(30),
      '2026-02-30',
    ]
    const hostile = (): string => Array.from({ length: 1 + pick(8) }, () => words[pick(words.length)]!).join('')
    const names = [
      'select',
      'order',
      'limit',
      'offset',
      'id',
      'name',
      'age',
      'active',
      'created_at',
      'or',
      'and',
      'not.or',
      'posts.id',
      'posts.order',
      'on_conflict',
      'columns',
    ]
    const operators = [
      'eq.',
      'neq.',
      'gt.',
      'like.',
      'ilike.',
      'in.(',
      'is.',
      'cs.',
      'match.',
      'imatch(any).{',
      'adj.',
      'not.eq.',
      'eq(any).{',
      'isdistinct.',
      '',
    ]
    for (let turn = 0; turn < 3000; turn++) {
      const table = ['users', 'posts', 'comments', 'tags'][pick(4)]!
      const pairs = Array.from({ length: 1 + pick(3) }, (): [string, string] => [
        pick(8) === 0 ? hostile() : names[pick(names.length)]!,
        `${operators[pick(operators.length)]!}${hostile()}`,
      ])
      if (pick(2) === 0) pairs.push(['select', ['id,posts(id)', '*', 'meta->>color', hostile()][pick(4)]!])
      const query = new URLSearchParams(pairs)
      const { status, text } = await ask(engine, `/${table}?${query.toString()}`)
      assert.ok(status < 500, `${status} ${text} of ${JSON.stringify(pairs)}`)
      if (status >= 400) assert.equal(typeof (JSON.parse(text) as { readonly message: unknown }).message, 'string')
    }
    for (const text of [`${'posts('.repeat(5000)}id`, `${'id,'.repeat(50_000)}id`, '"'.repeat(100_000), `meta${'->a'.repeat(5000)}`]) {
      const { status } = await ask(engine, `/users?${new URLSearchParams({ select: text }).toString()}`)
      assert.equal(status, 400)
    }
    for (const text of [`(${'and('.repeat(5000)}`, `(${'id.eq.1,'.repeat(5000)}id.eq.1)`, `(id.in.("${'x,id.in.("'.repeat(20_000)}`]) {
      const { status } = await ask(engine, `/users?${new URLSearchParams({ or: text }).toString()}`)
      assert.equal(status, 400)
    }
  })
})
