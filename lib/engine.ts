/**
 * Engine: the composition root, and the public interface. It puts the parts together and has no rules of its own; the stages of a request are in handle.ts.
 */
import type { EntityManager, MikroORM } from '@mikro-orm/core'
import { Authentication } from './auth/auth.ts'
import type { AuthServices } from './auth/auth.ts'
import type { Awaitable } from './base/awaitable.ts'
import { findVisibility } from './access/access-rules.ts'
import { Clock } from './base/clock.ts'
import type { ChangeRecorder } from './database/changes.ts'
import type { Connection } from './database/dialect.ts'
import type { UnindexedLink } from './database/explained-statements.ts'
import type { OpenDatabase, WorldStore } from './database/world-store.ts'
import { expectChanges } from './journal/expect-changes.ts'
import type { ExpectedChanges } from './journal/expect-changes.ts'
import type { Explanation } from './journal/explanation.ts'
import { Faults } from './testing/fault-injection.ts'
import type { FaultHandle, Gate } from './testing/fault-injection.ts'
import type { DropOptions, FailOptions, FaultOptions } from './testing/fault-options.ts'
import type { FaultRequest, RequestMatch } from './testing/fault-request.ts'
import type { FailedRequest } from './base/report-failure.ts'
import { answer } from './server/fetch.ts'
import { createSharedState } from './pipeline/shared-state.ts'
import type { SharedState } from './pipeline/shared-state.ts'
import { Given } from './testing/given.ts'
import type { Give } from './testing/given.ts'
import { answerError, answerTransportFailure } from './pipeline/answer-failure.ts'
import { Descriptions } from './pipeline/descriptions.ts'
import type { OpenApiOptions } from './pipeline/descriptions.ts'
import type { OpenApiDocument } from './openapi/document.ts'
import { NO_CONTEXT } from './pipeline/handle.ts'
import type { HandleContext } from './pipeline/handle.ts'
import { RequestRecorder } from './pipeline/record-request.ts'
import type { RecorderParts } from './pipeline/record-request.ts'
import { READ_METHODS } from './base/http-methods.ts'
import { Journal } from './journal/journal.ts'
import type { JournalEntry } from './journal/journal.ts'
import { intercept } from './server/intercept/intercept.ts'
import type { InterceptOptions, Interception } from './server/intercept/intercept.ts'
import { Lifecycle } from './pipeline/lifecycle.ts'
import type { Limits } from './base/limits.ts'
import type { Model, Resource } from './model/model.ts'
import type { Services } from './pipeline/operate.ts'
import { Notes } from './base/notes.ts'
import { openDatabase } from './pipeline/open-database.ts'
import { checkOptions } from './pipeline/options.ts'
import type { CheckedOptions, EngineOptions } from './pipeline/options.ts'
import type { SeedData } from './write/seed-rows.ts'
import { parse, readPath } from './request/parse-request.ts'
import { NO_PARAMETERS } from './request/query-string.ts'
import type { QueryInput } from './request/query-string.ts'
import { RequestContext } from './request/request-context.ts'
import type { RestResponse } from './base/response.ts'
import { Routes } from './request/custom-routes.ts'
import { seed } from './write/seed.ts'
import { serveVersions } from './pipeline/versions.ts'
import { Snapshot } from './pipeline/snapshot.ts'
import type { WorldState } from './pipeline/snapshot.ts'
import { checkNames } from './base/suggest.ts'
import { loadSignatures } from './auth/tokens.ts'
import type { PublicKey } from './auth/tokens.ts'
import { Traces } from './base/trace.ts'

/**
 * An embeddable REST engine: entities in, a JSON REST API out.
 *
 * @example
 * const engine = await RestEngine.create({ entities: [User, Site] })
 * const { status, body } = await engine.handle('GET', '/v1/users', { name: 'A*', sort: 'sites.desc', limit: 5 })
 * await engine.close()
 */
