/**
 * JSON body: the one rule for request bodies, whichever transport they come through. Takes the request's headers and its chunks as they
 * arrive; gives the JSON value, or undefined for an empty body, or a FormBody where forms are taken. Refuses with body_too_large while the
 * bytes are counted, and with media_type_unsupported or json_malformed at the end.
 */
import { restError } from '../../foundation/errors/errors.ts'
import { QUERY_TYPES } from '../../foundation/http/http-methods.ts'
import { assertJson, parseJson } from '../../foundation/json/json.ts'
import { describeRounded, findRounded } from '../../foundation/json/json-numbers.ts'
import { describePosition, findJsonError } from '../../foundation/json/json-position.ts'
import { HOW_TO_QUERY } from '../../records/request/parse-request.ts'
import { FormBody } from '../../foundation/http/form-body.ts'
import { isForm, readForm, takeForm } from './read-form.ts'
import { findCoding, unpackBody } from './unpack-body.ts'

/** The headers that the rule reads, lower-case names. */
interface BodyHeaders {
  readonly 'content-type'?: string | undefined
  readonly 'content-length'?: string | undefined
  readonly 'content-encoding'?: string | undefined
}

// A byte order mark is dropped, as RFC 8259 section 8.1 allows and the decoder does by default.
const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** A request body that is being received. */
export class JsonBody {
  readonly #headers: BodyHeaders
  readonly #maxBytes: number
  readonly #isQuery: boolean
  /** The header `Content-Type` of a form that is taken. */
  readonly #form: string | undefined
  #chunks: Uint8Array[] = []
  #bytes = 0

  /**
   * Refuses at once when the declared length is over the limit.
   */
  constructor(headers: BodyHeaders, { maxBytes, method, takesForms = false }: BodyRules) {
    this.#isQuery = method === 'QUERY'
    this.#form = takesForms && !this.#isQuery && isForm(mediaType(headers)) ? headers['content-type'] : undefined
    this.#headers = headers
    this.#maxBytes = maxBytes
    if (Number(headers['content-length'] ?? 0) > maxBytes) throw this.#tooLarge()
  }

  /** Takes the next bytes; refuses as soon as they exceed the limit. */
  add(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength
    if (this.#bytes > this.#maxBytes) {
      this.#chunks = []
      throw this.#tooLarge()
    }
    this.#chunks.push(chunk)
  }

