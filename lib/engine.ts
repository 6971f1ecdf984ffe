/** The class `RestEngine`, the public interface. `engine/assembly/assemble.ts` puts its parts together. */
import type { MikroORM } from '@mikro-orm/core'
import { findSeedNames } from './records/access/find-new-names.ts'
import type { Authentication, PublicKey } from './engine/auth/authentication.ts'
import { chain } from './foundation/async/awaitable.ts'
import type { Clock } from './foundation/async/clock.ts'
import { asyncDisposeKey } from './foundation/runtime/dispose-keys.ts'
import type { Limits } from './foundation/base/limits.ts'
import type { RestResponse } from './foundation/base/response.ts'
import type { ExpectedChanges, ExpectedChange } from './engine/journal/expected-changes.ts'
import type { Explanation } from './engine/journal/explanation.ts'
import type { Change } from './engine/journal/changes.ts'
import { readHarOrigin, writeHar, type Har, type HarOptions } from './engine/journal/har.ts'
import type { Recorded, RecordOptions } from './engine/recording/recorded.ts'
import type { EngineEvent, ListenOptions } from './engine/testing/events.ts'
import type { JournalEntry } from './engine/journal/journal-entry.ts'
import type { OpenApiDocument } from './description/openapi/openapi-document.ts'
import { assemble, closeEngine, copyWorld, type Composition, type EngineParts } from './engine/assembly/assemble.ts'
import type { DiagramOptions, OpenApiOptions } from './engine/assembly/descriptions.ts'
import { NO_CONTEXT, type HandleContext, type HeldRequest } from './engine/pipeline/arrival.ts'
import { readSent, type SendOptions } from './engine/pipeline/sent-request.ts'
import type { EngineOptions } from './engine/options/options.ts'
import { isRequestPoint, type RequestPoint, type Snapshot } from './engine/worlds/snapshot.ts'
import { EngineInternals } from './engine/assembly/engine-internals.ts'
import { internalsOf, keepInternals } from './engine/assembly/internals.ts'
import { joinPieces } from './engine/pipeline/record-request.ts'
import type { MethodText, NamedBy, PathText } from './model/client/resource-names.ts'
import type { QueryInput } from './foundation/base/query-input.ts'
import type { TransportEngine } from './doors/server/transport.ts'
import type { SelfTestOptions } from './checks/self-test/options.ts'
import type { SelfTestReport } from './checks/self-test/report.ts'
import { intercept, runWithin, type InterceptOptions, type Interception } from './doors/server/intercept/intercept.ts'
import type { FaultHandle, FaultState, Gate, PendingFault } from './engine/testing/fault-handle.ts'
import type { Delay } from './engine/testing/fault-rule.ts'
import type { DropOptions, FailOptions, FaultOptions } from './engine/testing/fault-options.ts'
import type { RequestMatch } from './engine/testing/fault-request.ts'
import type { Give } from './engine/testing/given-options.ts'
import type { RateLimit } from './engine/testing/rate-limit.ts'
import { checkSeeds, isSeeder, listSeeds, type Seed, type SeederClass } from './model/seeds.ts'
import { makeShown, showsEngines } from './show-engine.ts'

type NamedSeed<Name extends string> = NamedBy<Name, readonly object[]> | SeederClass | true

/** Loaded with the first request of the Fetch API. */
let answerFetch: ((engine: TransportEngine, request: Request | URL | string, init?: RequestInit) => Promise<Response>) | undefined

/**
 * An embeddable REST engine: entities in, a JSON REST API out.
 *
 * @template Name the names of resources in `seed`, `given` and `expect`, proposed by editors in paths of `handle`, too: see
 * `ResourceNames`. Default: any text.
 * @example
 * const engine = await RestEngine.create({ entities: [User, Site] })
 * const { status, body } = await engine.handle('GET', '/v1/users', { name: 'A*', sort: 'sites.desc', limit: 5 })
 * await engine.close()
 */
