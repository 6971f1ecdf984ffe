/**
 * Answers `/_test/...` for tests in another process (a browser, another language). Refuses with path_unknown, method_not_allowed and
 * body_invalid.
 */
import { restError, type RestError } from '../../../foundation/errors/errors.ts'
import { isObject } from '../../../foundation/json/json.ts'
import { checkNames, findNearest, formatHint } from '../../../foundation/base/suggest.ts'
import { TEST_CONTROLS } from '../../../records/request/reserved-paths.ts'
import {
  OtherBody,
  checkQuery,
  control,
  type Control,
  type ControlRequest,
  blameBody,
  invalid,
  readObject,
  readScenarioName,
  readWorldName,
} from './control.ts'
import { refuseImpossible, Worlds, type NamedWorld } from './worlds.ts'
import { faultControls } from './fault-controls.ts'
import { journalControls } from './journal-controls.ts'
import { snapshotControls, worldControls } from './world-controls.ts'
import type { WorldEngine } from './world-engine.ts'
import { NO_VERSION, formatRoot, listVersions } from '../../../records/request/address.ts'

/** Options of test controls. */
export interface TestControlOptions {
  /** Milliseconds after which an unused world is closed. Default: 600000, ten minutes. */
  readonly idle?: number
  /** Most worlds at a time: each is a copy of the data. Default: 100. */
  readonly maxWorlds?: number
}

const PREFIX = `/${TEST_CONTROLS}`
interface SentControl {
  readonly method: string
  readonly target: string
  readonly base: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  readonly origin: string
}

interface ControlAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

export class TestControls {
  readonly #worlds: Worlds
  readonly #controls: readonly Control[]

  /**
   * @param isEager worlds begin with the state of now, not of the first request for a world
   * @throws TypeError, RangeError for unknown or wrong options
   */
  constructor(engine: WorldEngine, options: TestControlOptions | true, isEager: boolean) {
    const { idle = 600_000, maxWorlds = 100 } = options === true ? {} : options
    if (options !== true) {
      if (!isObject(options)) throw new TypeError('createServer: "testControls" must be true, false or an object: { idle: 600000 }.')
      checkNames(options, ['idle', 'maxWorlds'], 'createServer: testControls')
    }
    if (typeof idle !== 'number' || !(idle > 0))
      throw new RangeError('createServer: "testControls.idle" must be a number of milliseconds above 0.')
    if (!Number.isSafeInteger(maxWorlds) || maxWorlds < 0)
      throw new RangeError('createServer: "testControls.maxWorlds" must be an integer of 0 or more.')
    this.#worlds = new Worlds(engine, idle, maxWorlds, isEager)
    this.#controls = [
      this.#index(),
      ...worldControls(),
      ...snapshotControls(),
      ...journalControls(),
      ...conformityControls(),
      ...faultControls(),
    ]
  }

  /** The world of `X-World`; without the header, the engine's own. */
  findWorld(headers: Readonly<Record<string, unknown>>): Promise<NamedWorld> {
    return this.#worlds.of(readWorldName(headers), readScenarioName(headers))
  }

  static isControl(target: string): boolean {
    const [path = ''] = target.split('?', 1)
    return path === PREFIX || path.startsWith(`${PREFIX}/`)
  }

  async answer(sent: SentControl): Promise<ControlAnswer> {
    // With the workbench alone, statements are kept from the first look on: keeping makes requests half as dear again.
    this.#worlds.keepStatements()
    const { method, target, base, headers } = sent
    const [text = '', search = ''] = target.split(/\?(.*)/s, 2)
    const path = text.replace(/(?<=.)\/$/, '')
    const found = this.#controls.flatMap(each => {
      const id = idIn(PREFIX + each.path, path)
      return id === undefined ? [] : [{ control: each, id }]
    })
    if (found.length === 0) throw this.#unknown(path, base)
    const methods = [
      ...new Set(found.flatMap(each => (each.control.method === 'GET' ? ['GET', 'HEAD'] : [each.control.method]))),
      'OPTIONS',
    ]
    const allow = { allow: methods.join(', ') }
    if (method === 'OPTIONS') return { status: 204, headers: allow }
    const match = found.find(each => each.control.method === method || (each.control.method === 'GET' && method === 'HEAD'))
    if (match === undefined)
      throw restError('method_not_allowed', `${base}${path} does not take ${method}, but ${methods.join(', ')}.`, { headers: allow })
    const query = new URLSearchParams(search)
    checkQuery(query, [...match.control.parameters, 'world'])
    // Some clients cannot send a header, such as a browser's EventSource.
    const worldName = readWorldName({ ...headers, ...(query.has('world') ? { 'x-world': query.get('world') } : {}) })
    const world = await this.#worlds.of(worldName, readScenarioName(headers))
    const { body, signal, origin } = sent
    const lastEvent = headers['last-event-id']
    const request: ControlRequest = {
      world,
      worldName,
      worlds: this.#worlds,
      id: match.id,
      query,
      body,
      signal,
      base,
      origin,
      lastEvent: typeof lastEvent === 'string' ? lastEvent : undefined,
    }
    const answer = await world.use(async () => match.control.run(request)).catch(refuseImpossible)
    return method === 'HEAD' ? { ...respond(answer, world), body: undefined } : respond(answer, world)
  }

  endStreams(): void {
    this.#worlds.endStreams()
  }

  close(): Promise<void> {
    return this.#worlds.close()
  }

  #unknown(path: string, base: string): RestError {
    const suggestion = findNearest(
      base + path,
      this.#controls.map(each => base + PREFIX + each.path),
    )
    return restError('path_unknown', `There is no test control ${base}${path}: GET ${base}${PREFIX} lists them.${formatHint(suggestion)}`)
  }

  #index(): Control {
    return control(
      'GET /',
      'this list, the worlds and scenarios that there are, and what is not possible here',
      async ({ base, world }) => ({
        controls: this.#controls.map(({ method, path, does }) => ({ method, path: base + PREFIX + path, does })),
        worlds: this.#worlds.names,
        scenarios: world.engine.scenarios,
        unavailable: await world.engine.unavailable(),
        ...(world.internals.recorded === undefined ? {} : { recording: world.internals.recorded.facts }),
      }),
    )
  }
}

