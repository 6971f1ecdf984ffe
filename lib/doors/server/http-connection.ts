/** Orders the requests of one HTTP connection, and breaks connections. */
import type { Socket } from 'node:net'
import { restError, type RestError } from '../../foundation/errors/errors.ts'

export class HttpConnection {
  #running = 0
  #writing = 0
  /** Pipelined requests (RFC 9112 section 9.3.2), in order. */
  readonly #waiting: { readonly writes: boolean; readonly begin: () => void }[] = []

  get isIdle(): boolean {
    return this.#running === 0 && this.#waiting.length === 0
  }

  /** A write waits for all earlier requests, a read for earlier writes: clients that send without waiting see their own writes. */
  take(writes: boolean): boolean {
    if (this.#waiting.length > 0 || !this.#mayBegin(writes)) return false
    this.#count(writes)
    return true
  }

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

  end(writes: boolean): void {
    this.#running--
    if (writes) this.#writing--
    for (let next = this.#waiting[0]; next !== undefined && this.#mayBegin(next.writes); next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#count(next.writes)
      next.begin()
    }
  }

  close(): void {
    this.#waiting.length = 0
  }
}

/** Only TCP has a reset. */
export function loseConnection(socket: Socket): void {
  if (socket.remoteAddress === undefined) socket.destroy()
  else socket.resetAndDestroy()
}

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
