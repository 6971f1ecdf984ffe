/** Connects a client and a server inside the process: a pair of streams, with the socket methods that `node:http` calls. */
import type { Duplex } from 'node:stream'
import { builtin } from '../../../foundation/base/builtins.ts'

export interface LocalSocket extends Duplex {
  /** Clients of https check `encrypted` and `authorized`. */
  readonly encrypted: boolean
  readonly authorized: boolean
  readonly connecting: boolean
  timeout: number
  /** Milliseconds without data; 0: never. */
  setTimeout(ms: number, listener?: () => void): this
  setNoDelay(): this
  setKeepAlive(): this
  ref(): this
  unref(): this
  address(): object
}

export function connectLocally(isEncrypted: boolean): readonly [LocalSocket, LocalSocket] {
  const one = new End(isEncrypted)
  const other = new End(isEncrypted)
  one.peer = other
  other.peer = one
  return [one.socket, other.socket]
}

type Done = (error?: Error | null) => void

class End {
  readonly socket: LocalSocket
  peer: End | undefined
  /** Continues the write of the other end. */
  #readOn: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(isEncrypted: boolean) {
    const stream = new builtin.stream.Duplex({
      read: () => this.#continue(),
      write: (chunk: Buffer, _encoding, done) => this.#write(chunk, done),
      final: done => this.#finish(done),
      destroy: (error, done) => this.#destroy(error, done),
    })
    const self = (): LocalSocket => this.socket
    this.socket = Object.assign(stream, {
      encrypted: isEncrypted,
      authorized: isEncrypted,
      connecting: false,
      timeout: 0,
      setTimeout: (ms: number, listener?: () => void) => this.#setTimeout(ms, listener),
      setNoDelay: self,
      setKeepAlive: self,
      ref: self,
      unref: self,
      address: () => ({}),
    })
  }

  #continue(): void {
    const readOn = this.#readOn
    this.#readOn = undefined
    readOn?.()
  }

  #write(chunk: Buffer, done: Done): void {
    this.#touch()
    const peer = this.peer!
    if (peer.socket.destroyed) return done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    peer.#touch()
    if (peer.socket.push(chunk)) done()
    else peer.#readOn = done
  }

  #finish(done: Done): void {
    const { socket } = this.peer!
    if (!socket.destroyed) socket.push(null)
    done()
  }

  #destroy(error: Error | null, done: Done): void {
    clearTimeout(this.#timer)
    this.#continue()
    // Later: the other end may still read.
    setImmediate(() => this.peer?.socket.destroy())
    done(error)
  }

  #setTimeout(ms: number, listener: (() => void) | undefined): LocalSocket {
    const { socket } = this
    socket.timeout = ms
    if (listener !== undefined) {
      if (ms === 0) socket.removeListener('timeout', listener)
      else socket.once('timeout', listener)
    }
    this.#touch()
    return socket
  }

  #touch(): void {
    clearTimeout(this.#timer)
    const { socket } = this
    if (socket.timeout > 0 && !socket.destroyed) this.#timer = setTimeout(() => socket.emit('timeout'), socket.timeout)
  }
}
