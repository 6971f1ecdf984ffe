/**
 * The unit of work on the engine's driver: it writes what MikroORM's own driver writes, row for row; and
 * whatever a hook, a subscriber or `onUpdate` changes while it is flushed is written, too.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, it } from 'node:test'
import { MikroORM, Type, defineEntity, p } from '@mikro-orm/sqlite'
import { Cascade } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/core'
import { RestEngine } from '../../../lib/index.ts'
import { Notes } from '../../../lib/foundation/errors/notes.ts'
import type { Connection } from '../../../lib/records/database/connection.ts'
import { openSqlite } from '../../../lib/databases/sqlite/open.ts'
import type { Opening } from '../../../lib/records/database/world-store.ts'
import { check } from '../../helpers/check.ts'
import { watchStatements } from '../../helpers/statements.ts'

type Row = Record<string, unknown>

/** An open database in memory, with the tables of the entities. */
async function connectionFor(entities: NonNullable<Opening['entities']>): Promise<Connection> {
  const { connection, complete } = await openSqlite({ entities, database: ':memory:', schema: 'update', orm: {}, notes: new Notes() })
  return complete(() => connection)
}

/** Stored as text in capitals, which SQL makes of it and takes back. */
class Loud extends Type<string, string> {
  override convertToDatabaseValueSQL(key: string): string {
    return `upper(${key})`
  }

  override convertToJSValueSQL(key: string): string {
    return `lower(${key})`
  }

  override getColumnType(): string {
    return 'text'
  }
}

/** Anew for each instance of MikroORM, which prepares what it is given. */
function model() {
  const Owner = defineEntity({ name: 'Owner', properties: { code: p.string().primary(), name: p.string().nullable() } })
  const Thing = defineEntity({
    name: 'Thing',
    properties: {
      id: p.integer().primary(),
      name: p.string(),
      note: p.string().nullable(),
      rank: p.integer().default(7),
      state: p.string().defaultRaw("'new'"),
      big: p.bigint().nullable(),
      price: p.decimal().precision(10).scale(2).nullable(),
      active: p.boolean().nullable(),
      at: p.datetime().nullable(),
      document: p.json<unknown>().nullable(),
      bytes: p.blob().nullable(),
      loud: p.type(Loud).nullable(),
      double: p.integer().generated('(rank * 2) stored').nullable(),
      version: p.integer().version(),
      owner: () => p.manyToOne(Owner).nullable(),
    },
  })
  const Animal = defineEntity({
    name: 'Animal',
    discriminatorColumn: 'kind',
    properties: { id: p.integer().primary(), kind: p.enum(['cat', 'dog']), name: p.string() },
  })
  const Cat = defineEntity({ name: 'Cat', extends: Animal, discriminatorValue: 'cat', properties: { lives: p.integer().nullable() } })
  const Dog = defineEntity({ name: 'Dog', extends: Animal, discriminatorValue: 'dog', properties: { tricks: p.integer().nullable() } })
  return { Owner, Thing, Animal, Cat, Dog }
}

type Model = ReturnType<typeof model>

const values = fc.record(
  {
    name: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom("O'Neill", '?', '\u0001 value 0', '5', 'a\0b')),
    note: fc.option(fc.string()),
    rank: fc.integer(),
    // MikroORM's driver reads those beyond as other numbers.
    big: fc.option(fc.bigInt({ min: -(2n ** 53n) + 1n, max: 2n ** 53n - 1n })),
    price: fc.option(fc.integer({ min: 0, max: 99_999 }).map(cents => (cents / 100).toFixed(2))),
    active: fc.option(fc.boolean()),
    at: fc.option(fc.date({ noInvalidDate: true }).map(date => new Date(date.getTime() % 1e14))),
    document: fc.option(fc.oneof(fc.integer(), fc.string(), fc.array(fc.integer()), fc.record({ a: fc.string() }))),
    bytes: fc.option(fc.uint8Array({ maxLength: 5 }).map(bytes => Buffer.from(bytes))),
    loud: fc.option(fc.constantFrom('ann', 'bob?')),
    owner: fc.option(fc.constantFrom('a', 'b')),
  },
  { requiredKeys: ['name'] },
)

