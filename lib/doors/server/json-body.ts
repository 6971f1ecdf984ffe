/**
 * Reads a body, by the same rules for every transport: JSON as a value, a form as a FormBody, the form of a QUERY as text, a wire's body
 * as text or bytes, no body as undefined. Refuses with body_too_large during the reading, at the end with media_type_unsupported,
 * json_malformed or body_invalid.
 */
import { builtin } from '../../foundation/base/builtins.ts'
import type { Wire } from '../../foundation/base/wire.ts'
import { restError } from '../../foundation/errors/errors.ts'
import { FormBody } from '../../foundation/http/form-body.ts'
import { QUERY_TYPES } from '../../foundation/http/http-methods.ts'
import { describeRounded, findRounded } from '../../foundation/json/json-numbers.ts'
import { describePosition, findJsonError } from '../../foundation/json/json-position.ts'
import { assertJson, parseJson } from '../../foundation/json/json.ts'
import { HOW_TO_QUERY } from '../../records/request/parse-request.ts'
import { isForm, readForm, takeForm } from './read-form.ts'

interface BodyHeaders {
  readonly 'content-type'?: string | undefined
  readonly 'content-length'?: string | undefined
  readonly 'content-encoding'?: string | undefined
}

// Drops a byte order mark (RFC 8259 section 8.1).
const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

export class JsonBody {
  readonly #headers: BodyHeaders
  readonly #maxBytes: number
  readonly #isQuery: boolean
  readonly #isPatch: boolean
  readonly #form: string | undefined
  readonly #other: 'text' | 'bytes' | undefined
  #chunks: Uint8Array[] = []
  #bytes = 0

