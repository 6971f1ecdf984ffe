/** Splits paths into base (`/api`), version and rest, and checks the option `base`. */

export interface Address {
  /** Without a final slash; empty: none. */
  readonly base: string
  /** Empty: no versions. */
  readonly versions: readonly string[]
}

export const NO_VERSION = ''

export function listVersions(versions: readonly string[]): readonly string[] {
  return versions.length === 0 ? [NO_VERSION] : versions
}

/** `/api/v1`; empty without base and version. */
export function formatRoot(base: string, version: string): string {
  return version === NO_VERSION ? base : `${base}/${version}`
}

/** Begins with a slash; undefined outside of the base. */
export function findPathBelow(path: string, base: string): string | undefined {
  if (base === '') return path
  if (!path.startsWith(base)) return undefined
  if (path.length === base.length) return '/'
  return path.charAt(base.length) === '/' ? path.slice(base.length) : undefined
}

/** For a path with a query. */
export function findTargetBelow(target: string, base: string): string | undefined {
  if (base === '') return target
  const mark = target.indexOf('?')
  if (mark < 0) return findPathBelow(target, base)
  const path = findPathBelow(target.slice(0, mark), base)
  return path === undefined ? undefined : path + target.slice(mark)
}

/**
 * Also cuts off a final slash.
 *
 * @param where begins the error
 * @throws TypeError for a text that is no path or ends with a version, which follows anyway
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
  // Clients resolve "." and "..", and encode paths.
  const sent = URL.parse(`http://host${text}`)?.pathname
  if (sent !== text) throw wrong('is not as clients send it', sent === '/' ? undefined : sent)
  const mark = text.lastIndexOf('/')
  const last = text.slice(mark + 1)
  if (versions.includes(last)) throw wrong(`ends with the version "${last}", which follows the base anyway`, text.slice(0, mark) || '/')
  return text
}

/** Badly encoded segments stay, and name nothing. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** For comparisons: `/v1/%75sers` is `/v1/users`. An encoded slash becomes NUL, not part of any path. */
export function plainPath(path: string): string {
  return path.includes('%')
    ? path
        .split('/')
        .map(segment => decodeSegment(segment).replaceAll('/', '\0'))
        .join('/')
    : path
}
