/**
 * Two tenants that are logged in: random requests of one, by each grammar, show and change nothing of the other. FC_RUNS=100 asks 2,000
 * each.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { defineEntity, p } from '@mikro-orm/core'
import { auth } from '../../lib/index.ts'
import type { Wire } from '../../lib/index.ts'
import { jsonServer } from '../../lib/wires/json-server/index.ts'
import { postgrest, supabase } from '../../lib/wires/postgrest/index.ts'
import { cheapHash } from '../helpers/cheap-hash.ts'
import { check } from '../helpers/check.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Member = defineEntity({
  name: 'Member',
  tableName: 'members',
  properties: () => ({
    id: p.integer().primary(),
    email: p.string().unique(),
    password: p.string().hidden(),
    tenant: p.integer(),
    tasks: () => p.oneToMany(Task).mappedBy('member'),
  }),
})
const Task = defineEntity({
  name: 'Task',
  tableName: 'tasks',
  properties: () => ({
    id: p.integer().primary(),
    slug: p.string().unique(),
    note: p.string(),
    stars: p.integer().nullable(),
    tenant: p.integer(),
    meta: p.json<object>().nullable(),
    member: () => p.manyToOne(Member).nullable(),
    labels: () => p.manyToMany(Label),
  }),
})
const Label = defineEntity({
  name: 'Label',
  tableName: 'labels',
  properties: () => ({
    id: p.integer().primary(),
    note: p.string(),
    tenant: p.integer(),
    tasks: () => p.manyToMany(Task).mappedBy('labels'),
  }),
})

/** Each tenant has the IDs of one remainder. */
const tenantOf = (id: number): number => (id % 2) + 1
const rows = (count: number, make: (id: number) => object): object[] => Array.from({ length: count }, (_, index) => make(index + 1))
const own = (id: number): object => ({ id, tenant: tenantOf(id), note: `of tenant${tenantOf(id)}` })
const seed = {
  members: rows(4, id => ({ id, email: `m${id}-tenant${tenantOf(id)}@x.test`, password: cheapHash(`secret${id}`), tenant: tenantOf(id) })),
  labels: rows(6, own),
  tasks: rows(20, id => ({
    ...own(id),
    slug: `tenant${tenantOf(id)}-${id}`,
    stars: id % 5,
    meta: { owner: `tenant${tenantOf(id)}` },
    member: 1 + ((id + 1) % 2),
    labels: [1 + ((id + 1) % 2), 3 + ((id + 1) % 2)],
  })),
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

type Maker = (pick: <T>(...of: readonly T[]) => T) => Sent

const VALUES = ['tenant1', 'tenant2', '1', '2', '4', 'secret2', 'm1-tenant2@x.test', 'null']
const bodyOf = (pick: Parameters<Maker>[0], link: string): object => {
  const id = pick(1, 2, 3, 4, 99, 100)
  return pick<object>(
    { note: 'x' },
    { note: 'x', tenant: 1 },
    { note: 'x', tenant: 2 },
    { [link]: pick(1, 2, 3, 4, null) },
    { stars: 3, [link]: pick(1, 2) },
    { id, slug: `new-${id}`, note: 'made', tenant: pick(1, 1, 2) },
    { id, slug: pick('tenant2-1', 'tenant1-2', 'new'), note: 'made', tenant: pick(1, 2), [link]: pick(1, 2, 3) },
    { slug: 'tenant1-1', note: 'taken' },
    { labels: [pick(1, 2, 3)] },
    { meta: { owner: 'x' } },
  )
}

const ofPostgrest =
  (root: string): Maker =>
  pick => {
    const table = pick('tasks', 'tasks', 'labels', 'members')
    const other = { tasks: ['members', 'labels', 'member_id'], labels: ['tasks'], members: ['tasks'] }[table]
    const column = pick(...(table === 'members' ? ['id', 'tenant', 'email'] : ['id', 'tenant', 'note']))
    const filter = (): string => {
      const given = pick(...VALUES)
      return `${column}=${pick('', 'not.')}${pick(`eq.${given}`, `neq.${given}`, `gt.${given}`, `in.(${given},2,3)`, 'is.null', `like.*${given}*`)}`
    }
    const embed = (): string =>
      `${pick('', 'x:', '...')}${pick(...other)}${pick('', '!inner', '!left')}(${pick('*', 'id', 'tenant', 'count()')})`
    const select = `select=${pick('*', 'id', 'tenant,id', '*,count()')}${pick('', `,${embed()}`, `,${embed()}`)}`
    const or = `or=(tenant.eq.2,${pick(...other)}.not.is.null,and(id.gt.1,not.and(tenant.eq.1,id.lt.9)))`
    const method = pick('GET', 'GET', 'POST', 'PATCH', 'DELETE', 'PUT')
    const parts = [select, ...pick<readonly string[]>([filter()], [filter(), filter()], [or], []), pick('order=id.desc', `order=${column}`)]
    if (method === 'POST') parts.push(pick('on_conflict=id', 'on_conflict=slug', 'columns=id,note,tenant', ''))
    if (method === 'PUT') parts.splice(0, parts.length, `id=eq.${pick(1, 2, 3, 100)}`)
    const prefer = ['return=representation', 'count=exact', pick('resolution=merge-duplicates', 'resolution=ignore-duplicates', '')]
    const body = pick<unknown>(bodyOf(pick, 'member_id'), [bodyOf(pick, 'member_id'), bodyOf(pick, 'member_id')])
    const hasBody = method !== 'GET' && method !== 'DELETE'
    return {
      method,
      path: `${root}/${table}?${parts.filter(part => part !== '').join('&')}`,
      headers: { prefer: prefer.filter(part => part !== '').join(',') },
      ...(hasBody ? { body } : {}),
    }
  }

const ofJsonServer: Maker = pick => {
  const id = pick(1, 2, 3, 4, 100)
  const given = pick(...VALUES)
  const names = ['q', 'id', 'tenant', 'tenant_ne', 'note_like', 'memberId', 'member.email', 'member.password_like', 'meta.owner', 'id:in']
  const where = `_where=${encodeURIComponent(`{"or":[{"tenant":{"eq":2}},{"member":{"email":{"contains":"${given}"}}}]}`)}`
  const view = pick('_embed=tasks', '_embed=labels', '_embed=member', '_expand=member', '_sort=-member.email', '_page=1&_per_page=50', '')
  const path = pick('/tasks', '/labels', '/members', `/tasks/${id}`, `/members/${id}`, `/members/${id}/tasks`, '/db', `/labels/${id}`)
  const method = pick('GET', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE')
  const query = [pick(`${pick(...names)}=${given}`, where), view, pick('_dependent=tasks', '')].filter(part => part !== '').join('&')
  return { method, path: `${path}?${query}`, ...(method === 'GET' || method === 'DELETE' ? {} : { body: bodyOf(pick, 'memberId') }) }
}

/** `where`, `sort` and `expand` as JSON. */
const plain: Wire = {
  async answer({ method, segments: [name = '', id = ''], pairs, body }, api) {
    if (method === 'POST') return { status: 201, body: await api.create(name, body) }
    if (method === 'PATCH') return { status: 200, body: await api.update(name, id, body) }
    if (method === 'DELETE') return { status: 200, body: await api.remove(name, id) }
    return { status: 200, body: id === '' ? await api.list(name, JSON.parse(pairs[0]![1]) as object) : await api.get(name, id) }
  },
  refuse: ({ status, code, errors = [] }) => ({ status, body: { code, errors: errors.length } }),
}

const ofWhere: Maker = pick => {
  const name = pick('tasks', 'labels', 'members')
  const method = pick('GET', 'GET', 'GET', 'POST', 'PATCH', 'DELETE')
  const id = pick('', String(pick(1, 2, 3, 4, 100)))
  const value = pick<unknown>(1, 2, 'tenant2', '%tenant2%', null)
  const condition = (level: number): object => {
    const leaf = {
      [pick('id', 'tenant', 'note', 'email', 'password')]: { [pick('$eq', '$ne', '$gt', '$like', '$nin')]: pick(value, [value]) },
    }
    if (level === 0) return leaf
    const inner = condition(level - 1)
    return pick<object>(
      leaf,
      { $not: inner },
      { $or: [inner, leaf] },
      { member: inner },
      { tasks: { [pick('$some', '$none', '$every')]: inner } },
      { labels: inner },
    )
  }
  const expand = pick<readonly unknown[]>(
    [],
    ['member'],
    ['tasks.member'],
    [{ tasks: { where: condition(1), sort: ['id.desc'], limit: 3 } }],
    [{ labels: { where: condition(1), count: true } }],
    [{ member: { where: condition(1), expand: [{ tasks: { where: condition(1) } }] } }],
  )
  const query = { where: condition(3), expand, sort: pick([], ['id.desc'], ['member.email']) }
  const sent = { method, path: method === 'GET' ? `/${name}/${id}?q=${encodeURIComponent(JSON.stringify(query))}` : `/${name}/${id}` }
  return method === 'POST' || method === 'PATCH' ? { ...sent, body: bodyOf(pick, 'member') } : sent
}

const GRAMMARS: readonly { readonly name: string; readonly wire: Wire; readonly make: Maker }[] = [
  { name: 'postgrest', wire: postgrest(), make: ofPostgrest('') },
  { name: 'supabase', wire: supabase(), make: ofPostgrest('/rest/v1') },
  { name: 'json-server', wire: jsonServer(), make: ofJsonServer },
  { name: 'json-server 0', wire: jsonServer({ version: 0 }), make: ofJsonServer },
  { name: 'a wire of an application', wire: plain, make: ofWhere },
]

/** Requests of one run, on the same data. */
const REQUESTS = 20

describeStores('two tenants', store => {
  for (const { name, wire, make } of GRAMMARS) {
    it(`see and change no row of each other through ${name}`, async () => {
      await using engine = await createEngine({
        entities: [Member, Task, Label],
        auth: auth({ entity: Member, secret: 'x'.repeat(32), password: 'password', identifier: 'email' }),
        defaults: { scope: { tenant: ctx => (ctx.user as { tenant?: number } | undefined)?.tenant } },
        seed,
        wire,
      })
      const beginning = await engine.snapshot()
      // Member 2 is of tenant 1, member 1 of tenant 2.
      const [authorization, bearer] = [2, 1].map(id => `Bearer ${engine.token({ id })}`) as [string, string]
      const readOthers = async (): Promise<unknown> =>
        Promise.all(
          ['members', 'tasks', 'labels'].map(async list => {
            const { body } = await engine.handle('GET', `/v1/${list}?limit=1000&depth=1`, undefined, undefined, {
              headers: { authorization: bearer },
            })
            return { ...(body as object), timestamp: '' }
          }),
        )
      const known = await readOthers()
      const seen = { read: 0, written: 0, refused: 0 }
      const property = fc.asyncProperty(fc.gen(), async draw => {
        const pick = <T>(...of: readonly T[]): T => of[draw(fc.integer, { min: 0, max: of.length - 1 })]!
        const asked: string[] = []
        for (let turn = 0; turn < REQUESTS; turn++) {
          const { method, path, body, headers } = make(pick)
          const init = body === undefined ? {} : { body: JSON.stringify(body) }
          const response = await engine.fetch(`http://api.test${path}`, {
            method,
            headers: { authorization, 'content-type': 'application/json', ...headers },
            ...init,
          })
          const text = await response.text()
          const what = `${method} ${path} ${JSON.stringify(body)}: ${response.status} ${text.slice(0, 600)}`
          asked.push(what)
          assert.ok(response.status < 500, what)
          // The words of the request may come back in a refusal.
          if (response.status < 400) assert.doesNotMatch(text, /tenant2|secret|"tenant":2/, what)
          else assert.doesNotMatch(text, /of tenant2|secret1/, what)
          seen[response.status >= 400 ? 'refused' : method === 'GET' ? 'read' : 'written']++
        }
        assert.deepEqual(await readOthers(), known, asked.join('\n'))
        await engine.restore(beginning)
      })
      const isShort = store.name === 'postgres'
      await check(property, { label: `two tenants through ${name} (${store.name})`, runs: isShort ? 4 : 20 })
      // In a short run all writes may be refused.
      assert.ok(seen.read > 0 && (seen.written > 0 || isShort) && seen.refused > 0, JSON.stringify(seen))
    })
  }
})
