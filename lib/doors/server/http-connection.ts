/** HTTP connection: the order of the requests that come by it, and how it breaks. */
import type { Socket } from 'node:net'
import { restError, type RestError } from '../../foundation/errors/errors.ts'

/** A connection that is open. */
export class HttpConnection {
  /** Requests that are being answered, and those of them that may change something. */
  #running = 0
  #writing = 0
  /** Requests that have come before those in front of them were answered (RFC 9112 section 9.3.2), in their order. */
  readonly #waiting: { readonly writes: boolean; readonly begin: () => void }[] = []

  /** Whether all that has come by it is answered. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#waiting.length === 0
  }

  /**
   * Whether a request may begin at once; it is running then. Else one in front of it must be answered first: what writes waits for all of
   * them, what reads for those that write. So a client that does not wait for answers sees its own writes.
   */
  take(writes: boolean): boolean {
    if (this.#waiting.length > 0 || !this.#mayBegin(writes)) return false
    this.#count(writes)
    return true
  }

  /** Begins a request when its turn has come. */
  wait(writes: boolean, begin: () => void): void {
    this.#waiting.push({ writes, begin })
  }

  #mayBegin(writes: boolean): boolean {
    return writes ? this.#running === 0 : this.#writing === 0
  }

  #count(writes: boolean): void {
    this.#running++
    if (writes) this.#writing++
  }

  /** A request has been answered. */
  end(writes: boolean): void {
    this.#running--
    if (writes) this.#writing--
    for (let next = this.#waiting[0]; next !== undefined && this.#mayBegin(next.writes); next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#count(next.writes)
      next.begin()
    }
  }

  /** The client has gone: what still waits is not begun. */
  close(): void {
    this.#waiting.length = 0
  }
}

/** Ends a connection as one that breaks does: over TCP with a reset, which a pipe does not have. */
export function loseConnection(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy()
  else socket.resetAndDestroy()
}

/** Returns the refusal of a request that Node's parser cannot read. */
export function describeConnectionError(error: NodeJS.ErrnoException): RestError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return restError('request_head_too_large', 'The path, query and headers are too long together.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return restError('request_timeout', 'The request did not arrive completely in time.')
    case 'HPE_INVALID_URL':
      return restError('request_malformed', 'The path or query holds characters that must be percent-encoded.')
    default:
      return restError('request_malformed', `The request is not HTTP: ${error.message}.`)
  }
}
