/** World name: which world a request is about, by its header or cookie `X-World`. Refuses what is no name with request_malformed. */
import { restError } from '../base/errors.ts'

const WORLD_NAME = /^[\w.:-]{1,100}$/

/** Returns the name of the world; undefined for the engine's own. */
export function readWorldName(headers: Readonly<Record<string, unknown>>): string | undefined {
  const name = headers['x-world'] ?? readCookie(headers['cookie'])
  if (name === undefined || name === '') return undefined
  if (typeof name === 'string' && WORLD_NAME.test(name)) return name
  throw restError('request_malformed', 'X-World must be a name of at most 100 letters, digits and "_", ".", ":", "-".')
}

function readCookie(header: unknown): string | undefined {
  if (typeof header !== 'string') return undefined
  // Cookies are separated by "; " (RFC 6265 section 4.2.1).
  const cookie = header
    .split(';')
    .map(pair => pair.trim())
    .find(pair => /^x-world=/i.test(pair))
  return cookie?.slice('x-world='.length).replaceAll('"', '')
}
