/** Sends requests inside of a request, for `ctx.ask` and wires, as the same caller or as the engine. */
import { LazyClient, type Connected, type RequestAbort } from '../../foundation/async/abort.ts'
import { AskedError, type RestError } from '../../foundation/errors/errors.ts'
import { isObject } from '../../foundation/json/json.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import { formatRoot } from './address.ts'
import type { AskOptions, EngineHandle } from '../../model/hook-context.ts'
import { findConnection, readHeaders, type Request } from './parse-request.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'

export interface OuterRequest<Caller extends object> {
  readonly engine: EngineHandle
  readonly request: Request
  readonly version: string
  readonly principal: Caller | undefined
  /** Undefined without a client. */
  readonly end?: RequestAbort | undefined
  /** The custom routes around the code, outermost first. */
  readonly passed?: readonly object[] | undefined
}

/** A wire's conditions on records, as the caller sees them: MikroORM's query objects. */
export interface WireConditions {
  readonly root: object | undefined
  /** Conditions on expanded relations, by path. */
  readonly lists: ReadonlyMap<string, object>
}

/** Headers about one message: form, content, conditions. */
const OF_ONE_MESSAGE = /^(?:accept(?:-.*)?|content-.*|if-.*|range|expect|transfer-encoding|te|trailer|connection|prefer)$/

function keepCallerHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_ONE_MESSAGE.test(name)))
}

interface SentAround extends Pick<Request, 'base' | 'readOnly'> {
  readonly headers: Readonly<Record<string, string>>
  readonly connected: Connected
}

function readAround({ base, readOnly, sender }: Request): SentAround {
  return { base, readOnly, headers: readHeaders(sender), connected: findConnection(sender) }
}

export class InnerClient<Caller extends object = object> extends LazyClient {
  readonly principal: Caller | undefined
  /** Whether headers, not `principal`, say who asks. */
  readonly logsIn: boolean = false
  readonly conditions: WireConditions | undefined
  /** Without access rules and scopes. */
  readonly isEngine: boolean
  readonly passed: readonly object[]
  readonly end: RequestAbort | undefined

  /** @param isSame the outer request at another path: all headers apply */
  constructor(
    { request, principal, end, passed = [] }: Pick<OuterRequest<Caller>, 'principal' | 'end' | 'passed'> & { readonly request: SentAround },
    isEngine: boolean,
    isSame = false,
  ) {
    super(isSame ? request : { headers: keepCallerHeaders(request.headers) }, {
      base: request.base,
      readOnly: request.readOnly,
      isSecure: request.connected.isSecure === true,
      trusts: request.connected.trusts,
      isPlain: true,
    })
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

/** A request of a wire. Makes headers late: most requests need none. */
export class WireCall extends InnerClient {
  override readonly logsIn = true
  override readonly conditions: WireConditions | undefined
  readonly #sent: Readonly<Record<string, string>>

  constructor(request: SentAround, end: RequestAbort, conditions: WireConditions | undefined) {
    super({ request, principal: undefined, end }, false, true)
    this.#sent = request.headers
    this.conditions = conditions
  }

  override get headers(): Readonly<Record<string, string>> {
    return keepCallerHeaders(this.#sent)
  }

  override header(name: string): string | undefined {
    return OF_ONE_MESSAGE.test(name) ? undefined : this.#sent[name]
  }
}

interface Question {
  readonly method: string
  readonly path: string
  readonly query: QueryInput | undefined
  readonly body: unknown
  readonly options: AskOptions
}

/** @throws RestError with the status and code of a refusal; TypeError for invalid arguments */
export async function askWithin<Caller extends object>(
  outer: OuterRequest<Caller>,
  { method, path, query, body, options }: Question,
): Promise<unknown> {
  const root = formatRoot(outer.request.base, outer.version)
  checkPath(path, root)
  checkNames(options, ['as'], 'ctx.ask')
  if (options.as !== undefined && options.as !== 'engine')
    throw new TypeError(`ctx.ask: "as" must be "engine", got ${JSON.stringify(options.as)}.`)
  const response = await outer.engine.handle(
    method,
    root + path,
    query,
    body,
    new InnerClient({ ...outer, request: readAround(outer.request) }, options.as === 'engine'),
  )
  if (response.status < 400) return readCarried(response.body)
  throw readRefusal(response)
}

interface InnerQuestion {
  readonly method: string
  /** Below the version. */
  readonly path: string
  readonly query?: QueryInput
  readonly body?: unknown
  /** Whether all headers of the outer request apply. */
  readonly isSame?: boolean
}

export function answerWithin<Caller extends object>(
  outer: OuterRequest<Caller>,
  { method, path, query, body, isSame }: InnerQuestion,
): Promise<RestResponse> {
  const root = formatRoot(outer.request.base, outer.version)
  return outer.engine.handle(
    method,
    root + path,
    query,
    body,
    new InnerClient({ ...outer, request: readAround(outer.request) }, false, isSame),
  )
}

function checkPath(path: unknown, root: string): asserts path is string {
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw new TypeError(`ctx.ask: the path must begin with "/", got ${JSON.stringify(path)}.`)
  if (root !== '' && path.startsWith(`${root}/`))
    throw new TypeError(`ctx.ask: paths stand below "${root}", that of the request: write "${path.slice(root.length)}".`)
}

/** Takes records, record or value out of the envelope. Other bodies stay. */
export function readCarried(body: unknown): unknown {
  if (!isObject(body) || body['success'] !== true || typeof body['resource'] !== 'string') return body
  const { resource } = body
  if (Object.hasOwn(body, resource)) return body[resource]
  return typeof body['attribute'] === 'string' && Object.hasOwn(body, 'value') ? body['value'] : body
}

export function readRefusal(response: RestResponse): RestError {
  const { status, headers, body } = response
  const { 'content-type': _type, ...more } = headers
  const { success, code, detail, errors }: Readonly<Record<string, unknown>> = isObject(body) ? body : {}
  if (success === false && typeof code === 'string' && typeof detail === 'string')
    return new AskedError(status, code, detail, { headers: more, ...(Array.isArray(errors) ? { errors } : {}) })
  return new AskedError(status, typeof code === 'string' ? code : 'refused', `The answer is ${status}.`, {}, response)
}
