/** Place: where the reader is. All of it is in the URL, so that a page can be sent to a colleague, and the browser's own way back works. */
import { computed, signal } from '@preact/signals'
import { formatPlace, parsePlace, type Place } from './place-text.ts'

export const place = signal<Place>(parsePlace(location.hash))

const search = signal(location.search)

/** The world that the page looks at, by the query of the page; an empty text: the engine's own. */
export const world = computed(() => new URLSearchParams(search.value).get('world') ?? '')

/** The ID of the user as whom requests are sent; an empty text: nobody. */
export const userId = computed(() => new URLSearchParams(search.value).get('as') ?? '')

/** The version that is shown; undefined: the first. */
export const version = computed(() => new URLSearchParams(search.value).get('version') ?? undefined)

export function listenToPlace(): void {
  const read = (): void => {
    place.value = parsePlace(location.hash)
    search.value = location.search
  }
  addEventListener('hashchange', read)
  addEventListener('popstate', read)
}

/** Goes to a place; `replace` leaves no step to go back to. */
export function go(href: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, '', href)
  else history.pushState(null, '', href)
  place.value = parsePlace(location.hash)
  search.value = location.search
}

/** Sets a name in the query of the page: the world, the user or the version. An empty text takes it out. */
export function setOfPage(name: 'world' | 'as' | 'version', value: string): void {
  const query = new URLSearchParams(location.search)
  if (value === '') query.delete(name)
  else query.set(name, value)
  const text = query.toString()
  go(`${location.pathname}${text === '' ? '' : `?${text}`}${location.hash}`)
}

export { formatPlace as hrefOf }