const step = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), values }),
  fc.record({ kind: fc.constant('update' as const), at: fc.nat(), values }),
  fc.record({ kind: fc.constant('delete' as const), at: fc.nat() }),
  fc.record({ kind: fc.constantFrom('cat' as const, 'dog' as const), name: fc.string(), count: fc.option(fc.nat()) }),
  fc.record({ kind: fc.constant('rename' as const), at: fc.nat(), name: fc.string() }),
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const KEYS = 6

/** One step, as a request of its own would do it. */
async function take(em: EntityManager, { Thing, Animal, Cat, Dog, Owner }: Model, given: Step, load: (id: number) => Promise<unknown>) {
  const linked = (row: Row): Row => (typeof row['owner'] === 'string' ? { ...row, owner: em.getReference(Owner, row['owner']) } : row)
  switch (given.kind) {
    case 'create':
      em.create(Thing, linked(given.values) as never)
      break
    case 'cat':
      em.create(Cat, { name: given.name, lives: given.count } as never)
      break
    case 'dog':
      em.create(Dog, { name: given.name, tricks: given.count } as never)
      break
    case 'rename': {
      const animal = await em.findOne(Animal, (given.at % KEYS) + 1)
      if (animal !== null) animal.name = given.name
      break
    }
    default: {
      const thing = (await load((given.at % KEYS) + 1)) as object | null | undefined
      if (thing === null || thing === undefined) break
      if (given.kind === 'delete') em.remove(thing)
      else em.assign(thing, linked(given.values) as never)
    }
  }
}

async function rowsOf(orm: MikroORM): Promise<unknown[]> {
  const rows = async (table: string): Promise<unknown> => orm.em.getConnection().execute(`select * from ${table} order by 1`)
  return [await rows('thing'), await rows('animal')]
}

describe('the unit of work on the driver of the engine', () => {
  it('writes what it writes on the one of MikroORM', () =>
    check(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async steps => {
        const [own, other] = [model(), model()]
        const connection = await connectionFor(Object.values(own))
        const stock = new MikroORM({ entities: Object.values(other) as never, dbName: ':memory:' })
        await stock.schema.create()
        try {
          const ours = connection.orm as unknown as MikroORM
          for (const [orm, { Owner }] of [
            [ours, own],
            [stock, other],
          ] as const) {
            const em = orm.em.fork()
            for (const code of ['a', 'b']) em.create(Owner, { code } as never)
            await em.flush()
          }
          for (const given of steps) {
            // A NUL breaks MikroORM's own text.
            if ('values' in given && given.values.name.includes('\0')) continue
            await connection.write(async em => {
              await take(em, own, given, async id => connection.load(own.Thing, id, em))
              await em.flush()
            })
            const em = stock.em.fork()
            await take(em, other, given, id => em.findOne(other.Thing, id))
            await em.flush()
          }
          assert.deepEqual(await rowsOf(ours), await rowsOf(stock))
        } finally {
          await connection.close()
          await stock.close(true)
        }
      }),
      { label: 'unit of work', runs: 25 },
    ))

  it('takes no statement too many for a change and its answer', async () => {
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })
    await using engine = await RestEngine.create({ entities: [Note], journal: 0 })
    const put = (text: string) => engine.handle('PUT', '/v1/notes/1', undefined, { text })
    await engine.handle('POST', '/v1/notes', undefined, { text: 'first' })
    await put('second')
    const { sql, result } = await watchStatements(() => put('third'))
    assert.equal(result.body.note.text, 'third')
    assert.deepEqual(
      sql.map(text => text.split(' ')[0]),
      ['begin', 'update', 'select', 'commit'],
    )
    // The triggers of the table are looked at once.
    await engine.handle('POST', '/v1/notes', undefined, { text: 'other' })
    await engine.handle('DELETE', '/v1/notes/2')
    const removal = await watchStatements(() => engine.handle('DELETE', '/v1/notes/1'))
    assert.deepEqual(
      removal.sql.map(text => text.split(' ')[0]),
      ['select', 'delete'],
    )
    assert.equal((await engine.handle('DELETE', '/v1/notes/1')).status, 404)
    assert.equal((await put('fourth')).status, 404)
  })
})

