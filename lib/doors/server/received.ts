/** Received: a request of `node:http`, as answers to failures need it. */
import type { HeaderSource } from '../../foundation/work/abort.ts'
import type { MountedRequest } from './mount.ts'
import type { ReceivedRequest } from './transport.ts'

/** The request as answers to failures need it. A class, since an object with a getter of its own costs more than reading a record does. */
export class Received implements ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly #request: HeaderSource

  constructor(request: MountedRequest, path: string) {
    this.method = request.method ?? ''
    this.path = path
    this.#request = request as HeaderSource
  }

  /** The headers, which are made when they are first read. */
  get headers(): ReceivedRequest['headers'] {
    return this.#request.headers
  }
}
