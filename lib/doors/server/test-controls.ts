/**
 * Test controls: let tests in another process (a browser, another language) control a server: `/_test/...` routes for reset, seed, snapshots, faults, clock,
 * tokens and the journal, and worlds by the header `X-World`. They exist only with the option `testControls`.
 * Refuses with path_unknown, method_not_allowed and body_invalid.
 */
import type { TransportResponse } from './transport.ts'
import { TEST_CONTROLS } from '../../records/request/reserved-paths.ts'
import { restError } from '../../foundation/base/errors.ts'
import type { RestError } from '../../foundation/base/errors.ts'
import type { FaultHandle, Gate } from '../../engine/testing/fault-injection.ts'
import type { FailOptions, FailureDetails } from '../../engine/testing/fault-options.ts'
import type { LatencyProfile } from '../../engine/testing/latency.ts'
import type { RateLimit } from '../../engine/testing/rate-limit.ts'
import { checkNames, formatHint, findNearest } from '../../foundation/base/suggest.ts'
import { isObject } from '../../foundation/base/json.ts'
import { readScenarioName, readWorldName } from './world-name.ts'
import { Worlds } from './worlds.ts'
import type { NamedFault, World, WorldEngine } from './worlds.ts'

/** Options of test controls. */
export interface TestControlOptions {
  /** Milliseconds after which an unused world is closed. Default 600000, ten minutes. */
  readonly idle?: number
  /** Worlds that there may be at a time, apart from the engine's own: each is a copy of the data. Default 100. */
  readonly maxWorlds?: number
}

const PREFIX = `/${TEST_CONTROLS}`
/** How long a request waits for another one to arrive at a gate, in milliseconds, unless it says so itself. */
const ARRIVAL = 30_000

/** A request to a control. */
interface ControlRequest {
  readonly world: World
  readonly worldName: string | undefined
  /** The value of `{...}` in its path. */
  readonly id: string
  readonly body: unknown
  readonly signal: AbortSignal
  readonly base: string
}

/** A request to a control, as it has come. */
export interface SentControl {
  readonly method: string
  /** Path below the base; may carry a query. */
  readonly target: string
  readonly base: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
}

interface Control {
  readonly method: string
  readonly path: string
  /** Its description, for the index. */
  readonly does: string
  readonly run: (asked: ControlRequest) => object | Promise<object>
}

export class TestControls {
  readonly #worlds: Worlds
  readonly #controls: readonly Control[]

  /** @throws TypeError, RangeError for options that are unknown or not of their form. */
  constructor(engine: WorldEngine, options: TestControlOptions | true) {
    const { idle = 600_000, maxWorlds = 100 } = options === true ? {} : options
    if (options !== true) {
      if (!isObject(options)) throw new TypeError('createServer: "testControls" must be true, false or an object: { idle: 600000 }.')
      checkNames(options, ['idle', 'maxWorlds'], 'createServer: testControls')
    }
    if (typeof idle !== 'number' || !(idle > 0))
      throw new RangeError('createServer: "testControls.idle" must be a number of milliseconds above 0.')
    if (!Number.isSafeInteger(maxWorlds) || maxWorlds < 0)
      throw new RangeError('createServer: "testControls.maxWorlds" must be an integer of 0 or more.')
    this.#worlds = new Worlds(engine, idle, maxWorlds)
    this.#controls = this.#list()
  }

  /** The world that a request is about: the one of its header or cookie `X-World`, or the engine's own. */
  findWorld(headers: Readonly<Record<string, unknown>>): Promise<World> {
    return this.#worlds.of(readWorldName(headers), readScenarioName(headers))
  }

  /** Whether a request target below the base is one of the controls. */
  static isControl(target: string): boolean {
    const [path = ''] = target.split('?', 1)
    return path === PREFIX || path.startsWith(`${PREFIX}/`)
  }

