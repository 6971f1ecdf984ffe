/**
 * Snapshot, restore, reset and fork: the state of an engine's world is taken, brought back and copied, on real databases in memory and in
 * files.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/sqlite'
import Database from 'better-sqlite3'
import { contentsOf } from '../../lib/engine/worlds/snapshot.ts'
import { RestEngine, auth, resource } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import type { SqliteImage } from '../../lib/databases/sqlite/content.ts'
import { cheapHash } from '../helpers/cheap-hash.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string().unique(),
    password: p.string().hidden().nullable(),
    notes: () => p.oneToMany(Note).mappedBy('user'),
  },
})
const Note = defineEntity({
  name: 'Note',
  filters: { named: { name: 'named', cond: { text: { $ne: 'filtered' } } } },
  properties: { id: p.integer().primary(), text: p.string(), user: () => p.manyToOne(User) },
})
const Thing = defineEntity({ name: 'Thing', properties: { id: p.integer().primary(), label: p.string() } })

const directory = mkdtempSync(join(tmpdir(), 'mikro-rest-worlds-'))
process.once('exit', () => rmSync(directory, { recursive: true }))
let files = 0

const SEED = {
  users: [
    { id: 1, name: 'Ann' },
    { id: 2, name: 'Bob' },
  ],
  notes: [{ id: 7, text: 'first', user: 1 }],
}

async function usersOf(engine: RestEngine): Promise<string[]> {
  const { body } = await engine.handle('GET', '/v1/users', { depth: 0 })
  return (body as { users: { id: number; name: string }[] }).users.map(({ id, name }) => `${id} ${name}`)
}

async function add(engine: RestEngine, name: string): Promise<number> {
  const { status, body } = await engine.handle('POST', '/v1/users', undefined, { name })
  assert.equal(status, 200, JSON.stringify(body))
  return (body as { user: { id: number } }).user.id
}

/** Everything that is stored, byte for byte as SQLite sees it. */
async function bytesOf(engine: RestEngine): Promise<string> {
  return Buffer.from((contentsOf(await engine.snapshot()).image as SqliteImage).bytes).toString('base64')
}