  /** The value of the complete body. */
  value(): unknown {
    const isQueryForm = this.#isQuery && isFormType(this.#headers)
    if (this.#bytes === 0) return isQueryForm ? '' : this.#form === undefined ? undefined : new FormBody()
    this.#checkMediaType()
    const [first] = this.#chunks
    const sent = first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#bytes)
    const coding = findCoding(this.#headers['content-encoding'])
    const bytes = coding === undefined ? sent : unpackBody(sent, coding, this.#maxBytes, () => this.#tooLarge())
    if (this.#form !== undefined) return readForm(this.#form, bytes, readText)
    return isQueryForm ? readText(bytes) : this.#checkQuery(readJson(bytes))
  }

  /** Takes a value that a parser of the app has made. */
  take(value: unknown): unknown {
    this.#checkMediaType()
    if (this.#form !== undefined) return takeForm(value)
    if (this.#isQuery && isFormType(this.#headers)) return writeForm(value)
    let text: string | undefined
    try {
      assertJson(value, 'the body')
      text = JSON.stringify(value)
    } catch (cause) {
      throw restError('json_malformed', `The body is not JSON: ${(cause as Error).message}.`, { cause })
    }
    if (Buffer.byteLength(text) > this.#maxBytes) throw this.#tooLarge()
    return this.#checkQuery(value)
  }

  #checkMediaType(): void {
    if (this.#form !== undefined) return
    if (!this.#isQuery) checkMediaType(this.#headers)
    else if (!isFormType(this.#headers)) checkQueryType(this.#headers)
  }

  /** In the process a text is that of a query; as JSON it is not a query. */
  #checkQuery(value: unknown): unknown {
    if (!this.#isQuery || typeof value !== 'string') return value
    throw restError('body_invalid', `The QUERY has a JSON text for its body; ${HOW_TO_QUERY}.`, { headers: ACCEPTED })
  }

  #tooLarge(): Error {
    return restError('body_too_large', `The body is larger than the limit of ${this.#maxBytes} bytes.`)
  }
}

/** What a body is held to. */
interface BodyRules {
  readonly maxBytes: number
  /** Of the request: a QUERY may have the text of a query, too. */
  readonly method?: string | undefined
  /** Whether a form may stand for JSON. */
  readonly takesForms?: boolean
}

/** Who takes bodies. */
export interface BodyTaker {
  readonly limits: { readonly maxBodyBytes: number }
  /** Whether a form may stand for JSON. */
  readonly takesForms?: boolean
}

export function rulesOf({ limits, takesForms = false }: BodyTaker, method?: string): BodyRules {
  return { maxBytes: limits.maxBodyBytes, method, takesForms }
}

function mediaType({ 'content-type': type }: BodyHeaders): string {
  return type?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

const ACCEPTED = { 'accept-query': QUERY_TYPES }
const FORM = 'application/x-www-form-urlencoded'

function isFormType(headers: BodyHeaders): boolean {
  return mediaType(headers) === FORM
}

/** Refuses the body of a QUERY that is not JSON: without a type with 400, of another type with 415, as RFC 10008 asks for. */
function checkQueryType(headers: BodyHeaders): void {
  const type = headers['content-type']
  if (type === undefined || type.trim() === '')
    throw restError('body_invalid', `The QUERY has no Content-Type; ${HOW_TO_QUERY}.`, { headers: ACCEPTED })
  try {
    checkMediaType(headers)
  } catch (error) {
    const { message } = error as Error
    throw restError('media_type_unsupported', message.replace(HOW, HOW_TO_QUERY), { headers: ACCEPTED, cause: error })
  }
}

/** Writes what the parser of an app has made of a form as the text that it was. A parameter with an empty value may have had no `=`. */
function writeForm(value: unknown): string {
  return Object.entries((value ?? {}) as Readonly<Record<string, unknown>>)
    .flatMap(([name, given]) =>
      [given]
        .flat()
        .map(each => (each === '' ? encodeURIComponent(name) : `${encodeURIComponent(name)}=${encodeURIComponent(String(each))}`)),
    )
    .join('&')
}

const HOW = 'send JSON with the header "Content-Type: application/json"'

/**
 * Refuses what does not say that it is JSON. A page of any site may send a body of no type, or of a form's, to a server that has not agreed
 * to it; one of a JSON type only after a preflight (Fetch standard, "CORS-safelisted request-header").
 */
function checkMediaType(headers: BodyHeaders): void {
  const header = headers['content-type']
  if (header === 'application/json') return
  if (header === undefined || header.trim() === '') throw restError('media_type_unsupported', `The body has no media type; ${HOW}.`)
  checkJsonType(header)
}

function checkJsonType(header: string): void {
  const type = header.split(';', 1)[0]?.trim() ?? ''
  if (!/^(?:application\/json|[\w!#$&^.+-]+\/[\w!#$&^.+-]+\+json)$/i.test(type)) {
    const hint = type.toLowerCase() === 'application/x-www-form-urlencoded' ? ` (curl: -H 'Content-Type: application/json')` : ''
    throw restError('media_type_unsupported', `The body has the media type "${type.slice(0, 100)}"; ${HOW}${hint}.`)
  }
  // The operations of a JSON Patch (RFC 6902) are no attributes of a record.
  if (type.toLowerCase() === 'application/json-patch+json') {
    const instead = 'send "application/merge-patch+json", or the attributes that change as JSON'
    throw restError('media_type_unsupported', `The body has the media type "application/json-patch+json"; ${instead}.`)
  }
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(header)?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw restError(
      'media_type_unsupported',
      `The body has the charset "${charset.slice(0, 100)}"; JSON is sent as UTF-8 (RFC 8259 section 8.1).`,
    )
  }
}

function readText(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch (cause) {
    const valid = validUtf8Length(bytes)
    const fault = valid === bytes.byteLength ? 'it ends within a character' : `the byte at position ${valid} cannot stand there`
    throw restError('json_malformed', `The body is not UTF-8: ${fault}.`, { cause })
  }
}

function readJson(bytes: Uint8Array): unknown {
  const text = readText(bytes)
  let value: unknown
  try {
    value = parseJson(text)
  } catch (cause) {
    throw restError('json_malformed', `The body is not JSON: ${describeFault(text, cause)}.`, { cause })
  }
  if (MAY_OVERFLOW.test(text)) refuseInfinity(value)
  const rounded = findRounded(text)
  if (rounded !== undefined)
    throw restError('body_invalid', `The body holds a number that has too many digits, ${describeRounded(rounded)}.`)
  return value
}

// Less than 200 digits with an exponent of two stay within the range of a double (1.8e308).
const MAY_OVERFLOW = /[eE]\+?\d{3}|\d{200}/

/**
 * JSON.parse makes Infinity of a number beyond the range, which is not a JSON value any more. RFC 8259 section 6 lets a parser limit the
 * range. Goes without recursion: a body may be nested deeper than the stack is.
 */
function refuseInfinity(value: unknown): void {
  const open: { readonly name: string; readonly value: unknown }[] = [{ name: '', value }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { name, value: inner } = next
    if (inner === Infinity || inner === -Infinity)
      throw restError('json_malformed', `The body holds a number that is too large, under "${name.slice(0, 100)}".`)
    if (typeof inner !== 'object' || inner === null) continue
    // A pair for each value of a megabyte would cost more than all the rest.
    for (const key of Array.isArray(inner) ? inner.keys() : Object.keys(inner)) {
      const item = (inner as Record<string | number, unknown>)[key]
      if (typeof item === 'object' ? item !== null : item === Infinity || item === -Infinity) open.push({ name: String(key), value: item })
    }
  }
}

function describeFault(text: string, cause: unknown): string {
  const fault = findJsonError(text)
  if (fault === undefined) return cause instanceof Error ? cause.message : String(cause)
  if (fault.found === undefined) return `it ends too early, at ${describePosition(fault)}`
  return `unexpected ${JSON.stringify(fault.found)} at ${describePosition(fault)}`
}

/** Length of the longest prefix that a strict decoder takes: where the first wrong sequence begins, by bisection. */
function validUtf8Length(bytes: Uint8Array): number {
  let valid = 0
  let wrong = bytes.byteLength + 1
  while (wrong - valid > 1) {
    const middle = (valid + wrong) >>> 1
    if (isUtf8Prefix(bytes.subarray(0, middle))) valid = middle
    else wrong = middle
  }
  return valid
}

function isUtf8Prefix(bytes: Uint8Array): boolean {
  try {
    // In stream mode a sequence that is cut off at the end is not a fault yet.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}
