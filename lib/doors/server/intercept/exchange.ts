/**
 * Answers one intercepted request of undici or `fetch`, through the handler of a dispatcher, without a socket. Refuses what undici refuses,
 * with undici's errors.
 */
import { stringify, type ParsedUrlQueryInput } from 'node:querystring'
import type { Awaitable } from '../../../foundation/async/awaitable.ts'
import { Controller, toRawHeaders, undiciError, type DispatchOptions, type Handler } from './undici-types.ts'
import type { InterceptedAddress } from './addresses.ts'
import { originForm, written, type TransportEngine, type TransportResponse } from '../transport.ts'
import type { Wire } from '../../../foundation/base/wire.ts'
import { LazyClient } from '../../../foundation/async/abort.ts'
import { builtin } from '../../../foundation/base/builtins.ts'
import { RestError } from '../../../foundation/errors/errors.ts'
import type { TextStream } from '../../../foundation/http/text-stream.ts'
import { separateCookies } from '../../../foundation/http/set-cookie.ts'
import { TAKES_BODY } from '../../../foundation/http/http-methods.ts'
import { JsonBody, rulesOf } from '../json-body.ts'

/** Throws nothing: the handler gets errors. */
export function dispatch(
  engine: TransportEngine,
  { origin, base, wire = engine.wire }: InterceptedAddress,
  options: DispatchOptions,
  handler: Handler,
): void {
  let head: Head
  try {
    head = { ...readHead(origin, options), wire }
  } catch (error) {
    handler.onResponseError?.(null, error)
    destroy(options.body, error)
    return
  }
  new InterceptedExchange(engine, head, base, handler).begin(options.headersTimeout ?? 0)
}

interface Head {
  readonly method: string
  readonly path: string
  /** Lower-case names; repeated headers are joined as by `node:http`. */
  readonly headers: Record<string, string>
  readonly body: RequestBody | undefined
  readonly isSecure: boolean
  readonly declaredBytes: number | undefined
  readonly wire: Wire | undefined
}

/** Microtasks in which an immediate answer arrives. */
const PROMPT = 8

type RequestBody = Iterable<unknown> | AsyncIterable<unknown>

