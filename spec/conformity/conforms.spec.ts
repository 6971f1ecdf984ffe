/**
 * `engine.conforms` finds nothing in answers as they are, and what has been changed in them: exactly where ajv, which it knows nothing of,
 * does.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import * as fc from 'fast-check'
import { RestEngine, client } from '../../lib/index.ts'
import type { RestResponse } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { Conformity } from '../openapi/conformity.ts'
import { worlds } from '../openapi/worlds.ts'

interface Asked {
  readonly method: string
  readonly path: string
  readonly answer: RestResponse
}

/** Reads and mistakes of every operation that reads. */
async function askAll(engine: RestEngine, version: string, headers: Record<string, string>, oracle: Conformity): Promise<Asked[]> {
  const asked: Asked[] = []
  for (const { template, pointer } of oracle.operations) {
    const method = pointer.slice(pointer.lastIndexOf('/') + 1).toUpperCase()
    for (const whole of oracle.expand(template, pointer)) {
      for (const path of [whole.replace('{id}', '1'), whole.replace('{id}', 'no')]) {
        const answer = await engine.handle(method, path, method === 'GET' ? undefined : 'nonsense=1', {}, { headers })
        asked.push({ method, path, answer })
      }
    }
  }
  assert.ok(asked.length > 20, version)
  return asked
}

const json = fc.oneof(
  fc.constantFrom(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e21,
    '',
    'text',
    '2026-02-30',
    '2026-01-31T25:00:00Z',
    '2026-01-31T12:00:00.000Z',
    [],
    {},
    [null],
  ),
  fc.string({ maxLength: 3 }),
)
const change = fc.record({ at: fc.nat(), how: fc.constantFrom('replace', 'remove', 'add', 'other'), value: json })

type Change = typeof change extends fc.Arbitrary<infer C> ? C : never

/** Changes one place of a body. */
function mutate(body: unknown, { at, how, value }: Change): unknown {
  const copy = structuredClone(body)
  const places: { readonly owner: Record<string, unknown>; readonly key: string }[] = []
  const visit = (owner: unknown): void => {
    if (typeof owner !== 'object' || owner === null) return
    for (const key of Object.keys(owner)) {
      places.push({ owner: owner as Record<string, unknown>, key })
      visit((owner as Record<string, unknown>)[key])
    }
  }
  visit(copy)
  const { owner, key } = places[at % places.length]!
  const other = places[(at * 31 + 7) % places.length]!
  if (how === 'replace') owner[key] = value
  else if (how === 'other') owner[key] = structuredClone(other.owner[other.key])
  else if (how === 'add') owner['nonsense'] = value
  else if (Array.isArray(owner)) owner.splice(Number(key), 1)
  else Reflect.deleteProperty(owner, key)
  return copy
}

for (const { name, create, headers: headersOf } of worlds) {
  describe(`conforms, with the ${name}`, { timeout: 120_000 }, () => {
    let engine: RestEngine
    const asked: (Asked & { readonly oracle: Conformity })[] = []
    before(async () => {
      engine = await create()
      const headers = headersOf(engine)
      for (const version of engine.versions) {
        for (const attributes of [true, false]) {
          const oracle = new Conformity(await engine.openapi({ version, details: true, attributes, bulk: true }))
          const world = await engine.fork()
          for (const each of await askAll(world, version, headers, oracle)) asked.push({ ...each, oracle })
          await world.close()
        }
      }
    })
    after(() => engine.close())

    it('finds nothing in answers as they are', async () => {
      for (const { method, path, answer } of asked)
        assert.deepEqual(await engine.conforms({ method, path }, answer), [], `${method} ${path}`)
    })

    it('finds a changed body where ajv does', async () => {
      const withBody = asked.filter(({ answer }) => answer.body !== undefined)
      const found = { faulty: 0, sound: 0 }
      await check(
        fc.asyncProperty(fc.nat(withBody.length - 1), change, async (index, changed) => {
          const { method, path, answer, oracle } = withBody[index]!
          const body = mutate(answer.body, changed)
          const faults = await engine.conforms({ method, path }, { ...answer, body })
          const expected = oracle.faultsOf(method, path, { ...answer, body })
          assert.equal(faults.length > 0, expected.length > 0, JSON.stringify({ method, path, changed, faults, expected }))
          found[faults.length > 0 ? 'faulty' : 'sound']++
        }),
        { label: `changed answers of the ${name}`, runs: 400 },
      )
      assert.ok(found.faulty > 50, JSON.stringify(found))
    })
  })
}

