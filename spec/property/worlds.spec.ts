/**
 * Worlds as a whole: random commands (create, change, delete, link, snapshot, restore, fork, reset, fail, hold and release, clock) on a
 * family of engines, against a model that is no more than maps in memory.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import * as fc from 'fast-check'
import type { RestEngine } from '../../lib/index.ts'
import type { RestResponse, Snapshot } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const User = defineEntity({
  name: 'User',
  properties: { id: p.integer().primary(), name: p.string().unique(), notes: () => p.oneToMany(Note).mappedBy('user') },
})
const Note = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.string(), user: () => p.manyToOne(User).nullable() },
})

/** What is stored, and how IDs go on. */
interface Data {
  users: Map<number, string>
  notes: Map<number, { text: string; user: number | null }>
  lastUser: number
  lastNote: number
  /** Milliseconds at which the clock stands. */
  time: number
}

/** A world as the model has it, with the engine that must behave like it. */
interface Twin {
  readonly engine: RestEngine
  data: Data
  readonly origin: Data
  /** Requests that still fail. */
  failing: number
}

interface Kept {
  readonly snapshot: Snapshot
  readonly data: Data
}

const START = Date.UTC(2026, 0, 1)
const SEED = {
  users: [
    { id: 1, name: 'u1' },
    { id: 2, name: 'u2' },
  ],
  notes: [{ id: 1, text: 'n1', user: 1 }],
}

function copy({ users, notes, ...others }: Data): Data {
  return { ...others, users: new Map(users), notes: new Map([...notes].map(([id, note]) => [id, { ...note }])) }
}

type Command =
  | { readonly do: 'createUser' | 'renameUser'; readonly world: number; readonly user: number; readonly name: string }
  | { readonly do: 'deleteUser' | 'createNote'; readonly world: number; readonly user: number }
  | { readonly do: 'link'; readonly world: number; readonly user: number; readonly note: number }
  | { readonly do: 'deleteNote'; readonly world: number; readonly note: number }
  | { readonly do: 'snapshot' | 'reset' | 'fork' | 'close' | 'held' | 'heldReset'; readonly world: number }
  | { readonly do: 'restore'; readonly world: number; readonly snapshot: number }
  | { readonly do: 'fail'; readonly world: number; readonly times: number }
  | { readonly do: 'advance'; readonly world: number; readonly ms: number }

const world = fc.nat(5)
const user = fc.integer({ min: 1, max: 6 })
const note = fc.integer({ min: 1, max: 6 })
const name = fc.constantFrom('u1', 'u2', 'a', 'b', 'c', 'd')
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('createUser', 'renameUser'), world, user, name }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('deleteUser', 'createNote'), world, user }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('link'), world, user, note }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deleteNote'), world, note }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('snapshot', 'reset', 'fork', 'close', 'held', 'heldReset'), world }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restore'), world, snapshot: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail'), world, times: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('advance'), world, ms: fc.nat(1e9) }) },
)

class Family {
  readonly twins: Twin[] = []
  readonly kept: Kept[] = []

