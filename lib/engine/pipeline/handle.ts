/**
 * Handle: a request from its arrival to its answer. `passStages` is the list of the stages in their order, and has no rules of its own.
 * Traces, the journal and injected faults stand around it, in record-request.ts.
 */
import type { DatabaseFailure } from '../../records/database/dialect.ts'
import type { EntityManager } from '@mikro-orm/core'
import { authorizeRequest, findVisibility, narrowVisibility } from '../../records/access/access-rules.ts'
import { describeTarget, findActions, findRoot } from '../../records/access/actions.ts'
import type { ResourceAction } from '../../records/access/actions.ts'
import { readParameters } from '../../records/access/check-parameters.ts'
import { withDefaults } from '../../records/access/list-defaults.ts'
import { findNewNames } from '../../records/access/find-new-names.ts'
import { requireCanonical } from '../../records/access/canonical-path.ts'
import { typeForm } from '../../records/access/type-form.ts'
import { allowedMethods, checkMethod, findVersion, resolvePath } from '../../records/access/resolve-path.ts'
import type { Target } from '../../records/access/resolve-path.ts'
import { findBodyResource, unwrapBody } from '../../records/access/unwrap-body.ts'
import type { Authentication } from '../auth/auth.ts'
import { LazyClient, RequestAbort, WholeClient } from '../../foundation/base/abort.ts'
import { chain, runCoroutine, wait } from '../../foundation/base/awaitable.ts'
import type { Awaitable, Coroutine } from '../../foundation/base/awaitable.ts'
import type { Clock } from '../../foundation/base/clock.ts'
import { QUERY_TYPES, WRITE_METHODS, keepReadingMethods, readOnlyError, takesBody } from '../../foundation/base/http-methods.ts'
import { FormBody } from '../../foundation/base/form-body.ts'
import { assertJson } from '../../foundation/base/json.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import type { Trace } from '../../foundation/base/trace.ts'
import { keepBody } from '../journal/kept-body.ts'
import type { JournalRecord } from '../journal/journal-record.ts'
import type { Model, Resource } from '../../model/model.ts'
import type { LearnedNames } from '../../model/open-attributes.ts'
import { EVERYTHING } from '../../records/plan/visibility.ts'
import type { Visibility } from '../../records/plan/visibility.ts'
import { NO_VERSION } from '../../records/request/address.ts'
import type { Address } from '../../records/request/address.ts'
import { runRoute } from '../../records/request/custom-routes.ts'
import type { RouteMatch, Routes } from '../../records/request/custom-routes.ts'
import type { EngineHandle } from '../../model/hook-context.ts'
import { InnerClient } from '../../records/request/inner-request.ts'
import { parse, replaceBody, takeQuery } from '../../records/request/parse-request.ts'
import type { View } from '../../records/read/reader.ts'
import type { Request } from '../../records/request/parse-request.ts'
import type { QueryCache } from '../../records/request/parsed-query.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'
import type { Parameters } from '../../records/request/query-string.ts'
import { RequestContext } from '../../records/request/request-context.ts'
import type { Principal } from '../../records/request/request-context.ts'
import { formatIso } from '../../foundation/values/iso-time.ts'
import { answerFailure, isMisuse } from './answer-failure.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Growth } from './served-versions.ts'
import { createEach, findBulkResource } from './bulk.ts'
import { operate } from './operate.ts'
import type { Operation, Services } from './operate.ts'
import type { CheckedOptions } from './options.ts'
import { respondCreatedAll, withoutBody } from './respond.ts'
import { findNames, isPlain, shapeAnswer } from './shape-answer.ts'

/** The headers and the signal of a request. */
export interface HandleContext {
  /** Request headers, lower-case names; the token travels in `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Aborts the request: `handle` rejects with its reason, and nothing is committed. */
  readonly signal?: AbortSignal
}

/** The context of a request without any. */
export const NO_CONTEXT: HandleContext = Object.freeze({})

