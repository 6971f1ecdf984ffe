/**
 * Handle: the stages that a request flows through, as a list; it has no rules of its own. From the outside to the inside:
 *
 *     handle    trace          where the time goes, if somebody wants to know
 *               journal        what is sent is noted, and at last what is answered
 *     #pass     faults         what tests do to requests on their way
 *     #answer   parse          the request as it is written
 *               authenticate   who asks
 *     #perform  read-only      whether anything may be written
 *     #operate  custom route      or else:
 *               resolve        what the path means in the model
 *               check          method and parameters
 *               authorize      whether the caller may, and what exists for him
 *               operate        reading or writing, and the envelope of the answer
 *
 * No function on the way of a reading request is async: what can be answered at once waits for nothing.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { EntityManager } from '@mikro-orm/core'
import { aboutOf, actionsOf, rootOf } from '../access/actions.ts'
import { Authentication } from '../auth/auth.ts'
import { chain } from '../base/awaitable.ts'
import type { Awaitable } from '../base/awaitable.ts'
import { authorizeRequest, narrowed, visibilityOf } from '../access/access-rules.ts'
import { parametersOf } from '../access/check-parameters.ts'
import type { Clock } from '../base/clock.ts'
import type { EngineHandle } from '../request/hook-context.ts'
import type { Connection } from '../database/dialect.ts'
import { RequestAbort, LazyClient } from '../base/abort.ts'
import { RestError, restError } from '../base/errors.ts'
import { buildExplanation } from '../journal/explanation.ts'
import type { Explanation } from '../journal/explanation.ts'
import type { Faults } from '../testing/fault-injection.ts'
import { faultRequest } from '../testing/fault-request.ts'
import { findReason, reportFailure } from '../base/report-failure.ts'
import type { FailedRequest } from '../base/report-failure.ts'
import { JournalRecord, copyBody, maskRecord } from '../journal/journal.ts'
import type { Journal } from '../journal/journal.ts'
import { assertJson } from '../base/json.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Model } from '../model/model.ts'
import { operate } from './operate.ts'
import type { Services } from './operate.ts'
import type { CheckedOptions } from './options.ts'
import { NO_HEADERS, parse } from '../request/parse-request.ts'
import type { Request } from '../request/parse-request.ts'
import type { QueryInput } from '../request/query-string.ts'
import { WRITE_METHODS, keepReadingMethods, readOnlyError } from '../base/http-methods.ts'
import { RequestContext } from '../request/request-context.ts'
import type { Principal } from '../request/request-context.ts'
import { checkMethod, resolveBeside, versionOf } from '../access/resolve-path.ts'
import { respondError, withoutBody } from './respond.ts'
import type { RestResponse } from '../base/response.ts'
import { runRoute } from '../request/custom-routes.ts'
import type { Routes } from '../request/custom-routes.ts'
import type { Secrets } from '../journal/redact.ts'
import { SERVER_TIMING, formatServerTiming } from '../base/server-timing.ts'
import { checkNames } from '../base/suggest.ts'
import { Trace } from '../base/trace.ts'
import type { Traces } from '../base/trace.ts'

/** What a request carries beside method, path, query and body. */
export interface HandleContext {
  /** Request headers, lower-case names; the token travels in `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Aborts the request: `handle` rejects with its reason, and nothing is committed. */
  readonly signal?: AbortSignal
}

/** The context of a request without any. */
export const NO_CONTEXT: HandleContext = Object.freeze({})

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])
/** Methods that change nothing by themselves. */
export const READING = new Set(['GET', 'HEAD', 'OPTIONS'])

/** A request, as it arrives. */
interface Arrival {
  readonly method: string
  readonly path: string
  readonly query: QueryInput | undefined
  readonly body: unknown
  readonly context: HandleContext
  /** Where its time goes; undefined when nobody wants to know. */
  readonly trace: Trace | undefined
}

