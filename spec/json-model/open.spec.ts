/** `fromJson(data, { open: true })`, `--open` and `resource(E, { open })`: attributes that requests add to the model while it is served. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import * as fc from 'fast-check'
import { RestEngine, fromJson, resource } from '../../lib/index.ts'
import type { RestResponse } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { Command, runAll, send } from '../helpers/command.ts'

type Json = Record<string, unknown>

const DATA = { users: [{ id: 1, name: 'Ann' }], posts: [{ id: 1, title: 'Hello', userId: 1 }], comments: [], profile: { name: 'x' } }

async function serving(data: Json = DATA, isOpen = true): Promise<RestEngine> {
  return RestEngine.create({ ...fromJson(data, { open: isOpen }), onError: error => console.error(error) })
}

/** The records of an answer of 200. */
function records({ status, body }: RestResponse, key: string): unknown {
  assert.equal(status, 200, JSON.stringify(body))
  return (body as Json)[key]
}

/** The codes of the errors of an answer. */
function codes({ body }: RestResponse): unknown {
  return (body as { errors?: { code: string }[] }).errors?.map(({ code }) => code)
}

describe('An open JSON model', () => {
  it('takes new names in POST and PATCH, which are attributes of all records from then on', async () => {
    await using engine = await serving()
    const created = await engine.handle('POST', '/v1/users', '', {
      name: 'Bob',
      nick: 'Bo*b',
      age: 3,
      address: { city: 'Rome', tags: [1] },
    })
    const bob = { id: 2, name: 'Bob', posts: [], nick: 'Bo*b', age: 3, address: { city: 'Rome', tags: [1] } }
    assert.deepEqual(records(created, 'user'), bob)
    const ann = { id: 1, name: 'Ann', posts: [1], nick: null, age: null, address: null }
    assert.deepEqual(records(await engine.handle('GET', '/v1/users'), 'users'), [ann, bob])
    assert.deepEqual(records(await engine.handle('PATCH', '/v1/users/1', '', { zip: null, age: 2.5 }), 'user'), {
      ...ann,
      age: 2.5,
      zip: null,
    })
    assert.deepEqual(records(await engine.handle('PUT', '/v1/users/1/nick', '', ['any', { value: true }]), 'user'), {
      ...ann,
      age: 2.5,
      zip: null,
      nick: ['any', { value: true }],
    })
    assert.deepEqual((await engine.handle('GET', '/v1/users/2/address')).body['value'], { city: 'Rome', tags: [1] })
    assert.deepEqual(records(await engine.handle('PATCH', '/v1/profile', '', { since: 1999 }), 'profile'), { name: 'x', since: 1999 })
  })

  it('filters, sorts and selects by them as by what is inside a JSON value', async () => {
    await using engine = await serving()
    for (const [name, rank] of [
      ['b', 2],
      ['c', 10],
      ['d', '1'],
    ] as const)
      await engine.handle('POST', '/v1/users', '', { name, rank, at: { city: `${name}*`, list: [5] } })
    const names = async (query: string): Promise<unknown> =>
      (records(await engine.handle('GET', `/v1/users?${query}`), 'users') as { name: string }[]).map(({ name }) => name).join('')
    assert.equal(await names('rank=2'), 'b')
    assert.equal(await names('rank=1'), 'd')
    assert.equal(await names('rank>=2'), 'bc')
    assert.equal(await names('rank=null'), 'Ann')
    assert.equal(await names('!rank=null&sort=rank.desc'), 'dcb')
    assert.equal(await names('at.city~=C*'), 'c')
    assert.equal(await names('at.list.0=5&sort=at.city.desc'), 'dcb')
    assert.deepEqual(records(await engine.handle('GET', '/v1/users?attributes=rank&rank=10'), 'users'), [{ rank: 10 }])
    assert.deepEqual(records(await engine.handle('GET', '/v1/posts?user.rank=null&expand=user&attributes=user.rank'), 'posts'), [
      { user: { rank: null } },
    ])
    const unknown = await engine.handle('GET', '/v1/users?rnak=1')
    assert.deepEqual([unknown.status, unknown.body['errors'][0].suggestion], [400, 'rank'])
  })

  it('takes them in nested records, lists, paths of lists and seeds', async () => {
    await using engine = await serving()
    await engine.handle('POST', '/v1/posts', '', { title: 'a', user: { name: 'Cy', boss: true } })
    assert.deepEqual(records(await engine.handle('GET', '/v1/users?boss=true&attributes=name'), 'users'), [{ name: 'Cy' }])
    await engine.handle('PUT', '/v1/users/1', '', { posts: [1, { title: 'b', votes: 3 }] })
    await engine.handle('POST', '/v1/users/1/posts', '', { title: 'c', votes: 4, draft: true })
    assert.deepEqual(records(await engine.handle('GET', '/v1/posts?votes>=3&attributes=title,draft'), 'posts'), [
      { title: 'b', draft: null },
      { title: 'c', draft: true },
    ])
    await engine.handle('POST', '/v1/posts', '', [
      { title: 'd', user: 1, first: 1 },
      { title: 'e', user: 1, second: 2 },
    ])
    assert.deepEqual(records(await engine.handle('GET', '/v1/posts?title=d,e&attributes=first,second'), 'posts'), [
      { first: 1, second: null },
      { first: null, second: 2 },
    ])
    assert.equal((await engine.handle('POST', '/v1/posts', '', [{ title: 'f', user: 1, third: 1 }, { title: 5 }])).status, 422)
    assert.equal((await engine.handle('GET', '/v1/posts?third=1')).status, 400)
    await engine.seed({ comments: [{ text: 'x' }] })
    assert.deepEqual(records(await engine.handle('GET', '/v1/comments'), 'comments'), [{ id: 1, text: 'x' }])
  })

  it('learns nothing from a request that fails, and refuses what cannot be a name', async () => {
    await using engine = await serving()
    assert.equal((await engine.handle('POST', '/v1/users', '', { name: 7, other: 1 })).status, 422)
    assert.equal((await engine.handle('PUT', '/v1/users/9', '', { other: 1 })).status, 404)
    assert.equal((await engine.handle('GET', '/v1/users?other=1')).status, 400)
    for (const name of ['a"b', 'a\\b', '__proto__', '', 'openAttributes', 'x'.repeat(201)]) {
      const body = JSON.parse(`{"name":"x",${JSON.stringify(name)}:1}`) as unknown
      const refused = await engine.handle('POST', '/v1/users', '', body)
      assert.deepEqual([refused.status, codes(refused)], [422, ['attribute_unknown']], name)
    }
    // The key of a relation is known: it is not a new name.
    const { body } = await engine.handle('POST', '/v1/posts', '', { title: 'x', userId: 'x' })
    assert.equal((body as { errors: { code?: string }[] }).errors[0]!.code, 'value_invalid')
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`n${index}`, index]))
    assert.equal((await engine.handle('POST', '/v1/comments', '', many)).status, 200)
    assert.equal((await engine.handle('POST', '/v1/comments', '', { more: 1 })).status, 422)
  })

  it('goes with snapshots, reset and forks: each world has its own', async () => {
    await using engine = await serving()
    const empty = await engine.snapshot()
    await engine.handle('PATCH', '/v1/users/1', '', { nick: 'a' })
    const learned = await engine.snapshot()
    await using fork = await engine.fork()
    await fork.handle('PATCH', '/v1/users/1', '', { own: 1 })
    const shown = async (world: RestEngine): Promise<unknown> => (records(await world.handle('GET', '/v1/users'), 'users') as Json[])[0]
    assert.deepEqual(await shown(fork), { id: 1, name: 'Ann', posts: [1], nick: 'a', own: 1 })
    assert.deepEqual(await shown(engine), { id: 1, name: 'Ann', posts: [1], nick: 'a' })
    await engine.restore(empty)
    assert.deepEqual(await shown(engine), { id: 1, name: 'Ann', posts: [1] })
    await engine.handle('PATCH', '/v1/users/1', '', { later: 1 })
    await engine.restore(learned)
    assert.deepEqual(await shown(engine), { id: 1, name: 'Ann', posts: [1], nick: 'a' })
    await engine.reset()
    assert.equal((await engine.handle('GET', '/v1/users?nick=a')).status, 400)
    await fork.reset()
    assert.deepEqual(await shown(fork), { id: 1, name: 'Ann', posts: [1], nick: 'a' })
  })

  it('shows them in the journal, in made-up records and in the OpenAPI document', async () => {
    await using engine = await serving()
    await engine.handle('POST', '/v1/users', '', { name: 'Bob', nick: 'b' })
    await engine.handle('PATCH', '/v1/users/2', '', { nick: 'c' })
    const [insert, update] = engine.requests.map(({ changes }) => changes![0]!)
    assert.deepEqual(insert!.after, { id: 2, name: 'Bob', nick: 'b' })
    assert.deepEqual([update!.before.nick, update!.after.nick], ['b', 'c'])
    assert.deepEqual(await engine.given('user', { name: 'Cy', nick: 'd' }), { id: 3, name: 'Cy', posts: [], nick: 'd' })
    type Schemas = Record<string, { properties: Json; additionalProperties?: boolean }>
    const { User, UserPatch } = (await engine.openapi({ details: true })).components.schemas as Schemas
    assert.deepEqual(['nick' in User!.properties, 'openAttributes' in User!.properties, User!.additionalProperties], [true, false, false])
    assert.deepEqual(['nick' in UserPatch!.properties, UserPatch!.additionalProperties], [true, undefined])
  })

  it('is as plain data would be, whatever is sent, also at once', async () => {
    const key = fc.constantFrom('a', 'b', 'size', 'größe', 'a.b', 'limit', '0')
    const body = fc.dictionary(
      key,
      fc.jsonValue({ maxDepth: 2 }).map(value => JSON.parse(JSON.stringify(value)) as unknown),
      { maxKeys: 3 },
    )
    const step = fc.oneof(
      fc.record({ kind: fc.constant('post' as const), bodies: fc.array(body, { minLength: 1, maxLength: 3 }) }),
      fc.record({ kind: fc.constant('patch' as const), id: fc.nat(5), body }),
      fc.record({ kind: fc.constant('restore' as const) }),
    )
    await check(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async steps => {
        await using engine = await serving({ things: [{ id: 1, a: 1 }] })
        const first = await engine.snapshot()
        const start = (): { rows: Json[]; names: Set<string> } => ({ rows: [{ id: 1, a: 1 }], names: new Set(['id', 'a']) })
        let world = start()
        for (const each of steps) {
          if (each.kind === 'restore') {
            await engine.restore(first)
            world = start()
          } else if (each.kind === 'post') {
            const given = each.bodies.map(one => ({ ...one, a: 5 }))
            const answers = await Promise.all(given.map(one => engine.handle('POST', '/v1/things', '', one)))
            for (const [index, answer] of answers.entries()) {
              const { id } = records(answer, 'thing') as { id: number }
              world.rows.push({ id, ...given[index] })
              for (const name of Object.keys(given[index]!)) world.names.add(name)
            }
          } else {
            const { a: _, ...change } = each.body as Json
            const row = world.rows.find(({ id }) => id === each.id)
            const answer = await engine.handle('PATCH', `/v1/things/${each.id}`, '', change)
            assert.equal(answer.status, row === undefined ? 404 : 200)
            if (row === undefined) continue
            Object.assign(row, change)
            for (const name of Object.keys(change)) world.names.add(name)
          }
          const expected = world.rows
            .toSorted((a, b) => Number(a['id']) - Number(b['id']))
            .map(row => Object.fromEntries([...world.names].map(name => [name, row[name] ?? null])))
          assert.deepEqual(records(await engine.handle('GET', '/v1/things'), 'things'), expected)
        }
      }),
      { label: 'open JSON models', runs: 30 },
    )
  })
})