/** A request, as it arrives. */
export interface Arrival {
  readonly method: string
  readonly path: string
  readonly query: QueryInput | undefined
  readonly body: unknown
  readonly context: HandleContext
  /** Measures where its time goes; undefined where it is not measured. */
  readonly trace: Trace | undefined
  /** Its record in the journal; undefined when no journal is kept. */
  readonly record: JournalRecord | undefined
}

/** The parts of an engine that the stages use. */
export interface StageParts {
  /** Given to hooks and handlers. */
  readonly engine: EngineHandle
  readonly options: CheckedOptions
  readonly served: ReadonlyMap<string, Services>
  /** The model of the first version. */
  readonly model: Model
  readonly clock: Clock
  readonly life: Lifecycle
  readonly routes: Routes
  readonly queries: QueryCache
  /** Undefined when the module is off. */
  readonly authentication: Authentication | undefined
  /** Returns an entity manager of its own for a request. */
  readonly fork: () => EntityManager
  /** Whether an error says that the database is locked, or does not work. */
  readonly classifyFailure: (error: unknown) => DatabaseFailure | undefined
  /** Returns the versions with the names that a request adds to open resources. */
  readonly grow: (more: LearnedNames) => Growth
}

/**
 * Answers a request, at once where it can: no stage of a reading request waits for anything.
 *
 * @throws what the caller has called wrongly, and the reason of a signal that has aborted
 */
export function handle(arrival: Arrival, parts: StageParts): Awaitable<RestResponse> {
  return runCoroutine(passStages(arrival, parts))
}

/** The stages of a request, from its arrival to its answer. Each takes what those before it have proved; `wait` waits where a stage must. */
function* passStages(arrival: Arrival, parts: StageParts): Coroutine<RestResponse> {
  const { trace } = arrival
  const { options, routes, authentication } = parts
  const end = limitTime(arrival, parts)
  let request: Request | undefined
  try {
    request = readRequest(arrival, parts)
    const { method, segments } = request

    trace?.enter('auth')
    const inner = arrival.context instanceof InnerClient ? (arrival.context as InnerClient<Principal>) : undefined
    const principal = inner === undefined ? authentication && (yield* wait(authentication.authenticate(request))) : inner.principal

    if (principal !== undefined && arrival.record !== undefined) arrival.record.user = principal.claims.sub

    trace?.enter('resolve')
    refuseWrite(request, parts)
    const route = routes.match(method, segments, inner?.passed)
    if (route !== undefined) {
      trace?.enter('handler')
      const version = segments[0] ?? options.versions[0] ?? NO_VERSION
      const asked = request.body instanceof FormBody ? withBody(request, request.body.plain(), arrival) : request
      const answer = yield* wait(answerRoute(route, { arrival, request: asked, principal, version, end }, parts))
      const isOwn = authentication?.answersAt(method, segments) === true
      return withAllowedMethods(isOwn ? finish(answer, arrival, request, parts) : answer, request, parts)
    }
    const version = findVersion(request, options.versions, parts.model)
    const asked = method === 'QUERY' ? readQuery(request, arrival) : request
    const versioned = { arrival, request: asked, principal, version, end }
    const resolved = resolveRequest(versioned, parts.served.get(version)!, parts)
    const more =
      resolved.services.model.isOpen && WRITE_METHODS.includes(method) && takesBody(method)
        ? findNewNames(resolved.versioned.request.body, resolved.target)
        : undefined
    const answering = more === undefined ? answerRequest(resolved, parts) : answerGrown(versioned, parts.grow(more), parts)
    const response = withAllowedMethods(finish(yield* wait(answering), arrival, request, parts), request, parts)
    return method === 'QUERY' ? { ...response, headers: { ...response.headers, 'accept-query': QUERY_TYPES } } : response
  } catch (error) {
    // Only the caller of `handle` itself is at fault; a hook that calls the engine wrongly is a fault of the server.
    if (request === undefined && isMisuse(error)) throw error
    end.throwIfReached()
    return withAllowedMethods(answerFailure(error, arrival, parts), request, parts)
  }
}

