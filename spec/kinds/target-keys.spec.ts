/**
 * Links by another unique attribute than the primary key (MikroORM's `targetKey`). In the API they are like any other: so the same
 * requests, in the same order, are put to an engine whose foreign keys hold primary keys, and all answers must be the same.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { Type, defineEntity, p } from '@mikro-orm/sqlite'
import * as fc from 'fast-check'
import { RestEngine, resource } from '../../lib/index.ts'
import { check, costly } from '../helpers/check.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

type Body = Record<string, unknown> & { resource: string; code?: string; errors?: { code: string; attribute?: string }[] }
type Answer = { status: number; body: Body; headers: Record<string, string> }

/** Stored with a prefix that nobody sees. */
class CodeType extends Type<string, string> {
  override convertToDatabaseValue(value: string): string {
    return typeof value === 'string' ? `code:${value}` : value
  }

  override convertToJSValue(value: string): string {
    return typeof value === 'string' ? value.slice(5) : value
  }
}

const KEYS = {
  text: { type: () => p.string(), value: (n: number) => `k${n}` },
  bigint: { type: () => p.bigint(), value: (n: number) => String(9_007_199_254_740_993n + BigInt(n)) },
  time: { type: () => p.datetime(), value: (n: number) => new Date(n * 1000).toISOString() },
  custom: { type: () => p.type(CodeType), value: (n: number) => `c${n}` },
} as const
type KeyName = keyof typeof KEYS

/** How a model says that a link is by `code`: by the name of the property, or by its column. */
type Way = 'targetKey' | 'referencedColumnNames'

/** People with notes, bosses and badges; linked by `code`, or by their primary key. */
function modelOf(key: KeyName, isByCode: boolean, updateRule = 'cascade', way: Way = 'targetKey') {
  // oxlint-disable-next-line typescript/no-explicit-any -- the builders of the two ways have different types
  const by = (relation: any): any => (isByCode ? relation[way]('code').updateRule(updateRule) : relation)
  const Person = defineEntity({
    name: 'Person',
    properties: {
      id: p.integer().primary(),
      code: (KEYS[key].type() as ReturnType<typeof p.string>).unique().nullable(),
      name: p.string(),
      changes: p.integer().version(),
      boss: () => by(p.manyToOne(Person)).nullable(),
      staff: () => p.oneToMany(Person).mappedBy('boss'),
      notes: () => p.oneToMany(Note).mappedBy('author'),
      checked: () => p.oneToMany(Note).mappedBy('checker').orphanRemoval(),
      badge: () => p.oneToOne(Badge).mappedBy('holder'),
    },
  })
  const Note = defineEntity({
    name: 'Note',
    properties: {
      id: p.integer().primary(),
      text: p.string().nullable(),
      changes: p.integer().version(),
      author: () => by(p.manyToOne(Person)).nullable(),
      checker: () => by(p.manyToOne(Person)).nullable(),
      owner: () => by(p.manyToOne(Person)),
      tags: () => p.manyToMany(Tag),
    },
  })
  const Badge = defineEntity({
    name: 'Badge',
    properties: {
      id: p.integer().primary(),
      changes: p.integer().version(),
      holder: () => by(p.oneToOne(Person)).inversedBy('badge').nullable(),
    },
  })
  const Tag = defineEntity({
    name: 'Tag',
    properties: {
      id: p.integer().primary(),
      notes: () => p.manyToMany(Note).mappedBy('tags'),
      lead: () => by(p.manyToOne(Person)).nullable(),
    },
  })
  return [Person, Note, Badge, Tag]
}

function seedOf(key: KeyName) {
  const { value } = KEYS[key]
  return {
    people: [
      { id: 1, code: value(1), name: 'Ann', boss: 2 },
      { id: 2, code: value(2), name: 'Bob', boss: 2 },
      { id: 3, code: value(3), name: 'Cid', boss: 1 },
      { id: 4, code: value(4), name: 'Dot' },
    ],
    notes: [
      { id: 1, text: 'a', author: 1, checker: 2, owner: 1, tags: [1, 2] },
      { id: 2, text: 'b', author: 1, owner: 2, tags: [2] },
      { id: 3, author: 3, checker: 2, owner: 2 },
      { id: 4, text: 'd', owner: 3 },
    ],
    badges: [{ id: 1, holder: 1 }, { id: 2, holder: 3 }, { id: 3 }],
    tags: [{ id: 1, lead: 1 }, { id: 2 }],
  }
}

