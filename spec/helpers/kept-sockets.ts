/**
 * Kept sockets: HTTP for specs that ask a server on this machine thousands of times, where `fetch` costs more than the answer. A request is
 * one write on a socket that is kept for the next one; requests that run beside each other have a socket each. Paths and answers are as by
 * `fetch`: other specs (`spec/server`) ask by it, and by other clients.
 */
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'

export interface SocketAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export interface SocketRequest {
  readonly method: string
  /** Path and query. What a URL cannot hold is encoded as `fetch` does. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Statuses that never have a body. */
const BODILESS = [204, 304]

/** What no header may hold: it would begin another one, or a request. */
// oxlint-disable-next-line no-control-regex
const UNFIT = /[\0\r\n]|[^\0-\u00ff]/

export class KeptSockets {
  readonly #port: number
  readonly #idle: KeptSocket[] = []
  readonly #all = new Set<KeptSocket>()

  constructor(port: number) {
    this.#port = port
  }

  async ask(request: SocketRequest): Promise<SocketAnswer> {
    const text = writeRequest(this.#port, request)
    const socket = this.#take()
    const answer = await socket.ask(text, request.method === 'HEAD')
    if (answer.headers['connection'] === 'close') socket.end()
    else this.#idle.push(socket)
    return answer
  }

  close(): void {
    for (const socket of this.#all) socket.end()
  }

  /** The server may have closed one that nobody has used for a while. */
  #take(): KeptSocket {
    for (let socket = this.#idle.pop(); socket !== undefined; socket = this.#idle.pop()) if (socket.isOpen) return socket
    const opened = new KeptSocket(this.#port, () => this.#all.delete(opened))
    this.#all.add(opened)
    return opened
  }
}

function writeRequest(port: number, { method, target, headers, body }: SocketRequest): string {
  const { pathname, search } = new URL(`http://127.0.0.1:${port}${target}`)
  let head = `${method} ${pathname}${search} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`
  if (!('accept' in headers)) head += 'accept: */*\r\n'
  for (const [name, value] of Object.entries(headers)) {
    assert.ok(!UNFIT.test(name + value), `the header ${name} cannot be sent`)
    head += `${name}: ${value}\r\n`
  }
  if (body === undefined) return method === 'POST' || method === 'PUT' ? `${head}content-length: 0\r\n\r\n` : `${head}\r\n`
  return `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** A connection that has one request at a time. */
class KeptSocket {
  isOpen = true
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #isHead = false
  #waiting: PromiseWithResolvers<SocketAnswer> | undefined

  constructor(port: number, onClose: () => void) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('data', chunk => this.#take(chunk))
    this.#socket.once('error', error => this.#waiting?.reject(error))
    this.#socket.once('close', () => {
      this.isOpen = false
      this.#waiting?.reject(
        new Error(`the connection ended before an answer: ${JSON.stringify(this.#received.toString('latin1', 0, 1000))}`),
      )
      onClose()
    })
  }

  ask(request: string, isHead: boolean): Promise<SocketAnswer> {
    this.#isHead = isHead
    this.#waiting = Promise.withResolvers()
    this.#socket.write(request)
    return this.#waiting.promise
  }

  end(): void {
    this.isOpen = false
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const answer = readAnswer(this.#received, this.#isHead)
    if (answer === undefined) return
    this.#received = Buffer.alloc(0)
    this.#waiting?.resolve(answer)
    this.#waiting = undefined
  }
}

/** Returns undefined while bytes are missing. */
function readAnswer(received: Buffer, isHead: boolean): SocketAnswer | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = received.toString('latin1', 0, end).split('\r\n')
  const status = Number(first.split(' ', 2)[1])
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    // As the entries of `Headers` become an object: values of one name are one list, but of cookies the last one stays.
    headers[name] = name in headers && name !== 'set-cookie' ? `${headers[name]}, ${value}` : value
  }
  if (isHead || BODILESS.includes(status)) return { status, headers, text: '' }
  const body = received.subarray(end + 4)
  if (headers['transfer-encoding'] === 'chunked') {
    const text = readChunks(body)
    return text === undefined ? undefined : { status, headers, text }
  }
  const length = Number(headers['content-length'])
  assert.ok(Number.isInteger(length), `an answer without a length: ${first}`)
  return body.length < length ? undefined : { status, headers, text: body.toString('utf8', 0, length) }
}

/** Returns the text of a body in chunks, undefined while some are missing. */
function readChunks(body: Buffer): string | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ;) {
    const end = body.indexOf('\r\n', at)
    if (end < 0) return undefined
    const size = Number.parseInt(body.toString('latin1', at, end), 16)
    const start = end + 2
    // A chunk, also the last and empty one, ends with an empty line.
    if (body.length < start + size + 2) return undefined
    if (size === 0) return Buffer.concat(parts).toString()
    parts.push(body.subarray(start, start + size))
    at = start + size + 2
  }
}
