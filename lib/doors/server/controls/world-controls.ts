/** The test controls for a world's state, clock and tokens, for snapshots and the changes since, and for the list of worlds. */
import { internalsOf } from '../../../engine/assembly/internals.ts'
import { nameSnapshot, type RequestPoint } from '../../../engine/worlds/snapshot.ts'
import { checkNames } from '../../../foundation/base/suggest.ts'
import { restError } from '../../../foundation/errors/errors.ts'
import { isObject } from '../../../foundation/json/json.ts'
import { blameBody, control, invalid, readObject, type Control, checkWorldName, optionalObject, unknownId } from './control.ts'
import type { NamedWorld, NamedSnapshot } from './worlds.ts'

export function worldControls(): Control[] {
  return [...ofState(), ...ofClock(), ...ofWorlds()]
}

function ofState(): Control[] {
  return [
    control('POST /reset', 'goes back to the state after the seed', async ({ world }) => world.engine.reset()),
    control('POST /scenario', 'begins a scenario: { "name": "vip" }', async ({ world, body }) => {
      const { name, ...others } = readObject(body, '{ "name": "vip" }')
      blameBody(() => checkNames(others, [], 'the body'))
      await blameBody(async () => world.engine.scenario(name as string))
      return { scenario: name }
    }),
    control('POST /seed', 'loads records by resource name: { "users": [{ "name": "Ann" }] }', async ({ world, body }) => {
      await world.engine.seed(readObject(body, '{ "users": [{ "name": "Ann" }] }') as Record<string, object[]>)
    }),
    control(
      'POST /given',
      'makes up records: { "resource": "order", "overrides": { ... }, "seed": 7, "count": 3 }',
      async ({ world, body }) => {
        const { resource, overrides = {}, count, ...options } = readObject(body, '{ "resource": "order" }')
        if (typeof resource !== 'string') throw invalid('"resource" must be the name of a resource.')
        if (!isObject(overrides)) throw invalid('"overrides" must be an object of attributes.')
        const give = (): Promise<unknown> => internalsOf(world.engine).give(resource, overrides, options, count as number | undefined)
        return blameBody(async () => ({ resource, [resource]: await give() }))
      },
    ),
    control('POST /token', 'mints a token: { "user": 1, "ttl": 60 }', ({ world, body }) => {
      const { user, ...options } = readObject(body, '{ "user": 1 }')
      return { auth_token: blameBody(() => world.engine.token(user, options as { ttl?: number })) }
    }),
  ]
}

function ofClock(): Control[] {
  return [
    control('GET /clock', 'the time of the world, and whether it stands still', ({ world }) => showClock(world)),
    control(
      'POST /clock',
      'sets or advances the time: { "set": "2026-01-01T00:00:00Z" }, { "advance": "31d" }, { "reset": true }',
      ({ world, body }) => {
        setClock(world, readObject(body, '{ "advance": "31d" }'))
        return showClock(world)
      },
    ),
  ]
}

function ofWorlds(): Control[] {
  return [
    control('GET /worlds', 'the worlds: their size, what they have begun with, and when they were last used', async ({ worlds }) => ({
      worlds: await worlds.list(),
    })),
    control(
      'POST /worlds',
      'makes a world: { "name": "a" }; of the present state of another one: { "name": "b", "from": "a" }',
      async ({ worlds, world, worldName, body }) => {
        const { name, from, ...others } = readObject(body, '{ "name": "a" }')
        blameBody(() => checkNames(others, [], 'the body'))
        const newName = checkWorldName(name, '"name"')
        const origin = from === undefined ? { world, name: worldName } : await worlds.known(checkWorldName(from, '"from"'))
        return { world: await worlds.describe(newName, await worlds.copy(newName, origin)) }
      },
    ),
    control('DELETE /worlds/{id}', 'closes a world', async ({ worlds, id }) => {
      if (!worlds.names.includes(id)) throw restError('path_unknown', `There is no world "${id}".`)
      await worlds.drop(id)
    }),
    control(
      'DELETE /world',
      'closes the world that the request names; the next request that names it begins a new one',
      async ({ worldName, worlds }) => {
        if (worldName === undefined) throw invalid("Name the world to close in the header X-World: the server's own one stays.")
        await worlds.drop(worldName)
      },
    ),
  ]
}

function showClock({ engine: { clock } }: NamedWorld): object {
  return { now: clock.now().toISOString(), frozen: clock.setting.frozen !== undefined }
}

