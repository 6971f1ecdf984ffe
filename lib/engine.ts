/**
 * Engine: the composition root. `handle` reads as the list of stages that a request flows through; it has no rules of its own.
 */
import type { MikroORM } from '@mikro-orm/core'
import { aboutOf, actionsOf, rootOf } from './actions.ts'
import { Authentication } from './auth.ts'
import type { AuthServices } from './auth.ts'
import { authorize, visibilityOf } from './caller.ts'
import { parametersOf } from './check-parameters.ts'
import { Clock } from './clock.ts'
import { answer } from './fetch.ts'
import { assertJson } from './json.ts'
import type { Limits } from './limits.ts'
import type { Model, Resource } from './model.ts'
import { operate } from './operate.ts'
import type { Services } from './operate.ts'
import { checkOptions } from './options.ts'
import type { CheckedOptions, EngineOptions, SeedData } from './options.ts'
import { parse } from './parse.ts'
import { NO_PARAMETERS } from './parse-query.ts'
import type { QueryInput } from './parse-query.ts'
import { RequestContext } from './request-context.ts'
import { checkMethod, resolveBeside, versionOf } from './resolve.ts'
import { respondError, withoutBody } from './respond.ts'
import type { RestResponse } from './response.ts'
import { Routes, runRoute } from './routes.ts'
import { seed } from './seed.ts'
import { serveVersions } from './serve-versions.ts'
import type { SqliteConnection } from './sqlite/connection.ts'
import { open } from './sqlite/open.ts'
import { checkNames } from './suggest.ts'
import type { PublicKey } from './tokens.ts'

/** What a request carries beside method, path, query and body. */
export interface HandleContext {
  /** Request headers, lower-case names; the token travels in `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Aborts the request: `handle` rejects with its reason, and nothing is committed. */
  readonly signal?: AbortSignal
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({})
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/**
 * An embeddable REST engine: entities in, a JSON REST API out.
 *
 * @example
 * const engine = await RestEngine.create({ entities: [User, Site] })
 * const { status, body } = await engine.handle('GET', '/v1/users', { name: 'A*', sort: 'sites.desc', limit: 5 })
 * await engine.close()
 */
export class RestEngine {
  /** The MikroORM instance on the engine's database, to arrange and assert in tests. Fork its entity manager: `engine.orm.em.fork()`. */
  readonly orm: MikroORM
  /** Where every timestamp comes from. */
  readonly clock: Clock
  /** What is served in the first version. */
  readonly model: Model
  readonly versions: readonly string[]
  readonly limits: Limits
  readonly #options: CheckedOptions
  readonly #connection: SqliteConnection
  readonly #served: ReadonlyMap<string, Services>
  readonly #routes: Routes
  readonly #authentication: Authentication | undefined
  #closed = false
  #closing: Promise<void> | undefined
  #running = 0
  #whenIdle: (() => void) | undefined

  /**
   * Opens the database, reads the model, brings the schema up to date and loads the seed.
   *
   * @throws TypeError, RangeError for options that are unknown or not of their form; Error for a model that cannot be served.
   */
  static async create(options: EngineOptions): Promise<RestEngine> {
    const checked = checkOptions(options)
    const { orm, connection } = await open(checked)
    try {
      const engine = new RestEngine(checked, orm, connection)
      if (checked.seed !== undefined) await engine.seed(checked.seed)
      return engine
    } catch (error) {
      await orm.close(true)
      connection.close()
      throw error
    }
  }

  private constructor(options: CheckedOptions, orm: MikroORM, connection: SqliteConnection) {
    this.#options = options
    this.#connection = connection
    this.orm = orm
    this.clock = new Clock(options.clock)
    this.versions = options.versions
    this.limits = options.limits
    this.#served = serveVersions(options, orm, connection, this.clock)
    this.model = this.#served.get(options.versions[0]!)!.model
    this.#authentication = options.auth === undefined ? undefined : new Authentication(options.auth, this.#authServices())
    this.#routes = new Routes([...(this.#authentication?.routes() ?? []), ...options.routes], options.versions)
  }

  #authServices(): AuthServices {
    return {
      orm: this.orm,
      clock: this.clock,
      versions: this.#served,
      stored: async (resource, key) => this.#servicesOf(resource).reader.stored(resource, key),
      shown: async (resource, key, principal, ctx) => {
        const services = this.#servicesOf(resource)
        const own = new RequestContext({ ...(ctx as RequestContext).parts, principal })
        const visibility = await visibilityOf(services.model, undefined, NO_PARAMETERS, new Map(), own)
        return services.reader.record(resource, key, { parameters: NO_PARAMETERS, visibility, ctx: own, signal: undefined })
      },
    }
  }

  #servicesOf(resource: Resource): Services {
    return [...this.#served.values()].find(({ model }) => model.byEntity.get(resource.entity) === resource)!
  }