describe('engine.conforms', () => {
  const User = defineEntity({
    name: 'User',
    properties: {
      id: p.integer().primary(),
      name: p.string(),
      age: p.integer().nullable(),
      posts: () => p.oneToMany(Post).mappedBy('user'),
    },
  })
  const Post = defineEntity({ name: 'Post', properties: { id: p.integer().primary(), title: p.string(), user: () => p.manyToOne(User) } })
  let engine: RestEngine
  before(async () => {
    engine = await RestEngine.create({
      entities: [User, Post],
      seed: { users: [{ id: 1, name: 'Ann' }], posts: [{ id: 1, title: 'One', user: 1 }] },
    })
  })
  after(() => engine.close())

  it('says in plain words what is not as described, and where', async () => {
    const request = { method: 'GET', path: '/v1/users/1' }
    const answer = await engine.handle('GET', '/v1/users/1')
    const user = answer.body.user as object
    const faultsOf = (changed: Partial<RestResponse>) => engine.conforms(request, { ...answer, ...changed })
    assert.deepEqual(await faultsOf({ body: { ...answer.body, user: { ...user, age: '30' } } }), [
      'getUser 200: /user/age is string ("30"), not integer or null',
    ])
    assert.deepEqual(await faultsOf({ body: { ...answer.body, user: { id: 1, name: 'Ann', age: null } } }), [
      'getUser 200: /user lacks "posts"',
    ])
    assert.deepEqual(await faultsOf({ body: { ...answer.body, user: { ...user, secret: 1 } } }), [
      'getUser 200: /user has "secret", which is not described',
    ])
    assert.match((await faultsOf({ status: 418 })).join(), /^getUser 418: this status is not described; those are 200, /)
    assert.deepEqual(await faultsOf({ headers: {} }), ['getUser 200: the header "content-type" is missing'])
    assert.match((await faultsOf({ headers: { 'content-type': 'text/html' } })).join(), /the media type text\/html is not described/)
    assert.deepEqual(await faultsOf({ headers: { ...answer.headers, location: '/x' } }), [
      'getUser 200: the header "location" is not described',
    ])
  })

  it('knows which days there are', async () => {
    await using engine = await RestEngine.create({ entities: [defineEntity({ name: 'User', properties: { id: p.integer().primary() } })] })
    const request = { method: 'GET', path: '/v1/users' }
    const answer = await engine.handle(request.method, request.path)
    const holdDay = (day: string): Promise<string[]> =>
      engine.conforms(request, { ...answer, body: { ...(answer.body as object), timestamp: `${day}T12:00:00.000Z` } })
    for (const day of ['2024-02-29', '2000-02-29', '2026-12-31']) assert.deepEqual(await holdDay(day), [], day)
    for (const day of ['2026-02-30', '2023-02-29', '1900-02-29', '2026-04-31']) assert.equal((await holdDay(day)).length, 1, day)
  })

  it('takes the requests and answers of fetch, other names of a resource, and queries', async () => {
    for (const path of [
      '/v1/users?name=A*',
      '/v1/user/1?depth=0',
      '/v1/users/1?attributes=id',
      '/v1/users/1/posts',
      '/v1/user?limit=0',
      '/v1/nothing',
      '/v9/x',
      '/v1/users/1?depth=x',
      '/v1/users/%zz',
    ]) {
      const request = new Request(`http://x${path}`)
      const response = await engine.fetch(request)
      assert.deepEqual(await engine.conforms(request, response), [], path)
      assert.equal(((await response.json()) as { success: boolean }).success, response.ok)
    }
    const cut = await engine.handle('GET', '/v1/users/1', { depth: 0 })
    assert.deepEqual(await engine.conforms({ method: 'GET', path: '/v1/users/1', query: { depth: 0 } }, cut), [])
    assert.deepEqual(await engine.conforms({ method: 'GET', path: '/v1/users/1' }, cut), ['getUser 200: /user lacks "posts"'])
  })

  it('holds what is not described to a refusal', async () => {
    const refused = await engine.handle('PATCH', '/v1/users')
    assert.deepEqual(await engine.conforms({ method: 'PATCH', path: '/v1/users' }, refused), [])
    assert.deepEqual(
      await engine.conforms({ method: 'PATCH', path: '/v1/users' }, { ...refused, headers: { 'content-type': 'application/json' } }),
      ['405: the header "allow" is missing'],
    )
    const listed = await engine.handle('GET', '/v1/users')
    assert.deepEqual(await engine.conforms({ method: 'PUT', path: '/v1/users' }, listed), ['200: /v1/users does not describe PUT'])
    assert.deepEqual(await engine.conforms({ method: 'GET', path: '/v1/nothing' }, listed), ['200: the path is not described'])
    // Also below a record, where nothing of the name is described.
    const lacking = await engine.handle('GET', '/v1/users/1/nothing')
    const shown = { method: 'GET', path: '/v1/users/1/nothing' }
    assert.deepEqual(await engine.conforms(shown, lacking), [])
    assert.deepEqual(await engine.conforms(shown, { ...lacking, body: { ...lacking.body, success: true } }), [
      '404: /success is true, not false',
    ])
    const options = await engine.handle('OPTIONS', '/v1/users')
    assert.deepEqual(await engine.conforms({ method: 'OPTIONS', path: '/v1/users' }, options), [])
    assert.deepEqual(await engine.conforms({ method: 'OPTIONS', path: '/v1/users' }, { ...options, headers: {} }), [
      '204: OPTIONS is answered with 204 and the header "allow"',
    ])
  })

  it('knows the base, and an API without versions', async () => {
    await using based = await RestEngine.create({ entities: [User, Post], base: '/api/of', seed: { users: [{ id: 1, name: 'Ann' }] } })
    await using bare = await RestEngine.create({ entities: [User, Post], versions: [], seed: { users: [{ id: 1, name: 'Ann' }] } })
    for (const [world, root] of [
      [based, '/api/of/v1'],
      [bare, ''],
    ] as const) {
      for (const path of ['/users/1', '/user/1', '/users?limit=1', '/nothing']) {
        const answer = await world.handle('GET', root + path)
        assert.deepEqual(await world.conforms({ method: 'GET', path: root + path }, answer), [], root + path)
      }
      const answer = await world.handle('GET', `${root}/users/1`)
      const wrong = { ...answer, body: { ...answer.body, user: {} } }
      assert.equal((await world.conforms({ method: 'GET', path: `${root}/user/1` }, wrong)).length, 4)
    }
    const api = client(based, { users: User })
    assert.equal((await api.users.get(1)).name, 'Ann')
    const all: string[] = []
    for await (const { name } of client(bare, { users: User }).users.all({ limit: 1 })) all.push(name)
    assert.deepEqual(all, ['Ann'])
  })

  it('refuses what is neither request nor answer', async () => {
    const answer = await engine.handle('GET', '/v1/users')
    await assert.rejects(engine.conforms('/v1/users' as never, answer), /has a method and a path/)
    await assert.rejects(engine.conforms({ method: 'GET', path: '/v1/users' }, answer.body as never), /that of engine.handle/)
    const response = await engine.fetch('http://x/v1/users')
    await response.text()
    await assert.rejects(engine.conforms({ method: 'GET', path: '/v1/users' }, response), /has been read/)
  })
})
