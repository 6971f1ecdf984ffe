/**
 * Stands for the socket of `pg`, and exchanges messages with a PGlite. PGlite has a single backend: a new stream clears the state of the
 * last.
 */
import { Duplex } from 'node:stream'

export interface Pglite {
  execProtocolRaw(messages: Uint8Array): Promise<Uint8Array>
  exec(sql: string): Promise<unknown>
  clone(): Promise<Pglite>
  close(): Promise<void>
}

/** Ends a client's connection, but PGlite's backend must go on. */
const TERMINATE = 0x58

type StreamDone = (error?: Error | null) => void

export class PgliteStream extends Duplex {
  readonly #pglite: Pglite
  #hasBegun = false

  constructor(pglite: Pglite) {
    super({ allowHalfOpen: false })
    this.#pglite = pglite
  }

  /** `pg` gives a port and a host. */
  connect(): this {
    process.nextTick(() => this.emit('connect'))
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  /** No handle keeps the process running. */
  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: StreamDone): void {
    void this.#forward(chunk, done)
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: StreamDone): void {
    void this.#forward(Buffer.concat(chunks.map(({ chunk }) => chunk)), done)
  }

  override _final(done: StreamDone): void {
    this.push(null)
    done()
  }

  async #forward(messages: Buffer, done: StreamDone): Promise<void> {
    let failed: unknown
    try {
      await this.#send(messages)
    } catch (error) {
      failed = error
    }
    done(failed as Error | undefined)
  }

  async #send(messages: Buffer): Promise<void> {
    let sent = messages
    if (this.#hasBegun) sent = withoutTerminate(messages)
    else {
      // The first message has no type.
      this.#hasBegun = true
      await this.#pglite.exec('rollback')
      await this.#pglite.exec('discard all')
    }
    if (sent.length === 0) return
    const answer = await this.#pglite.execProtocolRaw(sent)
    if (answer.length > 0) this.push(answer)
  }
}

/** Cuts off TERMINATE, and all later messages. */
function withoutTerminate(messages: Buffer): Buffer {
  for (let at = 0; at < messages.length; at += 1 + messages.readInt32BE(at + 1))
    if (messages[at] === TERMINATE) return messages.subarray(0, at)
  return messages
}
