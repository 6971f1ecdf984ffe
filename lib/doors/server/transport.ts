/**
 * Transport: the interface of the engine that the transports (http.ts, fetch.ts, intercept/) call, and the parsing of request targets that
 * they share. It is an interface of its own, so that transports stand below the engine that they serve.
 */
import type { Awaitable } from '../../foundation/work/awaitable.ts'
import type { LazyClient } from '../../foundation/work/abort.ts'
import { TextStream, WholeText } from '../../foundation/http/text-stream.ts'

/** An answer before it is written. `body` is absent when there is nothing to write: HEAD, 204. */
export interface TransportResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A request as a transport has received it, with headers of lower-case names. */
export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Partial<Record<string, string>>>
}

/** The sender of a request that has come as a whole. */
interface WholeSender {
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** What a transport asks of the internals of an engine. */
export interface TransportEngine {
  readonly limits: { readonly maxBodyBytes: number }
  /** Whether a form may stand for JSON. */
  readonly takesForms: boolean
  /**
   * Answers as `handle` does, for a sender that a transport has made: returns an answer that waits for nothing at once, and throws what
   * `handle` rejects with.
   */
  ask(method: string, path: string, query: undefined, body: unknown, sender: LazyClient | WholeSender): Awaitable<TransportResponse>
  /**
   * Answers an error of the transport; reports what is the server's fault.
   *
   * @param request undefined where none could be read
   */
  refuse(error: unknown, request?: ReceivedRequest): TransportResponse
}

/**
 * Returns a request target as the engine takes it: path and raw query. The absolute form (`http://host/v1/users?a=b`) loses scheme and
 * authority; nothing is decoded, percent-encoding is judged by the engine.
 */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const rest = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** An answer with its body as a text, which is absent where there is nothing to write. */
export interface WrittenResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | undefined
  /** Of a body that is made while it is sent; `text` is undefined then. */
  readonly stream?: TextStream
}

/**
 * Writes the body of an answer as a text. A body that cannot be written (a text longer than any may be, a value that has no JSON form) is
 * answered with a 500 that is reported: nothing that is thrown while an answer is written may end a process.
 */
export function written(engine: TransportEngine, answer: TransportResponse, request: ReceivedRequest): WrittenResponse {
  const { status, headers, body } = answer
  if (body instanceof TextStream) {
    return body instanceof WholeText ? { status, headers, text: body.whole } : { status, headers, text: undefined, stream: body }
  }
  try {
    return { status, headers, text: body === undefined ? undefined : JSON.stringify(body) }
  } catch (error) {
    const refusal = engine.refuse(error, request)
    return { status: refusal.status, headers: refusal.headers, text: JSON.stringify(refusal.body) }
  }
}