export class RestEngine {
  /** Where every timestamp comes from. */
  readonly clock: Clock
  /** What is served in the first version. */
  readonly model: Model
  readonly versions: readonly string[]
  readonly limits: Limits
  /**
   * Makes up minimal valid records, with the parents that they need: `await engine.given('order', { customer: { vip: true } }, { seed: 7 })`, and
   * `engine.given.many('order', 20)`. See `Give`.
   */
  readonly given: Give
  readonly #given: Given
  readonly #options: CheckedOptions
  readonly #connection: Connection
  readonly #worlds: WorldStore
  readonly #family: SharedState
  readonly #served: ReadonlyMap<string, Services>
  readonly #authentication: Authentication | undefined
  /** What `reset` goes back to, beside the data. */
  readonly #origin: WorldState
  readonly #life = new Lifecycle()
  readonly #faults: Faults
  readonly #fork = (): EntityManager => this.orm.em.fork()
  readonly #journal: Journal | undefined
  readonly #recorder: ChangeRecorder
  readonly #interceptions = new Set<Interception>()
  readonly #parts: RecorderParts
  readonly #requests: RequestRecorder
  readonly #descriptions: Descriptions
  #closing: Promise<void> | undefined

  /**
   * Opens the database, reads the model, brings the schema up to date and loads the seed.
   *
   * @throws TypeError, RangeError for options that are unknown or not of their form; Error for a model that cannot be served.
   */
  static async create(options: EngineOptions): Promise<RestEngine> {
    const checked = checkOptions(options)
    const notes = new Notes(checked.notes)
    if (checked.auth !== undefined) await loadSignatures()
    const opened = await openDatabase({ ...checked, notes })
    const { connection, worlds, definitions } = opened
    const complete = definitions.length === 0 ? checked : { ...checked, resources: [...definitions, ...checked.resources] }
    try {
      const engine = opened.complete(() => new RestEngine(complete, opened, createSharedState(complete, connection.orm, connection, notes)))
      if (checked.seed !== undefined) await engine.seed(checked.seed)
      worlds.start()
      engine.#followUsers()
      return engine
    } catch (error) {
      await opened.abandon()
      throw error
    }
  }

