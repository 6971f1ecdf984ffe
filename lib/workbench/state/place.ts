/** Keeps all state of the page in the URL, for links and the back button. */
import { computed, signal } from '@preact/signals'
import { formatPlace, parsePlace, type Place } from './place-text.ts'

export const place = signal<Place>(parsePlace(location.hash))

const search = signal(location.search)

/** Empty: the engine's own world. */
export const world = computed(() => new URLSearchParams(search.value).get('world') ?? '')

/** Empty: nobody. */
export const userId = computed(() => new URLSearchParams(search.value).get('as') ?? '')

/** Undefined: the first version. */
export const version = computed(() => new URLSearchParams(search.value).get('version') ?? undefined)

export function listenToPlace(): void {
  const read = (): void => {
    place.value = parsePlace(location.hash)
    search.value = location.search
  }
  addEventListener('hashchange', read)
  addEventListener('popstate', read)
}

/** @param replace no step for the back button */
export function go(href: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, '', href)
  else history.pushState(null, '', href)
  place.value = parsePlace(location.hash)
  search.value = location.search
}

export function setOfPage(name: 'world' | 'as' | 'version', value: string): void {
  const query = new URLSearchParams(location.search)
  if (value === '') query.delete(name)
  else query.set(name, value)
  const text = query.toString()
  go(`${location.pathname}${text === '' ? '' : `?${text}`}${location.hash}`)
}

export { formatPlace as hrefOf }
