/** The test controls for a world's state, clock and tokens, and for the list of worlds. */
import { restError } from '../../../foundation/errors/errors.ts'
import { isObject } from '../../../foundation/json/json.ts'
import { checkNames } from '../../../foundation/base/suggest.ts'
import { internalsOf } from '../../../engine/assembly/internals.ts'
import { blameBody, control, invalid, readObject, type Control, checkWorldName } from './control.ts'
import type { NamedWorld } from './worlds.ts'

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
