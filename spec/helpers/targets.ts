/**
 * One suite, several targets: every API spec runs by `engine.handle` in memory, and by HTTP over loopback on a PostgreSQL server, or on a
 * file where none answers: both doors and both databases, so that a rule which holds in one place only is found by the spec that states it.
 * `call` answers alike for all of them. What depends on how doors and stores meet runs on all: `everyTarget`. `SPEC_TARGETS=memory` leaves
 * the first alone (`npm run quick`); `SPEC_TARGETS=every` gives all suites all.
 *
 * ```ts
 * describeTargets('sorting', { entities }, target => {
 *   it('puts NULLs first', async () => {
 *     const answer = await target.call('GET', '/v1/authors', { sort: 'bio' })
 *     assert.equal(answer.status, 200)
 *   })
 * })
 * ```
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe } from 'node:test'
import { createServer, RestEngine } from '../../lib/index.ts'
import type { OwnSchema } from '../postgres/server-database.ts'
import { reasonOf, type Exception } from './differences.ts'
import { encodeQuery, type Query } from './encode-query.ts'
import { KeptSockets } from './kept-sockets.ts'
import { SharedTarget } from './shared-targets.ts'
import { newSchema, NO_SERVER, WITH_POSTGRES, type EngineOptions } from './stores.ts'

export type Door = 'handle' | 'http'
export type Store = 'memory' | 'file' | 'postgres'
export type TargetName = `${Door}, ${Store}`
export type { EngineOptions } from './stores.ts'

export interface Answer {
  readonly status: number
  /** Lower-case names. Over HTTP the server's own ones (`date`, `connection`, ...) are there too. */
  readonly headers: Readonly<Record<string, string>>
  /** The JSON value; `undefined` when the answer has no body. Specs assert on it freely, hence the only `any` here. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export interface Target {
  readonly name: TargetName
  readonly door: Door
  readonly store: Store
  /** The engine behind `call`: for `engine.orm` and the like. Throws outside a test. */
  readonly engine: RestEngine
  call(method: string, path: string, query?: Query, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Options of a test that cannot run on PostgreSQL; `false`: of one that can. */
  except(exception: Exception | false): { readonly skip: string | false }
}

export interface TargetOptions extends Omit<EngineOptions, 'database'> {
  /** A new engine for each test (default), or one for the whole suite, where tests only read. */
  fresh?: 'test' | 'suite'
  /** Runs after each engine is made: rows that every test of the suite needs. */
  prepare?: (engine: RestEngine) => Promise<void>
  /** Why the suite cannot run by HTTP: it runs by `engine.handle` alone. */
  exceptHttp?: string
  /** Why the suite runs on every target where others run on fewer: it is about transports or files. */
  everyTarget?: string
  /** Why the suite cannot run on PostgreSQL. */
  except?: Exception
}

type Place = readonly [Door, Store]

/** Answers are held against the description of the API, unless Node has held the same answers (spec/page/specs.spec.ts). */
const CONFORMS = process.env['SPEC_CONFORMS'] !== '0'

/** A request over HTTP has 5 seconds, unless it is told otherwise: a machine that does much else takes longer. */
const PATIENT = { timeout: 60_000 }

/** The targets of a suite in this run. */
function targetsOf({ everyTarget, exceptHttp, except }: TargetOptions): readonly Place[] {
  const asked = process.env['SPEC_TARGETS']
  const door: Door = exceptHttp === undefined ? 'http' : 'handle'
  const server: readonly Place[] = WITH_POSTGRES ? [[door, 'postgres']] : []
  if (asked === 'memory') return [['handle', 'memory']]
  const isEvery = everyTarget !== undefined || asked === 'every'
  const files: readonly Place[] = isEvery || except !== undefined || !WITH_POSTGRES ? [[door, 'file']] : []
  const others: readonly Place[] = isEvery && door === 'http' ? [['handle', 'file'], ['http', 'memory']] : [] // prettier-ignore
  return [['handle', 'memory'], ...files, ...others, ...server]
}

interface Running {
  engine: RestEngine
  call: Target['call']
  stop: () => Promise<void>
}

