/** Replaces the page's XMLHttpRequest, and sends each request to an engine, or on to the network. */

interface XmlHttpRequest extends XmlHttpTarget {
  open(method: string, url: string | URL, isAsync?: boolean, user?: string | null, password?: string | null): void
}

export type XmlHttpClass = new () => XmlHttpRequest

/** Finds the engine for an address. Throws where a strict interception forbids the network. */
type FindAnswerer = (address: string) => ((request: Request) => Promise<Response>) | undefined

/** Calls for the browser's own object, too: opened and never sent, the object checks names and values. */
const CHECKED: Readonly<Record<string, (exchange: XmlHttpExchange, name: string, value: string) => void>> = {
  setRequestHeader: (exchange, name, value) => exchange.addHeader(name, value),
  overrideMimeType: (exchange, type) => exchange.overrideMediaType(type),
}

const METHODS: Readonly<Record<string, (exchange: XmlHttpExchange, ...args: unknown[]) => unknown>> = {
  send: (exchange, body) => exchange.send(body),
  abort: exchange => exchange.abort(),
  getResponseHeader: ({ response }, name) => response?.headers.get(String(name)) ?? null,
  getAllResponseHeaders: ({ response }) => [...(response?.headers ?? [])].map(([name, value]) => `${name}: ${value}\r\n`).join(''),
}

const VALUES: Readonly<Record<string, (exchange: XmlHttpExchange) => unknown>> = {
  readyState: ({ state }) => state,
  status: ({ response }) => response?.status ?? 0,
  statusText: ({ response }) => response?.statusText ?? '',
  response: ({ value }) => value,
  responseText: ({ text }) => text,
  responseURL: ({ responseUrl }) => responseUrl,
  responseXML: ({ document }) => document,
}

/** The base of relative addresses. */
const BASE = globalThis as { readonly document?: { readonly baseURI: string }; readonly location?: { readonly href: string } }

/** @param Native the page's class */
export function answerXmlHttp(Native: XmlHttpClass, find: FindAnswerer): XmlHttpClass {
  const exchanges = new WeakMap<XmlHttpRequest, XmlHttpExchange>()
  const Answered = class XMLHttpRequest extends Native {
    override open(method: string, url: string | URL, isAsync = true, ...credentials: (string | null)[]): void {
      const address = URL.parse(String(url), BASE.document?.baseURI ?? BASE.location?.href)?.href
      // The browser refuses other values than addresses.
      const answer = address === undefined ? undefined : find(address)
      if (answer !== undefined && !isAsync)
        throw new TypeError(
          `XMLHttpRequest: ${address} is intercepted, and an engine answers asynchronously: open the request without "false".`,
        )
      super.open(method, url, isAsync, ...credentials)
      exchanges.get(this)?.leave()
      if (answer === undefined) exchanges.delete(this)
      else exchanges.set(this, new XmlHttpExchange(this, method, address!, answer))
    }
  }
  const ownMember = (name: string, request: XmlHttpRequest): unknown => Reflect.get(Native.prototype as object, name, request)
  const define = (name: string, member: PropertyDescriptor): unknown =>
    Object.defineProperty(Answered.prototype, name, { configurable: true, enumerable: true, ...member })
  for (const [name, read] of Object.entries(VALUES))
    define(name, {
      get(this: XmlHttpRequest) {
        const exchange = exchanges.get(this)
        return exchange === undefined ? ownMember(name, this) : read(exchange)
      },
    })
  for (const [name, run] of Object.entries({ ...METHODS, ...CHECKED }))
    define(name, {
      value(this: XmlHttpRequest, ...args: [string, string]): unknown {
        const exchange = exchanges.get(this)
        const isOwn = exchange === undefined || name in CHECKED
        const answer = isOwn ? (ownMember(name, this) as (...given: string[]) => unknown).apply(this, args) : undefined
        return exchange === undefined ? answer : run(exchange, ...args)
      },
    })
  return Answered
}

interface XmlHttpTarget extends EventTarget {
  readonly upload: EventTarget
  readonly responseType: string
  readonly timeout: number
}

/** A worker has no documents. */
interface PageGlobals {
  readonly DOMParser?: new () => { parseFromString(text: string, type: string): { querySelector(name: string): unknown } }
  readonly ProgressEvent: new (name: string, init: { lengthComputable: boolean; loaded: number; total: number }) => Event
  readonly Document?: new () => object
}

