/** Received: a request of `node:http` for answers to failures. */
import type { HeaderSource } from '../../foundation/async/abort.ts'
import type { MountedRequest } from './mount.ts'
import type { ReceivedRequest } from './transport.ts'

/** A class: an object with its own getter costs more than reading a record. */
export class Received implements ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly #request: HeaderSource

  constructor(request: MountedRequest, path: string) {
    this.method = request.method ?? ''
    this.path = path
    this.#request = request as HeaderSource
  }

  /** Node makes the headers at the first reading. */
  get headers(): ReceivedRequest['headers'] {
    return this.#request.headers
  }
}