  async run(command: Command): Promise<void> {
    const twin = this.twins[command.world % this.twins.length]!
    const { engine, data } = twin
    switch (command.do) {
      case 'createUser':
        return this.#asked(twin, engine.handle('POST', '/v1/users', undefined, { name: command.name }), () =>
          createUser(data, command.name),
        )
      case 'renameUser':
        return this.#asked(twin, engine.handle('PUT', `/v1/users/${command.user}`, undefined, { name: command.name }), () => {
          if (!data.users.has(command.user)) return 404
          if ([...data.users].some(([id, other]) => other === command.name && id !== command.user)) return 409
          data.users.set(command.user, command.name)
          return 200
        })
      case 'deleteUser':
        return this.#asked(twin, engine.handle('DELETE', `/v1/users/${command.user}`), () => {
          if (!data.users.delete(command.user)) return 404
          for (const one of data.notes.values()) if (one.user === command.user) one.user = null
          return 200
        })
      case 'createNote':
        return this.#asked(twin, engine.handle('POST', '/v1/notes', undefined, { text: 'new', user: command.user }), () => {
          if (!data.users.has(command.user)) return 422
          data.notes.set(++data.lastNote, { text: 'new', user: command.user })
          return 200
        })
      case 'link':
        return this.#asked(twin, engine.handle('PUT', `/v1/notes/${command.note}/user`, undefined, command.user), () => {
          const linked = data.notes.get(command.note)
          if (linked === undefined) return 404
          if (!data.users.has(command.user)) return 422
          linked.user = command.user
          return 200
        })
      case 'deleteNote':
        return this.#asked(twin, engine.handle('DELETE', `/v1/notes/${command.note}`), () => (data.notes.delete(command.note) ? 200 : 404))
      case 'snapshot':
        this.kept.push({ snapshot: await engine.snapshot(), data: copy(data) })
        return
      case 'restore': {
        const kept = this.kept[command.snapshot % Math.max(1, this.kept.length)]
        if (kept === undefined) return
        await engine.restore(kept.snapshot)
        twin.data = copy(kept.data)
        return
      }
      case 'reset':
        await engine.reset()
        twin.data = copy(twin.origin)
        twin.failing = 0
        return
      case 'fork':
        if (this.twins.length < 6) this.twins.push({ engine: await engine.fork(), data: copy(data), origin: copy(data), failing: 0 })
        return
      case 'close':
        if (this.twins.length === 1) return
        this.twins.splice(this.twins.indexOf(twin), 1)
        return engine.close()
      case 'fail':
        // One fault at a time, so that the model stays a number.
        if (twin.failing > 0) return
        engine.fail('*', { status: 503, times: command.times })
        twin.failing = command.times
        return
      case 'advance':
        engine.clock.advance(command.ms)
        data.time += command.ms
        return
      case 'held':
      case 'heldReset':
        return this.#held(twin, command.do === 'heldReset')
    }
  }

  /** A request that is held changes nothing until it is let go; a reset loses it. */
  async #held(twin: Twin, byReset: boolean): Promise<void> {
    if (twin.failing > 0) return
    const gate = twin.engine.hold('POST /v1/users')
    const asked = twin.engine.handle('POST', '/v1/users', undefined, { name: 'held' })
    const lost = asked.then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code,
    )
    await gate.arrived
    await compare(twin)
    if (byReset) {
      await this.run({ do: 'reset', world: this.twins.indexOf(twin) })
      assert.equal(await lost, 'ECONNRESET')
    } else {
      gate.release()
      await this.#asked(twin, asked, () => createUser(twin.data, 'held'))
    }
  }

  async #asked(twin: Twin, answer: Promise<RestResponse>, expected: () => number): Promise<void> {
    const { status, body } = await answer
    if (twin.failing > 0) {
      twin.failing--
      assert.equal(status, 503)
      return
    }
    assert.equal(status, expected(), JSON.stringify(body))
  }
}

function createUser(data: Data, called: string): number {
  if ([...data.users.values()].includes(called)) return 409
  data.users.set(++data.lastUser, called)
  return 200
}

async function compare({ engine, data, failing }: Twin): Promise<void> {
  if (failing > 0) return
  const users = (await engine.handle('GET', '/v1/users', { depth: 1 })).body as {
    timestamp: string
    users: { id: number; name: string; notes: number[] }[]
  }
  const notes = (await engine.handle('GET', '/v1/notes')).body as { notes: object[] }
  assert.deepEqual(
    users.users,
    [...data.users]
      .toSorted(([a], [b]) => a - b)
      .map(([id, called]) => ({ id, name: called, notes: [...data.notes].filter(([, one]) => one.user === id).map(([key]) => key) })),
  )
  assert.deepEqual(
    notes.notes,
    [...data.notes].map(([id, one]) => ({ id, ...one })),
  )
  assert.equal(users.timestamp, new Date(data.time).toISOString())
}

describeStores('worlds', () => {
  it('are what a few maps in memory would be', async () => {
    const property = fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 40 }), async commands => {
      const engine = await createEngine({ entities: [User, Note], seed: SEED, clock: () => new Date(START) })
      const data: Data = {
        users: new Map([
          [1, 'u1'],
          [2, 'u2'],
        ]),
        notes: new Map([[1, { text: 'n1', user: 1 }]]),
        lastUser: 2,
        lastNote: 1,
        time: START,
      }
      const family = new Family()
      family.twins.push({ engine, data, origin: copy(data), failing: 0 })
      try {
        for (const one of commands) {
          await family.run(one)
          // Every world, not only the one that was spoken to.
          for (const twin of family.twins) await compare(twin)
        }
      } finally {
        for (const twin of family.twins) await twin.engine.close()
      }
    })
    await check(property, { label: 'worlds', runs: 150 })
  })
})