export class RestEngine<Name extends string = string> {
  /** The source of every timestamp. */
  readonly clock: Clock
  /** The path before the version: `'/api'`; empty without a path. */
  readonly base: string
  /** The accepted versions; empty where paths have no version. */
  readonly versions: readonly string[]
  readonly limits: Limits
  /**
   * Inserts minimal valid records, with all parents: `await engine.given('order', { customer: { vip: true } }, { seed: 7 })`, and
   * `engine.given.many('order', 20)`. See `Give`.
   */
  readonly given: Give<Name>
  readonly #parts: EngineParts<RestEngine>
  #closing: Promise<void> | undefined

  /**
   * Opens the database, reads the model, brings the schema up to date and loads the seed.
   *
   * @throws TypeError, RangeError for options that are unknown or not of their form; Error for a model that cannot be served.
   */
  static async create(options: EngineOptions): Promise<RestEngine> {
    const make = (): Promise<RestEngine> => RestEngine.#make(options)
    return showsEngines() ? makeShown(make, RestEngine.create) : make()
  }

  static async #make(options: EngineOptions): Promise<RestEngine> {
    const { openEngine } = await import('./engine/assembly/open-engine.ts')
    return openEngine(options, composition => new RestEngine(composition).#parts)
  }

  private constructor(composition: Composition) {
    // JavaScript can call a private constructor.
    if ((composition as Partial<Composition> | undefined)?.database?.connection === undefined)
      throw new TypeError('RestEngine: an engine is made by "await RestEngine.create({ entities: [User] })", not by "new".')
    this.#parts = assemble(this.#plain, composition)
    keepInternals(this, new EngineInternals(this.#parts, another => new RestEngine(another)))
    this.clock = this.#parts.clock
    this.base = composition.options.base
    this.versions = composition.options.versions
    this.limits = composition.options.limits
    this.given = this.#parts.given.asFunction(() => this.#parts.life.assertOpen())
  }

  /** This engine, typed without names of resources. */
  get #plain(): RestEngine {
    return this as RestEngine
  }

  get #open(): EngineParts<RestEngine> {
    this.#parts.life.assertOpen()
    return this.#parts
  }

  /**
   * What the engine mapped, left out or guessed at its creation (an odd record of a JSON file, an unreadable table): a sentence each, with
   * its place.
   */
  get notes(): readonly string[] {
    return this.#parts.shared.notes.list
  }

  /** The MikroORM instance on the engine's database, for tests. Fork its entity manager: `engine.orm.em.fork()`. */
  get orm(): MikroORM {
    return this.#parts.connection.orm
  }

  /**
   * Answers one request, without any server. Errors of the client are answers.
   *
   * @param path begins with the base and the version; may carry its own `?query`
   * @param query a text, URLSearchParams, or an object whose keys end with their operator: `{ 'age>=': 18, 'name!=': 'Ann' }`
   * @param body the parsed JSON value
   * @throws the reason of the signal when it aborts; TypeError for wrong types; Error when the engine is closed, and with code ECONNRESET
   * when a test has the connection lost.
   * @example
   * await engine.handle('POST', '/v1/users', undefined, { name: 'Ann', email: 'ann@example.test' })
   * const { body }: RestResponse<{ users: { name: string }[] }> = await engine.handle('GET', '/v1/users')
   */
  async handle(
    method: MethodText,
    path: PathText<Name>,
    query?: QueryInput,
    body?: unknown,
    context: HandleContext = NO_CONTEXT,
  ): Promise<RestResponse> {
    const answer = this.#parts.requests.handle(method, path, query, body, context)
    // Streams are never answered at once.
    return answer instanceof Promise ? chain(answer, joinPieces) : answer
  }

