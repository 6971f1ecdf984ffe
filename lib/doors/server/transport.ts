/** The types that all transports (http.ts, fetch.ts, intercept/) share, their view of an engine, and the text of an answer. */
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { LazyClient } from '../../foundation/async/abort.ts'
import { TextStream, WholeText } from '../../foundation/http/text-stream.ts'
import type { Wire } from '../../foundation/base/wire.ts'

/** HEAD and 204 have no `body`. */
export interface TransportResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Header names in lower case. */
export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Partial<Record<string, string>>>
  /** Decides the form of refusals. */
  readonly wire?: Wire | undefined
}

interface WholeSender {
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

export interface TransportEngine {
  readonly limits: { readonly maxBodyBytes: number }
  readonly takesForms: boolean
  /** For ways in without a wire of their own. */
  readonly wire: Wire | undefined
  /** As `handle`, but an immediate answer comes without a promise; may throw. */
  ask(method: string, path: string, query: undefined, body: unknown, sender: LazyClient | WholeSender): Awaitable<TransportResponse>
  /**
   * Answers an error, and reports a fault of the server.
   *
   * @param request undefined: unreadable
   */
  refuse(error: unknown, request?: ReceivedRequest): TransportResponse
}

/** Path and raw query: the absolute form (`http://host/v1/users?a=b`) loses scheme and authority. */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const rest = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** `text` is undefined for an empty body, and for a stream. */
export interface WrittenResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | undefined
  readonly stream?: TextStream
}

/** A body too long, or without JSON form, becomes a reported 500: an error during writing ends the process. */
export function written(engine: TransportEngine, answer: TransportResponse, request: ReceivedRequest): WrittenResponse {
  const { status, headers, body } = answer
  if (body instanceof TextStream) {
    return body instanceof WholeText ? { status, headers, text: body.whole } : { status, headers, text: undefined, stream: body }
  }
  try {
    return { status, headers, text: body === undefined ? undefined : JSON.stringify(body) }
  } catch (error) {
    const refusal = engine.refuse(error, { ...request, wire: undefined })
    return { status: refusal.status, headers: refusal.headers, text: JSON.stringify(refusal.body) }
  }
}