/** What the stages need of the engine. */
export interface HandlerParts {
  /** Given to hooks and handlers. */
  readonly engine: EngineHandle
  readonly options: CheckedOptions
  readonly served: ReadonlyMap<string, Services>
  /** What is served in the first version. */
  readonly model: Model
  readonly clock: Clock
  readonly life: Lifecycle
  /** Undefined when none is kept. */
  readonly journal: Journal | undefined
  readonly faults: Faults
  readonly traces: Traces
  readonly connection: Connection
  readonly secrets: Secrets
  readonly routes: Routes
  /** Undefined when the module is off. */
  readonly authentication: Authentication | undefined
  /** An entity manager of its own for a request. */
  readonly fork: () => EntityManager
  /** Whether an error says that the database is locked, or does not work. */
  readonly failureOf: (error: unknown) => 'busy' | 'failed' | undefined
  /** Whether a request that reads may run code of the application's, which may write. */
  readonly mayRunOwnCode: boolean
}

export class Handler {
  readonly #parts: HandlerParts
  readonly #life: Lifecycle
  readonly #journal: Journal | undefined
  readonly #faults: Faults
  /** Set inside of the requests that have passed the faults. */
  readonly #inside = new AsyncLocalStorage<true>()

  constructor(parts: HandlerParts) {
    this.#parts = parts
    this.#life = parts.life
    this.#journal = parts.journal
    this.#faults = parts.faults
  }

  /** Rejects with, or throws at once, what the caller has broken or wanted: see RestEngine.handle. */
  handle(method: string, path: string, query: QueryInput | undefined, body: unknown, context: HandleContext): Awaitable<RestResponse> {
    const { traces, options } = this.#parts
    this.#life.assertOpen()
    const outer = traces.current
    const record = outer?.isRecorded === false ? undefined : this.#journal?.begin(method, path)
    if (outer === undefined && !options.serverTiming)
      return this.#recorded({ method, path, query, body, context, trace: undefined }, record)
    if (outer !== undefined) return within(outer, () => this.#recorded({ method, path, query, body, context, trace: outer }, record))
    const trace = new Trace()
    return this.#timed(trace, record, () => this.#recorded({ method, path, query, body, context, trace }, record))
  }

  /** Answers a request, past faults and journal, and tells what ran. */
  async explain(method: string, path: string, query: QueryInput | undefined, body: unknown, context: HandleContext): Promise<Explanation> {
    context.signal?.throwIfAborted()
    const record = new JournalRecord(method, path, false, 0)
    const trace = new Trace({ keeps: true, isRecorded: false })
    const arrival = { method, path, query, body, context, trace }
    const answering = this.#timed(trace, undefined, () => this.#inside.run(true, () => this.#answer(arrival, record)))
    const response = await this.#counted(answering, undefined)
    return this.#explanation(arrival, record, response, trace)
  }

  /** Answers a request as `handle` does, and tells what ran when it is asked; nothing when the engine has been closed meanwhile. */
  async explained(
    method: string,
    path: string,
    query: QueryInput | undefined,
    body: unknown,
    context: HandleContext,
  ): Promise<{ response: RestResponse; explain: () => Explanation | undefined }> {
    this.#life.assertOpen()
    const record = this.#journal?.begin(method, path) ?? new JournalRecord(method, path, false, 0)
    const trace = new Trace({ keeps: true })
    const response = await this.#timed(trace, record, () => this.#recorded({ method, path, query, body, context, trace }, record))
    const explain = (): Explanation | undefined =>
      this.#life.isClosed ? undefined : this.#explanation({ method, path }, record, response, trace)
    return { response, explain }
  }

  #explanation(
    { method, path }: Pick<Arrival, 'method' | 'path'>,
    record: JournalRecord,
    response: RestResponse,
    trace: Trace,
  ): Explanation {
    const { options, connection, secrets, model } = this.#parts
    return buildExplanation(
      {
        method: method.toUpperCase(),
        path,
        trace,
        response,
        masked: maskRecord(record, secrets, model),
        secrets,
        model: record.model ?? model,
        hasEntities: options.entities !== undefined,
      },
      connection.explain(trace.statements ?? []),
    )
  }

