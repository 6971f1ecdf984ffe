/** Reads a request of the journal in full, to show, copy or send again. */
import type { JournalEntry } from '../../engine/journal/journal-entry.ts'
import type { ExplainedStatement, IndexHint } from '../../engine/journal/explanation.ts'
import { control, mint, origin, send, type Answer } from '../state/ask.ts'
import { clock, knownFaults, type RequestSummary } from '../state/live.ts'
import { outline } from '../state/outline.ts'
import { world } from '../state/place.ts'
import { writeTarget, type CopiedRequest, type CopyTarget } from './copies.ts'

export interface FullEntry extends JournalEntry {
  readonly statements?: readonly ExplainedStatement[]
  readonly ran?: number
  readonly writes?: readonly string[]
  readonly cached?: boolean
  readonly hints?: readonly IndexHint[]
  /** Undefined: restoring is possible. */
  readonly noWayBack: string | undefined
}

export async function readEntry(id: number): Promise<FullEntry> {
  const { request, unavailable } = (await control('GET', `/requests/${id}`)).body as {
    readonly request: FullEntry
    readonly unavailable: { readonly restore?: string }
  }
  return { ...request, noWayBack: unavailable.restore }
}

/** Undefined: sending again is possible. */
export function whyIncomplete({ method, body, response }: FullEntry): string | undefined {
  const isForgotten = body === undefined && response === undefined && ['POST', 'PUT', 'PATCH'].includes(method)
  return isForgotten ? 'The journal keeps the bodies of the newest requests only, and no longer this one.' : undefined
}

/** With the fault, and a frozen clock. */
export function copyOf(entry: FullEntry): CopiedRequest {
  const { frozen } = clock.value
  const fault = entry.fault === undefined ? undefined : (knownFaults.get(entry.fault) ?? guessFault(entry))
  return {
    ...entry,
    user: entry.user,
    met: fault === undefined ? undefined : { ...fault, options: { ...fault.options, times: 1 } },
    frozen: frozen !== undefined && Date.parse(entry.at) === frozen ? entry.at : undefined,
  }
}

/** Guesses a fault from the answer: the fault has ended before the page was opened. */
function guessFault({ fault = '', method, path, status }: FullEntry): NonNullable<CopiedRequest['met']> {
  const facts = { id: fault, match: `${method} ${path}`, met: 1, left: 0 }
  if (status === undefined) return { ...facts, kind: 'drop', options: {} }
  return status >= 400 ? { ...facts, kind: 'fail', options: { status } } : { ...facts, kind: 'delay', options: { ms: 1 } }
}

export async function targetWithToken(user: string | undefined): Promise<CopyTarget> {
  return { ...targetWithoutToken(), token: user === undefined ? undefined : await mint(user) }
}

export function targetWithoutToken(): CopyTarget {
  const { base = '', root = '', version = '', resources = [] } = outline.value ?? {}
  return { origin, base, root, version, resources, world: world.value }
}

export async function sendAgain(request: CopiedRequest): Promise<Answer> {
  const headers = request.user === undefined ? {} : { authorization: `Bearer ${await mint(request.user)}` }
  return send(request.method, writeTarget(request), { body: request.body, headers })
}

/** The newest request after `since`. */
export async function findSent({ method, path }: Pick<CopiedRequest, 'method' | 'path'>, since: number): Promise<number | undefined> {
  const { requests } = (await control('GET', `/requests?since=${since}&bodies=false`)).body as {
    readonly requests: readonly RequestSummary[]
  }
  return requests.findLast(request => request.method === method && request.path === path && !request.nested)?.id
}
