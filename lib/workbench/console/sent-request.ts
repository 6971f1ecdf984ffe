/** Keeps a request of the console in the URL. */
import type { CopiedRequest } from '../requests/copies.ts'
import { formatPlace, type Place } from '../state/place-text.ts'

export const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'] as const

export interface WrittenRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** Lines such as `Accept: text/csv`. */
  readonly headers: string
  /** JSON; empty: no body. */
  readonly body: string
}

/** Longer headers and bodies are not in the URL. */
const LONG = 2000

/** `#/console/GET?/v1/users`. */
export function hrefOfRequest({ method, target, headers, body }: WrittenRequest): string {
  const more = headers === '' && body === '' ? [] : [headers === '' ? '-' : headers, ...(body === '' ? [] : [body])]
  return formatPlace('console', [method, ...(more.join('').length > LONG ? [] : more)], target.replaceAll('#', '%23'))
}

/** @param root the path of an empty console */
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

export function findBodyFault(body: string): string | undefined {
  if (body.trim() === '') return undefined
  try {
    JSON.parse(body)
    return undefined
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`
  }
}

/** Whether the request is in the grammar of `wire`: the engine's own begins with the root. */
export function isInGrammarOfWire(target: string, outline: { readonly root: string; readonly hasWire?: true } | undefined): boolean {
  if (outline?.hasWire !== true || outline.root === '') return false
  const [path = ''] = target.split('?', 1)
  return path !== outline.root && !path.startsWith(`${outline.root}/`)
}

export function takesBody(method: string): boolean {
  return ['POST', 'PATCH', 'PUT'].includes(method)
}

/** As in the journal: `['age>=', '18']`. */
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
  const isEmpty = !takesBody(method) || body.trim() === '' || findBodyFault(body) !== undefined
  return {
    method,
    path: target.includes('?') ? target : path,
    query: [],
    ...(isEmpty ? {} : { body: JSON.parse(body) as unknown }),
    ...(user === '' ? {} : { user }),
  }
}
