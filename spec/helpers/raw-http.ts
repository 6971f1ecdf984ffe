/** Sends HTTP by hand: bytes over a loopback socket, for requests that no client library would send. */
import { connect } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  // oxlint-disable-next-line typescript/no-explicit-any -- specs assert on it freely
  readonly body: any
}

/** A connection whose answers are read one by one. */
export class RawConnection {
  readonly socket: Socket
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>
  #chunks: Buffer[] = []
  #size = 0
  /** Bytes below which the answer cannot be complete. */
  #needed = 0
  #wake: () => void = () => {}
  #ended = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', chunk => {
      this.#chunks.push(chunk)
      this.#size += chunk.length
      if (this.#size >= this.#needed) this.#wake()
    })
    // The server may reset a connection after its answer, which arrived before.
    socket.on('error', () => {})
    this.closed = new Promise(resolve => {
      socket.once('close', () => {
        this.#ended = true
        this.#wake()
        resolve()
      })
    })
  }

  static open(server: Server): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => resolve(new RawConnection(socket)))
      socket.once('error', reject)
    })
  }

  send(...parts: (string | Uint8Array)[]): this {
    for (const part of parts) this.socket.write(part)
    return this
  }

  /** Returns the next answer on the connection. `head`: the answer to a HEAD request, which has no body. */
  async answer(options: { head?: boolean } = {}): Promise<RawAnswer> {
    for (;;) {
      const received = Buffer.concat(this.#chunks)
      this.#chunks = [received]
      const end = received.indexOf('\r\n\r\n')
      if (end >= 0) {
        const [first = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n')
        const headers = Object.fromEntries(
          lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
        )
        this.#needed = end + 4 + (options.head === true ? 0 : Number(headers['content-length'] ?? 0))
        if (received.length >= this.#needed) {
          const text = received.subarray(end + 4, this.#needed).toString('utf8')
          this.#chunks = [received.subarray(this.#needed)]
          this.#size -= this.#needed
          this.#needed = 0
          return { status: Number(first.split(' ')[1]), headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
        }
      }
      if (this.#ended) throw new Error(`the connection ended before an answer: ${JSON.stringify(received.toString('latin1', 0, 1_000))}`)
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }
}

/** Formats a request. A body gets its length and the media type of JSON. An empty header is left out. */
export function requestText(line: string, headers: Record<string, string> = {}, body: string | Uint8Array = ''): Buffer {
  const bytes = Buffer.from(body)
  const ofBody = bytes.length > 0 ? { 'content-length': String(bytes.length), 'content-type': 'application/json' } : {}
  const all = Object.entries({ host: 'localhost', ...ofBody, ...headers }).filter(([, value]) => value !== '')
  const head = [`${line} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`)]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes])
}