describe('An empty list', () => {
  it('learns its attributes from its first record, and no more', async () => {
    await using engine = await serving(DATA, false)
    assert.match(engine.notes.join(), /comments is empty: only its "id" is known; the first new record adds its attributes/)
    assert.equal((await engine.handle('POST', '/v1/users', '', { name: 'x', nick: 'y' })).status, 422)
    const { body } = await engine.handle('POST', '/v1/comments', '', { text: 'x', stars: 5 })
    assert.deepEqual(body['comment'], { id: 1, text: 'x', stars: 5 })
    assert.equal((await engine.handle('POST', '/v1/comments', '', { text: 'y', other: 1 })).status, 422)
    assert.equal((await engine.handle('POST', '/v1/comments', '', { stars: 'any value' })).status, 200)
    assert.deepEqual(records(await engine.handle('GET', '/v1/comments?sort=stars.desc&attributes=id'), 'comments'), [{ id: 2 }, { id: 1 }])
    await engine.reset()
    assert.equal((await engine.handle('POST', '/v1/comments', '', { other: 1 })).status, 200)
  })
})

describe('An empty object', () => {
  it('learns its attributes from its first change, as an empty list does from its first record', async () => {
    await using engine = await serving({ settings: {}, users: [{ id: 1 }] }, false)
    assert.deepEqual(engine.notes, ['settings is empty: the first change adds its attributes.'])
    assert.deepEqual(records(await engine.handle('GET', '/v1/settings'), 'settings'), {})
    const settings = { theme: 'dark', sizes: [1, 2] }
    assert.deepEqual(records(await engine.handle('PUT', '/v1/settings', '', settings), 'settings'), settings)
    assert.equal((await engine.handle('PATCH', '/v1/settings', '', { them: 'light' })).status, 422)
    assert.equal((await engine.handle('PATCH', '/v1/settings', '', { theme: null })).status, 200)
    assert.deepEqual((await engine.handle('GET', '/v1/settings/sizes')).body['value'], [1, 2])
  })
})