/** Reading requests that come by the links in every way. */
const READS = [
  ...['', '?depth=0', '?depth=2', '?depth=2&expand=author,boss,holder,staff.badge'].flatMap(query => [
    `/v1/notes${query.replace(',boss,holder,staff.badge', '.boss')}`,
    `/v1/people${query.replace('author,', '').replace(',holder', '')}`,
    `/v1/badges${query.replace(/author,boss,holder.*/, 'holder.boss')}`,
  ]),
  ...['1', '3', '1,3', '1,null', 'null', '9'].flatMap(id => [
    `/v1/notes?author=${id}`,
    `/v1/notes?!author=${id}`,
    `/v1/people?boss=${id}&staff!=${id}`,
    `/v1/people?badge=${id}`,
    `/v1/people?notes=${id}`,
    `/v1/people?!staff.notes=${id}`,
    `/v1/badges?holder=${id}`,
    `/v1/badges?holder.boss!=${id}`,
    `/v1/tags?notes.author=${id}`,
    `/v1/tags?lead.notes=${id}`,
  ]),
  ...[
    'author.name=A*',
    'author.name=null',
    'author.name~=*O*',
    'author.boss.name=Bob',
    'author.code=null',
    'author.badge=2',
    '!author.name=Ann',
  ].map(filter => `/v1/notes?${filter}`),
  ...[
    'author',
    'author.desc',
    'author.name.desc,id',
    'owner.boss.name',
    'author.badge.desc',
    'owner.staff.notes.desc',
    'tags.lead.name',
  ].map(sort => `/v1/notes?sort=${sort}`),
  ...['notes.desc', 'notes.text', 'staff.notes.desc', 'badge.desc', 'boss.notes', 'checked.text.desc'].map(
    sort => `/v1/people?sort=${sort}`,
  ),
  ...[1, 2, 3, 4, 9].flatMap(id => [
    `/v1/people/${id}`,
    `/v1/people/${id}/notes?sort=text.desc`,
    `/v1/people/${id}/staff?notes=null`,
    `/v1/people/${id}/boss?depth=2`,
    `/v1/people/${id}/badge`,
    `/v1/notes/${id}/author`,
    `/v1/badges/${id}/holder`,
  ]),
]

type Step = readonly [method: string, path: string, body?: unknown]

const KEY = Symbol('key')
/** Replaced by a value of the key's type. */
const keyed = (n: number) => ({ [KEY]: n })

/** Changes that come by the links in every way, and some that are refused. */
const WRITES: readonly Step[] = [
  ['PUT', '/v1/notes/1/author', 3],
  ['PUT', '/v1/notes/1', { text: 'changed' }],
  ['PUT', '/v1/notes/1', { author: 99 }],
  ['PUT', '/v1/notes/1', { author: 'x' }],
  ['PUT', '/v1/notes/1', { owner: null }],
  ['PUT', '/v1/notes/4', { author: 4, checker: 4, text: null }],
  ['PUT', '/v1/notes/1/author', null],
  ['PUT', '/v1/notes/1/author', { name: 'Eve', code: keyed(5) }],
  ['PUT', '/v1/notes/1/author', { name: 'Evelyn' }],
  ['PUT', '/v1/people/1', { code: keyed(11) }],
  ['PUT', '/v1/people/2', { code: keyed(12), name: 'Bobby', notes: [2, { text: 'n', owner: 1 }] }],
  ['POST', '/v1/notes', { text: 'p', author: { name: 'Fay', code: keyed(6), boss: { name: 'Gus', code: keyed(7) } }, owner: 2 }],
  ['POST', '/v1/people/3/notes', { text: 'q', owner: 3 }],
  ['POST', '/v1/people', { name: 'Hal', code: keyed(8), staff: [1, { name: 'Ida', code: keyed(9) }], badge: { id: 4 }, notes: [3] }],
  ['PUT', '/v1/people/2', { checked: [1] }],
  ['PUT', '/v1/people/2', { checked: [] }],
  ['PUT', '/v1/badges/1', { holder: 4 }],
  ['PUT', '/v1/badges/1', { holder: 3 }],
  ['POST', '/v1/badges', { holder: 3 }],
  ['PUT', '/v1/people/2', { badge: 1 }],
  ['PUT', '/v1/people/2', { badge: null }],
  ['PUT', '/v1/people/2', { badge: { id: 9 } }],
  ['PUT', '/v1/people/2/badge', 2],
  ['PUT', '/v1/people/4/boss', 4],
  ['PUT', '/v1/tags/2', { lead: 2 }],
  ['PUT', '/v1/tags/2', { notes: [4] }],
  ['DELETE', '/v1/people/1'],
  ['DELETE', '/v1/people/4'],
  ['DELETE', '/v1/notes/1/author'],
  ['DELETE', '/v1/people/2/badge'],
  ['DELETE', '/v1/people/3/notes?text=q'],
  ['DELETE', '/v1/notes/4/owner'],
  ['PUT', '/v1/notes/9/author', 1],
]

