/** Writes the journal as an HTTP Archive 1.2, without headers and cookies, which the journal lacks. Members of our own begin with "_". */
import { checkNames } from '../../foundation/base/suggest.ts'
import type { JournalEntry } from './journal-entry.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'

/** A header or query parameter of an HTTP Archive. */
export interface HarPair {
  readonly name: string
  readonly value: string
}

/** A request with its answer. */
export interface HarEntry {
  readonly startedDateTime: string
  /** Milliseconds. */
  readonly time: number
  readonly request: {
    readonly method: string
    readonly url: string
    readonly httpVersion: string
    readonly cookies: readonly HarPair[]
    readonly headers: readonly HarPair[]
    readonly queryString: readonly HarPair[]
    readonly postData?: { readonly mimeType: string; readonly text: string }
    readonly headersSize: number
    readonly bodySize: number
  }
  readonly response: {
    readonly status: number
    readonly statusText: string
    readonly httpVersion: string
    readonly cookies: readonly HarPair[]
    readonly headers: readonly HarPair[]
    readonly content: { readonly size: number; readonly mimeType: string; readonly text?: string }
    readonly redirectURL: string
    readonly headersSize: number
    readonly bodySize: number
    readonly _error?: string
  }
  readonly cache: object
  readonly timings: { readonly send: number; readonly wait: number; readonly receive: number }
  /** The ID in the journal. */
  readonly _id: number
  readonly _test?: string
  readonly _fault?: string
  readonly _changes?: JournalEntry['changes']
}

/** An HTTP Archive (HAR 1.2). */
export interface Har {
  readonly log: {
    readonly version: '1.2'
    readonly creator: { readonly name: string; readonly version: string }
    readonly entries: readonly HarEntry[]
  }
}

/** Options of `engine.har`. */
export interface HarOptions {
  /** Scheme and host of the URLs. Default: `http://localhost`. */
  readonly origin?: string
}

export function readHarOrigin(options: HarOptions): string {
  checkNames(options, ['origin'], 'engine.har')
  const { origin = 'http://localhost' } = options
  if (typeof origin !== 'string' || !/^https?:\/\/[^/?#@]+$/.test(origin) || !URL.canParse(origin))
    throw new TypeError(`engine.har: "origin" must be a scheme and a host, such as "http://localhost:3000", got ${JSON.stringify(origin)}.`)
  return origin
}

const JSON_TYPE = 'application/json'

const FORM = '1'

/** @param origin `http://localhost` */
export function writeHar(entries: readonly JournalEntry[], origin: string): Har {
  return {
    log: { version: '1.2', creator: { name: 'mikro-rest', version: FORM }, entries: entries.map(entry => writeEntry(entry, origin)) },
  }
}

function writeEntry(entry: JournalEntry, origin: string): HarEntry {
  const { id, at, duration, test, fault, changes } = entry
  return {
    startedDateTime: at,
    time: duration,
    request: writeRequest(entry, origin),
    response: writeResponse(entry),
    cache: {},
    timings: { send: 0, wait: duration, receive: 0 },
    _id: id,
    ...(test === undefined ? {} : { _test: test }),
    ...(fault === undefined ? {} : { _fault: fault }),
    ...(changes === undefined || changes.length === 0 ? {} : { _changes: changes }),
  }
}

function writeRequest({ method, path, query, body }: JournalEntry, origin: string): HarEntry['request'] {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const pairs = query.map(([name, value]) => splitPair(name, value))
  const search = pairs.map(each => (each.bare ? encode(each.name) : `${encode(each.name)}=${encode(each.value)}`)).join('&')
  return {
    method,
    url: `${origin}${path}${search === '' ? '' : `?${search}`}`,
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: text === undefined ? [] : [{ name: 'Content-Type', value: JSON_TYPE }],
    queryString: pairs.map(({ name, value }) => ({ name, value })),
    ...(text === undefined ? {} : { postData: { mimeType: JSON_TYPE, text } }),
    headersSize: -1,
    bodySize: text === undefined ? 0 : runtime.countBytes(text),
  }
}

/** `['age>=', '18']` comes of `age>=18`, and `['age>', '18']` of `age>18`, a name without a value. */
function splitPair(name: string, value: string): HarPair & { readonly bare: boolean } {
  if (/[<>]$/.test(name)) return { name: name + value, value: '', bare: true }
  return { name: name.replace(/=$/, ''), value, bare: false }
}

function encode(text: string): string {
  // A lone surrogate cannot be encoded.
  return encodeURIComponent(text.toWellFormed()).replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%20', '+')
}

function writeResponse({ status = 0, response, error }: JournalEntry): HarEntry['response'] {
  const text = response === undefined ? undefined : JSON.stringify(response)
  const size = text === undefined ? 0 : runtime.countBytes(text)
  return {
    status,
    statusText: runtime.nameStatus(status) ?? '',
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: text === undefined ? [] : [{ name: 'Content-Type', value: JSON_TYPE }],
    content: { size, mimeType: text === undefined ? 'x-unknown' : JSON_TYPE, ...(text === undefined ? {} : { text }) },
    redirectURL: '',
    headersSize: -1,
    bodySize: size,
    ...(error === undefined ? {} : { _error: error }),
  }
}
