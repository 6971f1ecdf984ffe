/**
 * Local socket: the two ends of a connection that is nowhere but in this process. What `node:http` asks of a socket beside streaming, it does: an end counts
 * how long nothing came or went.
 */
import { Duplex } from 'node:stream'

export class LocalSocket extends Duplex {
  /** As sockets of `node:tls` say it: clients look whether a connection is safe. */
  readonly encrypted: boolean
  readonly authorized: boolean
  readonly connecting = false
  timeout = 0
  #peer: LocalSocket | undefined
  /** Continues a write of the other end, when what it has written so far is read. */
  #readOn: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  private constructor(isEncrypted: boolean) {
    super()
    this.encrypted = isEncrypted
    this.authorized = isEncrypted
  }

  /** Both ends of a connection. */
  static pair(isEncrypted: boolean): readonly [LocalSocket, LocalSocket] {
    const one = new LocalSocket(isEncrypted)
    const other = new LocalSocket(isEncrypted)
    one.#peer = other
    other.#peer = one
    return [one, other]
  }

  // oxlint-disable-next-line no-underscore-dangle -- a method of Duplex
  override _read(): void {
    this.#continue()
  }

  #continue(): void {
    const readOn = this.#readOn
    this.#readOn = undefined
    readOn?.()
  }

  // oxlint-disable-next-line no-underscore-dangle -- a method of Duplex
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#touch()
    const peer = this.#peer!
    if (peer.destroyed) return done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    peer.#touch()
    if (peer.push(chunk)) done()
    else peer.#readOn = done
  }

  // oxlint-disable-next-line no-underscore-dangle -- a method of Duplex
  override _final(done: (error?: Error | null) => void): void {
    const peer = this.#peer!
    if (!peer.destroyed) peer.push(null)
    done()
  }

  // oxlint-disable-next-line no-underscore-dangle -- a method of Duplex
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer)
    this.#continue()
    // What the other end has not read yet, it may read on.
    setImmediate(() => this.#peer?.destroy())
    done(error)
  }

  /** Emits `timeout` whenever nothing has come or gone for so long; 0 for never. */
  setTimeout(ms: number, listener?: () => void): this {
    this.timeout = ms
    if (listener !== undefined) {
      if (ms === 0) this.removeListener('timeout', listener)
      else this.once('timeout', listener)
    }
    this.#touch()
    return this
  }

  #touch(): void {
    clearTimeout(this.#timer)
    if (this.timeout > 0 && !this.destroyed) this.#timer = setTimeout(() => this.emit('timeout'), this.timeout)
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  address(): object {
    return {}
  }
}