  /** Measures a request; with the option its answer gets the header. */
  async #timed(trace: Trace, record: JournalRecord | undefined, work: () => Awaitable<RestResponse>): Promise<RestResponse> {
    const { serverTiming: shows } = this.#parts.options
    if (record !== undefined && shows) record.trace = trace
    let response: RestResponse
    try {
      response = await this.#parts.traces.within(trace, work)
    } finally {
      trace.end()
    }
    return shows ? { ...response, headers: { ...response.headers, [SERVER_TIMING]: formatServerTiming(trace) } } : response
  }

  #recorded(arrival: Arrival, record: JournalRecord | undefined): Awaitable<RestResponse> {
    const { method, context } = arrival
    if (context instanceof LazyClient ? context.isGone : context.signal?.aborted === true) {
      this.#recordFailure(record, context.signal!.reason)
      throw context.signal!.reason
    }
    let answering: Awaitable<RestResponse>
    try {
      // Only what may change rows must be known to whatever runs in it.
      answering =
        record === undefined || this.#journal === undefined || (!this.#parts.mayRunOwnCode && READING.has(method))
          ? this.#enter(arrival, record)
          : this.#journal.within(record, () => this.#enter(arrival, record))
    } catch (error) {
      this.#recordFailure(record, error)
      throw error
    }
    // What is answered at once never ran beside anything else.
    if (!(answering instanceof Promise)) {
      if (record !== undefined) this.#journal?.end(record, answering)
      return answering
    }
    const counted = this.#counted(answering, record)
    const { signal } = context
    return signal === undefined ? counted : unlessAborted(counted, signal, () => this.#recordFailure(record, signal.reason))
  }

  /** Counts a request while it runs, so that closing can wait for it; then the journal has it. */
  async #counted(answering: Promise<RestResponse>, record: JournalRecord | undefined): Promise<RestResponse> {
    this.#life.enter()
    try {
      const response = await answering
      if (record !== undefined) this.#journal?.end(record, response)
      return response
    } catch (error) {
      this.#recordFailure(record, error)
      throw error
    } finally {
      this.#life.leave()
    }
  }

  /** What the caller has called wrongly is no request. */
  #recordFailure(record: JournalRecord | undefined, error: unknown): void {
    if (record !== undefined && !isMisuse(error)) this.#journal?.fail(record, error)
  }

  #enter(arrival: Arrival, record: JournalRecord | undefined): Awaitable<RestResponse> {
    // What hooks ask does not come from outside, where the faults are.
    return this.#faults.active && this.#inside.getStore() === undefined ? this.#pass(arrival, record) : this.#answer(arrival, record)
  }

  /** Takes a request past the faults that tests have asked for. */
  async #pass(arrival: Arrival, record: JournalRecord | undefined): Promise<RestResponse> {
    const { method, path, query, body, context, trace } = arrival
    trace?.enter('fault')
    const answering = async (): Promise<RestResponse> => {
      trace?.enter('parse')
      const response = await this.#inside.run(true, () => this.#answer(arrival, record))
      trace?.enter('fault')
      return response
    }
    if (typeof method !== 'string' || typeof path !== 'string') return answering()
    const shown = (response: RestResponse): RestResponse => (method.toUpperCase() === 'HEAD' ? withoutBody(response) : response)
    if (record !== undefined) {
      try {
        read(arrival, record)
      } catch {
        // What is wrong with it is answered if the request gets there; the journal has what could be read.
      }
    }
    let course: ReturnType<Faults['meet']>
    try {
      course = this.#faults.meet(faultRequest(method, path, query, body, context.headers ?? NO_HEADERS))
    } catch (error) {
      return shown(this.#failed(error, { method, path }, record))
    }
    return this.#faults.take(course, context.signal, answering, refusal => shown(this.respondError(refusal)))
  }

  /** Parse, authenticate, then the rest; whatever fails on the way is answered here. */
  #answer(arrival: Arrival, record: JournalRecord | undefined): Awaitable<RestResponse> {
    const { method, path, context, trace } = arrival
    if (context !== NO_CONTEXT && !(context instanceof LazyClient)) checkNames(context, ['headers', 'signal'], 'handle: context')
    const { timeout } = this.#parts.options.limits
    const end = new RequestAbort(
      context,
      this.#life.generation,
      timeout ?? (context instanceof LazyClient ? context.budget : undefined) ?? 0,
    )
    const failed = (error: unknown): RestResponse => {
      end.throwIfReached()
      const response = this.#failed(ofMisplacedBody(error, arrival), { method, path }, record)
      return method.toUpperCase() === 'HEAD' ? withoutBody(response) : response
    }
    let request: Request
    try {
      request = read(arrival, record)
    } catch (error) {
      // What the caller broke is told to him; a hook that asks the engine wrongly is a fault of the server.
      if (isMisuse(error)) throw error
      return failed(error)
    }
    trace?.enter('auth')
    try {
      const response = chain(this.#parts.authentication?.authenticate(request), principal =>
        this.#perform(request, principal, end, record, trace),
      )
      return response instanceof Promise ? response.catch(failed) : response
    } catch (error) {
      return failed(error)
    }
  }

  #perform(
    request: Request,
    principal: Principal | undefined,
    end: RequestAbort,
    record: JournalRecord | undefined,
    trace: Trace | undefined,
  ): Awaitable<RestResponse> {
    const { method, segments } = request
    if (!this.#parts.options.readOnly || this.isSession('POST', segments)) return this.#operate(request, principal, end, record, trace)
    if (WRITE_METHODS.includes(method)) throw readOnlyError(method)
    return chain(this.#operate(request, principal, end, record, trace), readingOnly)
  }

  #operate(
    request: Request,
    principal: Principal | undefined,
    end: RequestAbort,
    record: JournalRecord | undefined,
    trace: Trace | undefined,
  ): Awaitable<RestResponse> {
    const { method, segments } = request
    const { engine, fork, options, served, model, routes, authentication } = this.#parts
    trace?.enter('resolve')
    const parts = { engine, fork, request, principal, logsIn: authentication !== undefined }
    const own = routes.match(method, segments)
    if (own !== undefined) trace?.enter('handler')
    if (own !== undefined) return runRoute(own, { ...parts, version: segments[0] ?? options.versions[0]! }, options.versions)
    const version = versionOf(segments, options.versions, model)
    const services = served.get(version)!
    const ownMethods = routes.methodsOf(segments)
    const target = resolveBeside(ownMethods, segments, version, services.model, services.lookUp)
    record?.resolved(target, services.model)
    const allowed = checkMethod(method, target, ownMethods)
    const parameters = parametersOf(request, target, services.vocabulary, options.limits)
    const actions = actionsOf(method, target)
    const ctx = new RequestContext({ ...parts, version, about: aboutOf(target, actions[0]) })
    trace?.enter('access')
    const rules = visibilityOf(services.model, parameters, ctx)
    return chain(authorizeRequest(target, actions, rules, ctx), () =>
      chain(narrowed(rules, rootOf(target), parameters, services.ownParameters), visibility => {
        trace?.enter('render')
        return operate(
          { request, target, allowed, about: actions[0], ctx, view: { parameters, visibility, ctx, end, trace, tally: record } },
          services,
        )
      }),
    )
  }

  #failed(error: unknown, request: FailedRequest, record: JournalRecord | undefined): RestResponse {
    const refusal = this.respondError(ofDatabase(error, this.#parts.failureOf(error)))
    const response = this.#parts.options.readOnly ? readingOnly(refusal) : refusal
    if (response.status >= 500) {
      if (record !== undefined) record.failure = findReason(error)
      reportFailure(this.#parts.options.onError, error, request)
    }
    return response
  }

  /** The answer to what a door has met itself: reported where it is none of a client's faults. */
  failed(error: unknown, request: FailedRequest): RestResponse {
    const response = this.respondError(error)
    if (response.status >= 500 && !(error instanceof RestError)) reportFailure(this.#parts.options.onError, error, request)
    return response
  }

  /** Whether a request logs in or out. */
  isSession(method: string, segments: readonly string[]): boolean {
    return this.#parts.authentication !== undefined && Authentication.isSession(method, segments)
  }

  /** The one error body, also for faults that a door finds before `handle` can be asked. */
  respondError(error: unknown): RestResponse {
    return respondError(error, this.#timestamp(), this.#parts.options.validationStatus)
  }

  /** The time of an answer to an error. A clock of the application's that fails is such an error itself. */
  #timestamp(): string {
    try {
      return this.#parts.clock.now().toISOString()
    } catch {
      return new Date().toISOString()
    }
  }
}

/** What a hook asks while it answers a request is part of that request, whose stage goes on afterwards. */
async function within(trace: Trace, work: () => Awaitable<RestResponse>): Promise<RestResponse> {
  const before = trace.enter('parse')
  try {
    return await work()
  } finally {
    trace.enter(before)
  }
}

/** Reads a request, and tells the journal what was sent. */
function read({ method, path, query, body, context }: Arrival, record: JournalRecord | undefined): Request {
  const request = parse(method, path, query, body, context)
  record?.parsed(request)
  if (WITH_BODY.has(request.method)) {
    assertJson(request.body ?? null, 'handle: body')
    if (record !== undefined) record.body = copyBody(request.body)
  }
  return request
}

/** Where a query is refused that may well be the body: the arguments of `handle` are easily mistaken. */
function ofMisplacedBody(error: unknown, { method, query, body }: Arrival): unknown {
  if (body !== undefined || query === undefined || query === null || query instanceof URLSearchParams) return error
  if (!(error instanceof RestError) || error.code !== 'parameter_invalid' || !WITH_BODY.has(method.toUpperCase())) return error
  const detail = `${error.message} The third argument of "handle" is the query, the fourth is the body: handle("${method.toUpperCase()}", path, undefined, body).`
  return restError('parameter_invalid', detail, error.errors === undefined ? {} : { errors: error.errors })
}

/** What a client is told where the database is not to be had; the cause is for `onError`. */
function ofDatabase(error: unknown, failure: 'busy' | 'failed' | undefined): unknown {
  if (failure === undefined || error instanceof RestError) return error
  if (failure === 'failed')
    return restError('database_failed', 'The database cannot do this at present; nothing was changed.', { cause: error })
  return restError('database_busy', 'Another process has locked the database; nothing was changed. Try again.', {
    headers: { 'retry-after': '1' },
    cause: error,
  })
}

/** The answer without the methods that write. */
function readingOnly(response: RestResponse): RestResponse {
  const { allow } = response.headers
  return allow === undefined ? response : { ...response, headers: { ...response.headers, allow: keepReadingMethods(allow) } }
}

/** Whether the caller broke the types of `handle`. */
function isMisuse(error: unknown): boolean {
  return error instanceof TypeError && error.message.startsWith('handle: ')
}

/** The answer, unless the signal aborts first; the work that still runs then finds the signal aborted and commits nothing. */
function unlessAborted(answering: Promise<RestResponse>, signal: AbortSignal, aborted: () => void): Promise<RestResponse> {
  return new Promise((resolvePromise, reject) => {
    const abort = (): void => {
      aborted()
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', abort, { once: true })
    answering.then(resolvePromise, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
