/**
 * Engine: the composition root. `handle` reads as the list of stages that a request flows through; it has no rules of its own.
 */
import type { EntityName, MikroORM } from '@mikro-orm/core'
import { checkParameters } from './check-parameters.ts'
import { Clock } from './clock.ts'
import { answer } from './fetch.ts'
import type { Limits } from './limits.ts'
import type { Model, Resource } from './model.ts'
import { operate } from './operate.ts'
import type { Services } from './operate.ts'
import { checkNames, checkOptions } from './options.ts'
import type { CheckedOptions, EngineOptions, SeedData } from './options.ts'
import { parse } from './parse.ts'
import { NO_PARAMETERS, parseParameters } from './parse-query.ts'
import type { QueryInput } from './parse-query.ts'
import { Reader } from './read.ts'
import { readModel } from './read-model.ts'
import { checkMethod, defaultLookUp, resolve } from './resolve.ts'
import type { LookUp } from './resolve.ts'
import { respondError } from './respond.ts'
import type { RestResponse } from './respond.ts'
import { seed } from './seed.ts'
import type { SqliteConnection } from './sqlite/connection.ts'
import { open } from './sqlite/open.ts'
import { assertJson } from './validate.ts'
import { Writer } from './write.ts'

/** What a request carries beside method, path, query and body. */
export interface RequestContext {
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
  /** What is served. */
  readonly model: Model
  readonly versions: readonly string[]
  readonly limits: Limits
  readonly #options: CheckedOptions
  readonly #connection: SqliteConnection
  readonly #services: Services
  readonly #lookUp: LookUp
  #closed = false

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
    this.model = readModel(orm)
    this.versions = options.versions
    this.limits = options.limits
    const reader = new Reader(connection, options.limits)
    this.#services = {
      reader,
      writer: new Writer(connection, reader, this.model),
      model: this.model,
      clock: this.clock,
      limits: options.limits,
      versions: options.versions,
      createdStatus: options.createdStatus,
    }
    this.#lookUp = lookUpOf(options, this.model, orm)
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
  async handle(method: string, path: string, query?: QueryInput, body?: unknown, context: RequestContext = {}): Promise<RestResponse> {
    if (this.#closed) throw new Error('The engine is closed.')
    const { signal } = context
    if (signal === undefined) return this.#answer(method, path, query, body, context)
    signal.throwIfAborted()
    return unlessAborted(this.#answer(method, path, query, body, context), signal)
  }

  async #answer(
    method: string,
    path: string,
    query: QueryInput | undefined,
    body: unknown,
    context: RequestContext,
  ): Promise<RestResponse> {
    checkNames(context, ['headers', 'signal'], 'handle: context')
    try {
      const request = parse(method, path, query, body, context.headers ?? NO_HEADERS)
      const target = resolve(request.segments, this.model, this.versions, this.#lookUp)
      checkMethod(request.method, target)
      if (WITH_BODY.has(request.method)) assertJson(request.body ?? null)
      const isOptions = request.method === 'OPTIONS'
      if (!isOptions) checkParameters(request.pairs, request.method, target)
      const parameters = isOptions ? NO_PARAMETERS : parseParameters(request.pairs)
      return await operate(request, target, parameters, this.#services, context.signal)
    } catch (error) {
      if (error instanceof TypeError && error.message.startsWith('handle: ')) throw error
      if (context.signal?.aborted === true) throw context.signal.reason
      return this.#failed(error, { method, path })
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

  /** Closes the database. Idempotent; `handle` throws afterwards. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.orm.close(true)
    this.#connection.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

/** The look-up that the deployer gave, in terms of the model. */
function lookUpOf(options: CheckedOptions, model: Model, orm: MikroORM): LookUp {
  const { lookup } = options
  if (lookup === undefined) return defaultLookUp(model)
  return (name, version): Resource | undefined => {
    const entity = lookup(name, version)
    if (entity === undefined || entity === null) return undefined
    const resource = model.byEntity.get(orm.getMetadata().get(entity as EntityName).class)
    if (resource === undefined) throw new Error(`lookup: "${name}" gave an entity that the engine does not serve.`)
    return resource
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
