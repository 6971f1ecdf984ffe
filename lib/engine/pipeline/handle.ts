/** Answers a request by the stages, in the order of `passStages`. record-request.ts adds trace, journal and faults around the stages. */
import { authorizeRequest, findVisibility, narrowVisibility } from '../../records/access/access-rules.ts'
import { changesMany, describeTarget, findActions, findRoot, type ResourceAction } from '../../records/access/actions.ts'
import { readParameters } from '../../records/access/check-parameters.ts'
import { withDefaults } from '../../records/access/list-defaults.ts'
import { findNewNames } from '../../records/access/find-new-names.ts'
import { typeForm } from '../../records/access/type-form.ts'
import { allowedMethods, checkMethod, findVersion, resolveBesideRoutes, resolvePath } from '../../records/access/resolve-path.ts'
import type { Target } from '../../records/access/resolve-path.ts'
import { findBodyResource, unwrapBody } from '../../records/access/unwrap-body.ts'
import { LazyClient, RequestAbort, WholeClient, findWire } from '../../foundation/async/abort.ts'
import { chain, runCoroutine, wait, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import { WRITE_METHODS, readOnlyError, TAKES_BODY } from '../../foundation/http/http-methods.ts'
import { FormBody } from '../../foundation/http/form-body.ts'
import { assertJson, isObject, notAnObject } from '../../foundation/json/json.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { checkNames } from '../../foundation/base/suggest.ts'
import { idToSegment, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import { EVERYTHING } from '../../records/plan/visibility.ts'
import { NO_VERSION } from '../../records/request/address.ts'
import { runRoute, type RouteMatch } from '../../records/request/custom-routes.ts'
import { InnerClient, WireCall } from '../../records/request/inner-request.ts'
import { parse, readHeader, replaceBody, takeQuery, type Request } from '../../records/request/parse-request.ts'
import { NO_PARAMETERS, findParameterName, type Parameters } from '../../records/request/query-string.ts'
import { RequestContext, type Principal, type RequestFacts } from '../../records/request/request-context.ts'
import { formatIso } from '../../foundation/values/iso-time.ts'
import { NO_CONTEXT, type Arrival, type StageParts } from './arrival.ts'
import { answerFailure, isMisuse } from './answer-failure.ts'
import type { Growth } from './served-versions.ts'
import { findListedResource } from './conditional.ts'
import { operate, writeTogether, type Operation, type Services } from './operate.ts'
import type { JsonRecord } from '../../records/read/run-read.ts'
import { finishAnswer, respondCreatedAll, respondDeletedList } from './respond.ts'
import type { Upsert } from './upsert.ts'

/** Answers in the grammar of the way in. The client's signal, a reset of the data and the time budget end a request. */
export function answerRequest(arrival: Arrival, parts: StageParts): Awaitable<RestResponse> {
  const { context } = arrival
  const isTransport = context instanceof LazyClient
  if (context !== NO_CONTEXT && !isTransport && !(context instanceof WholeClient))
    checkNames(context, ['headers', 'signal'], 'handle: context')
  const given = context instanceof InnerClient ? context.end : undefined
  const budget = parts.options.limits.timeout ?? (isTransport ? context.budget : undefined) ?? 0
  const end = given ?? new RequestAbort(context, parts.life.generation, budget)
  const wire = findWire(context)
  if (wire === undefined) return runCoroutine(passStages(arrival, end, parts))
  return chain(wires ?? loadWires(), loaded => {
    wires = loaded
    return loaded.answerWire(wire, arrival, end, { parts, pass: passStages })
  })
}

const loadWires = () => import('./answer-wire.ts')

let wires: Awaited<ReturnType<typeof loadWires>> | undefined

/**
 * Waits only for a stage that gives a promise, so that SQLite answers a read at once.
 *
 * @throws errors of the caller, and the reason of an aborted signal
 */
function* passStages(arrival: Arrival, end: RequestAbort, parts: StageParts): Coroutine<RestResponse> {
  const { path, context, trace, record } = arrival
  const { routes, authentication } = parts
  let request: Request | undefined
  try {
    request = readRequest(arrival, parts)

    // `ctx.ask` has the user of the outer request; a wire's call logs in by headers.
    trace?.enter('auth')
    const inner = context instanceof InnerClient ? (context as InnerClient<Principal>) : undefined
    const principal =
      inner === undefined || inner.logsIn ? authentication && (yield* wait(authentication.authenticate(request))) : inner.principal
    if (principal !== undefined && record !== undefined) record.user = principal.claims.sub

    trace?.enter('resolve')
    if (request.readOnly) refuseWrite(request, parts)
    const admitted = { arrival, request, principal, end }
    const route = routes?.match(request.method, request.segments, inner?.passed)
    if (route !== undefined) return yield* wait(answerRoute(route, admitted, parts))

    // A body may add names to an open resource.
    const known = resolveRequest(admitted, parts, parts.served)
    const growth = request.body !== undefined && known.services.model.isOpen ? growModel(known, parts) : undefined
    const resolved = growth === undefined ? known : resolveRequest(admitted, parts, growth.served)

    const { writing } = resolved.services
    if (writing.writer === undefined && WRITE_METHODS.includes(request.method)) yield* wait(writing.load())

    const answering = answerResolved(resolved, parts)
    // On SQLite, most answers are no promises.
    const answer = answering instanceof Promise ? yield* wait(answering) : answering
    if (answer.status < 400) growth?.adopt()
    return finishAnswer(answer, 'answer', { method: request.method, path, context, request }, parts)
  } catch (error) {
    // Only a wrong call of `handle` is thrown: a hook's wrong call is a fault of the server.
    if (request === undefined && isMisuse(error)) throw error
    end.throwIfReached()
    return answerFailure(error, { ...arrival, accept: readHeader(context, 'accept'), request }, parts)
  }
}

function answerResolved(resolved: ResolvedRequest, parts: StageParts): Awaitable<RestResponse> {
  const { request, target, parameters } = resolved
  const bulk = Array.isArray(request.body) && request.method === 'POST' ? findListedResource(target) : undefined
  if (bulk !== undefined) return answerBulk(resolved, bulk, parts)
  if (target.kind === 'collection' && changesMany(request.method, target)) return answerMany(resolved, parts)
  return parameters.upsert === undefined ? answerOne(resolved, parts) : answerUpsert(resolved, parts)
}

interface AdmittedRequest {
  readonly arrival: Arrival
  readonly request: Request
  readonly principal: Principal | undefined
  readonly end: RequestAbort
}

/** Of routes, `envelope` forms the answers of log-in alone. */
async function answerRoute(match: RouteMatch, admitted: AdmittedRequest, parts: StageParts): Promise<RestResponse> {
  const { arrival, request, principal, end } = admitted
  const { engine, fork, options, served, authentication } = parts
  const { method, segments } = request
  const version = segments[0] ?? options.versions[0] ?? NO_VERSION
  const plain = request.body instanceof FormBody ? withBody(request, request.body.plain(), arrival) : request
  arrival.trace?.enter('handler')
  const { transaction } = served.get(version) ?? served.values().next().value!
  const origin = { request: plain, principal, version, end, engine, fork, passed: passedBy(arrival), logsIn: authentication !== undefined }
  const answer = await runRoute(match, origin, { versions: options.versions, transaction: (work, place) => transaction(work, end, place) })
  const kind = authentication?.answersAt(method, segments) === true ? 'answer' : 'route'
  return finishAnswer(answer, kind, { method, path: arrival.path, context: arrival.context, request }, parts)
}

function passedBy({ context }: Arrival): readonly object[] | undefined {
  return context instanceof InnerClient ? context.passed : undefined
}

interface ResolvedRequest extends AdmittedRequest, Pick<Operation, 'target' | 'allowed'> {
  readonly version: string
  readonly services: Services
  readonly parameters: Parameters
  readonly actions: readonly ResourceAction[]
}

const NO_METHODS: readonly string[] = Object.freeze([])

function resolveRequest(admitted: AdmittedRequest, parts: StageParts, served: ReadonlyMap<string, Services>): ResolvedRequest {
  const { arrival, principal, end } = admitted
  const { method, segments } = admitted.request
  const version = findVersion(admitted.request, parts.options.versions, parts.model)
  const request = method === 'QUERY' ? readQuery(admitted.request, arrival) : admitted.request
  const services = served.get(version)!
  const routeMethods = parts.routes?.listMethods(segments, passedBy(arrival)) ?? NO_METHODS
  const target = (routeMethods.length === 0 ? resolvePath : resolveBesideRoutes)(request, version, services.model, services.lookUp)
  arrival.record?.resolved(target, services.model)
  const allowed = checkMethod(method, target, routeMethods, request.query.pairs.length > 0)
  const given =
    request.query.pairs.length === 0 ? NO_PARAMETERS : readParameters(request, target, services.vocabulary, parts.options.limits)
  const completed = services.defaults.size === 0 ? given : withDefaults(given, method, target, services.defaults)
  const parameters = arrival.context instanceof WireCall ? showLinks(completed) : completed
  const typed = request.body === undefined ? request : readBody(request, target, arrival, parts)
  const actions = findActions(method, target, typed.body)
  return { arrival, request: typed, principal, end, version, services, target, allowed, parameters, actions }
}

/** Keeps one object for each query: the plan cache compares objects. */
const shownToWires = new WeakMap<Parameters, Parameters>()

/** By default, a wire gets IDs of to-one relations, and no lists. */
function showLinks(parameters: Parameters): Parameters {
  let shown = shownToWires.get(parameters)
  const { depth = 'links', expand = [] } = parameters
  if (shown === undefined) shownToWires.set(parameters, (shown = { ...parameters, depth, expand }))
  return shown
}

/** Types the fields of a form. Takes the record out of a body wrapped like answers (`envelope.record`). */
function readBody(request: Request, target: Target, arrival: Arrival, { options: { envelope } }: StageParts): Request {
  const { body, method } = request
  const template = arrival.context instanceof InnerClient || !TAKES_BODY.has(method) ? undefined : envelope?.record
  const resource = template === undefined ? undefined : findBodyResource(method, target)
  const meant = resource === undefined ? body : unwrapBody(body, resource, template!)
  if (meant instanceof FormBody) return withBody(request, typeForm(meant, method, target), arrival)
  return meant === body ? request : replaceBody(request, meant)
}

function withBody(request: Request, body: unknown, { record }: Arrival): Request {
  record?.keep(body)
  return replaceBody(request, body)
}

/** Other requests see the new names once this request has succeeded. */
function growModel({ request: { method, body }, target }: ResolvedRequest, parts: StageParts): Growth | undefined {
  const more = WRITE_METHODS.includes(method) && TAKES_BODY.has(method) ? findNewNames(body, target) : undefined
  return more && parts.grow(more)
}

const FROM_OUTSIDE = { passed: undefined, isEngine: false, conditions: undefined } as const

/** @param request default: the whole request; of an array, a request with one member as the body */
function answerOne(resolved: ResolvedRequest, parts: StageParts, request = resolved.request): Awaitable<RestResponse> {
  const operation = findOperation(resolved, request, parts)
  if (operation.view.visibility !== EVERYTHING) return applyRules(operation, resolved)
  resolved.arrival.trace?.enter('render')
  return operate(operation, resolved.services)
}

function findOperation(resolved: ResolvedRequest, request: Request, parts: StageParts): Operation {
  const { arrival, principal, end, version, services, target, allowed, parameters, actions } = resolved
  const { trace, record, tally = record } = arrival
  const { engine, fork, authentication } = parts
  const { passed, isEngine, conditions } = arrival.context instanceof InnerClient ? arrival.context : FROM_OUTSIDE
  const [about] = actions
  const logsIn = authentication !== undefined
  const subject = (): RequestFacts => describeTarget(target, about)
  const ctx = new RequestContext({ engine, fork, request, version, principal, logsIn, end, passed, about: subject })
  trace?.enter('access')
  const visibility = findVisibility(services.rules, parameters, ctx, isEngine, conditions !== undefined)
  return { request, target, allowed, about, ctx, view: { parameters, visibility, ctx, end, trace, tally } }
}

function applyRules(
  operation: Operation,
  { arrival, services, actions }: ResolvedRequest,
  work: typeof operate = operate,
): Awaitable<RestResponse> {
  const { target, ctx, view } = operation
  const { visibility, parameters } = view
  const authorized = authorizeRequest(target, actions, visibility, ctx)
  const conditions = arrival.context instanceof InnerClient ? arrival.context.conditions : undefined
  const narrowed: Awaitable<unknown> =
    parameters.own.length === 0 && conditions === undefined
      ? authorized
      : chain(authorized, () => narrowVisibility(visibility, findRoot(target), parameters, { ...services, conditions }))
  return chain(narrowed, () => {
    view.trace?.enter('render')
    return work(operation, services)
  })
}

/** Each record has a request of its own, all in one transaction. */
function answerMany(resolved: ResolvedRequest, parts: StageParts): Awaitable<RestResponse> {
  const { request, services, end } = resolved
  const { method, body } = request
  const { resource } = resolved.target as Target & { kind: 'collection' }
  if (method === 'PATCH' && !isObject(body)) throw notAnObject(body, 'of the attributes to change')
  const operation = findOperation(resolved, request, parts)
  const { view } = operation
  const change = async (): Promise<RestResponse> => {
    await services.hashes?.prepare(body, resource, end)
    const { changeMany } = await import('./change-many.ts')
    const records = await changeMany({
      resource,
      view,
      reader: services.reader,
      parameter: findParameterName(services.vocabulary, 'limit'),
      removes: method === 'DELETE',
      transaction: (work, until) => writeTogether(services, resource, work, until),
      answer: (key, id) => answerRecord(resolved, parts, { key, id }),
    })
    if ('status' in records) return records
    return respondDeletedList(resource, records as readonly JsonRecord[], formatIso(services.clock.time()))
  }
  return view.visibility === EVERYTHING ? change() : applyRules(operation, resolved, change)
}

async function answerBulk(resolved: ResolvedRequest, resource: Resource, parts: StageParts): Promise<RestResponse> {
  const { request, services, end } = resolved
  const { limits } = parts.options
  const bodies = request.body as readonly unknown[]
  const upsert = await startUpsert(resolved, parts)
  const answer = (body: unknown): Awaitable<RestResponse> =>
    upsert === undefined ? answerOne(resolved, parts, replaceBody(request, body)) : upsert.write(body)
  const together = (): Awaitable<readonly unknown[] | undefined> =>
    upsert === undefined ? createTogether(resolved, resource, parts) : undefined
  const begin = <T>(work: () => Promise<T>): Promise<T> => {
    upsert?.begin()
    return work()
  }
  const transaction = <T>(work: () => Promise<T>, until?: RequestAbort): Promise<T> =>
    writeTogether(services, resource, () => begin(work), until)
  if (bodies.length <= limits.maxBulk) await services.hashes?.prepare(bodies, resource, end)
  const { createEach } = await import('./bulk.ts')
  const create = (): Promise<readonly unknown[] | RestResponse> => createEach(bodies, { limits, end, transaction, together, answer })
  const records = await (upsert === undefined ? create() : upsert.retry(create))
  if ('status' in records) return records
  const status = upsert?.creates === false ? 200 : services.createdStatus
  return respondCreatedAll(resource, records, status, formatIso(services.clock.time()))
}

async function startUpsert(resolved: ResolvedRequest, parts: StageParts): Promise<Upsert | undefined> {
  const { request, services, parameters, target } = resolved
  const { upsert: names } = parameters
  if (names === undefined || target.kind !== 'collection') return undefined
  const { resource } = target
  const { view } = findOperation(resolved, request, parts)
  const { Upsert } = await import('./upsert.ts')
  const upsert = new Upsert({
    resource,
    names,
    view,
    reader: services.reader,
    create: body => answerOne(resolved, parts, replaceBody(request, body)),
    change: (key, body) => answerRecord(resolved, parts, { key, id: idToSegment(key, resource) }, replaceBody(request, body, 'PATCH')),
  })
  await upsert.checkNames()
  return upsert
}

async function answerUpsert(resolved: ResolvedRequest, parts: StageParts): Promise<RestResponse> {
  const { request, services, end, target } = resolved
  const { resource } = target as Target & { kind: 'collection' }
  const upsert = (await startUpsert(resolved, parts))!
  await services.hashes?.prepare(request.body, resource, end)
  return upsert.retry(() => upsert.writeAlone(request.body, work => writeTogether(services, resource, work, end)))
}

/** As a request for this record alone. */
function answerRecord(
  resolved: ResolvedRequest,
  parts: StageParts,
  { key, id }: { readonly key: KeyValues; readonly id: string },
  request = resolved.request,
): Awaitable<RestResponse> {
  const { resource } = resolved.target as Target & { kind: 'collection' }
  const target: Target = { kind: 'record', resource, key, id }
  const { pairs, depth, attributes, expand, lists, flags } = resolved.parameters
  const parameters = { ...NO_PARAMETERS, pairs, depth, attributes, expand, lists, flags }
  return answerOne({ ...resolved, target, parameters, actions: findActions(request.method, target) }, parts, request)
}

/** @returns `undefined` where code of the application sees each record */
function createTogether(resolved: ResolvedRequest, resource: Resource, parts: StageParts): Awaitable<readonly unknown[] | undefined> {
  const { request, target, services } = resolved
  if (target.kind !== 'collection' || resource.rules.wrappers.create !== undefined) return undefined
  const { view } = findOperation(resolved, request, parts)
  if (view.visibility !== EVERYTHING) return undefined
  const bodies = request.body as readonly unknown[]
  return chain(services.writing.writer!.createAll(resource, bodies, view), all => all?.map(({ record }) => record))
}

export function readRequest(arrival: Arrival, { options, queries }: Pick<StageParts, 'options' | 'queries'>): Request {
  const { context, record } = arrival
  const readOnly = options.readOnly || (context instanceof LazyClient && context.readOnly)
  const base = context instanceof LazyClient ? context.base : undefined
  const request = parse(arrival, base === undefined ? options : { base, versions: options.versions }, readOnly, queries)
  record?.parsed(request)
  if (request.body !== undefined && TAKES_BODY.has(request.method)) {
    // Types of form fields follow from the target, not yet known.
    if (request.body instanceof FormBody) return request
    assertJson(request.body, 'handle: body')
    record?.keep(request.body)
  }
  return request
}

/** The body of a QUERY holds parameters. */
function readQuery(request: Request, { record }: Arrival): Request {
  const withParameters = takeQuery(request)
  if (record === undefined) return withParameters
  record.parsed(withParameters)
  record.body = undefined
  return withParameters
}

/** Log-in, log-out and refresh change no data, and stay possible. */
function refuseWrite(request: Request, parts: StageParts): void {
  const isSession = parts.authentication?.isSession('POST', request.segments) === true
  if (WRITE_METHODS.includes(request.method) && !isSession) throw readOnlyError(request.method, listMethods(request, parts))
}

/** @returns `undefined` where a look-up fails: a write is refused all the same */
function listMethods(request: Request, { options, model, served, routes }: StageParts): readonly string[] | undefined {
  try {
    const version = findVersion(request, options.versions, model)
    const services = served.get(version)!
    const routeMethods = routes?.listMethods(request.segments) ?? NO_METHODS
    const target = (routeMethods.length === 0 ? resolvePath : resolveBesideRoutes)(request, version, services.model, services.lookUp)
    return [...new Set([...routeMethods, ...allowedMethods(target)])]
  } catch {
    return undefined
  }
}
