/**
 * Door: what the doors (http.ts, fetch.ts) need of an engine, and how both read a request target.
 * An interface of its own, so that a door stands below the engine that it serves.
 */
import type { Awaitable } from '../base/awaitable.ts'
import type { LazyClient } from '../base/abort.ts'

/** An answer, before a door has written it. `body` is absent when there is nothing to write: HEAD, 204. */
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

/** What a door uses of `RestEngine`. */
export interface TransportEngine {
  readonly limits: { readonly maxBodyBytes: number }
  handle(
    method: string,
    path: string,
    query?: undefined,
    body?: unknown,
    context?: { readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal },
  ): Promise<TransportResponse>
  /** The same for a sender that a door has made: an answer that waits for nothing is given at once, and what `handle` rejects with is thrown then. */
  ask(method: string, path: string, query: undefined, body: unknown, sender: LazyClient): Awaitable<TransportResponse>
  /** The answer to an error that a door has met itself. */
  respondError(error: unknown): TransportResponse
  /** The same for one that may be a fault of the server: that is reported. */
  respondFailure(error: unknown, request: ReceivedRequest): TransportResponse
}

/**
 * A request target as the engine takes it: path and raw query. The absolute form (`http://host/v1/users?a=b`) loses scheme and authority;
 * nothing is decoded, percent-encoding is judged by the engine.
 */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const rest = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** An answer as it is written: its body is a text, and absent where there is nothing to write. */
export interface WrittenResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | undefined
}

/**
 * An answer with its body as text. What cannot be written (a text longer than any may be, a value that has no JSON form) is answered with a 500 that
 * is reported: nothing that is thrown while an answer is written may end a process.
 */
export function written(engine: TransportEngine, answer: TransportResponse, request: ReceivedRequest): WrittenResponse {
  const { status, headers, body } = answer
  try {
    return { status, headers, text: body === undefined ? undefined : JSON.stringify(body) }
  } catch (error) {
    const refusal = engine.respondFailure(error, request)
    return { status: refusal.status, headers: refusal.headers, text: JSON.stringify(refusal.body) }
  }
}