describe('resource(E, { open })', () => {
  const Note = defineEntity({
    name: 'Note',
    properties: { id: p.integer().primary(), text: p.text(), more: p.json().nullable(), data: p.json() },
  })
  const create = (open: unknown): Promise<RestEngine> =>
    RestEngine.create({ entities: [Note], resources: [resource(Note, { open: open as string })] })

  it('keeps what the model does not name in a JSON property', async () => {
    await using engine = await create('more')
    await engine.handle('POST', '/v1/notes', '', { text: 'a', data: 1, extra: [1] })
    assert.deepEqual(records(await engine.handle('GET', '/v1/notes'), 'notes'), [{ id: 1, text: 'a', data: 1, extra: [1] }])
    const [row] = await engine.orm.em.fork().find(Note, {})
    assert.deepEqual(row!.more, { extra: [1] })
    assert.equal((await engine.handle('PATCH', '/v1/notes/1', '', { more: {} })).status, 422)
  })

  it('refuses what is not such a property', async () => {
    await assert.rejects(create('mroe'), /resource\(Note\): open: there is no property "mroe"\. Did you mean "more"\?/)
    await assert.rejects(create('text'), /resource\(Note\): open: "text" must be a JSON property that can be null\./)
    await assert.rejects(create('data'), /"data" must be a JSON property that can be null/)
    await assert.rejects(create(5), /"open" must be the name of a property, or \{ property, once, except \}/)
    await assert.rejects(create({ property: 'more', onse: true }), /onse/)
    await assert.rejects(create({ property: 'more', once: 1 }), /"once" must be a boolean/)
    await assert.rejects(create({ property: 'more', except: 'x' }), /"except" must be an array of names/)
  })

  it('grants nothing that access rules refuse', async () => {
    await using engine = await RestEngine.create({
      entities: [Note],
      resources: [resource(Note, { open: 'more', access: { create: false } })],
    })
    assert.equal((await engine.handle('POST', '/v1/notes', '', { text: 'a', data: 1, extra: 1 })).status, 403)
    assert.equal((await engine.handle('GET', '/v1/notes?extra=1')).status, 400)
  })
})