describe('a write that waits for nothing', () => {
  const Note = () =>
    defineEntity({
      name: 'Note',
      properties: { id: p.integer().primary(), text: p.string().unique(), self: () => p.manyToOne('Note' as never).nullable() },
    } as never)

  it('is done before anything else can run', async () => {
    await using engine = await RestEngine.create({ entities: [Note()] })
    await engine.handle('POST', '/v1/notes', undefined, { text: 'first' })
    const { sql } = await watchStatements(() =>
      Promise.all(['a', 'b'].map(text => engine.handle('PUT', '/v1/notes/1', undefined, { text }))),
    )
    const ends = sql.map(text => text.split(' ')[0]).filter(word => word === 'begin' || word === 'commit')
    assert.deepEqual(ends, ['begin', 'commit', 'begin', 'commit'])
  })

  it('leaves nothing behind when it fails, and the next one finds all as it was', async () => {
    await using engine = await RestEngine.create({ entities: [Note()] })
    await engine.seed({ notes: [{ text: 'a' }, { text: 'b' }] })
    const put = (id: number, text: unknown) => engine.handle('PUT', `/v1/notes/${id}`, undefined, { text })
    assert.equal((await put(2, 'c')).status, 200)
    assert.equal((await put(2, 'a')).status, 409)
    await engine.orm.em
      .getConnection()
      .execute(`create trigger no_d before update on note when new.text = 'd' begin select raise(abort, 'no d'); end`)
    const refused = await put(2, 'd')
    assert.equal(refused.status, 422)
    assert.match(refused.body.detail, /no d/)
    assert.equal((await put(2, 'e')).body.note.text, 'e')
    assert.equal((await engine.handle('DELETE', '/v1/notes/1')).status, 200)
    const { body } = await engine.handle('GET', '/v1/notes')
    assert.deepEqual(
      body.notes.map(({ text }: Row) => text),
      ['e'],
    )
    assert.deepEqual(
      engine.requests.map(({ status, changes }) => [status, changes!.length]),
      [
        [200, 1],
        [409, 0],
        [422, 0],
        [200, 1],
        [200, 1],
        [200, 0],
      ],
    )
  })

  it('has no record of the one before it in memory', async () => {
    await using engine = await RestEngine.create({ entities: [Note()] })
    await engine.seed({ notes: [{ text: 'a' }] })
    const put = (text: string) => engine.handle('PUT', '/v1/notes/1', undefined, { text })
    await put('b')
    await engine.orm.em.getConnection().execute("update note set text = 'elsewhere'")
    assert.equal((await put('b')).body.note.text, 'b')
    await engine.orm.em.getConnection().execute('delete from note')
    assert.equal((await put('c')).status, 404)
  })

  it('tells a subscriber that comes after others of its kind', async () => {
    await using engine = await RestEngine.create({ entities: [Note()] })
    await engine.handle('POST', '/v1/notes', undefined, { text: 'a' })
    await engine.handle('PUT', '/v1/notes/1', undefined, { text: 'b' })
    const told: string[] = []
    engine.orm.em.getEventManager().registerSubscriber({
      beforeFlush: () => void told.push('flush'),
      afterUpdate: () => void told.push('update'),
      afterTransactionCommit: () => void told.push('commit'),
    })
    await engine.handle('PUT', '/v1/notes/1', undefined, { text: 'c' })
    assert.deepEqual(told, ['flush', 'update', 'flush', 'commit'])
  })

  it('lets what the code of a type asks meanwhile wait until it is committed', async () => {
    const asked: Promise<unknown>[] = []
    class Asking extends Type<string, string> {
      override convertToDatabaseValue(value: string): string {
        if (value === 'ask' && asked.length === 0) {
          asked.push(engine.handle('GET', '/v1/memos/1'))
          asked.push(engine.handle('PUT', '/v1/memos/1', undefined, { other: 'x' }))
        }
        return value
      }

      override getColumnType(): string {
        return 'text'
      }
    }
    const Memo = defineEntity({
      name: 'Memo',
      properties: { id: p.integer().primary(), text: p.type(Asking), other: p.string().nullable() },
    })
    await using engine = await RestEngine.create({ entities: [Memo] })
    await engine.handle('POST', '/v1/memos', undefined, { text: 'a' })
    await engine.handle('PUT', '/v1/memos/1', undefined, { text: 'b' })
    const { status } = await engine.handle('PUT', '/v1/memos/1', undefined, { text: 'ask' })
    assert.equal(status, 200)
    assert.ok(asked.length > 0)
    for (const answer of await Promise.all(asked)) assert.equal((answer as { status: number }).status, 200)
    assert.deepEqual((await engine.handle('GET', '/v1/memos/1')).body.memo, { id: 1, text: 'ask', other: 'x' })
  })

  it('refuses a record whose version has moved on since it was loaded', async () => {
    const Draft = defineEntity({
      name: 'Draft',
      properties: { id: p.integer().primary(), text: p.string(), version: p.integer().version() },
    })
    const connection = await connectionFor([Draft])
    await connection.orm.em.getConnection().execute("insert into draft (text, version) values ('a', 1)")
    const writing = async () =>
      connection.write(async em => {
        const draft = (await connection.load(Draft, 1, em)) as Row
        const sql = em.getConnection() as unknown as { execute: (...given: unknown[]) => Promise<unknown> }
        await sql.execute('update draft set version = 2', [], 'run', em.getTransactionContext())
        draft['text'] = 'b'
        await em.flush()
      })
    await assert.rejects(writing, { name: 'OptimisticLockError' })
    assert.deepEqual(await connection.orm.em.getConnection().execute('select * from draft'), [{ id: 1, text: 'a', version: 1 }])
    await connection.close()
  })

  it('gives a new record that links itself its key first', async () => {
    const notes = Note()
    const connection = await connectionFor([notes])
    await connection.orm.em.getConnection().execute('select 1')
    await connection.write(em => {
      const note = em.create(notes, { text: 'a' } as never) as unknown as Row
      note['self'] = note
      return em.flush()
    })
    assert.deepEqual(await connection.orm.em.getConnection().execute('select id, self_id from note'), [{ id: 1, self_id: 1 }])
    await connection.close()
  })
})

