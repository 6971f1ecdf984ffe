/** History: keeps requests of the console until the tab is closed. */
import { signal } from '@preact/signals'
import type { WrittenRequest } from './sent-request.ts'

export interface PastRequest extends WrittenRequest {
  readonly status: number
}

const KEY = 'mikro-rest console'
const KEPT = 30

export const history = signal<readonly PastRequest[]>(read())

/** Removes an earlier equal request. */
export function remember(request: PastRequest): void {
  const isSame = (other: PastRequest): boolean =>
    other.method === request.method && other.target === request.target && other.body === request.body && other.headers === request.headers
  history.value = [request, ...history.value.filter(other => !isSame(other))].slice(0, KEPT)
  try {
    sessionStorage.setItem(KEY, JSON.stringify(history.value))
  } catch {
    // Storage is full or forbidden: the history lasts until the page reloads.
  }
}

function read(): readonly PastRequest[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? (kept as PastRequest[]) : []
  } catch {
    // Another program has stored a value under the key.
    return []
  }
}
