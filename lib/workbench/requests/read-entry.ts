/** Read entry: one request with its bodies, the rows that it has changed, and what it has run. */
import type { JournalEntry } from '../../engine/journal/journal-entry.ts'
import type { ExplainedStatement, IndexHint } from '../../engine/journal/explanation.ts'
import { control, mint, send, type Answer } from '../state/ask.ts'
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
  /** Why the data cannot be brought back to before it; undefined: they can. */
  readonly noWayBack: string | undefined
}

export async function readEntry(id: number): Promise<FullEntry> {
  const { request, unavailable } = (await control('GET', `/requests/${id}`)).body as {
    readonly request: FullEntry
    readonly unavailable: { readonly restore?: string }
  }
  return { ...request, noWayBack: unavailable.restore }
}

/** Why a request cannot be sent again or copied; undefined: it can. */
export function whyIncomplete({ method, body, response }: FullEntry): string | undefined {
  const isForgotten = body === undefined && response === undefined && ['POST', 'PUT', 'PATCH'].includes(method)
  return isForgotten ? 'Its body is not kept any more: the journal keeps those of the newest requests.' : undefined
}

/** A request as it is copied, with the fault that it has met, and the clock where that stands still. */
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

/** A fault that had ended before the page was opened, by what it has done. */
function guessFault({ fault = '', method, path, status }: FullEntry): NonNullable<CopiedRequest['met']> {
  const facts = { id: fault, match: `${method} ${path}`, met: 1, left: 0 }
  if (status === undefined) return { ...facts, kind: 'drop', options: {} }
  return status >= 400 ? { ...facts, kind: 'fail', options: { status } } : { ...facts, kind: 'delay', options: { ms: 1 } }
}

/** Where copied requests go, with a token of the user of the request. */
export async function targetOf(user: string | undefined): Promise<CopyTarget> {
  return { ...targetWithout(), token: user === undefined ? undefined : await mint(user) }
}

/** The same without a token. */
export function targetWithout(): CopyTarget {
  const { base = '', root = '', version = '', resources = [] } = outline.value ?? {}
  return { origin: location.origin, base, root, version, resources, world: world.value }
}

/** Sends a request as its user, past nothing: as the app would. */
export async function sendAgain(request: CopiedRequest): Promise<Answer> {
  const headers = request.user === undefined ? {} : { authorization: `Bearer ${await mint(request.user)}` }
  return send(request.method, writeTarget(request), { body: request.body, headers })
}

/** The ID of the newest request of a method and path, after another one: the one that has just been sent. */
export async function findSent({ method, path }: Pick<CopiedRequest, 'method' | 'path'>, since: number): Promise<number | undefined> {
  const { requests } = (await control('GET', `/requests?since=${since}&bodies=false`)).body as {
    readonly requests: readonly RequestSummary[]
  }
  return requests.findLast(request => request.method === method && request.path === path && !request.nested)?.id
}