describe('what runs while the unit of work is flushed', () => {
  /** A log whose entry is changed by whatever looks at a note. */
  const entities = (properties: object, hooks: object = {}) => {
    const Log = defineEntity({ name: 'Log', properties: { id: p.integer().primary(), text: p.string() } })
    const Note = defineEntity({
      name: 'Note',
      hooks,
      properties: { id: p.integer().primary(), text: p.string(), ...properties, log: () => p.manyToOne(Log).eager() },
    } as never)
    return [Log, Note]
  }
  const setLog = (note: Row, text: string): void => {
    ;(note['log'] as Row)['text'] = text
  }

  async function logAfter(method: 'PUT' | 'DELETE', engine: RestEngine): Promise<unknown> {
    await engine.seed({ logs: [{ id: 1, text: 'before' }], notes: [{ id: 1, text: 'a', log: 1 }] })
    const { status } = await engine.handle(method, '/v1/notes/1', undefined, method === 'PUT' ? { text: 'b' } : undefined)
    assert.equal(status, 200)
    return (await engine.handle('GET', '/v1/logs/1')).body.log.text
  }

  it('may change another entity in a hook', async () => {
    const hooks = { afterUpdate: [({ entity }: { entity: Row }) => setLog(entity, 'hooked')] }
    await using engine = await RestEngine.create({ entities: entities({}, hooks) as never })
    assert.equal(await logAfter('PUT', engine), 'hooked')
  })

  it('may change another entity in a hook of a removal', async () => {
    const hooks = { beforeDelete: [({ entity }: { entity: Row }) => setLog(entity, `gone: ${String(entity['text'])}`)] }
    await using engine = await RestEngine.create({ entities: entities({}, hooks) as never })
    assert.equal(await logAfter('DELETE', engine), 'gone: a')
  })

  it('may change another entity in a subscriber that comes later', async () => {
    await using engine = await RestEngine.create({ entities: entities({}) as never })
    engine.orm.em.getEventManager().registerSubscriber({
      afterUpdate: ({ entity }) => {
        if ('log' in entity) setLog(entity, 'subscribed')
      },
    })
    assert.equal(await logAfter('PUT', engine), 'subscribed')
  })

  it('is a subscriber of a removal that looks at what the record held', async () => {
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })
    await using engine = await RestEngine.create({ entities: [Note] })
    const held: unknown[] = []
    engine.orm.em.getEventManager().registerSubscriber({ beforeDelete: ({ entity }) => void held.push((entity as Row)['text']) })
    await engine.handle('POST', '/v1/notes', undefined, { text: 'a' })
    await engine.handle('DELETE', '/v1/notes/1')
    assert.deepEqual(held, ['a'])
  })

  it('is a removal of what goes with the record', async () => {
    const Log = defineEntity({ name: 'Log', properties: { id: p.integer().primary(), text: p.string() } })
    const log = () => p.manyToOne(Log).cascade(Cascade.REMOVE)
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string(), log } })
    await using engine = await RestEngine.create({ entities: [Log, Note] })
    await engine.seed({ logs: [{ id: 1, text: 'a' }], notes: [{ id: 1, text: 'a', log: 1 }] })
    assert.equal((await engine.handle('DELETE', '/v1/notes/1')).status, 200)
    assert.equal((await engine.handle('GET', '/v1/logs')).body.count, 0)
  })

  it('may change another entity in onUpdate, though that has been looked at already', async () => {
    const Log = defineEntity({
      name: 'Log',
      properties: {
        id: p.integer().primary(),
        text: p.string(),
        touched: p
          .integer()
          .nullable()
          .onUpdate((_log: object, em: EntityManager) => {
            for (const entity of em.getUnitOfWork().getIdentityMap()) if ('log' in entity) (entity as Row)['text'] = 'touched'
            return 1
          }),
      },
    })
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string(), log: () => p.manyToOne(Log) } })
    await using engine = await RestEngine.create({ entities: [Log, Note] })
    await engine.seed({ logs: [{ id: 1, text: 'before' }], notes: [{ id: 1, text: 'a', log: 1 }] })
    await engine.handle('PUT', '/v1/notes/1/log', undefined, { text: 'after' })
    assert.equal((await engine.handle('GET', '/v1/notes/1')).body.note.text, 'touched')
  })

  it('goes with a subscriber of the request, which ends with it', async () => {
    let seen = 0
    const hooks = {
      beforeUpdate: [
        ({ em }: { em: EntityManager }) =>
          em.getEventManager().registerSubscriber({
            afterFlush: () => {
              seen++
            },
          }),
      ],
    }
    await using engine = await RestEngine.create({ entities: entities({}, hooks) as never })
    await logAfter('PUT', engine)
    assert.ok(seen > 0)
    const before = seen
    await engine.handle('POST', '/v1/logs', undefined, { text: 'another' })
    assert.equal(seen, before)
  })
})

