/** A `node:http` request as seen by error answers. */
import type { HeaderSource } from '../../foundation/async/abort.ts'
import type { Wire } from '../../foundation/base/wire.ts'
import type { MountedRequest } from './mount.ts'
import type { ReceivedRequest } from './transport.ts'

/** A class: an object with a getter of its own costs more than reading a record. */
export class Received implements ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly wire: Wire | undefined
  readonly #request: HeaderSource

  constructor(request: MountedRequest, path: string, wire: Wire | undefined) {
    this.wire = wire
    this.method = request.method ?? ''
    this.path = path
    this.#request = request as HeaderSource
  }

  get headers(): ReceivedRequest['headers'] {
    return this.#request.headers
  }
}