describe('--open', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-open-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('with --save writes what requests have added, and leaves the rest alone; it is for JSON files', async () => {
    const file = join(folder, 'db.json')
    await writeFile(file, '{ "users": [ {"id":1, "name":"Ann"}, { "id": 2 } ], "none": [], "settings": {} }')
    await using command = new Command(folder, 'db.json', '--open', '--save', '--port', '0')
    const origin = await command.origin()
    assert.equal((await send(origin, 'PATCH', '/v1/users/1', { nick: 'a' })).status, 200)
    assert.equal((await send(origin, 'POST', '/v1/none', { x: { y: null } })).status, 200)
    assert.equal((await send(origin, 'PATCH', '/v1/settings', { theme: 'dark' })).status, 200)
    assert.equal(await command.stop(), 0)
    assert.equal(
      await readFile(file, 'utf8'),
      '{ "users": [ {"id":1, "name":"Ann","nick":"a"}, { "id": 2 } ], "none": [{"id": 1, "x": {"y": null}}], "settings": {"theme": "dark"} }',
    )
    const [again, alone] = runAll(folder, [
      ['db.json', '--get', '/v1/users?nick=a'],
      ['--open', '--get', '/v1'],
    ])
    assert.deepEqual([again!.code, alone!.code], [0, 2])
    assert.match(alone!.stderr, /--open is about how a JSON FILE is taken/)
  })
})