for (const kind of ['memory', 'file'] as const) {
  const create = (options: Partial<EngineOptions> = {}): Promise<RestEngine> =>
    RestEngine.create({
      entities: [User, Note],
      seed: SEED,
      ...(kind === 'file' ? { database: join(directory, `${++files}.sqlite`) } : {}),
      ...options,
    })

  describe(`worlds (${kind})`, () => {
    it('goes back to a snapshot, any number of times, IDs too', async () => {
      await using engine = await create()
      await add(engine, 'Cid')
      const snapshot = await engine.snapshot()
      for (let round = 0; round < 3; round++) {
        assert.equal(await add(engine, 'Dora'), 4)
        await engine.handle('DELETE', '/v1/notes/7')
        await engine.handle('PUT', '/v1/users/1', undefined, { name: 'Anna' })
        await engine.restore(snapshot)
        assert.deepEqual(await usersOf(engine), ['1 Ann', '2 Bob', '3 Cid'])
        assert.equal((await engine.handle('GET', '/v1/notes/7')).status, 200)
      }
    })

    it('resets to the state after the seed; IDs go on as after the seed', async () => {
      await using engine = await create()
      assert.equal(await add(engine, 'Cid'), 3)
      await engine.handle('DELETE', '/v1/users/3')
      assert.equal(await add(engine, 'Dora'), 4, 'an ID is not given twice in one life')
      await engine.reset()
      assert.deepEqual(await usersOf(engine), ['1 Ann', '2 Bob'])
      assert.equal(await add(engine, 'Eve'), 3)
    })

    it('resets what was written through MikroORM, and by plain SQL', async () => {
      await using engine = await create()
      await engine.orm.em.getConnection().execute("insert into user (name) values ('raw') returning id")
      await engine.reset()
      assert.deepEqual(await usersOf(engine), ['1 Ann', '2 Bob'])
      const em = engine.orm.em.fork()
      em.create(User, { name: 'Orm' })
      await em.flush()
      assert.deepEqual(await usersOf(engine), ['1 Ann', '2 Bob', '3 Orm'])
      await engine.reset()
      assert.deepEqual(await usersOf(engine), ['1 Ann', '2 Bob'])
      assert.equal(await engine.orm.em.fork().count(User), 2, 'MikroORM works on the data that was put back')
    })

    it('restores a snapshot that is older than the first write, and resets after it', async () => {
      await using engine = await create()
      const empty = await engine.snapshot()
      await add(engine, 'Cid')
      const later = await engine.snapshot()
      await engine.restore(empty)
      await engine.restore(later)
      assert.deepEqual(await usersOf(engine), ['1 Ann', '2 Bob', '3 Cid'])
      await engine.reset()
      assert.deepEqual(await usersOf(engine), ['1 Ann', '2 Bob'])
    })

    it('forks an independent engine: data, IDs, clock', async () => {
      await using engine = await create()
      await add(engine, 'Cid')
      engine.clock.set('2030-01-01T00:00:00Z')
      await using world = await engine.fork()
      assert.equal(world.clock.now().toISOString(), '2030-01-01T00:00:00.000Z')
      world.clock.advance('1d')
      assert.equal(engine.clock.now().toISOString(), '2030-01-01T00:00:00.000Z')
      const before = await bytesOf(engine)
      assert.equal(await add(world, 'Dora'), 4)
      await world.handle('DELETE', '/v1/notes/7')
      assert.equal(await bytesOf(engine), before, 'a write of the fork leaves the parent as it was, byte for byte')
      assert.equal(await add(engine, 'Eve'), 4)
      assert.deepEqual(await usersOf(world), ['1 Ann', '2 Bob', '3 Cid', '4 Dora'])
      assert.deepEqual(await usersOf(engine), ['1 Ann', '2 Bob', '3 Cid', '4 Eve'])
      await world.reset()
      assert.deepEqual(await usersOf(world), ['1 Ann', '2 Bob', '3 Cid'], 'a fork is reset to the state in which it was forked')
      assert.equal(world.clock.now().toISOString(), '2030-01-01T00:00:00.000Z')
    })

    it('gives a fork its own MikroORM, with the same entities', async () => {
      await using engine = await create()
      await using world = await engine.fork()
      const em = world.orm.em.fork()
      em.create(User, { name: 'Orm', notes: [] })
      await em.flush()
      assert.equal(await world.orm.em.fork().count(User), 3)
      assert.equal(await engine.orm.em.fork().count(User), 2)
      assert.equal(world.orm.getMetadata(), engine.orm.getMetadata())
      assert.equal(world.orm.getMetadata(User).className, 'User')
    })

    it('forks outlive their parent', async () => {
      const engine = await create()
      const world = await engine.fork()
      await engine.close()
      await using _ = world
      assert.equal(await add(world, 'Cid'), 3)
      await using grandchild = await world.fork()
      assert.equal(await add(grandchild, 'Dora'), 4)
      assert.deepEqual(await usersOf(world), ['1 Ann', '2 Bob', '3 Cid'])
    })

    it('keeps 200 forks apart that are written at once', async () => {
      await using engine = await create()
      const worlds = await Promise.all(Array.from({ length: 200 }, () => engine.fork()))
      await Promise.all(
        worlds.map((world, index) => Promise.all(Array.from({ length: (index % 4) + 1 }, (_, n) => add(world, `${index}-${n}`)))),
      )
      const users = await Promise.all(worlds.map(usersOf))
      for (const [index, names] of users.entries()) {
        const own = Array.from({ length: (index % 4) + 1 }, (_, n) => `${index}-${n}`)
        // Which of the writes to one world comes first is not promised.
        assert.deepEqual(
          names.map(name => name.split(' ')[0]),
          ['1', '2', ...own.map((_, n) => `${n + 3}`)],
        )
        assert.deepEqual(new Set(names.map(name => name.split(' ')[1])), new Set(['Ann', 'Bob', ...own]))
      }
      assert.deepEqual(await usersOf(engine), ['1 Ann', '2 Bob'])
      await Promise.all(worlds.map(world => world.close()))
    })

    it('puts the clock back', async () => {
      await using engine = await create({ clock: () => new Date('2026-03-01T00:00:00Z') })
      engine.clock.advance('1h')
      const snapshot = await engine.snapshot()
      engine.clock.set('2040-01-01T00:00:00Z')
      await engine.restore(snapshot)
      assert.equal(engine.clock.now().toISOString(), '2026-03-01T01:00:00.000Z')
      await engine.reset()
      assert.equal(engine.clock.now().toISOString(), '2026-03-01T00:00:00.000Z')
    })

    it('cuts off what still runs when the data is replaced', async () => {
      const entered = Promise.withResolvers<void>()
      const go = Promise.withResolvers<void>()
      await using engine = await create({
        resources: [
          resource(User, {
            update: async (_ctx, next) => next(),
            access: async (_ctx, action) => {
              if (action === 'create') {
                entered.resolve()
                await go.promise
              }
              return true
            },
          }),
        ],
      })
      const late = engine.handle('POST', '/v1/users', undefined, { name: 'Late' })
      const rejected = assert.rejects(late, { code: 'ECONNRESET', message: /engine\.reset\(\)/ })
      await entered.promise
      await engine.reset()
      go.resolve()
      await rejected
      assert.deepEqual(engine.requests, [], 'it belongs to the journal before')
      assert.deepEqual(await usersOf(engine), ['1 Ann', '2 Bob'])
      assert.equal(engine.requests.length, 1)
      await using world = await engine.fork()
      assert.deepEqual(world.requests, [], 'a fork has a journal of its own')
    })

    it('waits for a write that is under way, and takes its outcome', async () => {
      await using engine = await create({
        resources: [
          resource(User, {
            create: async (_ctx, next) => {
              const answer = await next()
              await setTimeout(20)
              return answer
            },
          }),
        ],
      })
      const writing = add(engine, 'Slow')
      await setTimeout(5)
      const world = await engine.fork()
      assert.deepEqual(await usersOf(world), ['1 Ann', '2 Bob', '3 Slow'])
      await writing
      await world.close()
    })

    it('refuses inside a write, in clear words', async () => {
      const refused: string[] = []
      let engine: RestEngine | undefined
      engine = await create({
        resources: [
          resource(User, {
            create: async (_ctx, next) => {
              for (const call of [() => engine!.snapshot(), () => engine!.reset(), () => engine!.fork()]) {
                await call().catch((error: Error) => refused.push(error.message))
              }
              return next()
            },
          }),
        ],
      })
      await add(engine, 'Cid')
      assert.equal(refused.length, 3)
      for (const message of refused) assert.match(message, /not possible inside a write/)
      await engine.close()
    })

    it('takes snapshots of its own model only', async () => {
      await using engine = await create()
      await using twin = await RestEngine.create({ entities: [User, Note] })
      await using other = await RestEngine.create({ entities: [User, Note, Thing] })
      await add(engine, 'Cid')
      await twin.restore(await engine.snapshot())
      assert.deepEqual(await usersOf(twin), ['1 Ann', '2 Bob', '3 Cid'])
      const before = await bytesOf(engine)
      await assert.rejects(engine.restore(await other.snapshot()), {
        name: 'TypeError',
        message: 'engine.restore: the snapshot is of another model, which differs in thing.',
      })
      for (const wrong of [undefined, null, {}, Buffer.alloc(10)])
        await assert.rejects(engine.restore(wrong as never), { name: 'TypeError', message: /not a snapshot/ })
      assert.equal(await bytesOf(engine), before)
    })

    it('does nothing after close', async () => {
      const engine = await create()
      const snapshot = await engine.snapshot()
      await engine.close()
      for (const call of [() => engine.snapshot(), () => engine.restore(snapshot), () => engine.reset(), () => engine.fork()]) {
        await assert.rejects(call(), { message: 'The engine is closed.' })
      }
    })
  })
}