  /**
   * Answers one request, without any server. Never throws for anything that a client sent: such faults are answers.
   *
   * @param path begins with the version; may carry its own `?query`
   * @param query a text, URLSearchParams, or an object whose keys end with their operator: `{ 'age>=': 18, 'name!=': 'Ann' }`
   * @param body the parsed JSON value
   * @throws the reason of the signal when it aborts; TypeError when the caller broke the types; Error when the engine is closed.
   * @example await engine.handle('POST', '/v1/users', undefined, { name: 'Ann', email: 'ann@example.test' })
   */
  async handle(method: string, path: string, query?: QueryInput, body?: unknown, context: HandleContext = {}): Promise<RestResponse> {
    if (this.#closed) throw new Error('The engine is closed.')
    const { signal } = context
    signal?.throwIfAborted()
    const answering = this.#counted(this.#answer(method, path, query, body, context))
    return signal === undefined ? answering : unlessAborted(answering, signal)
  }

  /** Counts a request while it runs, so that `close` can wait for it. */
  async #counted(answering: Promise<RestResponse>): Promise<RestResponse> {
    this.#running++
    try {
      return await answering
    } finally {
      if (--this.#running === 0) this.#whenIdle?.()
    }
  }

  async #answer(method: string, path: string, query: QueryInput | undefined, body: unknown, context: HandleContext): Promise<RestResponse> {
    checkNames(context, ['headers', 'signal'], 'handle: context')
    let isUnderWay = false
    try {
      const request = parse(method, path, query, body, context.headers ?? NO_HEADERS)
      if (WITH_BODY.has(request.method)) assertJson(request.body ?? null, 'handle: body')
      isUnderWay = true
      const principal = await this.#authentication?.authenticate(request)
      const parts = { engine: this, fork: () => this.orm.em.fork(), request, principal, logsIn: this.#authentication !== undefined }
      const own = this.#routes.match(request.method, request.segments)
      if (own !== undefined) return await runRoute(own, { ...parts, version: request.segments[0] ?? this.versions[0]! }, this.versions)
      const version = versionOf(request.segments, this.versions, this.model)
      const services = this.#served.get(version)!
      const ownMethods = this.#routes.methodsOf(request.segments)
      const target = resolveBeside(ownMethods, request.segments, version, services.model, services.lookUp)
      const allowed = checkMethod(request.method, target, ownMethods)
      const parameters = parametersOf(request, target, services.vocabulary)
      const actions = actionsOf(request.method, target)
      const ctx = new RequestContext({ ...parts, version, ...aboutOf(target, actions[0]) })
      for (const { resource, action } of actions) await authorize(resource, action, ctx)
      const visibility = await visibilityOf(services.model, rootOf(target), parameters, services.ownParameters, ctx)
      return await operate({ request, target, allowed, ctx, view: { parameters, visibility, ctx, signal: context.signal } }, services)
    } catch (error) {
      // What the caller broke is told to him; a hook that asks the engine wrongly is a fault of the server.
      if (!isUnderWay && error instanceof TypeError && error.message.startsWith('handle: ')) throw error
      if (context.signal?.aborted === true) throw context.signal.reason
      const failed = this.#failed(error, { method, path })
      return method.toUpperCase() === 'HEAD' ? withoutBody(failed) : failed
    }
  }

  #failed(error: unknown, request: { method: string; path: string }): RestResponse {
    const response = this.respondError(error)
    if (response.status >= 500) this.#options.onError(error, request)
    return response
  }

  /** @internal The one error body, for faults that a door finds before `handle` can be asked. */
  respondError(error: unknown): RestResponse {
    return respondError(error, this.clock.now().toISOString(), this.#options.validationStatus)
  }

  /**
   * Answers a WHATWG Request, for servers and test tools that speak `fetch`.
   *
   * @example const response = await engine.fetch(new Request('http://api.test/v1/users?limit=5'))
   */
  fetch(request: Request): Promise<Response> {
    return answer(this, request)
  }

  /**
   * Loads records by resource name, in any order, in one transaction, validated like bodies of POST.
   *
   * @throws RestError with all faults; nothing is loaded then.
   * @example await engine.seed({ users: [{ id: 1, name: 'Ann' }], sites: [{ url: 'x', user: 1 }] })
   */
  async seed(data: SeedData): Promise<void> {
    if (this.#closed) throw new Error('The engine is closed.')
    await seed(data, this.model, this.#connection)
  }

  /** What is served in a version; undefined when there is no such version. */
  modelOf(version: string): Model | undefined {
    return this.#served.get(version)?.model
  }

  /**
   * Mints a token, for tests.
   *
   * @param user an entity, or the ID of one
   * @param options `ttl` in seconds; default: that of the module; a negative one gives a token that has expired
   * @throws Error when the authentication module is off; TypeError when that is no user.
   * @example const headers = { authorization: `Bearer ${engine.token(1)}` }
   */
  token(user: unknown, options: { readonly ttl?: number } = {}): string {
    checkNames(options, ['ttl'], 'token')
    return this.#authenticationOn().mint(user, options.ttl)
  }

  /**
   * The public key of the tokens, as a JSON Web Key, for others to verify them with.
   *
   * @throws Error when the authentication module is off.
   */
  get publicKey(): PublicKey {
    return this.#authenticationOn().tokens.publicKey
  }

  #authenticationOn(): Authentication {
    if (this.#authentication === undefined) throw new Error('The authentication module is off: switch it on with the option "auth".')
    return this.#authentication
  }

  /** Waits for the requests that run, then closes the database. Idempotent; `handle` throws from now on. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#closed = true
    if (this.#running > 0) {
      await new Promise<void>(resolveIdle => {
        this.#whenIdle = resolveIdle
      })
    }
    await this.orm.close(true)
    this.#connection.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

/** The answer, unless the signal aborts first; the work that still runs then finds the signal aborted and commits nothing. */
function unlessAborted(answering: Promise<RestResponse>, signal: AbortSignal): Promise<RestResponse> {
  return new Promise((resolvePromise, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    answering.then(resolvePromise, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
