/**
 * HTTP: the node:http transport. Reads the request target and the body, asks the engine, writes the answer with one `end`.
 * Knows what only a socket has: bodies that are too long, clients that hang up, connections that are kept or closed.
 */
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type { Awaitable } from '../base/awaitable.ts'
import { builtin } from '../base/builtins.ts'
import { Cors } from './cors.ts'
import { findTargetBelow, readBase } from '../request/address.ts'
import { originForm, written } from './transport.ts'
import type { ReceivedRequest, TransportResponse } from './transport.ts'
import { LazyClient } from '../base/abort.ts'
import type { HeaderSource } from '../base/abort.ts'
import { RestError, isConnectionLost, isEngineClosed, restError } from '../base/errors.ts'
import { chain } from '../base/awaitable.ts'
import type { Explanation } from '../journal/explanation.ts'
import { runGuarded, warn } from '../base/report-failure.ts'
import { HTTP_TIMEOUT } from '../base/limits.ts'
import { READ_METHODS, WRITE_METHODS, keepReadingMethods, readOnlyError, takesBody } from '../base/http-methods.ts'
import { OriginGuard } from './origin-guard.ts'
import type { RequestTarget } from './origin-guard.ts'
import { linger, readBody } from './http-body.ts'
import { HttpConnection, describeConnectionError, loseConnection } from './http-connection.ts'
import { checkServerOptions } from './server-options.ts'
import type { RequestLine, ServerOptions } from './server-options.ts'
import { TestControls } from './test-controls.ts'
import type { WorldEngine } from './worlds.ts'

/**
 * A `node:http` server that answers every request with the engine. `listen` is yours to call, and closing the server leaves the engine open.
 * `close` lets requests in flight finish and drops the connections that have none.
 *
 * @throws TypeError for an unknown option, a `cors` entry that is not an origin, or an `allowedHosts` entry that is not a name; RangeError for a delay that cannot be.
 * @example
 * const server = createServer(engine, { cors: 'http://localhost:5173' }).listen(3000, '127.0.0.1')
 */
export function createServer(engine: WorldEngine, options: ServerOptions = {}): Server {
  checkServerOptions(options)
  return new HttpDoor(engine, options).server
}

/** Answers what comes to a server. */
class HttpDoor {
  readonly server: Server
  readonly #engine: WorldEngine
  readonly #base: string
  readonly #controls: TestControls | undefined
  readonly #readOnly: boolean
  readonly #delay: number
  /** Ends the delays. */
  readonly #hurry = new AbortController()
  readonly #onRequest: ((line: RequestLine) => void) | undefined
  readonly #cors: Cors | undefined
  readonly #guard: OriginGuard
  readonly #methods: readonly string[]
  /** Explains requests; undefined where that is off. */
  readonly #explanations: WeakMap<IncomingMessage, () => Awaitable<Explanation | undefined>> | undefined
  readonly #connections = new Map<Socket, HttpConnection>()
  #closing = false

  constructor(engine: WorldEngine, options: ServerOptions) {
    // Node would answer a request without Host by itself, without the body that every other error has.
    const server = new builtin.http.Server({ requireHostHeader: false })
    this.server = server
    this.#engine = engine
    this.#base = options.base === undefined ? engine.base : readBase(options.base, 'createServer', engine.versions)
    this.#readOnly = options.readOnly ?? false
    this.#delay = options.delay ?? 0
    this.#onRequest = options.onRequest
    this.#explanations = options.explain === true ? new WeakMap() : undefined
    this.#methods = this.#readOnly ? READ_METHODS : [...READ_METHODS, ...WRITE_METHODS]
    this.#cors = options.cors === undefined ? undefined : new Cors(options.cors, this.#methods)
    this.#guard = new OriginGuard(options.allowedHosts, this.#cors)
    server.on('listening', () => this.#guard.listen(server.address()))
    const { testControls = false } = options
    this.#controls = testControls === false ? undefined : new TestControls(engine, testControls)
    server.once('close', () => void this.#controls?.close())
    server.on('request', (request: IncomingMessage, response: ServerResponse) => this.#receive(request, response))
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      // A client that announces a body over the limit gets the error before it sends the body.
      if (Number(request.headers['content-length'] ?? 0) <= engine.limits.maxBodyBytes) response.writeContinue()
      this.#receive(request, response)
    })
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => this.#refuseConnection(error, socket))
    server.on('connection', (socket: Socket) => {
      const connection = new HttpConnection()
      this.#connections.set(socket, connection)
      socket.once('close', () => {
        connection.close()
        this.#connections.delete(socket)
      })
    })
    this.#replaceMethods()
  }

  #replaceMethods(): void {
    const { server } = this
    const { close } = server
    server.close = callback => {
      this.#closing = true
      this.#hurry.abort()
      return close.call(server, callback)
    }
    server.closeIdleConnections = () => {
      this.#closeIdle()
    }
  }

