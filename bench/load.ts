/**
 * Load: sends requests to an HTTP server over several connections, as fast as it answers. It does as little work of its own as possible,
 * because both share the machine.
 */
import { connect } from 'node:net'

export interface HttpRequest {
  readonly method: string
  /** Path with query. */
  readonly target: string
  /** The body, sent as JSON. */
  readonly body?: unknown
}

export interface Load {
  readonly port: number
  /** The text of the next request; undefined when there is none, which ends the load. */
  readonly next: () => string | undefined
  readonly connections: number
  readonly milliseconds: number
}

/** A request as it is sent. */
export function textOf({ method, target, body }: HttpRequest): string {
  const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n`
  if (body === undefined) return `${head}\r\n`
  const text = JSON.stringify(body)
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

/** Texts in turn, over and over. */
export function overAndOver(texts: readonly string[]): () => string {
  let asked = 0
  return () => texts[asked++ % texts.length]!
}

/** The last bytes of a body that is sent in chunks. */
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/**
 * How many requests a second were answered.
 *
 * @throws Error when an answer is not a success, or a connection is lost.
 */
export async function requestsPerSecond({ port, next, connections, milliseconds }: Load): Promise<number> {
  let answered = 0
  const until = performance.now() + milliseconds
  const converse = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      let missing = 0
      let isChunked = false
      let isDone = false
      let head = ''
      const ask = (): void => {
        const text = performance.now() < until ? next() : undefined
        if (text !== undefined) {
          socket.write(text)
          return
        }
        isDone = true
        socket.destroy()
      }
      socket.on('connect', ask)
      socket.on('error', reject)
      socket.on('close', () => (isDone ? resolve() : reject(new Error('The server has closed a connection.'))))
      socket.on('data', chunk => {
        if (isChunked) {
          // No chunk of a JSON text ends like this.
          if (!chunk.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) return
          isChunked = false
        } else if (missing > 0) {
          missing -= chunk.length
        } else {
          head += chunk.toString('latin1')
          const end = head.indexOf('\r\n\r\n')
          if (end < 0) return
          if (!/^HTTP\/1\.1 20\d /.test(head)) {
            reject(new Error(`The server answered ${head.slice(0, 500)}`))
            socket.destroy()
            return
          }
          const length = /\r\ncontent-length: (\d+)/i.exec(head)
          if (length !== null) missing = Number(length[1]) - (head.length - end - 4)
          else isChunked = !head.startsWith('HTTP/1.1 204 ') && !head.endsWith('0\r\n\r\n')
          head = ''
        }
        if (missing > 0 || isChunked) return
        answered++
        ask()
      })
    })
  const started = performance.now()
  await Promise.all(Array.from({ length: connections }, converse))
  return (answered / (performance.now() - started)) * 1000
}
