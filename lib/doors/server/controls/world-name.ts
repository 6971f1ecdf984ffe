/**
 * Reads the world of a request (header or cookie `X-World`), and the scenario with which a new world begins (`X-Scenario`). Refuses a bad
 * name with request_malformed.
 */
import { restError } from '../../../foundation/errors/errors.ts'

const WORLD_NAME = /^[\w.:-]{1,100}$/

export function readWorldName(headers: Readonly<Record<string, unknown>>): string | undefined {
  const name = headers['x-world'] ?? readCookie(headers['cookie'], 'x-world')
  if (name === undefined || name === '') return undefined
  if (typeof name === 'string' && WORLD_NAME.test(name)) return name
  throw restError('request_malformed', 'X-World must be a name of at most 100 letters, digits and "_", ".", ":", "-".')
}

export function checkWorldName(name: unknown, what: string): string {
  if (typeof name === 'string' && WORLD_NAME.test(name)) return name
  throw restError('body_invalid', `${what} must be a name of at most 100 letters, digits and "_", ".", ":", "-".`)
}

export function readScenarioName(headers: Readonly<Record<string, unknown>>): string | undefined {
  const name = headers['x-scenario'] ?? readCookie(headers['cookie'], 'x-scenario')
  return typeof name === 'string' && name !== '' ? name : undefined
}

function readCookie(header: unknown, name: string): string | undefined {
  if (typeof header !== 'string') return undefined
  // Cookies are separated by "; " (RFC 6265 section 4.2.1).
  const cookie = header
    .split(';')
    .map(pair => pair.trim())
    .find(pair => pair.toLowerCase().startsWith(`${name}=`))
  return cookie?.slice(name.length + 1).replaceAll('"', '')
}