function setClock({ engine: { clock } }: NamedWorld, body: Record<string, unknown>): void {
  blameBody(() => checkNames(body, ['set', 'advance', 'reset'], 'the body'))
  if (Object.keys(body).length !== 1) throw invalid('Give one of "set", "advance" and "reset".')
  const { set, advance, reset } = body
  if (reset !== undefined) {
    if (reset !== true) throw invalid('"reset" must be true.')
    clock.reset()
  } else if (advance === undefined) {
    if (typeof set !== 'string' && typeof set !== 'number') throw invalid('"set" must be a date, such as "2026-01-01T00:00:00Z".')
    blameBody(() => clock.set(set))
  } else {
    if (typeof advance !== 'string' && typeof advance !== 'number')
      throw invalid('"advance" must be a duration, such as "31d" or a number of milliseconds.')
    blameBody(() => clock.advance(advance))
  }
}

const MAX_SNAPSHOTS = 100
const MAX_BYTES = 512 << 20
const MAX_CHANGES = 1000

export function snapshotControls(): Control[] {
  return [
    control('GET /snapshots', 'the snapshots of the world', ({ world }) => ({
      snapshots: [...world.snapshots].map(([id, snapshot]) => describe(id, snapshot)),
    })),
    control(
      'POST /snapshots',
      'takes the state: gives its ID; { "name": "before" } calls it so, in the place of one of that name',
      async ({ world, body }) => {
        const { name } = optionalObject(body, ['name'], '{ "name": "before" }')
        const id = name === undefined ? world.freeName() : checkWorldName(name, '"name"')
        return { id, snapshot: describe(id, await take(world, id)) }
      },
    ),
    control('POST /snapshots/{id}/restore', 'goes back to a snapshot', async ({ world, id }) =>
      world.engine.restore(find(world, id).snapshot),
    ),
    control(
      'POST /restore',
      'goes back to the state before a request: { "before": 7 }; { "undo": [7, 8] } where these alone have changed data since',
      async ({ world, body }) => {
        const { before, undo, ...others } = readObject(body, '{ "before": 7 }')
        blameBody(() => checkNames(others, [], 'the body'))
        const point = undo === undefined ? { before } : { undo, ...(before === undefined ? {} : { before }) }
        await blameBody(async () => world.engine.restore(point as RequestPoint))
      },
    ),
    control(
      'GET /snapshots/{id}/changes',
      'which records have become others since a snapshot; ?to=ID up to another one',
      async ({ world, id, query }) => {
        const to = query.get('to')
        const [before, after] = [find(world, id).snapshot, to === null ? undefined : find(world, to).snapshot]
        const changes = await world.engine.difference(before, after)
        return { count: changes.length, changes: changes.slice(0, MAX_CHANGES) }
      },
      ['to'],
    ),
    control('DELETE /snapshots/{id}', 'forgets a snapshot', ({ world, id }) => {
      find(world, id)
      world.snapshots.delete(id)
    }),
    control('DELETE /snapshots', 'forgets all snapshots', ({ world }) => world.snapshots.clear()),
  ]
}

async function take(world: NamedWorld, id: string): Promise<NamedSnapshot> {
  const others = [...world.snapshots].filter(([name]) => name !== id).map(([, { snapshot }]) => snapshot)
  if (others.length >= MAX_SNAPSHOTS)
    throw invalid(`This world has ${MAX_SNAPSHOTS} snapshots, as many as it may: forget some (DELETE /_test/snapshots/{id}).`)
  const { engine } = world
  const at = engine.clock.now().toISOString()
  const { last } = world
  const snapshot = await engine.snapshot()
  if (others.reduce((sum, { size }) => sum + size, snapshot.size) > MAX_BYTES)
    throw invalid(`The snapshots of this world would have more than ${MAX_BYTES >> 20} MiB: forget some (DELETE /_test/snapshots/{id}).`)
  nameSnapshot(snapshot, id)
  const named = { snapshot, at, last }
  world.snapshots.set(id, named)
  return named
}

function find(world: NamedWorld, id: string): NamedSnapshot {
  const found = world.snapshots.get(id)
  if (found === undefined) throw unknownId(id, 'snapshot', [...world.snapshots.keys()])
  return found
}

function describe(id: string, { snapshot, at, last }: NamedSnapshot): object {
  return { id, at, last, size: snapshot.size }
}
