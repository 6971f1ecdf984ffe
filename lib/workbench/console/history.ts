/** History: the last requests of the console, while the tab of the browser is open. */
import { signal } from '@preact/signals'
import type { WrittenRequest } from './sent-request.ts'

export interface PastRequest extends WrittenRequest {
  readonly status: number
}

const KEY = 'mikro-rest console'
const KEPT = 30

export const history = signal<readonly PastRequest[]>(read())

/** The newest is the first; the same request is there once. */
export function remember(request: PastRequest): void {
  const isSame = (other: PastRequest): boolean =>
    other.method === request.method && other.target === request.target && other.body === request.body && other.headers === request.headers
  history.value = [request, ...history.value.filter(other => !isSame(other))].slice(0, KEPT)
  try {
    sessionStorage.setItem(KEY, JSON.stringify(history.value))
  } catch {
    // It is full, or the browser keeps nothing: the history lasts until the page is read again.
  }
}

function read(): readonly PastRequest[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? (kept as PastRequest[]) : []
  } catch {
    // What somebody else has stored under the name.
    return []
  }
}
