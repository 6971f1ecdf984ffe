/** Keys of every type, and relations of every kind: linked, shown, filtered, sorted, unlinked and deleted. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import type { RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { PairKey, entities } from './relations.ts'

type Body = Record<string, unknown> & { resource: string; errors?: { code: string; attribute?: string }[] }
type Answer = { status: number; body: Body; headers: Record<string, string> }

describeStores('keys and relations', () => {
  let engine: RestEngine
  const causes: unknown[] = []
  before(async () => {
    engine = await createEngine({ entities, onError: error => causes.push(error) })
  })
  beforeEach(() => engine.reset())
  after(() => engine.close())
  const call = async (method: string, path: string, query: Record<string, string> = {}, body?: unknown): Promise<Answer> => {
    const response = (await engine.handle(method, path, query, body)) as Answer
    assert.ok(response.status < 500, `${method} ${path}: ${causes.splice(0).join()}`)
    return response
  }
  const done = async (method: string, path: string, query: Record<string, string> = {}, body?: unknown): Promise<unknown> => {
    const answer = await call(method, path, query, body)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body[answer.body.resource]
  }
  const refused = async (method: string, path: string, body: unknown, status: number, code: string, attribute?: string): Promise<void> => {
    const answer = await call(method, path, {}, body)
    assert.equal(answer.status, status, JSON.stringify(answer.body))
    if (attribute === undefined) assert.equal(answer.body['code'], code)
    else
      assert.deepEqual(
        answer.body.errors?.map(fault => [fault.code, fault.attribute]),
        [[code, attribute]],
      )
  }

  interface Key {
    readonly of: string
    readonly values: Record<string, unknown>
    readonly id: unknown
    readonly segment: string
    readonly other: Record<string, unknown>
    readonly otherId: unknown
    readonly wrong: readonly string[]
  }
  const KEYS: Record<string, Key> = {
    big: {
      of: 'big_keys',
      values: { id: '9007199254740993' },
      id: '9007199254740993',
      segment: '9007199254740993',
      other: { id: '9007199254740992' },
      otherId: '9007199254740992',
      wrong: ['x', '9223372036854775808'],
    },
    bigText: {
      of: 'big_text_keys',
      values: { id: '9007199254740993' },
      id: '9007199254740993',
      segment: '9007199254740993',
      other: { id: '-1' },
      otherId: '-1',
      wrong: ['01'],
    },
    date: {
      of: 'date_keys',
      values: { day: '2020-01-31' },
      id: '2020-01-31',
      segment: '2020-01-31',
      other: { day: '2019-01-31' },
      otherId: '2019-01-31',
      wrong: ['2020-02-30', 'x'],
    },
    time: {
      of: 'time_keys',
      values: { at: '2020-01-31T12:00:00.123Z' },
      id: '2020-01-31T12:00:00.123Z',
      segment: '2020-01-31T12%3A00%3A00.123Z',
      other: { at: '2020-01-31T12:00:00.122Z' },
      otherId: '2020-01-31T12:00:00.122Z',
      wrong: ['x'],
    },
    slug: {
      of: 'slug_keys',
      values: { slug: 'a b~c' },
      id: 'a b~c',
      segment: 'a%20b%7Ec',
      other: { slug: 'a' },
      otherId: 'a',
      wrong: ['A'],
    },
    uuid: {
      of: 'uuid_keys',
      values: { id: '0A000000-0000-4000-8000-000000000000' },
      id: '0a000000-0000-4000-8000-000000000000',
      segment: '0a000000-0000-4000-8000-000000000000',
      other: { id: '00000000-0000-4000-8000-000000000000' },
      otherId: '00000000-0000-4000-8000-000000000000',
      wrong: ['x'],
    },
    pair: {
      of: 'pair_keys',
      values: { slug: 'a~b', day: '2020-01-31' },
      id: 'a%7Eb~2020-01-31',
      segment: 'a%7Eb~2020-01-31',
      other: { slug: 'a', day: '2020-01-31' },
      otherId: 'a~2020-01-31',
      wrong: ['a', 'A~2020-01-31', 'a~x'],
    },
  }
  for (const [name, { of, values, id, segment, other, otherId, wrong }] of Object.entries(KEYS)) {
    it(`a key that is ${name}`, async () => {
      const made = await call('POST', `/v1/${of}`, {}, { ...values, name: 'x' })
      assert.equal(made.headers['location'], `/v1/${of}/${segment}`)
      await done('POST', `/v1/${of}`, {}, { ...other, name: 'o' })
      const path = `/v1/${of}/${segment}`
      const shown = made.body[made.body.resource] as Record<string, unknown>
      assert.deepEqual(await done('GET', path), shown)
      assert.deepEqual(await done('PUT', path, { attributes: 'name' }, { ...values, name: 'y' }), { name: 'y' })
      for (const text of wrong) assert.equal((await call('GET', `/v1/${of}/${text}`)).status, 404, text)
      await refused('POST', `/v1/${of}`, { ...values }, 409, 'unique_conflict')
      await done('POST', '/v1/links', {}, { id: 1, [name]: id })
      await done('POST', '/v1/links', {}, { id: 2 })
      await refused('POST', '/v1/links', { [name]: wrong[0] }, 422, 'value_invalid', name)
      assert.deepEqual(await done('GET', '/v1/links', { [name]: String(id), attributes: `id,${name}` }), [{ id: 1, [name]: id }])
      assert.deepEqual(await done('GET', '/v1/links', { [`!${name}`]: String(id), attributes: `id,${name}` }), [{ id: 2, [name]: null }])
      assert.deepEqual(await done('GET', '/v1/links', { [`${name}.name`]: 'y', attributes: `${name}.name`, depth: '2' }), [
        { [name]: { name: 'y' } },
      ])
      assert.deepEqual(await done('GET', `${path}/links`, { attributes: 'id' }), [{ id: 1 }])
      assert.deepEqual(await done('GET', `/v1/${of}`, { attributes: 'links.id,name', depth: '2', sort: Object.keys(values).join() }), [
        { name: 'o', links: [] },
        { name: 'y', links: [{ id: 1 }] },
      ])
      assert.deepEqual(await done('GET', `/v1/${of}`, { links: '1', attributes: 'name' }), [{ name: 'y' }])
      await done('PUT', `/v1/links/1/${name}`, {}, null)
      await done('PUT', path, {}, { links: [1, 2] })
      assert.deepEqual(await done('GET', '/v1/links', { attributes: name }), [{ [name]: id }, { [name]: id }])
      if (['big', 'slug'].includes(name)) {
        const list = `${name}s`
        await done('PUT', '/v1/links/1', {}, { [list]: [id, otherId] })
        assert.deepEqual(new Set(((await done('GET', '/v1/links/1')) as Record<string, unknown[]>)[list]), new Set([id, otherId]))
        assert.deepEqual(await done('GET', '/v1/links', { [list]: String(otherId), attributes: 'id' }), [{ id: 1 }])
        await done('PUT', '/v1/links/1', {}, { [list]: [otherId] })
      }
      await done('DELETE', path)
      assert.equal((await call('GET', path)).status, 404)
      assert.deepEqual(await done('GET', '/v1/links', { [name]: 'null', attributes: 'id' }), [{ id: 1 }, { id: 2 }])
    })
  }

  it('a property that holds the key of what it links (mapToPk)', async () => {
    await done('POST', '/v1/owners', {}, { id: 1, name: 'O', pets: [{ id: 1, name: 'P' }] })
    await done('POST', '/v1/pets', {}, { id: 2, name: 'Q', owner: { id: 2, name: 'new' } })
    await done('POST', '/v1/pets', {}, { id: 3, name: 'R', owner: 1 })
    const owners = async (): Promise<unknown> => done('GET', '/v1/pets', { attributes: 'owner' })
    assert.deepEqual(await owners(), [{ owner: 1 }, { owner: 2 }, { owner: 1 }])
    assert.deepEqual(await done('GET', '/v1/pets', { 'owner.name': 'new', depth: '2', attributes: 'owner.name' }), [
      { owner: { name: 'new' } },
    ])
    assert.deepEqual(await done('GET', '/v1/owners', { 'pets.name': 'P', attributes: 'pets' }), [{ pets: [1, 3] }])
    await done('PUT', '/v1/pets/1', {}, { owner: 2 })
    await done('PUT', '/v1/pets/2/owner', {}, { name: 'renamed' })
    await done('PUT', '/v1/pets/3/owner', {}, null)
    assert.deepEqual(await owners(), [{ owner: 2 }, { owner: 2 }, { owner: null }])
    await done('PUT', '/v1/pets/3/owner', {}, { id: 3, name: 'fresh' })
    await done('PUT', '/v1/owners/3', {}, { pets: [1, 3] })
    assert.deepEqual(await owners(), [{ owner: 3 }, { owner: 2 }, { owner: 3 }])
    await refused('PUT', '/v1/pets/1', { owner: 99 }, 422, 'reference_not_found', 'owner')
    await done('DELETE', '/v1/pets/3/owner')
    assert.deepEqual(await owners(), [{ owner: null }, { owner: 2 }, { owner: null }])
    const pets = await engine.orm.em.fork().find(entities[9] as never, {}, { orderBy: { id: 'asc' } as never })
    assert.deepEqual(
      pets.map(pet => (pet as { owner: unknown }).owner),
      [null, 2, null],
    )
  })

  it('a foreign key that is the primary key, and one that is a part of it', async () => {
    await done('POST', '/v1/owners', {}, { id: 1, name: 'O', chip: { code: 'c', scans: [{ number: 1 }] } })
    await done('POST', '/v1/owners', {}, { id: 2, name: 'P' })
    assert.deepEqual(await done('GET', '/v1/chips/1'), { owner: 1, code: 'c', scans: ['1~1'] })
    assert.deepEqual(await done('GET', '/v1/scans/1~1', { depth: '2' }), {
      chip: { owner: 1, code: 'c', scans: ['1~1'] },
      number: 1,
      note: null,
    })
    const made = await call('POST', '/v1/chips/1/scans', {}, { number: 2, note: 'n' })
    assert.equal(made.headers['location'], '/v1/scans/1~2')
    await refused('POST', '/v1/chips', { owner: 1, code: 'x' }, 409, 'unique_conflict')
    await done('POST', '/v1/chips', {}, { owner: 2, code: 'x' })
    await refused('PUT', '/v1/chips/2', { owner: 1 }, 422, 'key_fixed', 'owner')
    assert.deepEqual(await done('GET', '/v1/chips', { sort: 'owner.name.desc', attributes: 'owner' }), [{ owner: 2 }, { owner: 1 }])
    assert.deepEqual(await done('GET', '/v1/owners', { 'chip.scans.note': 'n', attributes: 'chip' }), [{ chip: 1 }])
    assert.deepEqual(await done('GET', '/v1/scans', { 'chip.owner.name': 'O', sort: 'number.desc', attributes: 'number' }), [
      { number: 2 },
      { number: 1 },
    ])
    await done('POST', '/v1/pets', {}, { id: 1, name: 'x', scan: '1~2' })
    assert.deepEqual(await done('GET', '/v1/pets', { 'scan.note': 'n', attributes: 'scan' }), [{ scan: '1~2' }])
    await done('DELETE', '/v1/scans/1~2')
    assert.deepEqual(await done('GET', '/v1/pets/1', { attributes: 'scan' }), { scan: null })
    await refused('DELETE', '/v1/owners/1', undefined, 409, 'owner_required')
  })

  it('a many-to-many relation with an entity for its pivot, and one in a fixed order', async () => {
    for (const title of ['A', 'B', 'C']) await done('POST', '/v1/courses', {}, { title })
    const student = await done('POST', '/v1/students', {}, { name: 'S', courses: [1, 2], wishes: [3, 1, 2] })
    assert.deepEqual(student, { id: 1, name: 'S', courses: [1, 2], enrolments: ['1~1', '1~2'], wishes: [3, 1, 2] })
    await done('POST', '/v1/enrolments', {}, { student: 1, course: 3, grade: 5 })
    await done('PUT', '/v1/students/1', {}, { courses: [3, 2], wishes: [2, 3] })
    assert.deepEqual(await done('GET', '/v1/enrolments'), [
      { student: 1, course: 2, grade: 0 },
      { student: 1, course: 3, grade: 5 },
    ])
    assert.deepEqual(await done('GET', '/v1/students', { 'enrolments.grade': '5', attributes: 'courses,wishes' }), [
      { courses: [2, 3], wishes: [2, 3] },
    ])
    await done('POST', '/v1/students/1/wishes', {}, { title: 'D' })
    assert.deepEqual(await done('GET', '/v1/students/1', { depth: '2', attributes: 'wishes.title' }), {
      wishes: [{ title: 'B' }, { title: 'C' }, { title: 'D' }],
    })
    assert.deepEqual(await done('GET', '/v1/courses', { students: '1', attributes: 'id' }), [{ id: 2 }, { id: 3 }])
    await done('PUT', '/v1/courses/1', {}, { students: [1] })
    assert.deepEqual(await done('GET', '/v1/students/1', { attributes: 'courses' }), { courses: [1, 2, 3] })
    await done('DELETE', '/v1/enrolments/1~2')
    assert.deepEqual(await done('GET', '/v1/students/1', { attributes: 'courses' }), { courses: [1, 3] })
  })

  it('composite foreign keys that share a column', async () => {
    for (const name of ['T', 'U']) await done('POST', '/v1/tenants', {}, { name })
    for (const tenant of [1, 2]) await done('POST', '/v1/rooms', {}, { tenant, number: 5, name: `five of ${tenant}` })
    await done('POST', '/v1/desks', {}, { tenant: 1, id: 1, room: '1~5' })
    await done('POST', '/v1/desks', {}, { tenant: 1, id: 2 })
    assert.deepEqual(await done('GET', '/v1/desks', { attributes: 'room' }), [{ room: '1~5' }, { room: null }])
    await refused('POST', '/v1/desks', { tenant: 1, id: 3, room: '2~5' }, 422, 'conflict', 'room')
    await refused('PUT', '/v1/desks/1~2', { room: '2~5' }, 422, 'conflict', 'room')
    await refused('PUT', '/v1/desks/1~2/room', '2~5', 422, 'conflict', 'room')
    await done('PUT', '/v1/desks/1~2', {}, { room: '1~5' })
    assert.deepEqual(await done('GET', '/v1/desks', { 'room.name': 'five*', room: '1~5', '!room': 'null', attributes: 'id' }), [
      { id: 1 },
      { id: 2 },
    ])
    assert.deepEqual(await done('GET', '/v1/rooms/1~5/desks', { attributes: 'id' }), [{ id: 1 }, { id: 2 }])
    await refused('DELETE', '/v1/rooms/1~5', undefined, 409, 'owner_required')
    await done('PUT', '/v1/desks/1~1/room', {}, null)
    await done('PUT', '/v1/desks/1~2', {}, { room: null })
    assert.deepEqual(await done('GET', '/v1/desks', { room: 'null', tenant: '1', attributes: 'tenant,id' }), [
      { tenant: 1, id: 1 },
      { tenant: 1, id: 2 },
    ])
    await done('DELETE', '/v1/rooms/1~5')
  })

  it('what MikroORM cannot write is refused when the engine is created', async () => {
    const Many = defineEntity({ name: 'Many', properties: { id: p.integer().primary(), pairs: () => p.manyToMany(PairKey) } })
    await assert.rejects(createEngine({ entities: [...entities, Many] }), /Many\.pairs cannot be served: .*composite key/)
  })
})

describeStores('a record that another one links by a one-to-one, where the key of one of them is stored as something else', () => {
  const MOMENT = '2024-02-29T23:59:59.999Z'
  const KEYS = {
    bigint: { make: () => p.bigint(), cardId: '5', holderId: 1, linked: () => p.integer() },
    'date-time': { make: () => p.datetime(3), cardId: MOMENT, holderId: 1, linked: () => p.integer() },
    'date-time of the other one': { make: () => p.integer(), cardId: 5, holderId: MOMENT, linked: () => p.datetime(3) },
  }
  for (const [title, { make, linked, cardId, holderId }] of Object.entries(KEYS)) {
    it(`is changed and listed without a change of the other one, where a subscriber listens: ${title}`, async () => {
      const Box = defineEntity({
        name: 'Box',
        properties: {
          id: p.integer().primary(),
          cards: () => p.oneToMany(Card).mappedBy('box' as never),
          shared: () => p.manyToMany(Card),
        },
      })
      const Card = defineEntity({
        name: 'Card',
        properties: {
          id: make().primary(),
          name: p.string().nullable(),
          box: () => p.manyToOne(Box).nullable(),
          holder: () =>
            p
              .oneToOne(Holder)
              .mappedBy('card' as never)
              .nullable(),
        },
      })
      const Holder = defineEntity({
        name: 'Holder',
        properties: {
          id: linked().primary(),
          card: () =>
            p
              .oneToOne(Card)
              .inversedBy('holder' as never)
              .nullable(),
          version: p.integer().version(),
        },
      })
      await using engine = await createEngine({
        entities: [Box, Card, Holder] as never,
        seed: { boxes: [{ id: 1 }], cards: [{ id: cardId }], holders: [{ id: holderId, card: cardId }] },
        orm: { subscribers: [{ async afterFlush() {} }] },
      })
      const patch = async (path: string, body: object): Promise<void> => {
        assert.equal((await engine.handle('PATCH', path, {}, body)).status, 200)
        const { version } = (await engine.handle('GET', `/v1/holders/${holderId}`)).body.holder
        assert.equal(version, 1, `PATCH ${path} ${JSON.stringify(body)}`)
      }
      for (const body of [{}, { name: 'new' }]) await patch(`/v1/cards/${cardId}`, body)
      for (const list of ['cards', 'shared']) for (const ids of [[cardId], []]) await patch('/v1/boxes/1', { [list]: ids })
      assert.deepEqual([...new Set(engine.requests.flatMap(({ changes }) => changes!.map(({ resource }) => resource)))].toSorted(), [
        'boxes',
        'cards',
      ])
    })
  }
})

describeStores('a link to a composite key with a date-time', () => {
  it('is not taken for changed where a subscriber listens', async () => {
    const Round = defineEntity({ name: 'Round', properties: { at: p.datetime(3).primary(), number: p.integer().primary() } })
    const Turn = defineEntity({
      name: 'Turn',
      properties: { round: () => p.manyToOne(Round).primary(), number: p.integer().primary(), text: p.string().nullable() },
    })
    const Note = defineEntity({
      name: 'Note',
      properties: {
        id: p.integer().primary(),
        text: p.string().nullable(),
        round: () => p.manyToOne(Round).nullable(),
        turn: () => p.manyToOne(Turn).nullable(),
        version: p.integer().version(),
      },
    })
    const [first, second] = ['2024-02-29T23%3A59%3A59.999Z~1', '2024-02-29T23%3A59%3A59.999Z~2'] as const
    await using engine = await createEngine({
      entities: [Round, Turn, Note],
      orm: { subscribers: [{ async afterFlush() {} }] },
    })
    const ask = async (method: string, path: string, body: object): Promise<Record<string, never>> => {
      const answer = await engine.handle(method, path, {}, body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body
    }
    for (const number of [1, 2]) await ask('POST', '/v1/rounds', { at: '2024-02-29T23:59:59.999Z', number })
    await ask('POST', '/v1/turns', { round: first, number: 1 })
    const key = `${first}~1`
    await ask('POST', '/v1/notes', { id: 1, round: first, turn: key })
    const versionAfter = async (body: object): Promise<number> =>
      ((await ask('PATCH', '/v1/notes/1', body))['note'] as unknown as { version: number }).version
    assert.equal(await versionAfter({}), 1)
    assert.equal(await versionAfter({ round: first, turn: key }), 1)
    assert.equal(await versionAfter({ round: second }), 2)
    assert.equal(await versionAfter({ round: first, text: 'new' }), 3)
    await ask('PATCH', `/v1/turns/${key}`, {})
    await ask('PATCH', `/v1/turns/${key}`, { text: 'new' })
    assert.deepEqual(
      engine.requests.map(({ changes }) => changes!.length),
      [1, 1, 1, 1, 0, 0, 1, 1, 0, 1],
    )
  })
})
