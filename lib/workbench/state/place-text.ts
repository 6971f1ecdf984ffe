/**
 * Place text: where the reader is, as the fragment of the URL: `#/data/sites?publisher.name=A*`. The query of a list is that of the API, as
 * it is.
 */

export interface Place {
  /** The name of the screen. */
  readonly screen: string
  /** The segments after it, decoded. */
  readonly path: readonly string[]
  /** Without `?`, encoded. */
  readonly query: string
}

export function parsePlace(fragment: string): Place {
  const [path = '', query = ''] = fragment.replace(/^#\/?/, '').split(/\?(.*)/s, 2)
  const [screen = '', ...segments] = path
    .split('/')
    .filter(segment => segment !== '')
    .map(decode)
  return { screen, path: segments, query: writeReadably(query) }
}

export function formatPlace(screen: string, path: readonly string[] = [], query = ''): string {
  const segments = [screen, ...path].map(encodeURIComponent).join('/')
  return `#/${segments}${query === '' ? '' : `?${query}`}`
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    // A sign of its own, that somebody has typed.
    return segment
  }
}

/** Encodes what may not stand in a URL, and leaves what is encoded as it is: browsers encode other signs of a fragment than of a query. */
function writeReadably(query: string): string {
  return query.replaceAll(/[^\w.~!$&'()*+,;=:@/?%<>|\\^[\]{}-]/g, encodeURIComponent)
}

/** Encodes what has a meaning in a query, and leaves the rest readable. */
export function encodeSoftly(text: string): string {
  return encodeURIComponent(text).replaceAll(/%(?:2C|3A|2F|7C|40)/g, decodeURIComponent)
}