/** Declares one `describe` per target, each with the same tests. */
export function describeTargets(name: string, options: TargetOptions, body: (target: Target) => void): void {
  const { fresh = 'test', prepare, exceptHttp: _, except, everyTarget: __, ...given } = options
  for (const [door, store] of targetsOf(options)) {
    const engineOptions = door === 'http' ? { ...given, limits: { ...PATIENT, ...given.limits } } : given
    const targetName: TargetName = `${door}, ${store}`
    const skip = store === 'postgres' && (except === undefined ? NO_SERVER : reasonOf(except))
    describe(`${name} [${targetName}]`, { skip }, () => {
      let running: Running | undefined
      // In memory each test has a fork, which costs a tenth of an engine of its own. On a file and on a server all tests of the suite use
      // one engine, and one server of HTTP, and it is reset before each: that costs a tenth of a file, a thirtieth of a schema.
      let origin: RestEngine | undefined
      let shared: Running | undefined
      const onServer =
        store === 'postgres' && skip === false
          ? SharedTarget.declare({ ...given, door }, () => startOnServer(door, engineOptions))
          : undefined
      const start = async (): Promise<void> => {
        if (shared) await shared.engine.reset()
        running = shared ?? (await startTarget(door, store, engineOptions, { origin }))
        await prepare?.(running.engine)
      }
      const stop = async (): Promise<void> => {
        const last = running
        running = undefined
        if (last !== shared) await last?.stop()
      }
      const current = (): Running => {
        if (!running) throw new Error('the target exists only while a test runs')
        return running
      }
      before(async () => {
        if (onServer) shared = await onServer.enter()
        else if (fresh === 'suite') return
        else if (store === 'memory') origin = await RestEngine.create(engineOptions)
        else shared = await startTarget(door, store, engineOptions, { origin })
      })
      if (fresh === 'suite') {
        before(start)
        after(stop)
      } else {
        beforeEach(start)
        afterEach(stop)
      }
      after(async () => {
        await origin?.close()
        await (onServer ? onServer.leave() : shared?.stop())
        // The suite is kept until the process ends.
        origin = shared = undefined
      })
      body({
        name: targetName,
        door,
        store,
        get engine() {
          return current().engine
        },
        call: (...request) => current().call(...request),
        except: exception => ({ skip: store === 'postgres' && exception !== false && reasonOf(exception) }),
      })
    })
  }
}

/** What an engine is made of. */
interface Origins {
  /** In memory: the engine to fork. */
  readonly origin: RestEngine | undefined
  /** The schema on a server. */
  readonly schema?: OwnSchema
}

/** Starts a target in a schema of its own, which is dropped when it is stopped. */
async function startOnServer(door: Door, options: Omit<EngineOptions, 'database'>): Promise<Running> {
  const schema = await newSchema()
  const started = await startTarget(door, 'postgres', options, { origin: undefined, schema })
  return {
    ...started,
    async stop() {
      await started.stop()
      await schema[Symbol.asyncDispose]()
    },
  }
}

/** Starts one engine with its transport. The caller stops it, which also removes its files. */
async function startTarget(
  door: Door,
  store: Store,
  options: Omit<EngineOptions, 'database'>,
  { origin, schema }: Origins,
): Promise<Running> {
  const folder = store === 'file' ? await mkdtemp(join(tmpdir(), 'mikro-rest-')) : undefined
  const database = schema?.database ?? (folder === undefined ? ':memory:' : join(folder, 'data.sqlite'))
  const engine = await (origin === undefined ? RestEngine.create({ ...options, database }) : origin.fork())
  const http = door === 'http' ? await listen(engine) : undefined
  return {
    engine,
    call: http ? http.call : callHandle(engine, store === 'memory' && CONFORMS),
    async stop() {
      await http?.close()
      await engine.close()
      if (folder) await rm(folder, { recursive: true, force: true })
    },
  }
}

function callHandle(engine: RestEngine, isHeld: boolean): Target['call'] {
  return async (method, path, query, body, headers) => {
    const response = await engine.handle(method, path, query, body, headers ? { headers } : undefined)
    // Every answer is as the engine's own description of the API says. It leaves out that a key may be set to itself.
    if (isHeld && !path.endsWith('/id')) assert.deepEqual(await engine.conforms({ method, path, query }, response), [], `${method} ${path}`)
    return { status: response.status, headers: response.headers, body: response.body ?? undefined }
  }
}

async function listen(engine: RestEngine): Promise<{ call: Target['call']; close: () => Promise<void> }> {
  const server = createServer(engine)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const sockets = new KeptSockets((server.address() as AddressInfo).port)
  return {
    call: (...request) => callHttp(sockets, ...request),
    async close() {
      sockets.close()
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      // Also those of clients that a test has made.
      server.closeAllConnections()
      await closed
    },
  }
}

async function callHttp(sockets: KeptSockets, ...[method, path, query, body, headers]: Parameters<Target['call']>): Promise<Answer> {
  const search = encodeQuery(query)
  const answer = await sockets.ask({
    method,
    target: path + (search === '' ? '' : (path.includes('?') ? '&' : '?') + search),
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  return { status: answer.status, headers: answer.headers, body: answer.text === '' ? undefined : (JSON.parse(answer.text) as unknown) }
}
