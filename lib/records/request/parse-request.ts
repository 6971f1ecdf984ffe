/**
 * Makes a Request of method, path, query and body, without the model. Refuses with path_malformed, path_unknown, query_malformed,
 * parameter_invalid and body_invalid.
 */
import { LazyClient, WholeClient, type Connected } from '../../foundation/async/abort.ts'
import { restError } from '../../foundation/errors/errors.ts'
import { QUERY_TYPES } from '../../foundation/http/http-methods.ts'
import { formatHint } from '../../foundation/base/suggest.ts'
import { NO_VERSION, findPathBelow, type Address } from './address.ts'
import { NO_QUERY, ParsedQuery, type QueryCache } from './parsed-query.ts'
import { pairsOfObject, pairsOfText } from './query-string.ts'
import type { QueryInput, QueryConditions } from '../../foundation/base/query-input.ts'

export interface Request {
  /** Upper case. */
  readonly method: string
  /** Without query, and one final slash. */
  readonly path: string
  /** Before the version: `/api`. */
  readonly base: string
  /** Whether engine or transport refuses writes. */
  readonly readOnly: boolean
  /** Segments below the base, validly percent-encoded: first the version, empty if paths have none. The base itself has no segments. */
  readonly segments: readonly string[]
  readonly query: ParsedQuery
  readonly body: unknown
  /** Has the headers, and knows the connection. */
  readonly sender: RequestSender
}

export interface RequestSender {
  readonly headers?: Readonly<Record<string, string>>
}

interface RequestParts {
  readonly method: string
  readonly path: string
  readonly query: QueryInput | undefined
  readonly body: unknown
  readonly context: RequestSender
}

/** For requests within the process. */
const NOT_CONNECTED: Connected = Object.freeze({})

/** @param method PATCH for a POST that changes a record */
export function replaceBody(request: Request, body: unknown, method = request.method): Request {
  return { ...request, method, body }
}

/**
 * Parameters in the body of a QUERY follow those of the path.
 *
 * @throws RestError body_invalid, query_malformed, parameter_invalid
 */
export function takeQuery(request: Request): Request {
  const { query, body } = request
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  if (typeof body !== 'string' && !isObject) {
    const what =
      body === undefined
        ? 'has no body'
        : `has ${body === null ? 'null' : Array.isArray(body) ? 'an array' : `a ${typeof body}`} for its body`
    throw restError('body_invalid', `The QUERY ${what}; ${HOW_TO_QUERY}.`, { headers: { 'accept-query': QUERY_TYPES } })
  }
  const pairsOfBody = typeof body === 'string' ? pairsOfText(body) : pairsOfObject(body as QueryConditions)
  return { ...request, query: new ParsedQuery([...query.pairs, ...pairsOfBody]), body: undefined }
}

export const HOW_TO_QUERY =
  'send the parameters as a JSON object (Content-Type: application/json) or as the text of a query (application/x-www-form-urlencoded)'

/** The name is in lower case; the sender may spell the header otherwise. */
export function readHeader(sender: RequestSender, name: string): string | undefined {
  if (sender instanceof LazyClient) return sender.header(name)
  const { headers } = sender
  return headers === undefined ? undefined : (headers[name] ?? lowerCase(headers)[name])
}

/** With names in lower case. */
export function readHeaders(sender: RequestSender): Readonly<Record<string, string>> {
  if (sender instanceof LazyClient) return sender.headers
  return sender.headers === undefined ? NO_HEADERS : lowerCase(sender.headers)
}

export function findConnection(sender: RequestSender): Connected {
  return sender instanceof LazyClient || sender instanceof WholeClient ? sender : NOT_CONNECTED
}

export const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({})

/** @throws TypeError for a method or path that is not a string */
export function parse(parts: RequestParts, address: Address, readOnly: boolean, queries: QueryCache): Request {
  const { method, path: target, body, context } = parts
  if (typeof method !== 'string')
    throw new TypeError(`handle: method must be a string, as in handle('GET', '/v1/users'), got ${typeof method}.`)
  if (typeof target !== 'string')
    throw new TypeError(
      `handle: path must be a string, got ${typeof target}.` +
        (method.includes(' ') ? ' "handle" takes method and path as two arguments, "send" as one.' : ''),
    )
  const path = readPath(target)
  const segments = splitSegments(path, address)
  const query = parts.query === undefined && !target.includes('?') ? NO_QUERY : queries.read(target, parts.query)
  return { method: method.toUpperCase(), path, base: address.base, readOnly, segments, query, body, sender: context }
}

/** Removes query and one final slash. */
export function readPath(target: string): string {
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  return path.length > 1 && path.endsWith('/') && !path.endsWith('//') ? path.slice(0, -1) : path
}

const SLASH = 0x2f
const PERCENT = 0x25
const NUL = 0

function splitSegments(whole: string, { base, versions }: Address): string[] {
  if (!whole.startsWith('/')) throw restError('path_unknown', `A path begins with "/", got "${whole.slice(0, 100)}".`)
  const path = base === '' ? whole : findPathBelow(whole, base)
  if (path === undefined) throw notBelow(whole, { base, versions })
  if (path === '/') return []
  const segments: string[] = versions.length === 0 ? [NO_VERSION] : []
  // Not `split`: V8 would cache all parts, at a cost.
  let isPlain = true
  let hasGap = false
  let start = 1
  for (let at = 1; at < path.length; at++) {
    const character = path.charCodeAt(at)
    if (character === SLASH) {
      hasGap ||= at === start
      segments.push(path.slice(start, at))
      start = at + 1
    } else if (character === PERCENT || character === NUL) isPlain = false
  }
  hasGap ||= start === path.length
  segments.push(path.slice(start))
  if (!isPlain) segments.forEach(checkSegment)
  if (hasGap) throw restError('path_unknown', 'The path has an empty segment ("//").')
  return segments
}

function notBelow(path: string, { base, versions }: Address) {
  const [first = ''] = path.slice(1).split('/', 1)
  // A path with a version first lacks only the base.
  const hint = versions.length === 0 || versions.includes(first) ? formatHint(base + path.slice(0, 100)) : ''
  return restError('path_unknown', `The path must begin with "${base}", not "${path.slice(0, 100)}".${hint}`)
}

function checkSegment(segment: string): void {
  if (segment.includes('\0') || segment.includes('%00')) throw restError('path_malformed', 'The path contains a NUL character.')
  if (!segment.includes('%')) return
  try {
    decodeURIComponent(segment)
  } catch {
    throw restError('path_malformed', `The path contains a bad percent-encoding in "${segment.slice(0, 100)}".`)
  }
}

/** Names are case-insensitive (RFC 9110 section 5.1). node:http sends lower case. */
export function lowerCase(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (headers === NO_HEADERS) return headers
  const names = Object.keys(headers)
  if (names.every(name => name === name.toLowerCase())) return headers
  return Object.fromEntries(names.map(name => [name.toLowerCase(), headers[name]!]))
}