  /** Answers a request to a control. */
  async answer({ method, target, base, body, headers, signal }: SentControl): Promise<TransportResponse> {
    const name = readWorldName(headers)
    const path = (target.split('?', 1)[0] ?? '').replace(/(?<=.)\/$/, '')
    const found = this.#controls.flatMap(control => {
      const id = idIn(control.path, path)
      return id === undefined ? [] : [{ control, id }]
    })
    if (found.length === 0) throw this.#unknown(path, base)
    const methods = [...new Set(found.flatMap(({ control }) => (control.method === 'GET' ? ['GET', 'HEAD'] : [control.method]))), 'OPTIONS']
    const allow = { allow: methods.join(', ') }
    if (method === 'OPTIONS') return { status: 204, headers: allow }
    const match = found.find(({ control }) => control.method === method || (control.method === 'GET' && method === 'HEAD'))
    if (match === undefined)
      throw restError('method_not_allowed', `${base}${path} does not take ${method}, but ${methods.join(', ')}.`, { headers: allow })
    const world = await this.#worlds.of(name, readScenarioName(headers))
    const answer = await world.use(async () => match.control.run({ world, worldName: name, id: match.id, body, signal, base }))
    const json = { success: true, timestamp: world.engine.clock.now().toISOString(), ...answer, status: 'OK' }
    const response = { status: 200, headers: { 'content-type': 'application/json; charset=UTF-8' } }
    return method === 'HEAD' ? response : { ...response, body: json }
  }

  /** Closes the worlds. */
  close(): Promise<void> {
    return this.#worlds.close()
  }

  #unknown(path: string, base: string): RestError {
    const suggestion = findNearest(
      base + path,
      this.#controls.map(control => base + control.path),
    )
    return restError('path_unknown', `There is no test control ${base}${path}: GET ${base}${PREFIX} lists them.${formatHint(suggestion)}`)
  }

  #list(): Control[] {
    const control = (method: string, path: string, does: string, run: Control['run']): Control => ({
      method,
      path: PREFIX + path,
      does,
      run,
    })
    return [
      control('GET', '', 'this list, and the worlds and scenarios that there are', ({ base, world }) => ({
        controls: this.#controls.map(({ method, path, does }) => ({ method, path: base + path, does })),
        worlds: this.#worlds.names,
        scenarios: world.engine.scenarios,
      })),
      control('POST', '/reset', 'goes back to the state after the seed', async ({ world }) => {
        world.faults.clear()
        await world.engine.reset()
        return {}
      }),
      control('POST', '/scenario', 'begins a scenario: { "name": "vip" }', async ({ world, body }) => {
        const { name, ...others } = readObject(body, '{ "name": "vip" }')
        asked(() => checkNames(others, [], 'the body'))
        await asked(async () => world.engine.scenario(name as string))
        world.faults.clear()
        return { scenario: name }
      }),
      control('POST', '/seed', 'loads records by resource name: { "users": [{ "name": "Ann" }] }', async ({ world, body }) => {
        await world.engine.seed(readObject(body, '{ "users": [{ "name": "Ann" }] }') as Record<string, object[]>)
        return {}
      }),
      control(
        'POST',
        '/given',
        'makes up records: { "resource": "order", "overrides": { ... }, "seed": 7, "count": 3 }',
        async ({ world, body }) => {
          const { resource, overrides = {}, count, ...options } = readObject(body, '{ "resource": "order" }')
          if (typeof resource !== 'string') throw invalid('"resource" must be the name of a resource.')
          if (!isObject(overrides)) throw invalid('"overrides" must be an object of attributes.')
          const { given } = world.engine
          return asked(async () =>
            count === undefined
              ? { resource, [resource]: await given(resource, overrides, options) }
              : { resource, [resource]: await given.many(resource, count as number, overrides, options) },
          )
        },
      ),
      control('POST', '/snapshots', 'takes the state: gives its ID', async ({ world }) => {
        const id = world.name('s')
        world.snapshots.set(id, await world.engine.snapshot())
        return { id }
      }),
      control('POST', '/snapshots/{id}/restore', 'goes back to a snapshot', async ({ world, id }) => {
        await world.engine.restore(known(world.snapshots, id, 'snapshot'))
        return {}
      }),
      control('GET', '/requests', 'the journal of the world', ({ world }) => ({ requests: world.engine.requests })),
      control('DELETE', '/requests', 'empties the journal', ({ world }) => {
        world.engine.clearRequests()
        return {}
      }),
      control('GET', '/faults', 'the faults that are in effect', ({ world }) => ({
        faults: [...world.faults].map(([id, fault]) => shown(id, fault)),
      })),
      control(
        'POST',
        '/faults',
        'adds one: { "kind": "fail", "match": "POST /v1/orders", "status": 503, "times": 1 }',
        ({ world, body }) => {
          const fault = addFault(world, readObject(body, '{ "kind": "fail", "match": "POST /v1/orders", "status": 503 }'))
          const id = world.name('f')
          world.faults.set(id, fault)
          return { fault: shown(id, fault) }
        },
      ),
      control('DELETE', '/faults', 'ends all faults', ({ world }) => {
        for (const { handle } of world.faults.values()) handle.dispose()
        world.faults.clear()
        return {}
      }),
      control('GET', '/faults/{id}', 'a fault; of a gate the requests that it holds', ({ world, id }) => ({
        fault: shown(id, known(world.faults, id, 'fault')),
      })),
      control('DELETE', '/faults/{id}', 'ends a fault', ({ world, id }) => {
        known(world.faults, id, 'fault').handle.dispose()
        world.faults.delete(id)
        return {}
      }),
      control(
        'POST',
        '/faults/{id}/arrived',
        'waits until a request is held: { "timeout": 30000 }',
        async ({ world, id, body, signal }) => {
          const { timeout = ARRIVAL } = optionalObject(body, ['timeout'], '{ "timeout": 30000 }')
          if (typeof timeout !== 'number' || !(timeout >= 0)) throw invalid('"timeout" must be a number of milliseconds of 0 or more.')
          const request = await within(findGate(world, id).arrived, timeout, signal)
          return { arrived: request !== undefined, request: request === undefined ? null : { method: request.method, path: request.path } }
        },
      ),
      control('POST', '/faults/{id}/release', 'opens a gate', ({ world, id }) => {
        findGate(world, id).release()
        world.faults.delete(id)
        return {}
      }),
      control('POST', '/faults/{id}/fail', 'answers what a gate holds with an error: { "status": 503 }', ({ world, id, body }) => {
        const { status, ...details } = readObject(body, '{ "status": 503 }')
        asked(() => findGate(world, id).fail(status as number, details as FailureDetails))
        world.faults.delete(id)
        return {}
      }),
      control('POST', '/faults/{id}/drop', 'loses the connections of what a gate holds', ({ world, id }) => {
        findGate(world, id).drop()
        world.faults.delete(id)
        return {}
      }),
      control('GET', '/clock', 'the time of the world', ({ world }) => ({ now: world.engine.clock.now().toISOString() })),
      control(
        'POST',
        '/clock',
        'sets or advances the time: { "set": "2026-01-01T00:00:00Z" }, { "advance": "31d" }, { "reset": true }',
        ({ world, body }) => {
          setClock(world, readObject(body, '{ "advance": "31d" }'))
          return { now: world.engine.clock.now().toISOString() }
        },
      ),
      control('POST', '/token', 'mints a token: { "user": 1, "ttl": 60 }', ({ world, body }) => {
        const { user, ...options } = readObject(body, '{ "user": 1 }')
        return { auth_token: asked(() => world.engine.token(user, options as { ttl?: number })) }
      }),
      control(
        'DELETE',
        '/world',
        'closes the world that the request names; the next request that names it begins a new one',
        async ({ worldName: name }) => {
          if (name === undefined) throw invalid('Name the world to close in the header X-World: the own one of the server stays.')
          await this.#worlds.drop(name)
          return {}
        },
      ),
    ]
  }
}