class InterceptedExchange {
  readonly #engine: TransportEngine
  readonly #head: Head
  readonly #handler: Handler
  readonly #client: LazyClient
  readonly #controller = new Controller(
    reason => this.#fail(reason ?? undiciError('UND_ERR_ABORTED', 'Request aborted')),
    () => this.#wake(),
  )
  /** Answered or failed: the handler gets nothing more. */
  #settled = false
  #failed = false
  #timer: NodeJS.Timeout | undefined
  #wake: () => void = () => {}

  constructor(engine: TransportEngine, head: Head, base: string | undefined, handler: Handler) {
    this.#engine = engine
    this.#head = head
    this.#handler = handler
    this.#client = new LazyClient(head, { base, isSecure: head.isSecure, wire: head.wire })
  }

  begin(headersTimeout: number): void {
    try {
      this.#handler.onRequestStart(this.#controller, null)
    } catch (error) {
      this.#fail(error)
    }
    if (this.#settled) return
    void this.#run()
    if (headersTimeout > 0) void this.#watch(headersTimeout)
  }

  async #run(): Promise<void> {
    let answer: TransportResponse
    try {
      answer = await this.#answer()
    } catch (error) {
      this.#fail(error)
      return
    }
    if (!this.#settled) this.#write(answer)
  }

  /** Waits some microtasks before setting a timer: most answers arrive, and a timer costs more. */
  async #watch(headersTimeout: number): Promise<void> {
    for (let turn = 0; turn < PROMPT; turn++) {
      await Promise.resolve()
      if (this.#settled) return
    }
    const late = (): void => this.#fail(undiciError('UND_ERR_HEADERS_TIMEOUT', 'Headers Timeout Error'))
    this.#timer = setTimeout(late, headersTimeout)
  }

  #answer(): Awaitable<TransportResponse> {
    const { method, body } = this.#head
    if (body === undefined) return this.#ask(undefined)
    if (TAKES_BODY.has(method)) return this.#answerWith(body)
    // The body is ignored, but the client may wait for its end.
    this.#receive(body, () => {}).catch((error: unknown) => this.#fail(error))
    return this.#ask(undefined)
  }

  async #answerWith(body: RequestBody): Promise<TransportResponse> {
    let value: unknown
    const { method } = this.#head
    try {
      const json = new JsonBody(this.#head.headers, rulesOf(this.#engine, method, this.#head.wire))
      await this.#receive(body, chunk => json.add(chunk))
      value = json.value()
    } catch (error) {
      if (error instanceof RestError) return this.#engine.refuse(error, this.#head)
      throw error
    }
    return this.#ask(value)
  }

  #ask(value: unknown): Awaitable<TransportResponse> {
    const { method, path } = this.#head
    return this.#engine.ask(method, originForm(path), undefined, value, this.#client)
  }

  async #receive(body: RequestBody, take: (chunk: Uint8Array) => void): Promise<void> {
    const { declaredBytes } = this.#head
    const source = Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]()
    let bytes = 0
    let isComplete = false
    try {
      for (;;) {
        const next = await source.next()
        if (this.#settled) return
        if (next.done === true) break
        const chunk = typeof next.value === 'string' ? Buffer.from(next.value) : next.value
        if (!builtin.util.types.isUint8Array(chunk))
          throw undiciError('UND_ERR_INVALID_ARG', 'chunks of a body must be strings or Uint8Arrays')
        bytes += chunk.byteLength
        this.#handler.onBodySent?.(chunk)
        take(chunk)
      }
      isComplete = true
    } finally {
      if (!isComplete) giveUp(source)
    }
    if (declaredBytes !== undefined && declaredBytes !== bytes) {
      throw undiciError('UND_ERR_REQ_CONTENT_LENGTH_MISMATCH', 'Request body length does not match content-length header')
    }
    this.#handler.onRequestSent?.()
  }

  #write(answer: TransportResponse): void {
    const { status, headers, text, stream } = written(this.#engine, answer, this.#head)
    const chunk = text === undefined ? undefined : Buffer.from(text)
    const all: Record<string, string | string[]> = { ...separateCookies(headers) }
    if (chunk !== undefined) all['content-length'] = String(chunk.byteLength)
    else if (stream === undefined && this.#head.method !== 'HEAD' && status !== 204 && status !== 304) all['content-length'] = '0'
    const handler = this.#handler
    const controller = this.#controller
    controller.rawHeaders = toRawHeaders(all)
    controller.rawTrailers = []
    try {
      handler.onResponseStarted?.()
      handler.onResponseStart?.(controller, status, all, builtin.http.STATUS_CODES[status] ?? '')
      // Callbacks may abort. A pause is ignored: the body comes in one piece.
      if (!this.#settled && chunk !== undefined) handler.onResponseData?.(controller, chunk)
      if (this.#settled) return
      if (stream !== undefined) {
        this.#sendPieces(stream).catch((error: unknown) => this.#fail(error))
        return
      }
      this.#settle()
      handler.onResponseEnd?.(controller, {})
    } catch (error) {
      this.#settled = false
      this.#fail(error)
    }
  }

  async #sendPieces(stream: TextStream): Promise<void> {
    clearTimeout(this.#timer)
    for await (const piece of stream.bytes()) {
      if (this.#settled) return
      this.#handler.onResponseData?.(this.#controller, piece as Buffer)
      if (this.#controller.paused) await this.#resumed()
    }
    if (this.#settled) return
    this.#settle()
    this.#handler.onResponseEnd?.(this.#controller, {})
  }

  #resumed(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve
    })
  }

  #settle(): void {
    this.#wake()
    this.#settled = true
    clearTimeout(this.#timer)
  }

  #fail(error: unknown): void {
    if (this.#settled || this.#failed) return
    this.#failed = true
    this.#settle()
    this.#client.leave(error)
    this.#handler.onResponseError?.(this.#controller, error)
    destroy(this.#head.body, error)
  }
}

function readHead(origin: string, options: DispatchOptions): Omit<Head, 'wire'> {
  const { method, query, upgrade } = options
  let { path } = options
  if (typeof path !== 'string' || !/^(?:\/|https?:\/\/)/.test(path) || /[^\u0021-\u00ff]/.test(path)) {
    throw invalid('path must be an absolute URL or start with a slash, and its characters printable ones of Latin-1')
  }
  if (typeof method !== 'string') throw invalid('method must be a string')
  if (method === 'CONNECT' || (upgrade !== undefined && upgrade !== null && upgrade !== false)) {
    const what = method === 'CONNECT' ? 'CONNECT' : `an upgrade to ${String(upgrade)}`
    throw undiciError('UND_ERR_NOT_SUPPORTED', `${origin} is intercepted by an engine, which does not answer ${what}.`)
  }
  if (query !== undefined && query !== null) {
    if (/[?#]/.test(path)) throw invalid('Query params cannot be passed when url already contains "?" or "#".')
    const text = stringify(query as ParsedUrlQueryInput)
    if (text !== '') path += `?${text}`
  }
  const headers = readHeaders(options.headers)
  headers['host'] ??= origin.slice(origin.indexOf('//') + 2)
  const declared = headers['content-length']
  const body = readBody(options.body, headers)
  return {
    method,
    path,
    headers,
    body,
    isSecure: origin.startsWith('https:'),
    declaredBytes: declared === undefined ? undefined : Number(declared),
  }
}

/** Of repeated headers, Node keeps the first of these, and joins others. */
const SINGLE = new Set(['authorization', 'content-type', 'from', 'host', 'max-forwards', 'proxy-authorization', 'referer', 'user-agent'])
const UNSENDABLE = new Set(['transfer-encoding', 'keep-alive', 'upgrade'])

/** As an object, pairs, or names and values by turns. */
function readHeaders(given: unknown): Record<string, string> {
  const headers: Record<string, string> = {}
  if (given === undefined || given === null) return headers
  if (typeof given !== 'object') throw invalid('headers must be an object or an array')
  if (Array.isArray(given) && !given.every(Array.isArray)) {
    if (given.length % 2 !== 0) throw invalid('headers array must be even')
    for (let at = 0; at < given.length; at += 2) addHeader(headers, String(given[at]), given[at + 1])
  } else if (Symbol.iterator in given) {
    for (const pair of given as Iterable<unknown>) {
      if (!Array.isArray(pair) || pair.length !== 2) throw invalid('headers must be in key-value pair format')
      addHeader(headers, String(pair[0]), pair[1])
    }
  } else {
    for (const name of Object.keys(given)) addHeader(headers, name, (given as Readonly<Record<string, unknown>>)[name])
  }
  return headers
}

function addHeader(headers: Record<string, string>, name: string, value: unknown): void {
  if (value === undefined) return
  const key = name.toLowerCase()
  const text = formatHeader(key, value)
  if (UNSENDABLE.has(key)) throw invalid(`invalid ${key} header`)
  if (key === 'expect') throw undiciError('UND_ERR_NOT_SUPPORTED', 'expect header not supported')
  const isRepeated = Object.hasOwn(headers, key)
  if (key === 'content-length' && (isRepeated || !/^\d+$/.test(text))) throw invalid('invalid content-length header')
  if (!isRepeated) headers[key] = text
  else if (!SINGLE.has(key)) headers[key] += (key === 'cookie' ? '; ' : ', ') + text
}

function formatHeader(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map(each => formatHeader(name, each)).join(name === 'cookie' ? '; ' : ', ')
  if (typeof value === 'object' ? value !== null : typeof value === 'function') throw invalid(`invalid ${name} header`)
  const text = `${(value ?? '') as string | number | boolean | bigint}`
  if (PLAIN_NAME.test(name) && PLAIN_VALUE.test(text)) return text
  try {
    builtin.http.validateHeaderName(name)
    builtin.http.validateHeaderValue(name, text)
  } catch (cause) {
    throw undiciError('UND_ERR_INVALID_ARG', `invalid ${name} header`, cause)
  }
  return text
}

const PLAIN_NAME = /^[a-z0-9-]+$/
const PLAIN_VALUE = /^[ -~]*$/

/** Adds the body's type and length to the headers. */
function readBody(given: unknown, headers: Record<string, string>): RequestBody | undefined {
  if (given === undefined || given === null) return undefined
  const bytes = toBytes(given)
  if (bytes !== undefined) {
    if (bytes.byteLength === 0) return undefined
    headers['content-length'] ??= String(bytes.byteLength)
    return [bytes]
  }
  const kind = typeof given === 'object' ? (given as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] : undefined
  if (kind === 'FormData') {
    // Node's Response refuses undici's own FormData.
    const form = new FormData()
    for (const [name, value] of given as FormData) form.append(name, value)
    const encoded = new Response(form)
    headers['content-type'] ??= encoded.headers.get('content-type')!
    return encoded.body!
  }
  if (kind === 'Blob' || kind === 'File') {
    const blob = given as Blob
    if (blob.type !== '') headers['content-type'] ??= blob.type
    headers['content-length'] ??= String(blob.size)
    return blob.stream()
  }
  if (typeof given === 'object' && (Symbol.asyncIterator in given || Symbol.iterator in given)) return given as RequestBody
  throw invalid('body must be a string, a Buffer, a Readable stream, an iterable, or an async iterable')
}

function toBytes(given: unknown): Uint8Array | undefined {
  if (typeof given === 'string') return Buffer.from(given)
  if (ArrayBuffer.isView(given)) return new Uint8Array(given.buffer, given.byteOffset, given.byteLength)
  return builtin.util.types.isAnyArrayBuffer(given) ? new Uint8Array(given) : undefined
}

/** Ends an unwanted body without waiting: a stream in `fetch` may never end. The request is answered: errors do not matter. */
function giveUp(source: AsyncIterator<unknown> | Iterator<unknown>): void {
  const end = async (): Promise<unknown> => source.return?.()
  end().catch(() => {})
}

/** Destroys a stream; a source of another kind ends with the loop. */
function destroy(body: unknown, reason: unknown): void {
  const stream = body as { destroyed?: boolean; on?: unknown; destroy?: unknown } | null | undefined
  if (typeof stream !== 'object' || stream === null || typeof stream.on !== 'function' || typeof stream.destroy !== 'function') return
  if (stream.destroyed === true) return
  const source = stream as NodeJS.ReadStream
  source.on('error', () => {})
  source.destroy(reason instanceof Error ? reason : undefined)
}

function invalid(message: string): Error {
  return undiciError('UND_ERR_INVALID_ARG', message)
}
