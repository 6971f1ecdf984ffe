/** Load: asks an HTTP server by several connections at once, as fast as it answers, with as little work of its own as can be: it shares the machine. */
import { connect } from 'node:net'

export interface Load {
  readonly port: number
  /** Paths with their queries, asked in turn. */
  readonly targets: readonly string[]
  readonly connections: number
  readonly milliseconds: number
}

/**
 * How many requests a second were answered.
 *
 * @throws Error when an answer is no 200, or a connection is lost.
 */
export async function requestsPerSecond({ port, targets, connections, milliseconds }: Load): Promise<number> {
  const requests = targets.map(target => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  let asked = 0
  let answered = 0
  const until = performance.now() + milliseconds
  const converse = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      let missing = 0
      let head = ''
      const ask = (): void => void socket.write(requests[asked++ % requests.length]!)
      socket.on('connect', ask)
      socket.on('error', reject)
      socket.on('close', () => resolve())
      socket.on('data', chunk => {
        if (missing > 0) {
          missing -= chunk.length
        } else {
          head += chunk.toString('latin1')
          const end = head.indexOf('\r\n\r\n')
          if (end < 0) return
          if (!head.startsWith('HTTP/1.1 200 ')) {
            reject(new Error(`The server answered ${head.slice(0, 500)}`))
            socket.destroy()
            return
          }
          missing = Number(/\r\ncontent-length: (\d+)/i.exec(head)![1]) - (head.length - end - 4)
          head = ''
        }
        if (missing > 0) return
        answered++
        if (performance.now() < until) ask()
        else socket.destroy()
      })
    })
  const started = performance.now()
  await Promise.all(Array.from({ length: connections }, converse))
  return (answered / (performance.now() - started)) * 1000
}