/** Returns the value of `{id}`, the empty text for a pattern without one, or undefined for another path. */
function idIn(pattern: string, path: string): string | undefined {
  const [before, after] = pattern.split('{id}') as [string, string?]
  if (after === undefined) return path === before ? '' : undefined
  if (!path.startsWith(before) || !path.endsWith(after)) return undefined
  const id = path.slice(before.length, path.length - after.length)
  return id === '' || id.includes('/') ? undefined : id
}

function invalid(detail: string, cause?: unknown): RestError {
  return restError('body_invalid', detail, cause === undefined ? {} : { cause })
}

function readObject(body: unknown, example: string): Record<string, unknown> {
  if (!isObject(body)) throw invalid(`The body must be an object, such as ${example}.`)
  return body
}

function optionalObject(body: unknown, names: readonly string[], example: string): Record<string, unknown> {
  if (body === undefined) return {}
  const object = readObject(body, example)
  asked(() => checkNames(object, names, 'the body'))
  return object
}

/** Runs work whose arguments came from the client: its TypeError or RangeError becomes `body_invalid`. */
function asked<T>(work: () => T): T {
  const refuse = (error: unknown): never => {
    throw error instanceof TypeError || error instanceof RangeError ? invalid(error.message, error) : error
  }
  try {
    const result = work()
    return result instanceof Promise ? (result.catch(refuse) as T) : result
  } catch (error) {
    return refuse(error)
  }
}