  /**
   * Answers one request written as a line, like `handle`.
   *
   * @param line method and path: `'POST /v1/users'`; the path may carry its own `?query`
   * @param options `body`: the parsed JSON value; `query`, `headers`, `signal`: as for `handle`
   * @throws as `handle`; TypeError for a line that is not a method and a path, and for an unknown option.
   * @example
   * const { status } = await engine.send('POST /v1/users', { body: { name: 'Ann', email: 'ann@example.test' } })
   */
  async send(line: string, options: SendOptions = {}): Promise<RestResponse> {
    return chain(this.#parts.requests.handle(...readSent(line, options)), joinPieces)
  }

  /**
   * Answers a WHATWG Request. Needs no `this`: `const { fetch } = engine`. Takes the arguments of the global `fetch`, too; a path alone
   * belongs to `http://localhost`.
   *
   * @example const response = await engine.fetch(new Request('http://api.test/v1/users?limit=5'))
   */
  readonly fetch = async (request: Request | URL | string, init?: RequestInit): Promise<Response> => {
    answerFetch ??= (await import('./doors/server/fetch.ts')).answer
    return answerFetch(internalsOf(this), request, init)
  }

  /**
   * Answers requests of this process to origins in the place of the network: of the global `fetch`, of the undici package's `request`,
   * `stream`, `pipeline` and `fetch`, and of clients on `node:http` (axios, got, happy-dom). Not intercepted: undici clients with a
   * dispatcher of their own, agents of `node:http` that connect by themselves (to a proxy), and HTTP/2.
   *
   * An interception holds in its asynchronous context, for all calls, waits and timers of the code, so parallel tests may intercept the
   * same origin. Made outside of any test, or with `everywhere`, an interception holds in the whole process.
   *
   * @param origin scheme, host and port: `'https://api.example.test'`, a URL, or an array; with a path (`'https://api.example.test/api'`),
   * which is the base, only the requests below
   * @param options `base`: path of origins without a path; `strict`: fail requests that no interception covers; `everywhere`: default:
   * false
   * @returns a disposable; ended by its `using` block, `dispose()` or `engine.close()`, in any order
   * @throws TypeError for anything that is not an origin, and for an unknown option; Error when the engine is closed, and with code
   * ERR_ALREADY_INTERCEPTED when the origin is intercepted in the same context.
   * @example
   * using api = engine.intercept('https://api.example.test')
   * const response = await fetch('https://api.example.test/v1/users')
   */
  intercept(origin: string | URL | readonly (string | URL)[], options: InterceptOptions = {}): Interception {
    const { interceptions } = this.#open
    const interception = intercept(this.#plain, origin, options, () => interceptions.delete(interception))
    interceptions.add(interception)
    return interception
  }

  /**
   * Runs work in a context of its own: requests go to interceptions made in the work, then to other interceptions of this engine.
   * Interceptions made in the work end with the work. For code outside of test runners, and tests with several engines.
   *
   * @returns the result of the work
   * @throws any error of the work; Error when the engine is closed.
   * @example
   * const status = await engine.within(async () => {
   *   engine.intercept('https://api.example.test')
   *   return (await fetch('https://api.example.test/v1/users')).status
   * })
   * assert.equal(status, 200)
   */
  async within<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    this.#parts.life.assertOpen()
    return runWithin(this.#plain, work)
  }

  /**
   * Answers a request and returns what ran: statements with parameters, times, rows and the database's plans, and indexes that would spare
   * work. Leaves out injected faults and the journal. Nothing is written: any method but GET, HEAD, QUERY and OPTIONS runs in a fork, with
   * hooks, constraints and commit. Effects of hooks outside of the engine remain.
   *
   * @returns plain data without secrets; only `response` is the answer as it is
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
    const { requests } = this.#open
    if (!requests.mayWrite(method)) return requests.explain(method, path, query, body, context)
    await using world = await this.#fork()
    return await world.#parts.requests.explainWrite(method, path, query, body, context)
  }

  /**
   * Describes a version of the API as an OpenAPI document, by model, rules and options. `GET /{version}/openapi.json` answers with the same
   * document.
   *
   * @returns plain JSON, made anew for each call
   * @throws TypeError, RangeError for options that are unknown or not of their form; Error when the engine is closed.
   * @example
   * const document = await engine.openapi({ version: 'v1' })
   * assert.equal(document.openapi, '3.1.1')
   */
  async openapi(options: OpenApiOptions = {}): Promise<OpenApiDocument> {
    return this.#open.descriptions.describe(options)
  }

  /**
   * Draws the model of a version: resources, attributes, and relations with cardinalities, as far as the OpenAPI document goes.
   *
   * @returns the text of an SVG picture, or of an `erDiagram` of Mermaid with `format: 'mermaid'`
   * @throws TypeError, RangeError for options that are unknown or not of their form; Error when the engine is closed.
   * @example
   * const text = await engine.diagram({ format: 'mermaid' })
   * assert.match(text, /^erDiagram
   * /)
   */
  async diagram(options: DiagramOptions = {}): Promise<string> {
    return this.#open.descriptions.draw(options)
  }

  /**
   * Compares an answer with the OpenAPI document of its version: operation, status, headers and body. Also for answers of the real backend.
   *
   * @param request a Request, or method and path, with the query in the path or beside
   * @param response what `handle` has answered, or a Response whose body has not been read
   * @returns one plain sentence for each fault; empty when the answer is as described
   * @throws TypeError for what is not a request or answer; Error when the engine is closed.
   * @example
   * const answer = await engine.handle('GET', '/v1/users')
   * assert.deepEqual(await engine.conforms({ method: 'GET', path: '/v1/users' }, answer), [])
   */
  async conforms(request: HeldRequest | Request, response: RestResponse | Response): Promise<string[]> {
    const parts = this.#open
    const { holdAnswer } = await import('./engine/assembly/hold-answer.ts')
    return holdAnswer(parts, request, response)
  }

  /**
   * Tries the promises of the API with generated requests, good and bad: answers match the OpenAPI document, pages add up, filters split
   * the list, written values read back, bad requests are refused. Runs in a fork: the engine's data stay. Functions of the application run,
   * with effects outside of the engine.
   *
   * @returns plain data, with each failure in plain words and the requests that repeat it; `String(report)` is a text
   * @throws TypeError, RangeError for options that are unknown or not of their form; Error when the engine is closed, or inside a write.
   * @example
   * const report = await engine.selfTest({ seed: 7 })
   * assert.ok(report.passed, String(report))
   */
  async selfTest(options: SelfTestOptions = {}): Promise<SelfTestReport> {
    const { tryPromises } = await import('./try-promises.ts')
    const { report } = await tryPromises(this, options, this.#parts.options.readOnly)
    return report
  }

  /**
   * Loads records by resource name, in any order, in one transaction, validated like bodies of POST. Also runs a Seeder class of
   * `@mikro-orm/seeder` in one transaction, or with `true` the seeder of MikroORM's config; or a list of seeds, one after another.
   *
   * @throws RestError with all errors of records, and Error for a seeder that fails; nothing is loaded then.
   * @example await engine.seed({ users: [{ id: 1, name: 'Ann' }], sites: [{ url: 'x', user: 1 }] })
   */
  async seed(seeders: SeederClass | true | readonly NamedSeed<Name>[]): Promise<void>
  async seed(records: NamedBy<Name, readonly object[]>): Promise<void>
  async seed(data: NamedSeed<Name> | readonly NamedSeed<Name>[]): Promise<void> {
    this.#parts.life.assertOpen()
    checkSeeds(data, 'engine.seed: the seed')
    for (const each of listSeeds(data)) await this.#sow(each)
  }

  async #sow(each: Seed): Promise<void> {
    const { connection, versions, shared } = this.#open
    const { sow } = await import('./records/seed/sow.ts')
    const { model, hashes } = versions.first
    const more = model.isOpen && !isSeeder(each) ? findSeedNames(each, model.byName) : undefined
    const growth = more && versions.grow(more)
    await sow(each, { version: { model: growth?.model ?? model, hashes }, connection, notes: shared.notes })
    growth?.adopt()
  }

  /**
   * The journal: the last 1,000 answered requests (option `journal`), the newest last. A new array of frozen entries. `[secret]` stands in
   * the place of tokens and passwords.
   *
   * @example
   * const [entry] = engine.requests.filter(({ method, path }) => method === 'POST' && path === '/v1/orders')
   * assert.equal(entry.changes.length, 4)
   */
  get requests(): JournalEntry[] {
    return this.#parts.journal?.since(0) ?? []
  }

  /**
   * The journal as an HTTP Archive (HAR 1.2), for network panels of browsers and tools for HTTP; without headers, as the journal.
   *
   * @param options `origin`: scheme and host of the URLs, default `'http://localhost'`
   * @throws TypeError for an unknown option, and for an origin that is none.
   * @example await writeFile('failed.har', JSON.stringify(engine.har()))
   */
  har(options: HarOptions = {}): Har {
    return writeHar(this.requests, readHarOrigin(options))
  }

  /**
   * Tells events from now on: requests, and what tests do to the engine's world (`reset`, `restore`, `clock`, `faults`, `mark`). Ends with
   * the engine, with the signal, and when the loop is left. Beyond 1,000 waiting events (option `capacity`) the oldest are lost, and `lost`
   * counts them.
   *
   * @throws TypeError, RangeError for options that are unknown or not of their form; Error when the engine is closed.
   * @example
   * for await (const event of engine.events()) if (event.type === 'request') console.log(event.request.path)
   */
  events(options: ListenOptions = {}): AsyncIterableIterator<EngineEvent> {
    return this.#open.events.listen(options)
  }

  /**
   * Writes a file of a failed test: the model, the journal with what the newest 100 requests ran, marks, faults, the clock, and the data at
   * the beginning (the latest of `create`, `fork`, `reset`, `restore` and `scenario`). `npx mikro-rest failed.mikro` opens the file.
   * Secrets and code of the application are left out. Notes tell of missing data: above 64 MiB, or not to be copied from PostgreSQL.
   *
   * @param path of the file, whose folder is made
   * @param options `test`: its name; `failure`: the message of the runner
   * @returns the whole path, the size in bytes, and notes on what is missing
   * @throws TypeError for bad arguments; Error when the engine is closed, or inside a write, and where the file cannot be written.
   * @example afterEach(async t => { if (!t.passed) await engine.record(`failures/${t.name}.mikro`) })
   */
  async record(path: string, options: RecordOptions = {}): Promise<Recorded> {
    this.#parts.life.assertOpen()
    const recording = await import('./engine/recording/record.ts')
    return recording.record(internalsOf(this), path, options, RestEngine.#make)
  }

  /**
   * Puts a mark between requests, for readers of `events`.
   *
   * @param text 1 to 500 characters
   * @throws TypeError for another value; Error when the engine is closed.
   * @example engine.mark('the order is placed')
   */
  mark(text: string): void {
    this.#open.events.mark(text)
  }

  /**
   * Empties the journal.
   *
   * @example engine.clearRequests()
   */
  clearRequests(): void {
    this.#parts.journal?.clear()
  }

  /**
   * Asserts how many records of each resource some work adds or removes (`1`, `-2`), or inserts, updates and deletes (`{ updated: 1 }`; 0
   * where nothing is given), or `'any'`. Numbers of all other resources must stay, unless `*` sets an expectation. Counts every change of
   * the database: by requests, hooks, `engine.orm`.
   *
   * @returns the result of the work
   * @throws AssertionError with a table of expected and actual changes, and the requests that made them; TypeError for an unknown resource;
   * any error of the work.
   * @example await engine.expect({ orders: 1, order_items: 3, products: { updated: 3 } }, () => placeOrder())
   */
  async expect<T>(changes: NamedBy<Name | '*', ExpectedChange>, work: () => T | Promise<T>): Promise<T> {
    const { shared, connection, recorder, journal } = this.#open
    const { expectChanges } = await import('./engine/journal/expect-changes.ts')
    return expectChanges(changes as ExpectedChanges, work, { tables: shared.watched.tables, connection, recorder, journal })
  }

  /**
   * Delays requests on the way to the engine, in real milliseconds. Delays of a request add up.
   *
   * @param delay milliseconds from 0 to 2147483647; a profile `{ p50, p99, seed? }`, whose delays are log-normal and the same for the same
   * seed; or a function of the request that returns milliseconds
   * @throws TypeError, RangeError for bad arguments; Error when the engine is closed.
   * @example
   * using slow = engine.delay('GET /v1/orders*', 200)
   * using real = engine.delay('*', { p50: 20, p99: 150, seed: 7 })
   */
  delay(match: RequestMatch, delay: Delay, options?: FaultOptions): FaultHandle {
    return this.#open.faults.delay(match, delay, options)
  }

  /**
   * Allows a number of requests in a time, and answers others with 429 `rate_limited` and `Retry-After`. A token bucket, full at first,
   * fills evenly by `engine.clock`.
   *
   * @throws TypeError, RangeError for bad arguments; Error when the engine is closed.
   * @example using limit = engine.rateLimit('POST /v1/orders', { requests: 10, per: '1m' })
   */
  rateLimit(match: RequestMatch, options: RateLimit): FaultHandle {
    return this.#open.faults.rateLimit(match, options)
  }

  /**
   * Answers requests with an error, in the shape of all errors. Nothing else is done, unless with `after: true`: then only the answer is
   * replaced.
   *
   * @throws TypeError, RangeError for bad arguments; Error when the engine is closed.
   * @example using busy = engine.fail('POST /v1/orders', { status: 503, times: 2, headers: { 'retry-after': '1' } })
   */
  fail(match: RequestMatch, options: FailOptions): FaultHandle {
    return this.#open.faults.fail(match, options)
  }

  /**
   * Loses the connection of requests: `handle` rejects with code ECONNRESET, `fetch` with TypeError "fetch failed", and over HTTP the
   * socket is reset. Nothing else is done, unless with `after: true`: then only the answer is lost.
   *
   * @throws TypeError, RangeError for bad arguments; Error when the engine is closed.
   * @example using lost = engine.drop('POST /v1/orders', { after: true, times: 1 })
   */
  drop(match: RequestMatch, options?: DropOptions): FaultHandle {
    return this.#open.faults.drop(match, options)
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
    return this.#open.faults.hold(match, options)
  }

  /**
   * The faults and gates in effect that no request has met, oldest first.
   *
   * @example assert.deepEqual(engine.pending(), [])
   */
  pending(): PendingFault[] {
    return this.#parts.faults.pending
  }

  /**
   * The faults and gates in effect or used up, oldest first, as plain data.
   *
   * @example assert.equal(engine.faults[0].met, 2)
   */
  get faults(): FaultState[] {
    return this.#parts.faults.states
  }

  /**
   * Says which members cannot work here, and why, such as `reset` of a large file.
   *
   * @returns sentences by name; empty where all is possible
   * @throws Error when the engine is closed.
   * @example assert.deepEqual(await engine.unavailable(), {})
   */
  async unavailable(): Promise<Readonly<Record<string, string>>> {
    const open = this.#open
    const { listUnavailable } = await import('./engine/assembly/unavailable.ts')
    return listUnavailable(open)
  }

  /**
   * Takes a snapshot of the engine's world: data, IDs, clock, revoked tokens. Costs next to nothing without a write since the last
   * snapshot.
   *
   * @throws Error when the engine is closed, or inside a write.
   * @example
   * const before = await engine.snapshot()
   * await engine.restore(before)
   */
  async snapshot(): Promise<Snapshot> {
    return this.#parts.world.snapshot()
  }

  /**
   * Goes back to a snapshot, of this engine or of an engine with the same entities; or to the state before a request of the journal, kept
   * from the first listening to `events` on. `undo` does so only where its requests alone have changed data since. Running requests are cut
   * off: they reject with code ECONNRESET and write nothing. Journal and faults stay.
   *
   * @throws TypeError for a value that is neither, or a snapshot of another model; RangeError for a request that the journal does not have;
   * Error where the state before the request is not kept, or `undo` would undo more, when the engine is closed, or inside a write.
   * @example
   * await engine.restore(before)
   * await engine.restore({ before: 7 })
   * await engine.restore({ undo: [7, 8] })
   */
  async restore(to: Snapshot | RequestPoint): Promise<void> {
    if (!isRequestPoint(to)) return this.#parts.world.restore(to)
    const { restoreBefore } = await import('./engine/assembly/restore-before.ts')
    await restoreBefore(this.#open, to)
  }

  /**
   * Says which records differ between two states, whatever happened in between: also by reset, restore and work past the engine. Reads all
   * rows of both states, 400,000 at most.
   *
   * @param before a snapshot, of this engine or of an engine with the same entities
   * @param after another snapshot; default: the present state
   * @returns changes as the journal has them, without secrets
   * @throws as `fork`; Error where there are more rows.
   * @example
   * const before = await engine.snapshot()
   * await engine.send('DELETE /v1/users/1')
   * assert.deepEqual((await engine.difference(before)).map(({ type, id }) => [type, id]), [['delete', 1]])
   */
  async difference(before: Snapshot, after?: Snapshot): Promise<Change[]> {
    await using was = await this.#fork(before)
    await using other = after === undefined ? undefined : await this.#fork(after)
    const { shared, connection } = (other ?? this).#open
    const { findDifference } = await import('./engine/journal/difference.ts')
    const changes = await findDifference(shared.watched, was.#open.connection, connection)
    return JSON.parse(shared.secrets.maskStored(JSON.stringify(changes))) as Change[]
  }

  /**
   * Goes back to the state after `create` and its `seed` option (a fork: to the state at forking): data, IDs, clock, revoked tokens, with
   * an empty journal and without faults. Running requests are cut off: they reject with code ECONNRESET and write nothing.
   *
   * @throws Error when the engine is closed, inside a write, or when the database is a file that was larger than 64 MiB before the first
   * write.
   * @example afterEach(() => engine.reset())
   */
  async reset(): Promise<void> {
    await this.#parts.world.reset()
  }

  /**
   * Begins a scenario: the state after `create`, with a named seed of the option `scenarios` in the place of the `seed` option, an empty
   * journal and no faults. Running requests are cut off. The first call makes the records, later calls copy them. `reset` goes back to the
   * `seed` option.
   *
   * @throws RangeError for an unknown name; as `seed` for records that the model refuses; Error when the engine is closed, or inside a
   * write.
   * @example await engine.scenario('vip')
   */
  async scenario(name: string): Promise<void> {
    await this.#parts.world.begin(await internalsOf(this).scenarioSnapshot(name), name)
  }

  /** The names of the option `scenarios`. */
  get scenarios(): readonly string[] {
    return this.#parts.shared.scenarios.names
  }

  /**
   * Returns an independent engine, in memory, with a copy of data, IDs, clock and tokens, an empty journal and no faults. Close a fork when
   * done.
   *
   * @param snapshot the state that the fork begins with; default: the present state
   * @throws TypeError for a value that is not a snapshot, or that of another model; Error when the engine is closed, or inside a write.
   * @example await using world = await engine.fork()
   */
  async fork(snapshot?: Snapshot): Promise<RestEngine<Name>> {
    const make = async (): Promise<RestEngine<Name>> => this.#fork(snapshot)
    return showsEngines() ? makeShown(make, this.fork) : make()
  }

  async #fork(snapshot?: Snapshot): Promise<RestEngine<Name>> {
    return new RestEngine(await copyWorld(this.#parts, snapshot))
  }

  /**
   * Mints a token, for tests. A later change of the user's password ends the token. On PostgreSQL the user is read after the return: a
   * failure shows when the token is used.
   *
   * @param user an entity, or the ID of one
   * @param options `ttl` in seconds; default: that of the module; a negative one gives a token that has expired
   * @throws Error when the authentication module is off; TypeError for any other value than a user.
   * @example const headers = { authorization: `Bearer ${engine.token(1)}` }
   */
  token(user: unknown, options: { readonly ttl?: number } = {}): string {
    return this.#authentication.mint(user, options)
  }

  /**
   * The public key of the tokens, as a JSON Web Key, for others to verify tokens.
   *
   * @throws Error when the authentication module is off.
   */
  get publicKey(): PublicKey {
    return this.#authentication.publicKey
  }

  get #authentication(): Authentication {
    const { authentication } = this.#parts
    if (authentication === undefined) throw new Error('The authentication module is off: switch it on with the option "auth".')
    return authentication
  }

  /**
   * Ends interceptions, waits for running requests, and closes the database. Idempotent. `handle` throws from now on. Delayed requests go
   * on at once; requests held by a gate are lost, with a warning.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#end())
  }

  async #end(): Promise<void> {
    // A shown engine may have to wait; any other engine begins to close at once.
    const leaving = internalsOf(this).shown?.leave()
    if (leaving !== undefined) await leaving
    await closeEngine(this.#parts)
  }

  async [asyncDisposeKey](): Promise<void> {
    await this.close()
  }
}