  /**
   * Drops the connections that wait for no answer; `close` begins with it. Node's own rule would keep those that have never sent a
   * request, as browsers open them in advance, and would cut off an answer that has been written but is not through yet.
   */
  #closeIdle(): void {
    for (const [socket, { isIdle }] of this.#connections) if (isIdle) socket.destroy()
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const started = this.#onRequest === undefined ? 0 : performance.now()
    // Of all request headers only Set-Cookie comes as a list, and no request has a use for it.
    const client = new LazyClient(request as HeaderSource, { budget: HTTP_TIMEOUT, base: this.#base })
    const connection = this.#connections.get(request.socket)!
    const writes = WRITE_METHODS.includes(request.method ?? '')
    // Comes once.
    response.on('close', () => {
      if (!response.writableFinished) client.leave(new DOMException('The client closed the connection.', 'AbortError'))
      connection.end(writes)
      if (this.#closing) this.#closeIdle()
    })
    if (connection.take(writes)) this.#begin(request, response, client, started)
    else connection.wait(writes, () => this.#begin(request, response, client, started))
  }

  #begin(request: IncomingMessage, response: ServerResponse, client: LazyClient, started: number): void {
    let answering: Awaitable<TransportResponse>
    try {
      answering =
        this.#delay > 0 && !this.#isControl(request)
          ? this.#askDelayed(request, client)
          : (this.#answerHere(request) ?? this.#ask(request, client))
    } catch (error) {
      this.#fail(request, response, client, error, started)
      return
    }
    // An answer that is there at once is written at once: promises in between would cost as much as reading a record does.
    if (answering instanceof Promise) void this.#answerLater(request, response, client, answering, started)
    else this.#deliver(request, response, answering, false, started)
  }

  async #answerLater(
    request: IncomingMessage,
    response: ServerResponse,
    client: LazyClient,
    answering: Promise<TransportResponse>,
    started: number,
  ): Promise<void> {
    let answer: TransportResponse
    try {
      answer = await answering
    } catch (error) {
      this.#fail(request, response, client, error, started)
      return
    }
    if (!client.isGone) this.#deliver(request, response, answer, false, started)
  }

  #fail(request: IncomingMessage, response: ServerResponse, client: LazyClient, error: unknown, started: number): void {
    // Nobody is left to read an answer, so whatever went wrong is of no interest.
    if (client.isGone) return
    if (isConnectionLost(error)) {
      loseConnection(request.socket)
      return
    }
    const unread = error instanceof RestError && error.code === 'body_too_large'
    this.#deliver(request, response, this.#engine.respondFailure(error, describeRequest(request)), unread, started)
  }

  /** Writes an answer, and reports it. Throws nothing: no caller would catch it. */
  #deliver(request: IncomingMessage, response: ServerResponse, answer: TransportResponse, unread: boolean, started: number): void {
    let status: number
    try {
      status = this.#write(request, response, answer, unread)
    } catch (error) {
      status = this.#giveUp(request, response, error)
    }
    const tell = this.#onRequest
    if (tell === undefined) return
    const duration = performance.now() - started
    const { method = '', url: path = '' } = request
    void chain(this.#explain(request), explanation => {
      runGuarded(() => tell({ method, path, status, duration, ...(explanation === undefined ? {} : { explanation }) }))
    })
  }

