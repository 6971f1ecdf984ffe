/**
 * Door: what the doors (http.ts, fetch.ts) need of an engine, and how both read a request target.
 * An interface of its own, so that a door stands below the engine that it serves.
 */
import type { Awaitable } from './awaitable.ts'
import type { LazySender } from './end.ts'

/** An answer, before a door has written it. `body` is absent when there is nothing to write: HEAD, 204. */
export interface DoorResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** What a door uses of `RestEngine`. */
export interface DoorEngine {
  readonly limits: { readonly maxBodyBytes: number }
  handle(
    method: string,
    path: string,
    query?: undefined,
    body?: unknown,
    context?: { readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal },
  ): Promise<DoorResponse>
  /** The same for a sender that a door has made: an answer that waits for nothing is given at once, and what `handle` rejects with is thrown then. */
  ask(method: string, path: string, query: undefined, body: unknown, sender: LazySender): Awaitable<DoorResponse>
  respondError(error: unknown): DoorResponse
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
