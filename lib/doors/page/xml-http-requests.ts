/** Replaces the page's XMLHttpRequest, and sends each request to an engine, or on to the network. */
import { XmlHttpExchange, type XmlHttpTarget } from './xml-http-exchange.ts'

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
