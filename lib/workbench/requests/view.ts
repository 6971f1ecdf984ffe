/** Keeps the state of the requests screen in the URL. */
import { formatPlace } from '../state/place-text.ts'
import { go, place } from '../state/place.ts'
import type { EntryFilter } from './match-entry.ts'

export interface RequestsView extends EntryFilter {
  readonly id: number | undefined
  readonly tab: string
  readonly other: number | undefined
}

export function readView(): RequestsView {
  const { path, query } = place.value
  const parameters = new URLSearchParams(query)
  const only = parameters.get('only')?.split(',') ?? []
  return {
    id: readId(path[0]),
    words: parameters.get('show') ?? '',
    writes: only.includes('writes'),
    failures: only.includes('failures'),
    tab: parameters.get('tab') ?? '',
    other: readId(parameters.get('with') ?? undefined),
  }
}

export function hrefOfView({ id, words, writes, failures, tab, other }: RequestsView): string {
  const query = new URLSearchParams()
  if (words !== '') query.set('show', words)
  if (writes || failures) query.set('only', [writes ? 'writes' : '', failures ? 'failures' : ''].filter(Boolean).join(','))
  if (tab !== '') query.set('tab', tab)
  if (other !== undefined) query.set('with', String(other))
  return formatPlace('requests', id === undefined ? [] : [String(id)], query.toString())
}

/** @param replace no step for the back button */
export function change(part: Partial<RequestsView>, { replace = false }: { readonly replace?: boolean } = {}): void {
  go(hrefOfView({ ...readView(), ...part }), { replace })
}

function readId(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
