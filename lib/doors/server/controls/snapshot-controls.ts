/** The test controls for named states of a world, and for the changes since. */
import { checkNames } from '../../../foundation/base/suggest.ts'
import { nameSnapshot, type RequestPoint } from '../../../engine/worlds/snapshot.ts'
import { blameBody, control, invalid, optionalObject, readObject, unknownId, type Control, checkWorldName } from './control.ts'
import type { NamedSnapshot, NamedWorld } from './worlds.ts'

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