/** Gives an answer the form that its sender wants, and takes the body away for HEAD. */
function finish(
  response: RestResponse,
  { context }: Arrival,
  { method, segments }: Request,
  { options, model, served }: StageParts,
): RestResponse {
  const { envelope } = options
  const shaped =
    envelope === undefined || isPlain(context)
      ? response
      : shapeAnswer(response, method, envelope, name => findNames(name, served.get(segments[0] ?? '')?.model ?? model))
  return method === 'HEAD' ? withoutBody(shaped) : shaped
}

/** A request to a version, as the stages before have proved it. */
interface VersionedRequest {
  readonly arrival: Arrival
  readonly request: Request
  readonly principal: Principal | undefined
  readonly version: string
  readonly end: RequestAbort
}

/** Answers with a custom route of the application. */
function answerRoute(match: RouteMatch, versioned: VersionedRequest, parts: StageParts): Promise<RestResponse> {
  const { arrival, ...facts } = versioned
  const { engine, fork, options, served, authentication } = parts
  const passed = arrival.context instanceof InnerClient ? arrival.context.passed : undefined
  const { transaction } = served.get(facts.version) ?? served.values().next().value!
  const origin = { ...facts, engine, fork, passed, logsIn: authentication !== undefined }
  return runRoute(match, origin, { versions: options.versions, transaction: work => transaction(work, facts.end) })
}

/** A request whose target, parameters and actions are known. */
interface ResolvedRequest extends Pick<Operation, 'target' | 'allowed'> {
  readonly versioned: VersionedRequest
  readonly services: Services
  readonly parameters: Parameters
  readonly actions: readonly ResourceAction[]
}

/** Resolves the path, and checks method and parameters. */
function resolveRequest(versioned: VersionedRequest, services: Services, parts: StageParts): ResolvedRequest {
  const { arrival, request, version } = versioned
  const { method, segments } = request
  const passed = arrival.context instanceof InnerClient ? arrival.context.passed : undefined
  const customMethods = parts.routes.listMethods(segments, passed)
  const target = resolvePath(customMethods, request, version, services.model, services.lookUp)
  if (parts.options.canonicalPaths) requireCanonical(request, target, version, services.lookUp)
  arrival.record?.resolved(target, services.model)
  const allowed = checkMethod(method, target, customMethods)
  const given = readParameters(request, target, services.vocabulary, parts.options.limits)
  const parameters = services.defaults.size === 0 ? given : withDefaults(given, method, target, services.defaults)
  const meant = readBody(request, target, arrival, parts)
  const typed = meant === request ? versioned : { ...versioned, request: meant }
  return { versioned: typed, services, target, allowed, parameters, actions: findActions(method, target, typed.request.body) }
}

/** The request with the body that is meant: of a form by the model, and of what is wrapped as answers are the record in it. */
function readBody(request: Request, target: Target, arrival: Arrival, { options: { envelope } }: StageParts): Request {
  const { body, method } = request
  const template = arrival.context instanceof InnerClient || !takesBody(method) ? undefined : envelope?.record
  const resource = template === undefined ? undefined : findBodyResource(method, target)
  const meant = resource === undefined ? body : unwrapBody(body, resource, template!)
  if (meant instanceof FormBody) return withBody(request, typeForm(meant, method, target), arrival)
  return meant === body ? request : replaceBody(request, meant)
}

/** The request with the JSON that its form means, for the journal as well. */
function withBody(request: Request, body: unknown, { record }: Arrival): Request {
  if (record !== undefined) record.body = keepBody(body)
  return replaceBody(request, body)
}

