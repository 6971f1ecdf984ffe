/** Reads and writes places such as `#/data/sites?publisher.name=A*`, with the API's query. */

export interface Place {
  readonly screen: string
  /** Decoded. */
  readonly path: readonly string[]
  /** Encoded, without `?`. */
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

export function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    // A lone `%`.
    return segment
  }
}

/** Browsers encode less in fragments than in queries. */
function writeReadably(query: string): string {
  return query.replaceAll(/[^\w.~!$&'()*+,;=:@/?%<>|\\^[\]{}-]/g, encodeURIComponent)
}

/** Characters without a meaning in queries stay readable. */
export function encodeSoftly(text: string): string {
  return encodeURIComponent(text).replaceAll(/%(?:2C|3A|2F|7C|40)/g, decodeURIComponent)
}