  constructor(headers: BodyHeaders, { maxBytes, method, takesForms = false, takes = [] }: BodyRules) {
    this.#isQuery = method === 'QUERY'
    this.#isPatch = method === 'PATCH'
    this.#other = takes.length === 0 ? undefined : findOther(headers, takes)
    this.#form = takesForms && !this.#isQuery && isForm(mediaType(headers)) ? headers['content-type'] : undefined
    this.#headers = headers
    this.#maxBytes = maxBytes
    if (Number(headers['content-length'] ?? 0) > maxBytes) throw this.#tooLarge()
  }

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength
    if (this.#bytes > this.#maxBytes) {
      this.#chunks = []
      throw this.#tooLarge()
    }
    this.#chunks.push(chunk)
  }

  value(): unknown {
    const isQueryForm = this.#isQuery && isFormType(this.#headers)
    if (this.#bytes === 0) return isQueryForm ? '' : this.#form === undefined ? undefined : new FormBody()
    this.#checkMediaType()
    const [first] = this.#chunks
    const sent = first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#bytes)
    const coding = findCoding(this.#headers['content-encoding'])
    const bytes = coding === undefined ? sent : unpackBody(sent, coding, this.#maxBytes, () => this.#tooLarge())
    if (this.#form !== undefined) return readForm(this.#form, bytes, readText)
    if (this.#other !== undefined) return this.#other === 'text' ? readText(bytes) : bytes
    return isQueryForm ? readText(bytes) : this.#checkQuery(readJson(bytes))
  }

  take(value: unknown): unknown {
    this.#checkMediaType()
    if (this.#other !== undefined) return value
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
    if (this.#form !== undefined || this.#other !== undefined) return
    if (!this.#isQuery) checkMediaType(this.#headers, this.#isPatch)
    else if (!isFormType(this.#headers)) checkQueryType(this.#headers)
  }

  /** `handle` would take a JSON string for the text of a query. */
  #checkQuery(value: unknown): unknown {
    if (!this.#isQuery || typeof value !== 'string') return value
    throw restError('body_invalid', `The QUERY has a JSON text for its body; ${HOW_TO_QUERY}.`, { headers: ACCEPTED })
  }

  #tooLarge(): Error {
    return restError('body_too_large', `The body is larger than the limit of ${this.#maxBytes} bytes.`)
  }
}

interface BodyRules {
  readonly maxBytes: number
  readonly method?: string | undefined
  readonly takesForms?: boolean
  readonly takes?: Wire['takes']
}

export interface BodyTaker {
  readonly limits: { readonly maxBodyBytes: number }
  readonly takesForms?: boolean
}

export function rulesOf({ limits, takesForms = false }: BodyTaker, method?: string, wire?: Wire): BodyRules {
  const takes = wire?.takes
  return { maxBytes: limits.maxBodyBytes, method, takesForms: wire === undefined ? takesForms : takes?.includes('form') === true, takes }
}

function findOther(headers: BodyHeaders, takes: NonNullable<Wire['takes']>): 'text' | 'bytes' | undefined {
  const type = mediaType(headers)
  if (type === '' || JSON_TYPES.test(type) || (takes.includes('form') && isForm(type))) return undefined
  if (takes.includes('text') && type.startsWith('text/')) return 'text'
  return takes.includes('bytes') ? 'bytes' : undefined
}

function mediaType({ 'content-type': type }: BodyHeaders): string {
  return type?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

const ACCEPTED = { 'accept-query': QUERY_TYPES }
const FORM = 'application/x-www-form-urlencoded'

function isFormType(headers: BodyHeaders): boolean {
  return mediaType(headers) === FORM
}

/** RFC 10008: 400 without a type, 415 for others. */
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

/** Leaves out the `=` of an empty value: the client may have sent `?flag`. */
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

/** Any page may send a form's type, or none; a JSON type needs a preflight (Fetch standard, "CORS-safelisted request-header"). */
function checkMediaType(headers: BodyHeaders, isPatch = false): void {
  const header = headers['content-type']
  if (header === 'application/json') return
  if (header === undefined || header.trim() === '') throw restError('media_type_unsupported', `The body has no media type; ${HOW}.`)
  checkJsonType(header, isPatch)
}

const JSON_TYPES = /^(?:application\/json|[\w!#$&^.+-]+\/[\w!#$&^.+-]+\+json)$/i

function checkJsonType(header: string, isPatch: boolean): void {
  const type = header.split(';', 1)[0]?.trim() ?? ''
  if (!JSON_TYPES.test(type)) {
    const hint = type.toLowerCase() === 'application/x-www-form-urlencoded' ? ` (curl: -H 'Content-Type: application/json')` : ''
    throw restError('media_type_unsupported', `The body has the media type "${type.slice(0, 100)}"; ${HOW}${hint}.`)
  }
  // JSON Patch (RFC 6902) has operations in the place of attributes.
  if (!isPatch && type.toLowerCase() === 'application/json-patch+json')
    throw restError('media_type_unsupported', `The body has the media type "application/json-patch+json", which PATCH alone takes; ${HOW}.`)
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

// Fewer than 200 digits with a two-digit exponent stay within the range of a double (1.8e308).
const MAY_OVERFLOW = /[eE]\+?\d{3}|\d{200}/

/**
 * JSON.parse makes Infinity of numbers beyond the range (RFC 8259 section 6 allows a limit). Without recursion: a body may be nested deeper
 * than the stack.
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
    // In stream mode, a sequence may be cut off at the end.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

type Unpack = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array

const CODINGS: Readonly<Record<string, Unpack>> = {
  gzip: (bytes, options) => builtin.zlib.gunzipSync(bytes, options),
  'x-gzip': (bytes, options) => builtin.zlib.gunzipSync(bytes, options),
  // Some clients leave out zlib's frame (RFC 9110 section 8.4.1.2), whose first byte ends in 8 (RFC 1950).
  deflate: (bytes, options) =>
    ((bytes[0] ?? 0) & 0x0f) === 8 ? builtin.zlib.inflateSync(bytes, options) : builtin.zlib.inflateRawSync(bytes, options),
  br: (bytes, options) => builtin.zlib.brotliDecompressSync(bytes, options),
}

const ACCEPTED_CODINGS = 'gzip, deflate, br'

function findCoding(header: string | undefined): string | undefined {
  const coding = header?.trim().toLowerCase()
  return coding === undefined || coding === '' || coding === 'identity' ? undefined : coding
}

/** The limit holds for the decoded body: a kilobyte may hold a gigabyte. */
function unpackBody(bytes: Uint8Array, coding: string, maxBytes: number, tooLarge: () => Error): Uint8Array {
  const unpack = Object.hasOwn(CODINGS, coding) ? CODINGS[coding]! : undefined
  if (unpack === undefined)
    throw restError(
      'media_type_unsupported',
      `The body has the content encoding "${coding.slice(0, 100)}"; send ${ACCEPTED_CODINGS}, or none.`,
      {
        headers: { 'accept-encoding': ACCEPTED_CODINGS },
      },
    )
  try {
    // Node refuses 0.
    return unpack(bytes, { maxOutputLength: Math.max(1, maxBytes) })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
    throw restError('body_invalid', `The body is not what its content encoding "${coding}" says: ${(cause as Error).message}.`, { cause })
  }
}