describe('a transaction of the unit of work', () => {
  const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })

  it('is a transaction of Kysely', async () => {
    await using engine = await RestEngine.create({ entities: [Note] })
    const orm = engine.orm as unknown as MikroORM
    await orm.em.fork().transactional(async em => {
      em.create(Note, { text: 'a' })
      await em.flush()
      const kysely = em.getKysely() as never as {
        selectFrom: (table: string) => { selectAll: () => { execute: () => Promise<unknown[]> } }
      }
      assert.deepEqual(await kysely.selectFrom('note').selectAll().execute(), [{ id: 1, text: 'a' }])
    })
    const em = orm.em.fork()
    await em.begin()
    const ended = em.getTransactionContext()!
    await em.commit()
    await assert.rejects(em.getConnection().execute('select 1', [], 'all', ended), /already committed/i)
  })

  it('lets other statements wait while rows are streamed in it', async () => {
    await using engine = await RestEngine.create({ entities: [Note] })
    await engine.seed({ notes: [{ text: 'a' }, { text: 'b' }] })
    const orm = engine.orm as unknown as MikroORM
    await orm.em.fork().transactional(async em => {
      const order: string[] = []
      const waiting: Promise<unknown>[] = []
      for await (const { text } of em.stream(Note)) {
        order.push(text)
        if (waiting.length === 0) waiting.push(em.nativeUpdate(Note, {}, { text: 'c' }).then(() => order.push('updated')))
      }
      await Promise.all(waiting)
      assert.deepEqual(order, ['a', 'b', 'updated'])
    })
    assert.equal((await engine.handle('GET', '/v1/notes', { text: 'c' })).body.count, 2)
  })
})