/** Links by code, links by primary key. */
class Pair {
  readonly engines: readonly RestEngine[]
  readonly #key: KeyName
  readonly #causes: unknown[]

  private constructor(engines: readonly RestEngine[], key: KeyName, causes: unknown[]) {
    this.engines = engines
    this.#key = key
    this.#causes = causes
  }

  static async create(key: KeyName, database?: string, way: Way = 'targetKey'): Promise<Pair> {
    const causes: unknown[] = []
    const engines: RestEngine[] = []
    for (const isByCode of [true, false]) {
      const place = isByCode && database !== undefined ? { database } : {}
      const entities = modelOf(key, isByCode, 'cascade', way)
      engines.push(await RestEngine.create({ entities, ...place, seed: seedOf(key), onError: error => causes.push(error) }))
    }
    return new Pair(engines, key, causes)
  }

  async same([method, path, body]: Step): Promise<Answer> {
    const given = body === undefined ? undefined : this.#fill(body)
    const [byCode, byKey] = (await Promise.all(this.engines.map(engine => engine.handle(method, path, {}, given)))) as [Answer, Answer]
    const label = `${method} ${path} ${JSON.stringify(given)}`
    assert.ok(byCode.status < 500, `${label}: ${String(this.#causes.at(-1))}`)
    for (const { body: told } of [byCode, byKey]) delete told['timestamp']
    assert.deepEqual([byCode.status, byCode.body], [byKey.status, byKey.body], label)
    const changes = this.engines.map(engine => engine.requests.at(-1)!.changes)
    // A key that changes is written to the rows that hold it: those rows change, though what they link does not.
    const isRename = JSON.stringify(given ?? '').includes('"code"')
    if (!isRename) assert.deepEqual(sorted(changes[0]!), sorted(changes[1]!), label)
    return byCode
  }

