/**
 * Takes a `node:http` request, asks the engine, pages, files or test controls, and writes the answer. Passes on requests of others, where
 * asked to.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { LazyClient, type HeaderSource } from '../../foundation/async/abort.ts'
import { separateCookies } from '../../foundation/http/set-cookie.ts'
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import { RestError, isConnectionLost, isEngineClosed, restError } from '../../foundation/errors/errors.ts'
import type { Wire } from '../../foundation/base/wire.ts'
import { READ_METHODS, WRITE_METHODS, TAKES_BODY } from '../../foundation/http/http-methods.ts'
import { HTTP_TIMEOUT } from '../../foundation/base/limits.ts'
import { runGuarded, warn } from '../../foundation/errors/report-failure.ts'
import type { Explanation } from '../../engine/journal/explanation.ts'
import { findTargetBelow, readBase } from '../../records/request/address.ts'
import { Cors } from './cors.ts'
import { isDocsPath, answerPage, type Pages } from './docs-pages.ts'
import { readBody, writeResponse } from './http-body.ts'
import { loseConnection, type HttpConnection } from './http-connection.ts'
import { findAddress, findOrigin, isEncrypted, type MountedRequest, Received } from './mount.ts'
import { OriginGuard, type RequestTarget } from './origin-guard.ts'
import type { ListenerOptions, RequestLine, ServerOptions, ShownWorkbench } from './server-options.ts'
import { StaticFiles } from './static-files.ts'
import { TestControls } from './controls/test-controls.ts'
import { answerWorkbench, isLook, isOfWorkbench, isWorkbenchPath } from './workbench-pages.ts'
import { written, type TransportResponse } from './transport.ts'
import type { WorldEngine } from './controls/world-engine.ts'
import { internalsOf } from '../../engine/assembly/internals.ts'
import type { EngineInternals } from '../../engine/assembly/engine-internals.ts'

interface SentRequest {
  readonly request: MountedRequest
  readonly response: ServerResponse
  readonly client: LazyClient
  /** By performance.now(); 0: not measured. */
  readonly started: number
  /** With the mount path of the app. */
  readonly target: string
  readonly base: string
  readonly below: string | undefined
}

interface ArrivedRequest {
  readonly connection?: HttpConnection | undefined
  readonly ended?: () => void
  readonly next?: (() => void) | undefined
}

export class RequestListener {
  readonly guard: OriginGuard
  readonly #engine: WorldEngine
  readonly #internals: EngineInternals
  /** `undefined`: the mount path, or the engine's base. */
  readonly #base: string | undefined
  readonly #passesOn: boolean
  readonly #controls: TestControls | undefined
  readonly #readOnly: boolean
  readonly #pages: Pages
  readonly #wire: Wire | undefined
  readonly #workbench: ShownWorkbench | undefined
  readonly #delay: number
  readonly #delaysEnd = new AbortController()
  readonly #onRequest: ((line: RequestLine) => void) | undefined
  readonly #cors: Cors | undefined
  readonly #methods: readonly string[]
  readonly #explanations: WeakMap<MountedRequest, () => Awaitable<Explanation | undefined>> | undefined
  readonly #files: StaticFiles | undefined
  readonly #settled: (() => Awaitable<void>) | undefined
  #isClosing = false

