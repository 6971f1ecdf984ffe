/** Sent request: a request of the console as the reader has written it, as the place of the page, and as it is copied. */
import type { CopiedRequest } from '../requests/copies.ts'
import { formatPlace, type Place } from '../state/place-text.ts'

export const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'] as const

export interface WrittenRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** Lines of a name and a value: `Accept: text/csv`. */
  readonly headers: string
  /** JSON; empty: no body. */
  readonly body: string
}

/** Characters of headers and body from which they are not part of the URL. */
const LONG = 2000

/** The place of a request: the method, headers and body where there are some, and the request as the query. */
export function hrefOfRequest({ method, target, headers, body }: WrittenRequest): string {
  const more = headers === '' && body === '' ? [] : [headers === '' ? '-' : headers, ...(body === '' ? [] : [body])]
  return formatPlace('console', [method, ...(more.join('').length > LONG ? [] : more)], target.replaceAll('#', '%23'))
}

/** @param root the path before resources, with which an empty console begins */
export function readRequest({ path: [method = 'GET', headers = '', body = ''], query }: Place, root: string): WrittenRequest {
  const known = METHODS.find(name => name === method) ?? 'GET'
  return { method: known, target: query === '' ? `${root}/` : query, headers: headers === '-' ? '' : headers, body }
}

/** @throws SyntaxError for a line without a colon */
export function readHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of text.split('\n').filter(each => each.trim() !== '')) {
    const colon = line.indexOf(':')
    if (colon < 1) throw new SyntaxError(`A header is a name, a colon and a value: Accept: text/csv, not ${JSON.stringify(line)}.`)
    headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim()
  }
  return headers
}

/** Returns what is wrong with a body, as a sentence; undefined: nothing. */
export function findBodyFault(body: string): string | undefined {
  if (body.trim() === '') return undefined
  try {
    JSON.parse(body)
    return undefined
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`
  }
}

/** Whether requests of the method have a body. */
export function takesBody(method: string): boolean {
  return ['POST', 'PATCH', 'PUT'].includes(method)
}

/** Returns the path of a request, and its query as pairs of a name with its operator, and a value: as the journal has them. */
export function pathAndQuery(target: string): Pick<CopiedRequest, 'path' | 'query'> {
  const [path = '', query = ''] = target.split(/\?(.*)/s, 2)
  const parts = query.split('&').filter(part => part !== '')
  return {
    path,
    query: parts.map(part => {
      const [, name = '', sign = '', value = ''] = /^([^<>=]*)(<=|>=|<|>|=)?(.*)$/s.exec(part)!
      return [decodePart(name) + (sign === '=' ? '' : sign), decodePart(value)] as const
    }),
  }
}

function decodePart(text: string): string {
  return new URLSearchParams(`x=${text}`).get('x') ?? ''
}

export function copyOfWritten({ method, target, body }: WrittenRequest, user: string): CopiedRequest {
  const [path = ''] = target.split('?', 1)
  // The query is copied as it is written.
  const isEmpty = !takesBody(method) || body.trim() === '' || findBodyFault(body) !== undefined
  return {
    method,
    path: target.includes('?') ? target : path,
    query: [],
    ...(isEmpty ? {} : { body: JSON.parse(body) as unknown }),
    ...(user === '' ? {} : { user }),
  }
}