function known<T>(all: ReadonlyMap<string, T>, id: string, what: string): T {
  const one = all.get(id)
  if (one === undefined)
    throw restError('path_unknown', `This world has no ${what} "${id}".${formatHint(findNearest(id, [...all.keys()]))}`)
  return one
}

function isGate(handle: FaultHandle | Gate): handle is Gate {
  return 'release' in handle
}

function findGate(world: World, id: string): Gate {
  const { handle, kind } = known(world.faults, id, 'fault')
  if (!isGate(handle)) throw invalid(`"${id}" is not a gate but a ${kind}: gates are made with { "kind": "hold" }.`)
  return handle
}

const KINDS = ['delay', 'fail', 'drop', 'rateLimit', 'hold'] as const

function addFault({ engine }: World, body: Record<string, unknown>): NamedFault {
  const { kind, match, ...options } = body
  if (typeof match !== 'string') throw invalid('"match" must be a string like "POST /v1/orders".')
  // The older name.
  const given = kind === 'limit' ? 'rateLimit' : kind
  const name = KINDS.find(known => known === given)
  if (name === undefined) throw invalid(`"kind" must be one of ${KINDS.join(', ')}.${formatHint(findNearest(String(kind), KINDS))}`)
  const handle = asked((): FaultHandle | Gate => {
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
  return { kind: name, match, handle }
}

function shown(id: string, { kind, match, handle }: NamedFault): object {
  return {
    id,
    kind,
    match,
    ...(isGate(handle) ? { held: handle.requests.map(({ method, path, query }) => ({ method, path, query })) } : {}),
  }
}

function setClock({ engine: { clock } }: World, body: Record<string, unknown>): void {
  asked(() => checkNames(body, ['set', 'advance', 'reset'], 'the body'))
  if (Object.keys(body).length !== 1) throw invalid('Give one of "set", "advance" and "reset".')
  const { set, advance, reset } = body
  if (reset !== undefined) {
    if (reset !== true) throw invalid('"reset" must be true.')
    clock.reset()
  } else if (advance === undefined) {
    if (typeof set !== 'string' && typeof set !== 'number') throw invalid('"set" must be a date, such as "2026-01-01T00:00:00Z".')
    asked(() => clock.set(set))
  } else {
    if (typeof advance !== 'string' && typeof advance !== 'number')
      throw invalid('"advance" must be a duration, such as "31d" or a number of milliseconds.')
    asked(() => clock.advance(advance))
  }
}

/** Returns the value of a promise, or undefined when it takes too long or rejects. */
async function within<T>(promise: Promise<T>, timeout: number, signal: AbortSignal): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  let stop: (() => void) | undefined
  const given = new Promise<undefined>(resolve => {
    stop = () => resolve(undefined)
    timer = setTimeout(stop, timeout)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    // A gate that has ended holds nothing.
    return await Promise.race([promise.catch(() => undefined), given])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop!)
  }
}
