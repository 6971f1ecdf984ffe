/** View: what of the requests is shown, as the URL says it. */
import { formatPlace } from '../state/place-text.ts'
import { go, place } from '../state/place.ts'
import type { ShownFilter } from './match-entry.ts'

export interface RequestsView extends ShownFilter {
  /** The ID of the request that is shown. */
  readonly id: number | undefined
  /** The part of it. */
  readonly tab: string
  /** The ID of the request that it is compared with. */
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

/** Shows something else; `replace` leaves no step to go back to. */
export function change(part: Partial<RequestsView>, { replace = false }: { readonly replace?: boolean } = {}): void {
  go(hrefOfView({ ...readView(), ...part }), { replace })
}

function readId(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