  /** Answers with a 500 where an answer could not be written, and breaks the connection where half of it is out already. */
  #giveUp(request: IncomingMessage, response: ServerResponse, error: unknown): number {
    const { status, headers, body } = this.#engine.respondFailure(error, describeRequest(request))
    if (response.headersSent) {
      request.socket.destroy()
      return status
    }
    const text = JSON.stringify(body)
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text), connection: 'close' }).end(text)
    return status
  }

  /** The request has been answered: a database that says nothing of it, such as a file that another process holds locked, must not end the server. */
  #explain(request: IncomingMessage): Awaitable<Explanation | undefined> {
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

  async #askDelayed(request: IncomingMessage, client: LazyClient): Promise<TransportResponse> {
    await this.#wait(client.signal)
    return this.#answerHere(request) ?? this.#ask(request, client)
  }

  /** Waits for the delay; throws when the client hangs up. */
  async #wait(signal: AbortSignal): Promise<void> {
    await wait(this.#delay, undefined, { signal: AbortSignal.any([signal, this.#hurry.signal]) }).catch(() => {
      signal.throwIfAborted()
    })
  }

  /** Returns the answer to a request that does not concern the engine; undefined for any other request. */
  #answerHere(request: IncomingMessage): TransportResponse | undefined {
    const { method = '' } = request
    this.#guard.check(request, this.#findTarget(request))
    if (method === 'OPTIONS') {
      if (this.#cors !== undefined && Cors.isPreflight(method, request.headers)) return { status: 204, headers: {} }
      // The asterisk form asks about the server as a whole (RFC 9110 section 9.3.7).
      if (request.url === '*') return { status: 204, headers: { allow: this.#methods.join(', ') } }
    }
    if (this.#readOnly && WRITE_METHODS.includes(method) && !this.#isControl(request) && !this.#isSession(method, request)) {
      throw readOnlyError(method)
    }
    return undefined
  }

  #isSession(method: string, request: IncomingMessage): boolean {
    const target = this.#findTargetBelow(request)
    return target !== undefined && this.#engine.isSession(method, target)
  }

  /** The path and query of a request below the base; undefined for one that is not there. */
  #findTargetBelow({ url = '/' }: IncomingMessage): string | undefined {
    return findTargetBelow(originForm(url), this.#base)
  }

  #findTarget(request: IncomingMessage): RequestTarget {
    const { method = '' } = request
    if (method === 'OPTIONS') return 'read'
    if (this.#isControl(request)) return 'control'
    return WRITE_METHODS.includes(method) ? 'write' : 'read'
  }

  #isControl(request: IncomingMessage): boolean {
    if (this.#controls === undefined) return false
    const target = this.#findTargetBelow(request)
    return target !== undefined && TestControls.isControl(target)
  }

  #ask(request: IncomingMessage, client: LazyClient): Awaitable<TransportResponse> {
    return this.#controls === undefined
      ? this.#askEngine(this.#engine, request, client)
      : this.#askControlled(this.#controls, request, client)
  }

  async #askControlled(controls: TestControls, request: IncomingMessage, client: LazyClient): Promise<TransportResponse> {
    if (!this.#isControl(request)) {
      const world = await controls.findWorld(request.headers)
      return world.use(async () => this.#askEngine(world.engine, request, client))
    }
    const { method = '', headers } = request
    const body = takesBody(method) ? await readBody(request, client, this.#engine.limits.maxBodyBytes) : undefined
    const { signal } = client
    return controls.answer({ method, target: this.#findTargetBelow(request)!, base: this.#base, body, headers, signal })
  }

  #askEngine(engine: WorldEngine, request: IncomingMessage, client: LazyClient): Awaitable<TransportResponse> {
    if (takesBody(request.method ?? '')) return this.#askWithBody(engine, request, client)
    try {
      const answering = this.#askFor(engine, request, undefined, client)
      return answering instanceof Promise ? answering.catch(failed) : answering
    } catch (cause) {
      return failed(cause)
    }
  }

  #askFor(engine: WorldEngine, request: IncomingMessage, body: unknown, client: LazyClient): Awaitable<TransportResponse> {
    const { method = '', url = '/' } = request
    if (this.#explanations === undefined) return engine.ask(method, originForm(url), undefined, body, client)
    return this.#askAndExplain(this.#explanations, engine, request, body, client)
  }

  async #askAndExplain(
    explanations: WeakMap<IncomingMessage, () => Awaitable<Explanation | undefined>>,
    engine: WorldEngine,
    request: IncomingMessage,
    body: unknown,
    client: LazyClient,
  ): Promise<TransportResponse> {
    const { response, explain } = await engine.explained(request.method ?? '', originForm(request.url ?? '/'), undefined, body, client)
    explanations.set(request, explain)
    return response
  }

  async #askWithBody(engine: WorldEngine, request: IncomingMessage, client: LazyClient): Promise<TransportResponse> {
    const body = await readBody(request, client, this.#engine.limits.maxBodyBytes)
    try {
      return await this.#askFor(engine, request, body, client)
    } catch (cause) {
      return failed(cause)
    }
  }

  /** Gives the status that was written: an answer that has no text is answered with another one. */
  #write(request: IncomingMessage, response: ServerResponse, given: TransportResponse, unread: boolean): number {
    const answer = written(this.#engine, given, describeRequest(request))
    const headers: OutgoingHttpHeaders = { ...answer.headers }
    if (this.#readOnly && answer.headers['allow'] !== undefined && !this.#isSession('POST', request))
      headers['allow'] = keepReadingMethods(answer.headers['allow'])
    if (this.#closing || unread) headers['connection'] = 'close'
    if (this.#cors !== undefined) this.#cors.mark(request.method, request.headers, headers)
    const { status, text } = answer
    if (text === undefined) {
      if (request.method !== 'HEAD' && status !== 204 && status !== 304) headers['content-length'] = 0
      response.writeHead(status, headers).end()
      return status
    }
    headers['content-length'] = Buffer.byteLength(text)
    response.writeHead(status, headers)
    if (unread) linger(request, response, text)
    else response.end(text)
    return status
  }

  /** Answers what is not HTTP at all, on the bare socket. */
  #refuseConnection(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const answer = this.#engine.respondError(describeConnectionError(error))
    const text = JSON.stringify(answer.body)
    const headers = { ...answer.headers, 'content-length': Buffer.byteLength(text), connection: 'close' }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${answer.status} ${builtin.http.STATUS_CODES[answer.status] ?? ''}\r\n${lines.join('')}\r\n${text}`)
  }
}

/**
 * The engine answers every fault of a client itself; it throws when it has been closed under a server that still runs, and when a test has the connection
 * lost.
 */
function failed(cause: unknown): never {
  throw isEngineClosed(cause) ? restError('server_closed', 'The engine is closed.', { cause }) : cause
}

/** The request as answers to failures need it; its headers are made when they are read. */
function describeRequest(request: IncomingMessage): ReceivedRequest {
  const { method = '', url = '/' } = request
  return {
    method,
    path: originForm(url),
    get headers() {
      return (request as HeaderSource).headers
    },
  }
}