/** Answers a request by a model with the names that it adds. Other requests are served by that model once this one has been written. */
async function answerGrown(versioned: VersionedRequest, growth: Growth, parts: StageParts): Promise<RestResponse> {
  const resolved = resolveRequest(versioned, growth.served.get(versioned.version)!, parts)
  const response = await answerRequest(resolved, parts)
  if (response.status < 400) growth.adopt()
  return response
}

function answerRequest(resolved: ResolvedRequest, parts: StageParts): Awaitable<RestResponse> {
  const { request } = resolved.versioned
  const bulk = findBulkResource(request, resolved.target)
  return bulk === undefined ? answerResolved(resolved, request, parts) : answerBulk(resolved, request, bulk, parts)
}

const FROM_OUTSIDE = { passed: undefined, isEngine: false } as const

/** The stages from the rules to the answer. */
function answerResolved(resolved: ResolvedRequest, request: Request, parts: StageParts): Awaitable<RestResponse> {
  const { ctx, visibility } = findCaller(resolved, request, parts)
  return visibility === EVERYTHING
    ? operateWithin(visibility, ctx, resolved, request)
    : runCoroutine(applyRules(visibility, ctx, resolved, request))
}

/** Returns what is known of the caller of a request, and what exists for it. */
function findCaller(resolved: ResolvedRequest, request: Request, parts: StageParts): { ctx: RequestContext; visibility: Visibility } {
  const { versioned, services, target, actions } = resolved
  const { arrival, principal, version, end } = versioned
  const { engine, fork, authentication } = parts
  const logsIn = authentication !== undefined
  const { passed, isEngine } = arrival.context instanceof InnerClient ? arrival.context : FROM_OUTSIDE
  const about = describeTarget(target, actions[0])
  const ctx = new RequestContext({ engine, fork, request, version, principal, logsIn, end, passed, about })
  arrival.trace?.enter('access')
  return { ctx, visibility: findVisibility(services.model, resolved.parameters, ctx, isEngine) }
}

/** Operates within what the access rules allow. */
function* applyRules(visibility: Visibility, ctx: RequestContext, resolved: ResolvedRequest, request: Request): Coroutine<RestResponse> {
  const { services, target, parameters, actions } = resolved
  yield* wait(authorizeRequest(target, actions, visibility, ctx))
  const narrowed = yield* wait(narrowVisibility(visibility, findRoot(target), parameters, services))
  return yield* wait(operateWithin(narrowed, ctx, resolved, request))
}

function operateWithin(visibility: Visibility, ctx: RequestContext, resolved: ResolvedRequest, request: Request): Awaitable<RestResponse> {
  const { versioned, services, target, allowed, actions } = resolved
  versioned.arrival.trace?.enter('render')
  return operate({ request, target, allowed, about: actions[0], ctx, view: makeView(visibility, ctx, resolved) }, services)
}

function makeView(visibility: Visibility, ctx: RequestContext, { versioned, parameters }: ResolvedRequest): View {
  const { arrival, end } = versioned
  return { parameters, visibility, ctx, end, trace: arrival.trace, tally: arrival.record }
}

/** Answers a POST of an array: each of its members is a request of its own, in one transaction. */
async function answerBulk(resolved: ResolvedRequest, request: Request, resource: Resource, parts: StageParts): Promise<RestResponse> {
  const { versioned, services } = resolved
  const { limits } = parts.options
  const bodies = request.body as readonly unknown[]
  const answer = (body: unknown): Awaitable<RestResponse> => answerResolved(resolved, replaceBody(request, body), parts)
  const together = (): Awaitable<readonly unknown[] | undefined> => createTogether(resolved, request, resource, parts)
  if (bodies.length <= limits.maxBulk) await services.hashes?.prepare(bodies, resource, versioned.end)
  const records = await createEach(bodies, { limits, end: versioned.end, transaction: services.transaction, together, answer })
  if ('status' in records) return records
  return respondCreatedAll(resource, records, services.createdStatus, formatIso(services.clock.time()))
}