function respond(answer: object | void, world: NamedWorld): ControlAnswer {
  if (answer instanceof OtherBody) {
    const { type, body } = answer
    return { status: 200, headers: { 'content-type': type, 'cache-control': 'no-store' }, body }
  }
  const body = { success: true, timestamp: world.engine.clock.now().toISOString(), ...answer, status: 'OK' }
  return { status: 200, headers: { 'content-type': 'application/json; charset=UTF-8' }, body }
}

/** @returns the value of `{id}`, empty for a pattern without `{id}`; undefined for another path */
function idIn(pattern: string, path: string): string | undefined {
  const [before, after] = pattern.split('{id}') as [string, string?]
  if (after === undefined) return path === before ? '' : undefined
  if (!path.startsWith(before) || !path.endsWith(after)) return undefined
  const id = path.slice(before.length, path.length - after.length)
  return id === '' || id.includes('/') ? undefined : id
}

function conformityControls(): Control[] {
  return [
    control(
      'POST /conformity',
      'what of an answer is not as the OpenAPI document says: ' +
        '{ "method": "GET", "path": "/v1/users", "status": 200, "headers": { ... }, "body": ... }',
      checkConformity,
    ),
  ]
}

async function checkConformity({ world, body: sent, base }: ControlRequest): Promise<object> {
  const {
    method,
    path,
    status,
    headers = {},
    body,
    ...others
  } = readObject(sent, '{ "method": "GET", "path": "/v1/users", "status": 200 }')
  blameBody(() => checkNames(others, [], 'the body'))
  if (typeof method !== 'string' || typeof path !== 'string') throw invalid('"method" and "path" must be strings: "GET", "/v1/users".')
  if (!Number.isSafeInteger(status)) throw invalid('"status" must be the number of the status.')
  if (!isObject(headers) || !Object.values(headers).every(value => typeof value === 'string'))
    throw invalid('"headers" must be an object of strings.')
  const [whole = '', query = ''] = path.split(/\?(.*)/s, 2)
  const plain = base !== '' && whole.startsWith(`${base}/`) ? whole.slice(base.length) : whole
  const versions = listVersions(world.engine.versions)
  const isBelow = (root: string): boolean => plain === root || plain.startsWith(`${root}/`)
  const version = versions.find(name => isBelow(formatRoot('', name))) ?? versions[0] ?? NO_VERSION
  const { Conformity } = await import('../../../description/conformity/conformity.ts')
  const conformity = new Conformity(await world.internals.describe({ version }, false, base))
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value as string]))
  const { engine } = world
  return {
    described: conformity.knows(plain),
    // With `attributes` or `depth`, members may be missing.
    faults: await engine.conforms({ method, path: engine.base + plain, query }, { status: status as number, headers: lower, body }),
  }
}