  /**
   * @param where begins the texts of errors
   * @param settled awaited before an answer is sent; its error is answered instead
   */
  constructor(
    engine: WorldEngine,
    options: ListenerOptions & Pick<ServerOptions, 'static'>,
    where: string,
    settled?: () => Awaitable<void>,
  ) {
    this.#settled = settled
    this.#engine = engine
    this.#internals = internalsOf(engine)
    if (options.wire !== undefined) this.#internals.expectWire()
    this.#wire = options.wire ?? this.#internals.wire
    this.#base = options.base === undefined ? undefined : readBase(options.base, where, engine.versions)
    this.#passesOn = options.fallthrough ?? false
    this.#readOnly = options.readOnly ?? false
    const { workbench = false } = options
    this.#workbench = workbench === false ? undefined : workbench === true ? {} : workbench
    this.#pages = { docs: options.docs ?? false, workbench: this.#workbench !== undefined, readOnly: this.#readOnly }
    this.#delay = options.delay ?? 0
    this.#onRequest = options.onRequest
    this.#explanations = options.explain === true ? new WeakMap() : undefined
    this.#files = options.static === undefined ? undefined : new StaticFiles(options.static, where)
    this.#methods = this.#readOnly ? READ_METHODS : [...READ_METHODS, ...WRITE_METHODS]
    this.#cors = options.cors === undefined ? undefined : new Cors(options.cors, this.#methods, options.corsCredentials)
    this.guard = new OriginGuard(options.allowedHosts, this.#cors)
    const { testControls = this.#workbench !== undefined } = options
    this.#controls = testControls === false ? undefined : new TestControls(engine, testControls, options.testControls !== undefined)
  }

  /** From now on, answers close connections, and delays end. */
  beginClosing(): void {
    this.#isClosing = true
    this.#delaysEnd.abort()
    this.#controls?.endStreams()
  }

  async close(): Promise<void> {
    this.beginClosing()
    await this.#controls?.close()
  }

  receive(request: MountedRequest, response: ServerResponse, { connection, ended, next }: ArrivedRequest): void {
    const started = this.#onRequest === undefined ? 0 : performance.now()
    const { target, base } = findAddress(request, this.#base, this.#engine.base)
    const below = findTargetBelow(target, base)
    if (next !== undefined && this.#passesOn && !this.#owns(below, base)) {
      next()
      return
    }
    const isPlain = this.#workbench !== undefined && isOfWorkbench(request.headers, below)
    const wire = isPlain || this.#isOfTests(below) ? undefined : this.#wire
    const wayIn = { budget: HTTP_TIMEOUT, base, readOnly: this.#readOnly, isPlain, wire }
    // Only Set-Cookie comes as a list, never in requests.
    const client = new LazyClient(request as HeaderSource, { ...wayIn, isSecure: isEncrypted(request), trusts: this.#cors?.trusts })
    const sent = { request, response, client, started, target, base, below }
    const writes = WRITE_METHODS.includes(request.method ?? '')
    response.on('close', () => {
      if (!response.writableFinished) client.leave(new DOMException('The client closed the connection.', 'AbortError'))
      connection?.end(writes)
      ended?.()
    })
    if (connection === undefined || connection.take(writes)) this.#begin(sent)
    else connection.wait(writes, () => this.#begin(sent))
  }

  #owns(below: string | undefined, base: string): boolean {
    if (below === undefined) return false
    if (this.#wire !== undefined) return true
    return (this.#pages.docs && isDocsPath(below)) || this.#isOfTests(below) || this.#internals.owns(below, base !== '')
  }

  #begin(sent: SentRequest): void {
    let answering: Awaitable<TransportResponse>
    try {
      answering = this.#delay > 0 && !this.#isControl(sent) ? this.#askDelayed(sent) : (this.#answerHere(sent) ?? this.#ask(sent))
    } catch (error) {
      this.#fail(sent, error)
      return
    }
    const settled = this.#settled
    if (settled !== undefined) answering = Promise.resolve(answering).then(async answer => (await settled(), answer))
    // Promises in between would cost as much as reading a record.
    if (answering instanceof Promise) void this.#answerLater(sent, answering)
    else this.#deliver(sent, answering, false)
  }

  async #answerLater(sent: SentRequest, answering: Promise<TransportResponse>): Promise<void> {
    let answer: TransportResponse
    try {
      answer = await answering
    } catch (error) {
      this.#fail(sent, error)
      return
    }
    if (!sent.client.isGone) this.#deliver(sent, answer, false)
  }

  #fail(sent: SentRequest, error: unknown): void {
    if (sent.client.isGone) return
    if (isConnectionLost(error)) {
      loseConnection(sent.request.socket)
      return
    }
    const unread = error instanceof RestError && error.code === 'body_too_large'
    this.#deliver(sent, this.#internals.refuse(error, new Received(sent.request, sent.target, sent.client.wire)), unread)
  }

  /** Catches all errors: no caller would. */
  #deliver(sent: SentRequest, answer: TransportResponse, unread: boolean): void {
    let status: number
    try {
      status = this.#write(sent, answer, unread)
    } catch (error) {
      status = this.#giveUp(sent, error)
    }
    const tell = this.#onRequest
    if (tell === undefined) return
    const duration = performance.now() - sent.started
    const { method = '' } = sent.request
    const path = sent.request.originalUrl ?? sent.request.url ?? ''
    void chain(this.#explain(sent.request), explanation => {
      runGuarded(() => tell({ method, path, status, duration, ...(explanation === undefined ? {} : { explanation }) }))
    })
  }

  /**
   * Answers with a 500, or breaks the connection behind half an answer.
   *
   * @returns the status
   */
  #giveUp(sent: SentRequest, error: unknown): number {
    const { request, response } = sent
    const { status, headers, body } = this.#internals.refuse(error, new Received(request, sent.target, undefined))
    if (response.headersSent) {
      request.socket.destroy()
      return status
    }
    const text = JSON.stringify(body)
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text), connection: 'close' }).end(text)
    return status
  }

  /** A failing explanation must not end the server. */
  #explain(request: MountedRequest): Awaitable<Explanation | undefined> {
    const fail = (error: unknown): undefined => {
      warn(error)
      return undefined
    }
    try {
      const explained = this.#explanations?.get(request)?.()
      return explained instanceof Promise ? explained.catch(fail) : explained
    } catch (error) {
      return fail(error)
    }
  }

  async #askDelayed(sent: SentRequest): Promise<TransportResponse> {
    await this.#wait(sent.client.signal)
    return this.#answerHere(sent) ?? this.#ask(sent)
  }

  async #wait(signal: AbortSignal): Promise<void> {
    await wait(this.#delay, undefined, { signal: AbortSignal.any([signal, this.#delaysEnd.signal]) }).catch(() => {
      signal.throwIfAborted()
    })
  }

  #answerHere(sent: SentRequest): TransportResponse | undefined {
    const { request } = sent
    const { method = '' } = request
    this.guard.check(request, this.#findTarget(sent))
    if (method === 'OPTIONS') {
      if (this.#cors !== undefined && Cors.isPreflight(method, request.headers)) return { status: 204, headers: {} }
      // The asterisk form asks about the whole server (RFC 9110 section 9.3.7).
      if (request.url === '*') return { status: 204, headers: { allow: this.#methods.join(', ') } }
    }
    return undefined
  }

  /** Nobody reads the body of a refused request. */
  #isRefused({ request: { method = '' }, below }: SentRequest): boolean {
    return this.#readOnly && WRITE_METHODS.includes(method) && (below === undefined || !this.#internals.isSession(method, below))
  }

  #findTarget(sent: SentRequest): RequestTarget {
    const { method = '' } = sent.request
    if (method === 'OPTIONS') return 'read'
    if (this.#isControl(sent)) return 'control'
    return WRITE_METHODS.includes(method) ? 'write' : 'read'
  }

  #isControl({ below }: SentRequest): boolean {
    return this.#isOfTests(below)
  }

  /** Test controls and workbench meet no delay, and refuse other origins. */
  #isOfTests(below: string | undefined): boolean {
    if (this.#controls === undefined || below === undefined) return false
    return TestControls.isControl(below) || (this.#workbench !== undefined && isWorkbenchPath(below))
  }

  #ask(sent: SentRequest): Awaitable<TransportResponse> {
    const { method = '' } = sent.request
    if (this.#files !== undefined && (method === 'GET' || method === 'HEAD') && !this.#isApi(sent)) return this.#askFiles(this.#files, sent)
    return this.#askApi(sent)
  }

  /** The API comes before files; below a base, every path is the API's. */
  #isApi({ below, base }: SentRequest): boolean {
    return below !== undefined && (base !== '' || this.#owns(below, base))
  }

  async #askFiles(files: StaticFiles, sent: SentRequest): Promise<TransportResponse> {
    const { method = '', headers } = sent.request
    return (await files.answer(method, sent.target, headers)) ?? (await this.#askApi(sent))
  }

  #askApi(sent: SentRequest): Awaitable<TransportResponse> {
    return this.#controls === undefined ? this.#askEngine(this.#internals, sent) : this.#askControlled(this.#controls, sent)
  }

  async #askControlled(controls: TestControls, sent: SentRequest): Promise<TransportResponse> {
    const { request, client, base, below } = sent
    if (!this.#isControl(sent)) {
      const world = await controls.findWorld(request.headers)
      return world.use(async () => this.#askEngine(internalsOf(world.engine), sent))
    }
    const { method = '', headers } = request
    const body = TAKES_BODY.has(method) ? await readBody(request, client, { limits: this.#engine.limits }) : undefined
    if (this.#workbench !== undefined && isWorkbenchPath(below!)) {
      const world = await controls.findWorld(headers)
      const { title, home } = this.#workbench
      const [origin, readOnly, { docs }] = [findOrigin(request), this.#readOnly, this.#pages]
      const pageRequest = { method, target: below!, base, origin, body, client, readOnly, title, home, docs }
      return world.use(() => answerWorkbench(internalsOf(world.engine), pageRequest))
    }
    const { signal } = client
    return controls.answer({ method, target: below!, base, body, headers, signal, origin: findOrigin(request) })
  }

  #askEngine(engine: EngineInternals, sent: SentRequest): Awaitable<TransportResponse> {
    const page = answerPage(engine, sent, this.#pages)
    if (page !== undefined) return page
    if (TAKES_BODY.has(sent.request.method ?? '') && !this.#isRefused(sent)) return this.#askWithBody(engine, sent)
    try {
      const answering = this.#askFor(engine, sent, undefined)
      return answering instanceof Promise ? answering.catch(failed) : answering
    } catch (cause) {
      return failed(cause)
    }
  }

  #askFor(engine: EngineInternals, sent: SentRequest, body: unknown): Awaitable<TransportResponse> {
    if (this.#workbench !== undefined && isLook(sent.request.method, sent.request.headers)) return engine.look(sent.target, sent.client)
    if (this.#explanations !== undefined) return this.#askAndExplain(this.#explanations, engine, sent, body)
    return engine.ask(sent.request.method ?? '', sent.target, undefined, body, sent.client)
  }

  async #askAndExplain(
    explanations: WeakMap<MountedRequest, () => Awaitable<Explanation | undefined>>,
    engine: EngineInternals,
    { request, target, client }: SentRequest,
    body: unknown,
  ): Promise<TransportResponse> {
    const { response, explain } = await engine.explained(request.method ?? '', target, body, client)
    explanations.set(request, explain)
    return response
  }

  async #askWithBody(engine: EngineInternals, sent: SentRequest): Promise<TransportResponse> {
    const body = await readBody(sent.request, sent.client, engine)
    try {
      return await this.#askFor(engine, sent, body)
    } catch (cause) {
      return failed(cause)
    }
  }

  #write(sent: SentRequest, given: TransportResponse, unread: boolean): number {
    const { request } = sent
    const answer = written(this.#internals, given, new Received(request, sent.target, sent.client.wire))
    const headers: OutgoingHttpHeaders = { ...separateCookies(answer.headers) }
    if (this.#isClosing || unread) headers['connection'] = 'close'
    if (this.#cors !== undefined) this.#cors.mark(request.method, request.headers, headers)
    return writeResponse(sent, answer, headers, unread)
  }
}

/** Refuses for a closed engine. Other errors stay, such as a lost connection. */
function failed(cause: unknown): never {
  throw isEngineClosed(cause) ? restError('server_closed', 'The engine is closed.', { cause }) : cause
}
