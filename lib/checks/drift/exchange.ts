/** Sends one request to the real backend, and limits time, bytes and redirects of the untrusted answer. */
import { parseExact } from '../../foundation/json/json-numbers.ts'
import type { RealAnswer } from './compare.ts'

/** Gives the real backend's answer to a request. */
export type Send = (request: Request) => Response | Promise<Response>

interface ExchangeBounds {
  /** Milliseconds for an answer, with redirects and body. */
  readonly timeout: number
  /** Milliseconds for all. */
  readonly totalTimeout: number
  readonly maxAnswerBytes: number
}

interface RequestToBackend {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  /** A JSON value. Undefined: no body. */
  readonly body: unknown
}

const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])

class RefusedExchange extends Error {}

export class Exchange {
  readonly #send: Send
  readonly #origin: string
  readonly #bounds: ExchangeBounds
  readonly #end: number

  /** @param origin without credentials */
  constructor(send: Send, origin: string, bounds: ExchangeBounds) {
    this.#send = send
    this.#origin = origin
    this.#bounds = bounds
    this.#end = performance.now() + bounds.totalTimeout
  }

  get isOver(): boolean {
    return performance.now() >= this.#end
  }

  async ask(request: RequestToBackend): Promise<RealAnswer | string> {
    const ended = new AbortController()
    const left = Math.max(0, Math.min(this.#bounds.timeout, this.#end - performance.now()))
    const timer = setTimeout(() => {
      ended.abort(new RefusedExchange(`it took longer than ${Math.round(left)} ms`))
    }, Math.ceil(left))
    try {
      return await this.#exchange(request, ended.signal)
    } catch (error) {
      if (error instanceof SyntaxError) return 'The answer is not JSON.'
      const { message, cause } = error as Error
      return `There is no answer: ${cause instanceof Error ? cause.message : message}.`
    } finally {
      clearTimeout(timer)
      ended.abort()
    }
  }

  async #exchange({ method, target, headers, body }: RequestToBackend, signal: AbortSignal): Promise<RealAnswer> {
    let url = new URL(this.#origin + target)
    for (let redirects = 0; ; redirects++) {
      const init = { method, headers, signal, redirect: 'manual' as const, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      const response = await within(signal, Promise.resolve(this.#send(new Request(url.href, init))))
      const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null
      if (location === null) {
        const text = await this.#read(response, signal)
        const { status } = response
        return { status, headers: Object.fromEntries(response.headers), body: text === '' ? undefined : parseExact(text) }
      }
      await response.body?.cancel()
      url = this.#follow(url, location, method)
      if (redirects === MAX_REDIRECTS) throw new RefusedExchange(`it redirects more than ${MAX_REDIRECTS} times`)
    }
  }

  /** Headers may hold secrets: only the given host gets the request. */
  #follow(from: URL, location: string, method: string): URL {
    const to = URL.canParse(location, from.href) ? new URL(location, from) : null
    if (to === null) throw new RefusedExchange('it redirects to what is no address')
    if (method !== 'GET') throw new RefusedExchange(`it redirects ${method}, which is not sent on`)
    const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === ''
    if (to.hostname !== from.hostname || (to.host !== from.host && !isUpgrade) || (to.protocol !== from.protocol && !isUpgrade))
      throw new RefusedExchange(`it redirects to ${to.protocol}//${to.host}, which was not named: compare with that address`)
    if (to.username !== '' || to.password !== '') throw new RefusedExchange('it redirects to an address with a password')
    return to
  }

  async #read(response: Response, signal: AbortSignal): Promise<string> {
    if (response.body === null) return ''
    const { maxAnswerBytes } = this.#bounds
    const decoder = new TextDecoder()
    const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader()
    let text = ''
    let size = 0
    try {
      for (;;) {
        const { done, value } = await within(signal, reader.read())
        if (done) return text + decoder.decode()
        size += value.byteLength
        if (size > maxAnswerBytes) throw new RefusedExchange(`it has more than ${maxAnswerBytes} bytes`)
        text += decoder.decode(value, { stream: true })
      }
    } finally {
      void reader.cancel().catch(() => {
        // The read has already thrown.
      })
    }
  }
}

/** A function in the place of `fetch` may ignore signals. */
function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(signal.reason as Error)
    }
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', stop)
    })
  })
}