const page = globalThis as unknown as PageGlobals

const [UNSENT, OPENED, HEADERS, LOADING, DONE] = [0, 1, 2, 3, 4]

/** An XMLHttpRequest with an answer of an engine, from `open` to the end: states, events, the wanted form (xhr.spec.whatwg.org). */
class XmlHttpExchange {
  state = OPENED
  response: Response | undefined
  #mediaType: string | undefined
  readonly #target: XmlHttpTarget
  readonly #method: string
  readonly #answer: (request: Request) => Promise<Response>
  readonly #url: string
  readonly #headers = new Headers()
  readonly #ending = new AbortController()
  #isSent = false
  #uploads = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #pieces: Uint8Array[] = []
  /** The answer in the wanted form: the same object at each reading. */
  #read: { readonly value: unknown } | undefined

  constructor(target: XmlHttpTarget, method: string, url: string, answer: (request: Request) => Promise<Response>) {
    this.#target = target
    this.#method = method
    this.#url = url.split('#', 1)[0]!
    this.#answer = answer
  }

  get responseUrl(): string {
    return this.response === undefined ? '' : this.#url
  }

  addHeader(name: string, value: string): void {
    this.#expectUnsent()
    this.#headers.append(name, value)
  }

  send(body: unknown): void {
    this.#expectUnsent()
    // Firefox has no `Request.body`.
    const content = /^(?:get|head)$/i.test(this.#method) ? null : (body ?? null)
    const request = this.#makeRequest(content)
    this.#isSent = true
    const length = content === null ? undefined : measure(content)
    this.#uploads = content !== null
    const { timeout } = this.#target
    if (timeout > 0) this.#timer = setTimeout(() => this.#fail('timeout'), timeout)
    this.#tell('loadstart')
    // A listener of `loadstart` may have ended the request.
    if (length !== undefined && !this.#ending.signal.aborted) this.#tell('loadstart', 0, length, this.#target.upload)
    if (!this.#ending.signal.aborted) void this.#run(request, length === undefined)
  }

  #expectUnsent(): void {
    if (this.#isSent) throw new DOMException('The request has been sent already: open it again.', 'InvalidStateError')
  }

  overrideMediaType(type: string): void {
    if (this.state >= LOADING) throw new DOMException('The answer is being read.', 'InvalidStateError')
    this.#mediaType = type
  }

  abort(): void {
    if (this.#isSent && this.state !== UNSENT && this.state !== DONE) this.#fail('abort')
    if (this.state !== DONE) return
    this.leave()
    this.#forget()
    this.state = UNSENT
  }

  /** Ends without an event, as at a further `open`. */
  leave(): void {
    clearTimeout(this.#timer)
    this.#ending.abort()
  }

  get text(): string {
    const { responseType } = this.#target
    if (responseType !== '' && responseType !== 'text') throw wrongForm('responseText', responseType)
    return this.state < LOADING ? '' : this.#decode()
  }

  get document(): unknown {
    const { responseType } = this.#target
    if (responseType !== '' && responseType !== 'document') throw wrongForm('responseXML', responseType)
    return this.state === DONE ? this.#once(() => this.#parseDocument()) : null
  }

  get value(): unknown {
    const { responseType } = this.#target
    if (responseType === '' || responseType === 'text') return this.text
    if (this.state !== DONE || this.response === undefined) return null
    return this.#once(() => {
      if (responseType === 'arraybuffer') return this.#bytes().buffer
      if (responseType === 'blob') return new Blob([this.#bytes()], { type: this.#type() })
      return responseType === 'json' ? this.#parseJson() : this.#parseDocument()
    })
  }

  #makeRequest(body: unknown): Request {
    if (page.Document !== undefined && body instanceof page.Document)
      throw new TypeError('XMLHttpRequest: an engine takes no document as a body: send a text of it.')
    return new Request(this.#url, {
      method: this.#method,
      headers: this.#headers,
      body: body as RequestInit['body'] & {},
      signal: this.#ending.signal,
    })
  }

  async #run(request: Request, startsUpload: boolean): Promise<void> {
    try {
      if (this.#uploads) this.#tellUpload((await request.clone().arrayBuffer()).byteLength, startsUpload)
      if (this.#ending.signal.aborted) return
      const response = await this.#answer(request)
      if (!this.#ending.signal.aborted) await this.#receive(response)
    } catch {
      this.#fail('error')
    }
  }

  #tellUpload(total: number, starts: boolean): void {
    for (const name of [...(starts ? ['loadstart'] : []), 'progress', 'load', 'loadend']) {
      if (this.#ending.signal.aborted) return
      if (name === 'load') this.#uploads = false
      this.#tell(name, name === 'loadstart' ? 0 : total, total, this.#target.upload)
    }
  }

  async #receive(response: Response): Promise<void> {
    this.response = response
    this.#enter(HEADERS)
    const total = Number(response.headers.get('content-length') ?? 0)
    const reader = response.body?.getReader()
    let loaded = 0
    for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read()) {
      if (this.#ending.signal.aborted) return void reader?.cancel().catch(() => {})
      this.#pieces.push(piece.value)
      loaded += piece.value.length
      this.#enter(LOADING)
      this.#tell('progress', loaded, total)
    }
    if (this.#ending.signal.aborted) return
    clearTimeout(this.#timer)
    this.#enter(DONE)
    for (const name of ['load', 'loadend']) if (!this.#ending.signal.aborted) this.#tell(name, loaded, total)
  }

  #fail(failure: 'abort' | 'error' | 'timeout'): void {
    if (this.#ending.signal.aborted) return
    this.leave()
    this.#forget()
    this.#enter(DONE)
    const targets = this.#uploads ? [this.#target.upload, this.#target] : [this.#target]
    for (const target of targets) for (const name of [failure, 'loadend']) this.#tell(name, 0, 0, target)
  }

  #forget(): void {
    this.response = undefined
    this.#pieces = []
    this.#read = undefined
  }

  #enter(state: number): void {
    this.state = state
    this.#target.dispatchEvent(new Event('readystatechange'))
  }

  #tell(name: string, loaded = 0, total = 0, target: EventTarget = this.#target): void {
    target.dispatchEvent(new page.ProgressEvent(name, { lengthComputable: total > 0, loaded, total }))
  }

  #once(read: () => unknown): unknown {
    this.#read ??= { value: read() }
    return this.#read.value
  }

  #type(): string {
    return this.#mediaType ?? this.response?.headers.get('content-type') ?? 'text/xml'
  }

  #bytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#pieces.reduce((sum, { length }) => sum + length, 0))
    let place = 0
    for (const piece of this.#pieces) {
      bytes.set(piece, place)
      place += piece.length
    }
    return bytes
  }

  #decode(label = /;\s*charset="?([^;"\s]+)/i.exec(this.#type())?.[1] ?? 'utf-8'): string {
    const bytes = this.#bytes()
    const stream = this.state === LOADING
    try {
      return new TextDecoder(label).decode(bytes, { stream })
    } catch (error) {
      if (error instanceof RangeError) return new TextDecoder().decode(bytes, { stream })
      throw error
    }
  }

  #parseJson(): unknown {
    try {
      return JSON.parse(this.#decode('utf-8'))
    } catch {
      return null
    }
  }

  #parseDocument(): unknown {
    const type = this.#type().split(';', 1)[0]!.trim().toLowerCase()
    const isHtml = type === 'text/html'
    const isWanted = isHtml ? this.#target.responseType === 'document' : /[/+]xml$/.test(type)
    if (!isWanted || this.response === undefined || page.DOMParser === undefined) return null
    const parsed = new page.DOMParser().parseFromString(this.#decode(), isHtml ? type : 'application/xml')
    return !isHtml && parsed.querySelector('parsererror') !== null ? null : parsed
  }
}

/** The length of a body in bytes. Undefined for a form: `Request` tells. */
function measure(body: unknown): number | undefined {
  if (typeof body === 'string' || body instanceof URLSearchParams) return new TextEncoder().encode(String(body)).length
  return body instanceof Blob ? body.size : (body as Partial<ArrayBuffer>).byteLength
}

function wrongForm(member: string, responseType: string): DOMException {
  return new DOMException(`${member} is not there with the responseType "${responseType}".`, 'InvalidStateError')
}
