/**
 * Guest: a process that tells another one, which has the port, of its engines. It speaks by a bare socket: whatever the tests have put in
 * the place of `fetch` and `node:http` does not see it.
 */
import { connect, type Socket } from 'node:net'
import { createLineReader, parseWish, type ProcessState, type Wish } from './state.ts'

/** What a guest asks the host for. */
export const PROTOCOL = 'mikro-rest-engines-1'
/** Milliseconds after which who has the port is taken for something else. */
const PATIENCE = 3000

/** How a visit has ended: the host has gone, or who has the port is none. */
type VisitEnd = 'gone' | 'other'

export class Guest {
  readonly #socket: Socket
  #isWelcome = false
  /** Resolves when the host has gone. */
  readonly end: Promise<VisitEnd>

  constructor(port: number, state: () => ProcessState, grant: (wish: Wish) => void) {
    const socket = connect(port, '127.0.0.1').unref()
    this.#socket = socket
    this.end = new Promise(resolve => {
      let isOther = false
      const leave = (): void => {
        isOther = true
        socket.destroy()
      }
      const timer = setTimeout(leave, PATIENCE).unref()
      const read = createLineReader(line => {
        const wish = parseWish(line)
        if (wish !== undefined) grant(wish)
      })
      let head = Buffer.alloc(0)
      socket.on('data', chunk => {
        if (this.#isWelcome) return void read(chunk)
        head = Buffer.concat([head, chunk])
        const end = head.indexOf('\r\n\r\n')
        if (end < 0 && head.length < 10_000) return
        if (!head.toString('latin1', 0, end).startsWith(`HTTP/1.1 101 ${PROTOCOL}\r\n`)) return leave()
        clearTimeout(timer)
        this.#isWelcome = true
        this.tell(state())
        read(head.subarray(end + 4))
      })
      // What has gone wrong is of no use: the port is tried again.
      socket.on('error', () => {})
      socket.on('close', () => resolve(isOther ? 'other' : 'gone'))
    })
    socket.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: ${PROTOCOL}\r\n\r\n`)
  }

  tell(state: ProcessState): void {
    if (this.#isWelcome) this.#socket.write(`${JSON.stringify(state)}\n`)
  }
}