  /** The same data once more. */
  async fork(): Promise<Pair> {
    return new Pair(await Promise.all(this.engines.map(engine => engine.fork())), this.#key, this.#causes)
  }

  async sameReads(): Promise<void> {
    for (const path of READS) await this.same(['GET', path])
  }

  #fill(body: unknown): unknown {
    if (Array.isArray(body)) return body.map(item => this.#fill(item))
    if (typeof body !== 'object' || body === null) return body
    if (KEY in body) return KEYS[this.#key].value(body[KEY] as number)
    return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, this.#fill(value)]))
  }

  async close(): Promise<void> {
    for (const engine of this.engines) await engine.close()
  }
}

/** The order of statements within one request is MikroORM's own affair. */
function sorted(changes: readonly object[]): string[] {
  return changes.map(change => JSON.stringify(change)).toSorted()
}

/** On SQLite alone. */
describe('links by another key than the primary one, beside links by that', () => {
  let pair: Pair | undefined
  const folder = mkdtempSync(join(tmpdir(), 'target-keys-'))
  afterEach(async () => {
    await pair?.close()
    pair = undefined
  })
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

  for (const key of Object.keys(KEYS) as KeyName[]) {
    it(`are read as any other: ${key}`, async () => {
      pair = await Pair.create(key)
      await pair.sameReads()
      for (const path of READS.slice(0, 9)) assert.equal((await pair.same(['GET', path])).status, 200, path)
    })

    it(`are written as any other: ${key}`, async () => {
      pair = await Pair.create(key, key === 'text' ? join(folder, 'written.sqlite') : undefined)
      const statuses = new Set<number>()
      for (const step of WRITES) {
        statuses.add((await pair.same(step)).status)
        // Keys of another type take no other way to what links them: all is read at the end.
        for (const path of key === 'text' ? ['/v1/notes', '/v1/people', '/v1/badges'] : ['/v1/notes']) await pair.same(['GET', path])
      }
      assert.deepEqual(
        [...statuses].toSorted((a, b) => a - b),
        [200, 404, 409, 422],
      )
      await pair.sameReads()
    })
  }

  it('may be given by the column that they refer to', async () => {
    for (const key of ['text', 'custom'] as const) {
      const one = await Pair.create(key, undefined, 'referencedColumnNames')
      await one.sameReads()
      for (const step of WRITES) await one.same(step)
      await one.sameReads()
      await one.close()
    }
  })

  it('are the same after any writes', async () => {
    const reads = fc.constantFrom(...READS)
    // A new author without a key is refused here, where a plain foreign key would link it.
    const writes = fc.constantFrom(...WRITES.filter(([, , body]) => JSON.stringify(body) !== '{"name":"Evelyn"}'))
    const origin = (pair = await Pair.create('text'))
    await check(
      fc.asyncProperty(fc.array(writes, { minLength: 1, maxLength: 12 }), fc.array(reads, { maxLength: 8 }), async (steps, paths) => {
        const one = await origin.fork()
        try {
          for (const step of steps) await one.same(step)
          for (const path of ['/v1/notes', '/v1/people', '/v1/badges', '/v1/tags', ...paths]) await one.same(['GET', path])
        } finally {
          await one.close()
        }
      }),
      { label: 'links by another key', runs: costly(25) },
    )
  })

  it('hold what SQLite joins by', async () => {
    pair = await Pair.create('custom')
    const rows = await pair.engines[0]!.orm.em.getConnection().execute('select id, author_id, owner_id from note order by id')
    assert.deepEqual(rows, [
      { id: 1, author_id: 'code:c1', owner_id: 'code:c1' },
      { id: 2, author_id: 'code:c1', owner_id: 'code:c2' },
      { id: 3, author_id: 'code:c3', owner_id: 'code:c2' },
      { id: 4, author_id: null, owner_id: 'code:c3' },
    ])
  })

  it('cannot hold a key that a record lacks', async () => {
    pair = await Pair.create('text')
    const [engine] = pair.engines as [RestEngine]
    await engine.handle('POST', '/v1/people', {}, { id: 50, name: 'without' })
    for (const [method, path, body] of [
      ['PUT', '/v1/notes/1', { author: 50 }],
      ['PUT', '/v1/notes/1/author', 50],
      ['POST', '/v1/notes', { owner: 1, author: { name: 'none' } }],
      ['POST', '/v1/people/50/notes', { owner: 1 }],
      ['PUT', '/v1/people/50', { notes: [1] }],
      ['PUT', '/v1/people/50', { badge: 3 }],
    ] as const) {
      const { status, body: told } = (await engine.handle(method, path, {}, body)) as Answer
      assert.deepEqual([status, told.errors?.map(({ code }) => code)], [422, ['conflict']], `${method} ${path}`)
    }
    await assert.rejects(engine.seed({ notes: [{ owner: 50 }] }), /links a person by its "code", and this one has none/)
    assert.equal(((await engine.handle('GET', '/v1/people/50/notes')) as Answer).body['count'], 0)
  })

  it('tell in the journal what they linked before a key changes, or goes', async () => {
    pair = await Pair.create('text')
    const [engine] = pair.engines as [RestEngine]
    await engine.handle('PUT', '/v1/people/3', {}, { code: 'other' })
    const changed = engine.requests
      .at(-1)!
      .changes!.filter(({ resource: of }) => of === 'notes')
      .toSorted((a, b) => Number(a.id) - Number(b.id))
    assert.deepEqual(
      changed.map(({ id, before, after }) => [id, before.author, after.author, before.owner, after.owner]),
      [
        [3, 3, 3, 2, 2],
        [4, null, null, 3, 3],
      ],
    )
    await engine.handle('PUT', '/v1/notes/4', {}, { owner: 4 })
    await engine.handle('DELETE', '/v1/people/3')
    const [note] = engine.requests.at(-1)!.changes!.filter(({ resource: of }) => of === 'notes')
    assert.deepEqual([note!.id, note!.before.author, note!.after.author], [3, 3, null])
  })

  it('that lead nowhere link nothing, and are left as they are', async () => {
    const file = join(folder, 'dangling.sqlite')
    const first = await RestEngine.create({ entities: modelOf('text', true), database: file, seed: seedOf('text') })
    await first.close()
    const db = new Database(file)
    db.pragma('foreign_keys = off')
    db.exec("update note set author_id = 'gone' where id = 1")
    db.close()
    const engine = await RestEngine.create({ entities: modelOf('text', true), database: file, schema: 'keep' })
    try {
      const record = (answer: unknown): Record<string, unknown> => (answer as Answer).body[(answer as Answer).body.resource] as never
      assert.equal(record(await engine.handle('GET', '/v1/notes/1'))['author'], null)
      assert.equal(record(await engine.handle('GET', '/v1/notes/1?depth=2'))['author'], null)
      assert.equal(((await engine.handle('GET', '/v1/notes?author=null')) as Answer).body['count'], 2)
      assert.equal(record(await engine.handle('PUT', '/v1/notes/1', {}, { text: 'x' }))['author'], null)
      assert.deepEqual(await engine.orm.em.getConnection().execute('select author_id from note where id = 1'), [{ author_id: 'gone' }])
      assert.equal(record(await engine.handle('PUT', '/v1/notes/1', {}, { author: 2 }))['author'], 2)
    } finally {
      await engine.close()
    }
  })

  it('are made up with the keys that they need', async () => {
    pair = await Pair.create('text')
    const [engine] = pair.engines as [RestEngine]
    const note = await engine.given('note', { author: {} })
    assert.equal(typeof note['author'], 'number')
    assert.notEqual(note['author'], note['owner'])
    const badge = await engine.given('badge', { holder: 4 })
    assert.equal(badge['holder'], 4)
  })

  it('are known to the entity managers of hooks, and to forks', async () => {
    pair = await Pair.create('text')
    const [engine] = pair.engines as [RestEngine]
    const world = await engine.fork()
    const em = world.orm.em.fork()
    const entities = modelOf('text', true)
    void entities
    const meta = [...em.getMetadata()].find(({ className }) => className === 'Note')!
    const note = (await em.findOne(meta.class, { id: 2 })) as { author: { id: number }; text: string }
    assert.equal(note.author.id, 1)
    note.text = 'by an entity manager'
    await em.flush()
    const shown = (await world.handle('GET', '/v1/notes/2')) as Answer
    assert.deepEqual(shown.body['note'], { id: 2, text: 'by an entity manager', changes: 2, author: 1, checker: null, owner: 2, tags: [2] })
    await world.close()
  })
})

describeStores('links by another key than the primary one', () => {
  it('keep a key from changing where the model does not say that the links follow', async () => {
    const engine = await createEngine({ entities: modelOf('text', true, 'no action'), seed: seedOf('text') })
    try {
      const renamed = (await engine.handle('PUT', '/v1/people/1', {}, { code: 'other' })) as Answer
      assert.deepEqual([renamed.status, renamed.body.code], [409, 'owner_required'])
      assert.equal(((await engine.handle('PUT', '/v1/people/4', {}, { code: 'other' })) as Answer).status, 200)
    } finally {
      await engine.close()
    }
  })

  it('are followed by scopes, as MikroORM reads them, and lead to nothing out of scope', async () => {
    const entities = modelOf('text', true)
    const [Person, Note] = entities as [never, never]
    let scopes: { readonly person?: object | undefined; readonly note?: object | undefined } = {}
    await using engine = await createEngine({
      entities,
      seed: seedOf('text'),
      resources: [resource(Person, { scope: () => scopes.person as never }), resource(Note, { scope: () => scopes.note as never })],
    })
    const scoped = async (person: object | undefined, note: object | undefined): Promise<unknown> => {
      scopes = { person, note }
      const { body } = (await engine.handle('GET', '/v1/notes')) as Answer
      const filtered = (await engine.handle('GET', '/v1/notes', { 'author.name': 'Ann' })) as Answer
      return [(body['notes'] as Record<string, unknown>[]).map(({ id, author }) => [id, author]), filtered.body['count']]
    }
    assert.deepEqual(await scoped({ name: { $ne: 'Ann' } }, undefined), [
      [
        [1, null],
        [2, null],
        [3, 3],
        [4, null],
      ],
      0,
    ])
    const ofAnn = [
      [
        [1, 1],
        [2, 1],
      ],
      2,
    ]
    assert.deepEqual(await scoped(undefined, { author: 'k1' }), ofAnn)
    assert.deepEqual(await scoped(undefined, { author: { $in: ['k1'] } }), ofAnn)
    assert.deepEqual(await scoped(undefined, { author: { name: 'Ann' } }), ofAnn)
    assert.deepEqual(await scoped(undefined, { author: { $ne: 'k1' } }), [[[3, 3]], 0])
    assert.deepEqual(await scoped(undefined, { author: null }), [[[4, null]], 0])
  })

  it('lead to classes that inherit, in one table or in a table each, and have columns of any name', async () => {
    for (const inheritance of ['sti', 'tpt'] as const) {
      const Animal = defineEntity({
        name: 'Animal',
        ...(inheritance === 'tpt'
          ? { inheritance }
          : { discriminatorColumn: 'kind' as never, discriminatorMap: { dog: 'Dog', cat: 'Cat' } as never, abstract: true }),
        properties: {
          id: p.integer().primary(),
          ...(inheritance === 'sti' ? { kind: p.enum(['dog', 'cat']) } : {}),
          tag: p.string().unique(),
          visits: () => p.oneToMany(Visit).mappedBy('animal'),
        },
      })
      const Dog = defineEntity({
        name: 'Dog',
        extends: Animal,
        ...(inheritance === 'sti' ? { discriminatorValue: 'dog' } : {}),
        properties: { trick: p.string().nullable() },
      } as never)
      const Cat = defineEntity({
        name: 'Cat',
        extends: Animal,
        ...(inheritance === 'sti' ? { discriminatorValue: 'cat' } : {}),
        properties: { lives: p.integer().nullable() },
      } as never)
      const Visit = defineEntity({
        name: 'Visit',
        properties: {
          id: p.integer().primary(),
          text: p.string().nullable(),
          animal: () => p.manyToOne(Animal).targetKey('tag').joinColumn('of_animal').nullable(),
          dog: () =>
            p
              .manyToOne(Dog as unknown as typeof Animal)
              .targetKey('tag')
              .joinColumn('of_dog')
              .nullable()
              .createForeignKeyConstraint(inheritance === 'sti'),
        },
      })
      const engine = await createEngine({
        entities: [Animal, Dog, Cat, Visit] as never,
        seed: {
          dogs: [{ id: 1, tag: 'd', trick: 'sit' }],
          cats: [{ id: 2, tag: 'c', lives: 9 }],
          visits: [
            { id: 1, animal: 1, dog: 1 },
            { id: 2, animal: 2 },
          ],
        },
      })
      try {
        const record = async (method: string, path: string, body?: unknown): Promise<unknown> => {
          const answer = (await engine.handle(method, path, {}, body)) as Answer
          assert.equal(answer.status, 200, JSON.stringify(answer.body))
          return answer.body[answer.body.resource]
        }
        assert.deepEqual(await record('GET', '/v1/visits'), [
          { id: 1, text: null, animal: 1, dog: 1 },
          { id: 2, text: null, animal: 2, dog: null },
        ])
        assert.deepEqual(await record('GET', '/v1/visits?dog.trick=sit&attributes=id'), [{ id: 1 }])
        assert.deepEqual(await record('GET', '/v1/cats?visits=2&attributes=tag,visits'), [{ tag: 'c', visits: [2] }])
        await record('PUT', '/v1/visits/1', { text: 'x' })
        await record('PUT', '/v1/visits/1/animal', 2)
        assert.deepEqual(await record('PUT', '/v1/dogs/1', { visits: [2] }), {
          id: 1,
          ...(inheritance === 'sti' ? { kind: 'dog' } : {}),
          tag: 'd',
          visits: [2],
          trick: 'sit',
        })
        assert.deepEqual(await record('GET', '/v1/visits'), [
          { id: 1, text: 'x', animal: 2, dog: 1 },
          { id: 2, text: null, animal: 1, dog: null },
        ])
        await record('DELETE', '/v1/animals/1')
        assert.deepEqual(await record('GET', '/v1/visits?attributes=animal,dog'), [
          { animal: 2, dog: null },
          { animal: null, dog: null },
        ])
      } finally {
        await engine.close()
      }
    }
  })
})
