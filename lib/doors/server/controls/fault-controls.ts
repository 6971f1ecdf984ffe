/** The test controls for faults and gates of a world, such as `POST /_test/faults`. Shows faults added by code in the same process, too. */
import { formatHint, findNearest } from '../../../foundation/base/suggest.ts'
import type { FaultHandle, FaultState, Gate } from '../../../engine/testing/fault-handle.ts'
import type { FailOptions, FailureDetails } from '../../../engine/testing/fault-options.ts'
import type { LatencyProfile } from '../../../engine/testing/latency.ts'
import type { RateLimit } from '../../../engine/testing/rate-limit.ts'
import { blameBody, control, invalid, optionalObject, readObject, unknownId, type Control } from './control.ts'
import type { NamedWorld } from './worlds.ts'

/** Default wait for a request at a gate, in milliseconds. */
const ARRIVAL = 30_000

export function faultControls(): Control[] {
  return [...ofFaults(), ...ofGates()]
}

function ofFaults(): Control[] {
  return [
    control('GET /faults', 'the faults: how many requests each has met, and still meets', ({ world }) => ({ faults: world.faults.states })),
    control('POST /faults', 'adds one: { "kind": "fail", "match": "POST /v1/orders", "status": 503, "times": 1 }', ({ world, body }) => {
      const { id } = addFault(world, readObject(body, '{ "kind": "fail", "match": "POST /v1/orders", "status": 503 }'))
      return { fault: stateOf(world, id) }
    }),
    control('DELETE /faults', 'ends all faults', ({ world }) => world.faults.endAll()),
    control('GET /faults/{id}', 'a fault; of a gate the requests that it holds', ({ world, id }) => {
      findFault(world, id)
      return { fault: stateOf(world, id) }
    }),
    control('DELETE /faults/{id}', 'ends a fault', ({ world, id }) => findFault(world, id).dispose()),
  ]
}

function ofGates(): Control[] {
  return [
    control('POST /faults/{id}/arrived', 'waits until a request is held: { "timeout": 30000 }', async ({ world, id, body, signal }) => {
      const { timeout = ARRIVAL } = optionalObject(body, ['timeout'], '{ "timeout": 30000 }')
      if (typeof timeout !== 'number' || !(timeout >= 0)) throw invalid('"timeout" must be a number of milliseconds of 0 or more.')
      const request = await within(findGate(world, id).arrived, timeout, signal)
      return { arrived: request !== undefined, request: request === undefined ? null : { method: request.method, path: request.path } }
    }),
    control('POST /faults/{id}/release', 'opens a gate', ({ world, id }) => findGate(world, id).release()),
    control('POST /faults/{id}/fail', 'answers what a gate holds with an error: { "status": 503 }', ({ world, id, body }) => {
      const { status, ...details } = readObject(body, '{ "status": 503 }')
      blameBody(() => findGate(world, id).fail(status as number, details as FailureDetails))
    }),
    control('POST /faults/{id}/drop', 'loses the connections of what a gate holds', ({ world, id }) => findGate(world, id).drop()),
  ]
}

function findFault(world: NamedWorld, id: string): FaultHandle | Gate {
  const found = world.faults.find(id)
  if (found !== undefined) return found
  throw unknownId(
    id,
    'fault',
    world.faults.states.map(state => state.id),
  )
}

function findGate(world: NamedWorld, id: string): Gate {
  const handle = findFault(world, id)
  if (!('release' in handle))
    throw invalid(`"${id}" is not a gate but a ${stateOf(world, id)!.kind}: gates are made with { "kind": "hold" }.`)
  return handle
}

function stateOf(world: NamedWorld, id: string): FaultState | undefined {
  return world.faults.states.find(state => state.id === id)
}

const KINDS = ['delay', 'fail', 'drop', 'rateLimit', 'hold'] as const

function addFault({ engine }: NamedWorld, body: Record<string, unknown>): FaultHandle | Gate {
  const { kind, match, ...options } = body
  if (typeof match !== 'string') throw invalid('"match" must be a string like "POST /v1/orders".')
  const name = KINDS.find(known => known === kind)
  if (name === undefined) {
    const meant = kind === 'limit' ? 'rateLimit' : findNearest(String(kind), KINDS)
    throw invalid(`"kind" must be one of ${KINDS.join(', ')}.${formatHint(meant)}`)
  }
  return blameBody((): FaultHandle | Gate => {
    switch (name) {
      case 'delay': {
        const { ms, p50, p99, seed, ...others } = options
        if (ms === undefined && (p50 ?? p99) === undefined) throw invalid('Give "ms", or "p50" and "p99".')
        if (ms !== undefined && (p50 ?? p99 ?? seed) !== undefined) throw invalid('Give either "ms", or "p50" and "p99".')
        const profile = { p50, p99, ...(seed === undefined ? {} : { seed }) } as LatencyProfile
        return engine.delay(match, ms === undefined ? profile : (ms as number), others)
      }
      case 'rateLimit':
        return engine.rateLimit(match, options as unknown as RateLimit)
      case 'fail':
        return engine.fail(match, options as unknown as FailOptions)
      case 'drop':
        return engine.drop(match, options)
      case 'hold':
        return engine.hold(match, options)
    }
  })
}

async function within<T>(promise: Promise<T>, timeout: number, signal: AbortSignal): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  let stop: (() => void) | undefined
  const given = new Promise<undefined>(resolve => {
    stop = () => resolve(undefined)
    timer = setTimeout(stop, timeout)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    // `arrived` rejects if the gate ends first.
    return await Promise.race([promise.catch(() => undefined), given])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop!)
  }
}
