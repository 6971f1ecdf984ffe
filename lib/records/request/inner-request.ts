/**
 * Inner request: what code of the application asks of the engine inside of a request (`ctx.ask`): below the same base and version, as the
 * same caller, or as the engine itself. Gives what the answer carries; throws a RestError that is answered as it is.
 */
import { LazyClient, type RequestAbort } from '../../foundation/base/abort.ts'
import { AskedError, type RestError } from '../../foundation/base/errors.ts'
import { isObject } from '../../foundation/base/json.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import { formatRoot } from './address.ts'
import type { AskOptions, EngineHandle } from '../../model/hook-context.ts'
import type { Request } from './parse-request.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'

/** The request in which the application's code runs. */
export interface OuterRequest<Caller extends object> {
  readonly engine: EngineHandle
  readonly request: Request
  readonly version: string
  readonly principal: Caller | undefined
  /** When the request ends; undefined where it is none of a client. */
  readonly end?: RequestAbort | undefined
  /** The custom routes that are being answered, the outermost first. */
  readonly passed?: readonly object[] | undefined
}

/** Headers that are about another message: its form, its content, its conditions. */
const OF_ONE_MESSAGE = /^(?:accept(?:-.*)?|content-.*|if-.*|range|expect|transfer-encoding|te|trailer|connection|prefer)$/

/** The sender of an inner request. */
export class InnerClient<Caller extends object = object> extends LazyClient {
  /** Who has sent the request around it. */
  readonly principal: Caller | undefined
  /** Whether neither access rules nor scopes hold. */
  readonly isEngine: boolean
  readonly passed: readonly object[]
  readonly end: RequestAbort | undefined

  /** @param isSame whether it is the request around it, at another path: all its headers are about it, too */
  constructor({ request, principal, end, passed = [] }: OuterRequest<Caller>, isEngine: boolean, isSame = false) {
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => isSame || !OF_ONE_MESSAGE.test(name)))
    super(
      { headers },
      {
        base: request.base,
        readOnly: request.readOnly,
        isSecure: request.connected.isSecure === true,
        trusts: request.connected.trusts,
        isPlain: true,
      },
    )
    this.principal = principal
    this.isEngine = isEngine
    this.passed = passed
    this.end = end
  }

  override get signal(): AbortSignal {
    return this.end?.signal ?? super.signal
  }

  override get isGone(): boolean {
    return this.signal.aborted
  }

  override get reason(): unknown {
    return this.signal.reason
  }
}

/** What is asked for. */
interface Question {
  readonly method: string
  readonly path: string
  readonly query: QueryInput | undefined
  readonly body: unknown
  readonly options: AskOptions
}

/**
 * Asks the engine.
 *
 * @throws RestError that says what the answer says; TypeError for arguments that are not of their form
 */
export async function askWithin<Caller extends object>(
  outer: OuterRequest<Caller>,
  { method, path, query, body, options }: Question,
): Promise<unknown> {
  const root = formatRoot(outer.request.base, outer.version)
  checkPath(path, root)
  checkNames(options, ['as'], 'ctx.ask')
  if (options.as !== undefined && options.as !== 'engine')
    throw new TypeError(`ctx.ask: "as" must be "engine", got ${JSON.stringify(options.as)}.`)
  const response = await outer.engine.handle(method, root + path, query, body, new InnerClient(outer, options.as === 'engine'))
  if (response.status < 400) return readCarried(response.body)
  throw readRefusal(response)
}

/** A request that the engine itself makes of the one around it. */
interface InnerQuestion {
  readonly method: string
  /** Below the version. */
  readonly path: string
  readonly query?: QueryInput
  readonly body?: unknown
  /** See `InnerClient`. */
  readonly isSame?: boolean
}

/** Answers a request as the caller of the one around it. */
export function answerWithin<Caller extends object>(
  outer: OuterRequest<Caller>,
  { method, path, query, body, isSame }: InnerQuestion,
): Promise<RestResponse> {
  const root = formatRoot(outer.request.base, outer.version)
  return outer.engine.handle(method, root + path, query, body, new InnerClient(outer, false, isSame))
}

function checkPath(path: unknown, root: string): asserts path is string {
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw new TypeError(`ctx.ask: the path must begin with "/", got ${JSON.stringify(path)}.`)
  if (root !== '' && path.startsWith(`${root}/`))
    throw new TypeError(`ctx.ask: paths stand below "${root}", that of the request: write "${path.slice(root.length)}".`)
}

/** Returns the records, the record or the value of an answer; the whole body of one that is not of the engine's form. */
export function readCarried(body: unknown): unknown {
  if (!isObject(body) || body['success'] !== true || typeof body['resource'] !== 'string') return body
  const { resource } = body
  if (Object.hasOwn(body, resource)) return body[resource]
  return typeof body['attribute'] === 'string' && Object.hasOwn(body, 'value') ? body['value'] : body
}

/** Returns the error that says what an answer says. */
export function readRefusal(response: RestResponse): RestError {
  const { status, headers, body } = response
  const { 'content-type': _type, ...more } = headers
  const said: Readonly<Record<string, unknown>> = isObject(body) ? body : {}
  const { code, detail, errors } = said
  if (said['success'] === false && typeof code === 'string' && typeof detail === 'string')
    return new AskedError(status, code, detail, { headers: more, ...(Array.isArray(errors) ? { errors } : {}) })
  return new AskedError(status, typeof code === 'string' ? code : 'refused', `The answer is ${status}.`, {}, response)
}