describe('worlds with log-in', () => {
  it('gives each its own revoked tokens and failed log-ins, and one key', async () => {
    await using engine = await RestEngine.create({
      entities: [User, Note],
      auth: auth({ entity: User, identifier: 'name' }),
      seed: { users: [{ id: 1, name: 'Ann', password: cheapHash('secret') }] },
    })
    const headers = { authorization: `Bearer ${engine.token(1)}` }
    const status = async (of: RestEngine): Promise<number> =>
      (await of.handle('GET', '/v1/users', undefined, undefined, { headers })).status
    await using world = await engine.fork()
    assert.deepEqual(world.publicKey, engine.publicKey)
    assert.equal((await world.handle('POST', '/v1/logout', undefined, {}, { headers })).status, 200)
    assert.deepEqual([await status(engine), await status(world)], [200, 401])
    await using second = await world.fork()
    assert.equal(await status(second), 401, 'a fork takes over what is revoked')
    await world.reset()
    assert.equal(await status(world), 200)
    for (let failed = 0; failed < 5; failed++) await world.handle('POST', '/v1/login', undefined, { name: 'Ann', password: 'wrong' })
    const logIn = async (of: RestEngine): Promise<number> =>
      (await of.handle('POST', '/v1/login', undefined, { name: 'Ann', password: 'secret' })).status
    assert.deepEqual([await logIn(world), await logIn(engine)], [429, 200])
    await world.reset()
    assert.equal(await logIn(world), 200)
  })
})

describe('a file that others use', () => {
  it("is restored under SQLite's locks, and seen whole by another connection", async () => {
    const database = join(directory, 'shared.sqlite')
    await using engine = await RestEngine.create({ entities: [User, Note], database, seed: SEED })
    const other = new Database(database)
    const count = other.prepare('select count(*) from user').pluck()
    const snapshot = await engine.snapshot()
    await add(engine, 'Cid')
    assert.equal(count.get(), 3)
    await engine.restore(snapshot)
    assert.equal(count.get(), 2)
    other.exec("insert into user (name) values ('Other')")
    assert.deepEqual(await usersOf(engine), ['1 Ann', '2 Bob', '3 Other'])
    const world = await engine.fork()
    assert.deepEqual(await usersOf(world), ['1 Ann', '2 Bob', '3 Other'], 'a fork has what others have written')
    await world.close()
    await engine.reset()
    assert.equal(count.get(), 2)
    other.close()
  })
})
