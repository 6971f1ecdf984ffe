/**
 * A `node:http` server of an engine. Beyond the request listener: the order of requests, the end of idle connections, answers to input
 * other than HTTP.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { builtin } from '../../foundation/base/builtins.ts'
import { HttpConnection, describeConnectionError } from './http-connection.ts'
import { RequestListener } from './request-listener.ts'
import { checkServerOptions, type ServerOptions, type ShownWorkbench } from './server-options.ts'
import type { WorldEngine } from './controls/world-engine.ts'
import { findInternals, internalsOf } from '../../engine/assembly/internals.ts'

/**
 * Makes a `node:http` server that answers every request with the engine. The caller calls `listen`. `close` lets requests in flight finish,
 * drops idle connections, and leaves the engine open.
 *
 * @throws TypeError for another object than an engine, an unknown option, a `cors` entry without an origin, or a wrong name in
 * `allowedHosts`; RangeError for a delay out of range.
 * @example
 * const server = createServer(engine, { cors: 'http://localhost:5173' }).listen(3000, '127.0.0.1')
 */
export function createServer(engine: WorldEngine, options: ServerOptions = {}): Server {
  if (findInternals(engine) === undefined)
    throw new TypeError('createServer: the first argument must be an engine: createServer(await RestEngine.create({ entities: [User] })).')
  checkServerOptions(options)
  return new EngineServer(engine, options).server
}

/** @param settled awaited before an answer is sent; its error is answered instead */
export function createWaitingServer(engine: WorldEngine, options: ServerOptions, settled: () => Awaitable<void>): Server {
  checkServerOptions(options)
  return new EngineServer(engine, options, settled).server
}

export function createShownServer(engine: WorldEngine, workbench: ShownWorkbench): Server {
  return new EngineServer(engine, { workbench }).server
}

/** Milliseconds: idle connections outlive the header `keep-alive`, for clients held up by a busy machine. */
const KEPT_LONGER = 60_000

class EngineServer {
  readonly server: Server
  readonly #engine: WorldEngine
  readonly #listener: RequestListener
  readonly #connections = new Map<Socket, HttpConnection>()
  readonly #ended = (): void => {
    if (this.#closing) this.#closeIdle()
  }
  #closing = false

  constructor(engine: WorldEngine, options: ServerOptions, settled?: () => Awaitable<void>) {
    // Without a Host, Node itself would answer, without a body.
    const server = new builtin.http.Server({ requireHostHeader: false, keepAliveTimeoutBuffer: KEPT_LONGER })
    this.server = server
    this.#engine = engine
    const listener = new RequestListener(engine, options, 'createServer', settled)
    this.#listener = listener
    server.on('listening', () => listener.guard.listen(server.address()))
    server.once('close', () => void listener.close())
    server.on('request', (request: IncomingMessage, response: ServerResponse) => this.#receive(request, response))
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      // Refuses a body over the limit before the client sends the body.
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

  #receive(request: IncomingMessage, response: ServerResponse): void {
    this.#listener.receive(request, response, { connection: this.#connections.get(request.socket), ended: this.#ended })
  }

  #replaceMethods(): void {
    const { server } = this
    const { close } = server
    server.close = callback => {
      this.#closing = true
      this.#listener.beginClosing()
      return close.call(server, callback)
    }
    server.closeIdleConnections = () => {
      this.#closeIdle()
    }
  }

  /** Node would keep connections without a request, as browsers open in advance, and cut off an answer not yet sent. */
  #closeIdle(): void {
    for (const [socket, { isIdle }] of this.#connections) if (isIdle) socket.destroy()
  }

  #refuseConnection(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const answer = internalsOf(this.#engine).refuse(describeConnectionError(error))
    const text = JSON.stringify(answer.body)
    const headers = { ...answer.headers, 'content-length': Buffer.byteLength(text), connection: 'close' }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${answer.status} ${builtin.http.STATUS_CODES[answer.status] ?? ''}\r\n${lines.join('')}\r\n${text}`)
  }
}