  /** @param elder the engine of which this one is a fork */
  private constructor(
    options: CheckedOptions,
    database: OpenDatabase,
    family: SharedState,
    elder?: { readonly engine: RestEngine; readonly state: WorldState },
  ) {
    // JavaScript does not know that it is private.
    if ((database as Partial<OpenDatabase> | undefined)?.connection === undefined)
      throw new TypeError('RestEngine: an engine is made by "await RestEngine.create({ entities: [User] })", not by "new".')
    const { connection, worlds } = database
    this.#options = options
    this.#connection = connection
    this.#worlds = worlds
    this.#family = family
    this.clock = new Clock(options.clock)
    connection.follow(this.clock)
    this.versions = options.versions
    this.limits = options.limits
    this.#served = serveVersions(family.editions, options, connection, this.clock, version => this.#descriptions.describe({ version }))
    this.model = this.#served.get(options.versions[0]!)!.model
    this.#given = this.#makeGiven()
    this.given = this.#given.asFunction(() => {
      this.#life.assertOpen()
    })
    const { secrets, watched } = family
    this.#journal = options.journal === 0 ? undefined : new Journal(options.journal, secrets, this.model)
    this.#recorder = connection.record(watched, () => this.#journal?.current())
    const key = elder === undefined ? undefined : elder.engine.#authentication?.tokens.key
    this.#authentication = options.auth === undefined ? undefined : new Authentication(options.auth, this.#authServices(), key)
    const routes = new Routes([...(this.#authentication?.routes() ?? []), ...options.routes], options.versions)
    if (elder !== undefined) {
      this.#take(elder.state)
      this.#followUsers()
    }
    this.#origin = this.#state()
    this.#faults = new Faults(options.routes.map(({ method }) => method))
    this.#descriptions = new Descriptions({
      options,
      served: this.#served,
      login: version => this.#authentication?.describe(version),
      context: version => this.#contextOf('GET', `/${version}`, version, undefined),
    })
    const traces = new Traces()
    connection.observe(traces)
    this.#parts = {
      engine: this,
      options,
      served: this.#served,
      model: this.model,
      clock: this.clock,
      life: this.#life,
      journal: this.#journal,
      faults: this.#faults,
      traces,
      connection,
      secrets,
      routes,
      authentication: this.#authentication,
      fork: this.#fork,
      failureOf: error => connection.dialect.failure(error),
      mayRunApplicationCode: family.mayRunApplicationCode,
    }
    this.#requests = new RequestRecorder(this.#parts)
  }

  /**
   * What the engine has mapped, left out or guessed while it was created (a column type of another database, an odd record of a JSON file, a table that
   * cannot be read): one plain sentence each, with its place. Empty when there is nothing to say.
   */
  get notes(): readonly string[] {
    return this.#family.notes.list
  }

  /** The MikroORM instance on the engine's database, to arrange and assert in tests. Fork its entity manager: `engine.orm.em.fork()`. */
  get orm(): MikroORM {
    return this.#connection.orm
  }

  #authServices(): AuthServices {
    return {
      // Asked when it is needed: a fork makes its own only then.
      orm: () => this.orm,
      clock: this.clock,
      versions: this.#served,
      stored: (resource, key, columns) => this.#servicesOf(resource).reader.storedWith(resource, key, columns),
      columns: (resource, key, columns) => this.#servicesOf(resource).reader.columns(resource, key, columns),
      shown: async (resource, key, principal, ctx) => {
        const services = this.#servicesOf(resource)
        const own = new RequestContext({ ...(ctx as RequestContext).parts, principal })
        const visibility = findVisibility(services.model, NO_PARAMETERS, own)
        return services.reader.record(resource, key, { parameters: NO_PARAMETERS, visibility, ctx: own })
      },
    }
  }

  /** Tokens end with their users, whoever removes these. */
  #followUsers(): void {
    const authentication = this.#authentication
    if (authentication === undefined) return
    const { table } = authentication
    this.#recorder.watchers.add({
      table,
      add: change => {
        if (change.kind !== 'row' || change.table.resource.table !== table) return
        const id = change.before()?.id
        if (id !== undefined && id !== change.after()?.id) authentication.removed(id)
      },
    })
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
   * @throws the reason of the signal when it aborts; TypeError when the caller broke the types; Error when the engine is closed, and one of
   * code ECONNRESET when a test has the connection lost.
   * @example await engine.handle('POST', '/v1/users', undefined, { name: 'Ann', email: 'ann@example.test' })
   */
  async handle(
    method: string,
    path: string,
    query?: QueryInput,
    body?: unknown,
    context: HandleContext = NO_CONTEXT,
  ): Promise<RestResponse> {
    return this.#requests.handle(method, path, query, body, context)
  }

  /**
   * Describes a version of the API as an OpenAPI document: every path with its parameters, bodies, answers and refusals, as the model, the rules and the
   * options have them. `GET /{version}/openapi.json` answers with the same.
   *
   * @returns plain JSON, made anew for each call
   * @throws TypeError, RangeError for options that are unknown or not of their form; Error when the engine is closed.
   * @example
   * const document = await engine.openapi({ version: 'v1' })
   * assert.equal(document.openapi, '3.1.1')
   */
  async openapi(options: OpenApiOptions = {}, /** @internal */ isReadOnly = this.#options.readOnly): Promise<OpenApiDocument> {
    this.#life.assertOpen()
    return this.#descriptions.describe(options, isReadOnly)
  }

  /** @internal As `handle`, for doors: an answer that waits for nothing is given at once, and what `handle` rejects with is thrown then. */
  ask(method: string, path: string, query: QueryInput | undefined, body: unknown, context: HandleContext): Awaitable<RestResponse> {
    return this.#requests.handle(method, path, query, body, context)
  }

  /** @internal Whether a request logs in or out, for doors that let nobody write. */
  isSession(method: string, target: string): boolean {
    return this.#authentication !== undefined && Authentication.isSession(method, readPath(target).slice(1).split('/'))
  }

  /**
   * Answers a request and tells what it ran: statements with their parameters, times and rows, what SQLite does for each (`explain query plan`), and
   * indexes that would spare it work. Meets no fault, and is in no journal. Nothing is written: what is no GET, HEAD or OPTIONS runs in a fork, with all
   * that belongs to it (hooks, constraints, commit), and the fork is closed. What hooks do outside of the engine is done.
   *
   * @returns plain data without secrets, but for `response`, which is the answer as it is
   * @throws as `handle`; as `fork` for a write
   * @example
   * const { statements, hints } = await engine.explain('GET', '/v1/users?sort=name')
   * assert.deepEqual(hints, [])
   */
  async explain(
    method: string,
    path: string,
    query?: QueryInput,
    body?: unknown,
    context: HandleContext = NO_CONTEXT,
  ): Promise<Explanation> {
    this.#life.assertOpen()
    // What lets nobody write needs no copy to write to.
    if (typeof method !== 'string' || READ_METHODS.includes(method.toUpperCase()) || this.#options.readOnly)
      return this.#requests.explain(method, path, query, body, context)
    await using world = await this.fork()
    // The first transaction of a fork prepares what all others have.
    await world.#connection.write(async () => {})
    return await world.#requests.explain(method, path, query, body, context)
  }

  /** @internal Answers a request as `handle` does, with all that it writes, and tells afterwards what ran. */
  explained(
    method: string,
    path: string,
    query: undefined,
    body: unknown,
    context: HandleContext,
  ): ReturnType<RequestRecorder['explained']> {
    return this.#requests.explained(method, path, query, body, context)
  }

  /** @internal The links of relations, and foreign keys, that no index serves, in tables of more than so many rows. */
  unindexedLinks(rows: number): UnindexedLink[] {
    return this.#connection.unindexedLinks(this.model.entities, rows)
  }

  /** @internal The column of any table whose order is that in which rows were inserted. */
  get insertionOrder(): string {
    return this.#connection.dialect.insertionOrder
  }

  /** @internal The one error body, for faults that a door finds before `handle` can be asked. */
  respondError(error: unknown): RestResponse {
    return answerError(error, this.#parts)
  }

  /** @internal The answer to what a door has met itself; reported where it is a fault of the server. */
  respondFailure(error: unknown, request: FailedRequest): RestResponse {
    return answerTransportFailure(error, request, this.#parts)
  }

  /**
   * Answers a WHATWG Request, for servers and test tools that speak `fetch`. It needs no `this`: `const { fetch } = engine`. Takes what the global `fetch`
   * takes, too; a path alone is one of `http://localhost`.
   *
   * @example const response = await engine.fetch(new Request('http://api.test/v1/users?limit=5'))
   */
  readonly fetch = (request: Request | URL | string, init?: RequestInit): Promise<Response> => answer(this, request, init)

  /**
   * Answers the requests of this process to an origin, or to several, instead of the network: those of the global `fetch`, of the undici
   * package's `request`, `stream`, `pipeline` and `fetch`, and of clients on `node:http` (axios, got, happy-dom). Other origins pass through to what was there
   * before. Undici clients that are given a dispatcher of their own, agents of `node:http` that connect in a way of their own (to a proxy), and HTTP/2 are
   * not intercepted. Of several interceptions of one origin the latest counts.
   *
   * @param origin scheme, host and port: `'https://api.example.test'`, a URL, or an array of them
   * @param options `strict`: fail requests to origins that nobody intercepts; default: false
   * @returns a disposable; ended by its `using` block, `dispose()` or `engine.close()`, in any order
   * @throws TypeError for what is not an origin, and for an unknown option; Error when the engine is closed.
   * @example
   * using api = engine.intercept('https://api.example.test')
   * const response = await fetch('https://api.example.test/v1/users')
   */
  intercept(origin: string | URL | readonly (string | URL)[], options: InterceptOptions = {}): Interception {
    this.#life.assertOpen()
    const interception = intercept(this, origin, options, () => this.#interceptions.delete(interception))
    this.#interceptions.add(interception)
    return interception
  }

  /**
   * Loads records by resource name, in any order, in one transaction, validated like bodies of POST.
   *
   * @throws RestError with all faults; nothing is loaded then.
   * @example await engine.seed({ users: [{ id: 1, name: 'Ann' }], sites: [{ url: 'x', user: 1 }] })
   */
  async seed(data: SeedData): Promise<void> {
    this.#life.assertOpen()
    await seed(data, this.model, this.#connection)
  }

  /**
   * The journal: the requests that have been answered, the newest last; the last 1,000 of them, or as many as the option `journal` says. A new array of
   * frozen entries. They hold no token and no password: `[secret]` stands in their place.
   *
   * @example
   * const [entry] = engine.requests.filter(({ method, path }) => method === 'POST' && path === '/v1/orders')
   * assert.equal(entry.changes.length, 4)
   */
  get requests(): JournalEntry[] {
    return this.#journal?.since(0) ?? []
  }

  /**
   * Empties the journal.
   *
   * @example engine.clearRequests()
   */
  clearRequests(): void {
    this.#journal?.clear()
  }

  /**
   * Asserts which records some work changes: by resource, by how many their number grows or falls (`1`, `-2`), or how many of them are inserted, updated
   * and deleted (`{ updated: 1 }`; 0 where nothing is said), or `'any'`. The number of records of all other resources must stay the same, unless `*`
   * says what is expected of them. Counts whatever changes the database: requests, hooks, `engine.orm`.
   *
   * @returns what the work gives
   * @throws AssertionError with a table of what was expected and what has happened, and the requests that did it; TypeError for what is no resource;
   * what the work throws.
   * @example await engine.expect({ orders: 1, order_items: 3, products: { updated: 3 } }, () => placeOrder())
   */
  async expect<T>(changes: ExpectedChanges, work: () => T | Promise<T>): Promise<T> {
    this.#life.assertOpen()
    const { tables } = this.#family.watched
    return expectChanges(changes, work, {
      tables,
      nameOf: name => {
        const table = tables.find(({ resource, name: own }) => own === name || (resource.served && resource.accepted.includes(name)))
        return table?.name
      },
      count: () => this.#connection.countRows(tables.map(({ resource }) => resource.table)),
      watchers: this.#recorder.watchers,
      follow: () => {
        const position = this.#journal?.position ?? 0
        return () => this.#journal?.since(position) ?? []
      },
    })
  }

  /**
   * Delays requests on their way to the engine, in real milliseconds. Delays of one request add up.
   *
   * @param ms from 0 to 2147483647, or a function of the request that gives them
   * @throws TypeError, RangeError for bad arguments; Error when the engine is closed.
   * @example using slow = engine.delay('GET /v1/orders*', 200)
   */
  delay(match: RequestMatch, ms: number | ((request: FaultRequest) => number), options?: FaultOptions): FaultHandle {
    this.#life.assertOpen()
    return this.#faults.delay(match, ms, options)
  }

  /**
   * Answers requests with an error, of the one error shape. Nothing of them is done, unless with `after: true`: then only the answer is replaced.
   *
   * @throws TypeError, RangeError for bad arguments; Error when the engine is closed.
   * @example using busy = engine.fail('POST /v1/orders', { status: 503, times: 2, headers: { 'retry-after': '1' } })
   */
  fail(match: RequestMatch, options: FailOptions): FaultHandle {
    this.#life.assertOpen()
    return this.#faults.fail(match, options)
  }

  /**
   * Loses the connection of requests: `handle` rejects with an Error of code ECONNRESET, `fetch` with TypeError "fetch failed", and over HTTP the socket is
   * reset. Nothing of them is done, unless with `after: true`: then only the answer is lost.
   *
   * @throws TypeError, RangeError for bad arguments; Error when the engine is closed.
   * @example using lost = engine.drop('POST /v1/orders', { after: true, times: 1 })
   */
  drop(match: RequestMatch, options?: DropOptions): FaultHandle {
    this.#life.assertOpen()
    return this.#faults.drop(match, options)
  }

  /**
   * Holds requests until the gate is opened.
   *
   * @throws TypeError, RangeError for bad arguments; Error when the engine is closed.
   * @example
   * using gate = engine.hold('POST /v1/orders')
   * const answering = engine.handle('POST', '/v1/orders', undefined, { item: 1 })
   * await gate.arrived
   * gate.release()
   */
  hold(match: RequestMatch, options?: FaultOptions): Gate {
    this.#life.assertOpen()
    return this.#faults.hold(match, options)
  }

  /**
   * Takes the state of the engine's world: data, IDs, clock, revoked tokens. Costs next to nothing while nothing has been written since the last one.
   *
   * @throws Error when the engine is closed, or inside a write.
   * @example
   * const before = await engine.snapshot()
   * await engine.restore(before)
   */
  async snapshot(): Promise<Snapshot> {
    this.#life.assertOpen()
    return new Snapshot(this.#family, await this.#worlds.image(), this.#state())
  }

  /**
   * Goes back to a snapshot, of this engine or of one with the same entities. Requests that still run are cut off: they reject with the code ECONNRESET
   * and write nothing. Journal and faults stay.
   *
   * @throws TypeError for what is no snapshot, or that of another model; Error when the engine is closed, or inside a write.
   * @example await engine.restore(before)
   */
  async restore(snapshot: Snapshot): Promise<void> {
    this.#life.assertOpen()
    this.#checkSnapshot(snapshot, 'restore')
    await this.#worlds.replace(snapshot.image, () => this.#life.invalidate('restore'))
    this.#take(snapshot.state)
  }

  /**
   * Goes back to the state after `create` and its `seed` option (a fork: to the state in which it was forked): data, IDs, clock, revoked tokens, with
   * an empty journal and without faults. Requests that still run are cut off: they reject with the code ECONNRESET and write nothing.
   *
   * @throws Error when the engine is closed, inside a write, or when the database is a file that was larger than 64 MiB when it was first written to.
   * @example afterEach(() => engine.reset())
   */
  async reset(): Promise<void> {
    this.#life.assertOpen()
    this.#faults.reset()
    this.#journal?.reset()
    await this.#worlds.reset(() => this.#life.invalidate('reset'))
    this.#take(this.#origin)
  }

  /**
   * An independent engine, in memory, with a copy of the data, IDs, clock and tokens. It shares what has been compiled for the model, so that a fork costs
   * little more than the copy; faults are not taken over. Close it when it is no longer needed.
   *
   * @param snapshot what the fork begins with; default: the present state
   * @throws TypeError for what is no snapshot, or that of another model; Error when the engine is closed, or inside a write.
   * @example await using world = await engine.fork()
   */
  async fork(snapshot?: Snapshot): Promise<RestEngine> {
    const from = snapshot ?? (await this.snapshot())
    this.#life.assertOpen()
    this.#checkSnapshot(from, 'fork')
    return new RestEngine(this.#options, await this.#worlds.fork(from.image), this.#family, { engine: this, state: from.state })
  }

  #checkSnapshot(snapshot: Snapshot, by: string): void {
    if (!(snapshot instanceof Snapshot)) throw new TypeError(`engine.${by}: not a snapshot: take one with engine.snapshot().`)
    if (snapshot.isOf(this.#family)) return
    const differing = this.#worlds.differing(snapshot.image)
    if (differing.length > 0) {
      throw new TypeError(`engine.${by}: the snapshot is of another model, which differs in ${differing.join(', ')}.`)
    }
  }

  #state(): WorldState {
    return { clock: this.clock.setting, auth: this.#authentication?.state, nextSeed: this.#given.nextSeed }
  }

  #take({ clock, auth, nextSeed }: WorldState): void {
    this.clock.restore(clock)
    this.#given.nextSeed = nextSeed
    if (auth !== undefined) this.#authentication?.restore(auth)
  }

  #makeGiven(): Given {
    const version = this.versions[0]!
    const { model, reader } = this.#served.get(version)!
    const context = ({ plural }: Resource): RequestContext => this.#contextOf('POST', `/${version}/${plural}`, version, plural)
    return new Given({ model, connection: this.#connection, reader, clock: this.clock, context })
  }

  /** The context of a request of nobody, for what the engine itself reads and makes. */
  #contextOf(method: 'GET' | 'POST', path: string, version: string, resource: string | undefined): RequestContext {
    const request = parse(method, path, undefined, undefined, NO_CONTEXT)
    const logsIn = this.#authentication !== undefined
    const action = method === 'POST' ? 'create' : undefined
    const about = { action, resource, id: undefined, attribute: undefined } as const
    return new RequestContext({ engine: this, fork: this.#fork, request, version, principal: undefined, logsIn, about })
  }

  /** What is served in a version; undefined when there is no such version. */
  modelOf(version: string): Model | undefined {
    return this.#served.get(version)?.model
  }

  /**
   * Mints a token, for tests: for the user as they are stored now. A later password ends it.
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
    return this.#authenticationOn().tokens.key.publicKey
  }

  #authenticationOn(): Authentication {
    if (this.#authentication === undefined) throw new Error('The authentication module is off: switch it on with the option "auth".')
    return this.#authentication
  }

  /**
   * Ends its interceptions, waits for the requests that run, then closes the database. Idempotent; `handle` throws from now on. Delayed requests go on at once; those that a gate
   * still holds are lost, with a warning.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#life.end()
    this.#faults.close()
    for (const interception of this.#interceptions) interception.dispose()
    await this.#life.idle()
    await this.#connection.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