/** Creates the records of an array together, where nothing of the application's sees one of them. */
function createTogether(
  resolved: ResolvedRequest,
  request: Request,
  resource: Resource,
  parts: StageParts,
): Awaitable<readonly unknown[] | undefined> {
  const { target, services } = resolved
  if (target.kind !== 'collection' || resource.rules.wrappers.create !== undefined) return undefined
  const { ctx, visibility } = findCaller(resolved, request, parts)
  if (visibility !== EVERYTHING) return undefined
  const written = services.writer.createAll(resource, request.body as readonly unknown[], makeView(visibility, ctx, resolved))
  return chain(written, all => all?.map(({ record }) => record))
}

/** Returns what may end the request: the signal of its sender, that of its world, the time budget. */
function limitTime({ context }: Arrival, { options, life }: StageParts): RequestAbort {
  if (context instanceof InnerClient && context.end !== undefined) return context.end
  const isTransport = context instanceof LazyClient
  if (context !== NO_CONTEXT && !isTransport && !(context instanceof WholeClient))
    checkNames(context, ['headers', 'signal'], 'handle: context')
  return new RequestAbort(context, life.generation, options.limits.timeout ?? (isTransport ? context.budget : undefined) ?? 0)
}

/** Parses a request, and notes for the journal what was sent. */
export function readRequest(arrival: Arrival, { options, queries }: Pick<StageParts, 'options' | 'queries'>): Request {
  const { context, record } = arrival
  const request = parse(arrival, findAddress(context, options), takesNoWrites(context, options), queries)
  record?.parsed(request)
  if (takesBody(request.method)) {
    // What the fields of a form mean is known with the target.
    if (request.body instanceof FormBody) return request
    assertJson(request.body ?? null, 'handle: body')
    if (record !== undefined) record.body = keepBody(request.body)
  }
  return request
}

/** Takes the parameters of a QUERY from its body, for the journal as well. */
function readQuery(request: Request, { record }: Arrival): Request {
  const asked = takeQuery(request)
  if (record === undefined) return asked
  record.parsed(asked)
  record.body = undefined
  return asked
}

/** Returns where the sender of a request meets the engine: a way in may have a base of its own. */
export function findAddress(context: HandleContext, options: CheckedOptions): Address {
  const base = context instanceof LazyClient ? context.base : undefined
  return base === undefined || base === options.base ? options : { base, versions: options.versions }
}

/** Whether nothing may be written: a way in may be for reading alone. */
function takesNoWrites(context: HandleContext, options: CheckedOptions): boolean {
  return options.readOnly || (context instanceof LazyClient && context.readOnly)
}

/** Refuses what would write to an engine that is read-only. Logging in and out stays possible: it changes no data. */
function refuseWrite(request: Request, parts: StageParts): void {
  if (WRITE_METHODS.includes(request.method) && isReadOnly(request, parts)) throw readOnlyError(request.method, listMethods(request, parts))
}

/** The methods that a path takes; undefined where nothing is there, or where the application's look-up fails: a write is refused there, too. */
function listMethods(request: Request, { options, model, served, routes }: StageParts): readonly string[] | undefined {
  try {
    const version = findVersion(request, options.versions, model)
    const services = served.get(version)!
    const own = routes.listMethods(request.segments)
    return [...new Set([...own, ...allowedMethods(resolvePath(own, request, version, services.model, services.lookUp))])]
  } catch {
    return undefined
  }
}

/** Takes the methods that write out of the `Allow` header of an engine that is read-only. */
function withAllowedMethods(response: RestResponse, request: Request | undefined, parts: StageParts): RestResponse {
  const { allow } = response.headers
  if (allow === undefined || request === undefined || !isReadOnly(request, parts)) return response
  return { ...response, headers: { ...response.headers, allow: keepReadingMethods(allow) } }
}

function isReadOnly({ readOnly, segments }: Request, { authentication }: StageParts): boolean {
  return readOnly && authentication?.isSession('POST', segments) !== true
}
