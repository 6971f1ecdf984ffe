/**
 * Address: where an engine answers. The base is the path in front of all others (`/api`), and the version is the segment after it, unless
 * the engine has none. Takes the option `base`; refuses what no URL has as its path.
 */

/** The paths that an engine answers. */
export interface Address {
  /** The path before the version, without a slash at its end. Empty: none. */
  readonly base: string
  /** The segments that may follow. Empty: paths have no version. */
  readonly versions: readonly string[]
}

/** The name of the one version of an engine whose paths have none. */
export const NO_VERSION = ''

/** Returns the names of what is served: that of no version, where there is none. */
export function listVersions(versions: readonly string[]): readonly string[] {
  return versions.length === 0 ? [NO_VERSION] : versions
}

/** Returns the path of a version's index: `/api/v1`; an empty text where nothing is in front of the resources. */
export function formatRoot(base: string, version: string): string {
  return version === NO_VERSION ? base : `${base}/${version}`
}

/** Returns what follows the base in a path, beginning with a slash. Undefined: the path is not below the base. */
export function findPathBelow(path: string, base: string): string | undefined {
  if (base === '') return path
  if (!path.startsWith(base)) return undefined
  if (path.length === base.length) return '/'
  return path.charAt(base.length) === '/' ? path.slice(base.length) : undefined
}

/** As `findPathBelow`, for a path that may carry a query. */
export function findTargetBelow(target: string, base: string): string | undefined {
  if (base === '') return target
  const mark = target.indexOf('?')
  if (mark < 0) return findPathBelow(target, base)
  const path = findPathBelow(target.slice(0, mark), base)
  return path === undefined ? undefined : path + target.slice(mark)
}

/**
 * Returns a base as paths begin with it: a slash at its end says nothing.
 *
 * @param where begins the text of the error
 * @throws TypeError for what is not a path, and for one that ends with a version: that follows anyway
 */
export function readBase(given: unknown, where: string, versions: readonly string[] = []): string {
  const wrong = (why: string, meant?: string): TypeError =>
    new TypeError(
      `${where}: "base" must be the path before the version, ` +
        `such as "/api": ${JSON.stringify(given) ?? String(given)} ${why}.${meant === undefined ? '' : ` Did you mean "${meant}"?`}`,
    )
  if (typeof given !== 'string') throw wrong('is not a string')
  const text = given.replace(/\/$/, '')
  if (text === '') return ''
  if (!text.startsWith('/')) {
    const path = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? URL.parse(text)?.pathname : URL.parse(`http://host/${text}`)?.pathname
    throw wrong('does not begin with "/"', path === '/' ? undefined : path)
  }
  if (/[?#]/.test(text)) throw wrong('has more than a path', text.replace(/[?#].*$/s, ''))
  if (text.includes('//')) throw wrong('has an empty segment', text.replaceAll(/\/{2,}/g, '/'))
  // Clients send a path as URLs have it: without "." and "..", and percent-encoded.
  const sent = URL.parse(`http://host${text}`)?.pathname
  if (sent !== text) throw wrong('is not as clients send it', sent === '/' ? undefined : sent)
  const mark = text.lastIndexOf('/')
  const last = text.slice(mark + 1)
  if (versions.includes(last)) throw wrong(`ends with the version "${last}", which follows the base anyway`, text.slice(0, mark) || '/')
  return text
}

/** Decodes a segment of a path. One that cannot be decoded is the name of nothing, and stays as it is. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
