/**
 * The types of undici's dispatchers, since undici is no dependency. Undici 8 has `onRequestStart` and a controller, undici 6 and 7 (the
 * `fetch` of Node 22 and 24) have `onConnect` and raw headers. Two adapters translate.
 */

export interface DispatchOptions {
  readonly origin?: string | URL | null
  readonly path: string
  readonly method: string
  readonly headers?: unknown
  readonly body?: unknown
  readonly query?: Readonly<Record<string, unknown>> | null
  readonly upgrade?: unknown
  /** Milliseconds to wait for the head of the answer; 0: no limit. */
  readonly headersTimeout?: number | null
}

type ResponseHeaders = Record<string, string | string[]>

interface DispatchController {
  readonly paused: boolean
  readonly aborted: boolean
  readonly reason: unknown
  rawHeaders: Buffer[] | null
  rawTrailers: Buffer[] | null
  pause(): void
  resume(): void
  abort(reason?: unknown): void
}

interface BodyHooks {
  onBodySent?(chunk: Uint8Array): void
  onRequestSent?(): void
  onResponseStarted?(): void
}

export interface Handler extends BodyHooks {
  onRequestStart(controller: DispatchController, context: unknown): void
  onRequestUpgrade?(controller: DispatchController, status: number, headers: ResponseHeaders, socket: unknown): void
  onResponseStart?(controller: DispatchController, status: number, headers: ResponseHeaders, statusText?: string): void
  onResponseData?(controller: DispatchController, chunk: Buffer): void
  onResponseEnd?(controller: DispatchController, trailers: ResponseHeaders): void
  onResponseError?(controller: DispatchController | null, error: unknown): void
}

/** Returning `false` pauses the answer. */
interface LegacyHandler extends BodyHooks {
  onConnect?(abort: (reason?: unknown) => void, context: unknown): void
  onUpgrade?(status: number, rawHeaders: Buffer[], socket: unknown): void
  onHeaders?(status: number, rawHeaders: Buffer[], resume: () => void, statusText?: string): boolean | void
  onData?(chunk: Buffer): boolean | void
  onComplete?(rawTrailers: Buffer[] | null): void
  onError?(error: unknown): void
}

export type AnyHandler = Handler | LegacyHandler

export interface Dispatcher {
  dispatch(options: DispatchOptions, handler: AnyHandler): boolean
}

/** undici prefers the current methods. */
export function isCurrent(handler: AnyHandler): handler is Handler {
  return 'onRequestStart' in handler && typeof handler.onRequestStart === 'function'
}

export class Controller implements DispatchController {
  rawHeaders: Buffer[] | null = null
  rawTrailers: Buffer[] | null = null
  paused = false
  aborted = false
  reason: unknown = null
  readonly #onAbort: (reason: unknown) => void
  readonly #onResume: (() => void) | undefined

  constructor(onAbort: (reason: unknown) => void, onResume?: () => void) {
    this.#onAbort = onAbort
    this.#onResume = onResume
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    this.#onResume?.()
  }

  abort(reason?: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#onAbort(reason)
  }
}

export function toCurrent(handler: AnyHandler): Handler {
  return isCurrent(handler) ? handler : new FromLegacy(handler)
}

/** A class: an object for each request costs less than a function for each hook. */
class FromLegacy implements Handler {
  readonly #handler: LegacyHandler

  constructor(handler: LegacyHandler) {
    this.#handler = handler
  }

  onBodySent(chunk: Uint8Array): void {
    this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#handler.onRequestSent?.()
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.()
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.#handler.onConnect?.(reason => controller.abort(reason), context)
  }

  onResponseStart(controller: DispatchController, status: number, headers: ResponseHeaders, statusText?: string): void {
    const raw = controller.rawHeaders ?? toRawHeaders(headers)
    if (this.#handler.onHeaders?.(status, raw, () => controller.resume(), statusText) === false) controller.pause()
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    if (this.#handler.onData?.(chunk) === false) controller.pause()
  }

  onResponseEnd(controller: DispatchController): void {
    this.#handler.onComplete?.(controller.rawTrailers ?? [])
  }

  onResponseError(_controller: DispatchController | null, error: unknown): void {
    if (this.#handler.onError === undefined) throw error
    this.#handler.onError(error)
  }
}

export function toLegacy(handler: Handler): LegacyHandler {
  let controller: Controller
  let resume: (() => void) | undefined
  return {
    onBodySent: chunk => handler.onBodySent?.(chunk),
    onRequestSent: () => handler.onRequestSent?.(),
    onResponseStarted: () => handler.onResponseStarted?.(),
    onConnect(abort, context) {
      controller = new Controller(abort, () => resume?.())
      handler.onRequestStart(controller, context)
    },
    onUpgrade(status, rawHeaders, socket) {
      controller.rawHeaders = rawHeaders
      return handler.onRequestUpgrade?.(controller, status, parseRawHeaders(rawHeaders), socket)
    },
    onHeaders(status, rawHeaders, resumeReading, statusText) {
      resume = resumeReading
      controller.rawHeaders = rawHeaders
      handler.onResponseStart?.(controller, status, parseRawHeaders(rawHeaders), statusText)
      return !controller.paused
    },
    onData(chunk) {
      handler.onResponseData?.(controller, chunk)
      return !controller.paused
    },
    onComplete(rawTrailers) {
      controller.rawTrailers = rawTrailers
      handler.onResponseEnd?.(controller, parseRawHeaders(rawTrailers ?? []))
    },
    onError: error => handler.onResponseError?.(controller ?? null, error),
  }
}

export function toRawHeaders(headers: ResponseHeaders): Buffer[] {
  const raw: Buffer[] = []
  for (const name of Object.keys(headers)) {
    const value = headers[name]!
    for (const each of typeof value === 'string' ? [value] : value) raw.push(Buffer.from(name, 'latin1'), Buffer.from(each, 'latin1'))
  }
  return raw
}

function parseRawHeaders(raw: readonly Buffer[]): ResponseHeaders {
  const headers: ResponseHeaders = {}
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!.toString('latin1').toLowerCase()
    const value = raw[at + 1]!.toString('latin1')
    const before = headers[name]
    headers[name] = before === undefined ? value : [before, value].flat()
  }
  return headers
}

const ERROR_NAMES = {
  UND_ERR_ABORTED: 'AbortError',
  UND_ERR_HEADERS_TIMEOUT: 'HeadersTimeoutError',
  UND_ERR_INVALID_ARG: 'InvalidArgumentError',
  UND_ERR_NOT_SUPPORTED: 'NotSupportedError',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'RequestContentLengthMismatchError',
} as const

/** Clients look at `code`, `name` and `instanceof`; undici's `instanceof` looks at symbols. */
export function undiciError(code: keyof typeof ERROR_NAMES, message: string, cause?: unknown): Error {
  const error = Object.assign(cause === undefined ? new Error(message) : new Error(message, { cause }), { name: ERROR_NAMES[code], code })
  const marks = code === 'UND_ERR_ABORTED' ? ['UND_ERR', 'UND_ERR_ABORT', code] : ['UND_ERR', code]
  for (const mark of marks) Object.defineProperty(error, Symbol.for(`undici.error.${mark}`), { value: true })
  return error
}
