/** Does what a method means for a target, inside the application's wrapper. Takes a resolved and checked request. */
import type { EntityManager } from '@mikro-orm/core'
import type { ResourceAction } from '../../records/access/actions.ts'
import { chain, type Awaitable } from '../../foundation/async/awaitable.ts'
import { bindSurroundings } from '../../foundation/async/surroundings.ts'
import type { CustomParameter, ModelRules } from '../../records/access/access-rules.ts'
import type { ReadingConnection, WrittenPlace } from '../../records/database/connection.ts'
import type { Clock } from '../../foundation/async/clock.ts'
import type { Wrapper } from '../../model/hook-context.ts'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import { READS, type HttpMethod } from '../../foundation/http/http-methods.ts'
import { formatIso } from '../../foundation/values/iso-time.ts'
import { hasRowKey, keyToSegment } from '../../model/key.ts'
import { formatRoot } from '../../records/request/address.ts'
import { refuseStart } from '../../records/request/key-start.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { Model, Resource, ToOneOfAttribute } from '../../model/model.ts'
import { readHeader, readHeaders, type Request } from '../../records/request/parse-request.ts'
import type { Vocabulary } from '../../records/request/query-string.ts'
import type { Reader, View } from '../../records/read/reader.ts'
import type { RequestContext } from '../../records/request/request-context.ts'
import type { DefaultsOfLists } from '../../records/access/list-defaults.ts'
import { notFound, refuseHidden, type ResourceLookup, type Target } from '../../records/access/resolve-path.ts'
import { applyCondition, type EntityTags } from './conditional.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { findListFormat, type ListFormat } from './list-format.ts'
import { findNewPath, formatSegment, locate, locateShown } from './locate.ts'
import {
  findPageRange,
  respondCreated,
  respondDeleted,
  respondDeletedList,
  respondDescription,
  respondIndex,
  respondList,
  respondOptions,
  respondRecord,
  respondValue,
} from './respond.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { buildResponse } from '../../records/request/custom-routes.ts'
import { listShownNames } from '../../records/plan/plan.ts'
import { retryWithRules } from '../../records/plan/visibility.ts'
import type { PasswordHashes } from '../../records/validate/password-hashes.ts'
import type { LoadedWriter, WriterLoader } from '../../records/write/load-writer.ts'
import type { RecordAddress, Written } from '../../records/validate/written.ts'

export interface Services {
  readonly connection: ReadingConnection
  readonly reader: Reader
  readonly writing: WriterLoader
  readonly hashes: PasswordHashes | undefined
  readonly model: Model
  readonly rules: ModelRules
  readonly lookUp: ResourceLookup
  readonly vocabulary: Vocabulary
  readonly customParameters: ReadonlyMap<string, CustomParameter>
  readonly defaults: DefaultsOfLists
  readonly clock: Clock
  readonly limits: Limits
  readonly versions: readonly string[]
  readonly createdStatus: number
  readonly etag: EntityTags
  readonly describe: (base: string, readOnly: boolean) => Promise<object>
  /** Repeatable work may run again after a conflict, and then takes turns with other work of its `place`. */
  readonly transaction: <T>(
    work: (em: EntityManager) => Promise<T>,
    end?: RequestAbort,
    place?: WrittenPlace,
    isRepeatable?: boolean,
  ) => Promise<T>
}

interface WritingServices extends Services {
  readonly writing: WriterLoader & LoadedWriter
}

export interface Operation {
  readonly request: Request
  readonly target: Target
  /** `undefined`: the request is about no resource. */
  readonly about: ResourceAction | undefined
  readonly allowed: readonly string[]
  readonly view: View
  readonly ctx: RequestContext
}

type OperationOn<Kind extends Target['kind']> = Operation & { readonly target: Extract<Target, { readonly kind: Kind }> }

type OperationWork<Kind extends Target['kind'] = Target['kind']> = (
  operation: OperationOn<Kind>,
  services: WritingServices,
) => Awaitable<RestResponse>

/** Answers to HEAD have a body, too, which `finishAnswer` takes away. */
export function operate(operation: Operation, services: Services): Awaitable<RestResponse> {
  const { request, about } = operation
  if (request.method === 'OPTIONS') return respondOptions(operation.allowed)
  if (about?.action === 'list') {
    const accept = readHeader(request.sender, 'accept')
    const format = accept === undefined ? undefined : findListFormat(accept)
    if (format !== undefined) return streamOperation(operation, services, about.resource, format)
  }
  const response = perform(operation, services)
  const { etag } = services
  if (!READS.has(request.method) || (etag === 'version' && readHeader(request.sender, 'if-none-match') === undefined)) return response
  return chain(response, done => applyCondition(done, operation, etag))
}

function perform(operation: Operation, given: Services): Awaitable<RestResponse> {
  const services = given as WritingServices
  const { target, about, request } = operation
  const work = OPERATIONS[target.kind][VERBS[request.method as keyof typeof VERBS]] as OperationWork
  // Setting a mark is no action on the record.
  const wrapper = target.kind === 'mark' ? undefined : about?.resource.rules.wrappers[about.action]
  return wrapper === undefined ? work(operation, services) : wrapped(wrapper, work, operation, services)
}

const VERBS = {
  GET: 'read',
  HEAD: 'read',
  QUERY: 'read',
  POST: 'add',
  PUT: 'change',
  PATCH: 'change',
  DELETE: 'remove',
} as const satisfies Record<Exclude<HttpMethod, 'OPTIONS'>, string>

type Verb = (typeof VERBS)[keyof typeof VERBS]

const OPERATIONS: { readonly [Kind in Target['kind']]: Readonly<Partial<Record<Verb, OperationWork<Kind>>>> } = {
  own: {},
  index: { read: getIndex },
  collection: { read: getPage, add: createRecord },
  record: { read: getRecord, change: update, remove: removeRecord },
  attribute: { read: getAttribute, add: addToList, change: update, remove: removeRelated },
  member: {
    read: async ({ target, view }, services) => (await import('./member.ts')).getMember(target, view, services),
    remove: async ({ target, view }, services) => (await import('./member.ts')).removeMember(target, view, services),
  },
  mark: {
    add: async ({ target, view }, services) => (await import('./set-mark.ts')).setMark(target, true, view, services),
    remove: async ({ target, view }, services) => (await import('./set-mark.ts')).setMark(target, false, view, services),
  },
}

/** A wrapper of the application runs around each page. */
async function streamOperation(operation: Operation, services: Services, resource: Resource, format: ListFormat): Promise<RestResponse> {
  const { target, view } = operation
  const { limits, vocabulary, defaults } = services
  const { visibility } = view
  const { start } = view.parameters
  if (start !== undefined) throw refuseStart(start, 'works for JSON alone, and this form has all pages')
  // `limit` among the defaults of a resource is not for lists below a record.
  const standard = target.kind === 'collection' ? defaults.get(resource)?.limit : undefined
  // A request without `page` gets all pages; `page=2` gets one.
  const parameters =
    view.parameters.page === undefined
      ? view.parameters
      : { ...view.parameters, ...findPageRange(view.parameters, limits, standard), page: undefined }
  const { streamList } = await import('./stream-list.ts')
  return streamList({
    format,
    view: { ...view, parameters },
    pageSize: limits.maxLimit,
    answer: page => perform({ ...operation, view: page }, services),
    columns: () => retryWithRules(visibility, () => listShownNames(resource, parameters, { limits, visibility, vocabulary })),
  })
}

/** Around a write, the wrapper is part of the transaction: its failure rolls back. */
async function wrapped(wrapper: Wrapper, work: OperationWork, operation: Operation, services: WritingServices): Promise<RestResponse> {
  const { about, ctx, request, view } = operation
  const { trace } = view
  const next = async (): Promise<RestResponse> => {
    trace?.enter('render')
    const response = await work(operation, services)
    trace?.enter('handler')
    return response
  }
  const run = async (): Promise<RestResponse> => {
    trace?.enter('handler')
    const response = buildResponse(await wrapper(ctx, bindSurroundings(next)), `the ${ctx.action} handler of ${ctx.resource}`)
    trace?.enter('render')
    return response
  }
  if (READS.has(request.method)) return run()
  await prepareHashes(operation, services)
  const begin = ctx.startAgain()
  const attempt = async (em: EntityManager): Promise<RestResponse> => {
    begin()
    ctx.enter(em)
    const response = await run()
    view.end?.throwIfReached()
    return response
  }
  const place = about?.resource.rules.repeatable === true ? { resource: about.resource.plural, id: undefined } : undefined
  return services.transaction(attempt, view.end, place)
}

/** After a conflict, the transaction begins anew, unless the resource has wrappers without `repeatable`. */
export function writeTogether<T>(
  { transaction }: Pick<Services, 'transaction'>,
  { plural, rules }: Resource,
  work: () => Promise<T>,
  end: RequestAbort | undefined,
): Promise<T> {
  const isRepeatable = rules.repeatable ? undefined : Object.keys(rules.wrappers).length === 0
  return transaction(work, end, { resource: plural, id: undefined }, isRepeatable)
}

/** Hashes passwords before the wrapper's transaction, which would hold the lock. */
function prepareHashes({ target, ctx, view }: Operation, { hashes }: Services): Promise<void> | undefined {
  if (hashes === undefined || view.end === undefined) return undefined
  if (target.kind === 'attribute') return hashes.prepare({ [target.attribute.name]: ctx.body }, target.resource, view.end)
  return target.kind === 'collection' || target.kind === 'record' ? hashes.prepare(ctx.body, target.resource, view.end) : undefined
}

function getIndex({ request, target, ctx }: OperationOn<'index'>, services: Services): Awaitable<RestResponse> {
  if (target.isDescription) return services.describe(request.base, request.readOnly).then(respondDescription)
  return respondIndex(services.model, services.versions, formatRoot(request.base, ctx.version), formatIso(services.clock.time()))
}

function getPage({ request, target, view }: OperationOn<'collection'>, services: Services): Awaitable<RestResponse> {
  const { reader, limits, vocabulary, defaults } = services
  const { parameters } = view
  const { resource } = target
  const range = findPageRange(parameters, limits, defaults.get(resource)?.limit)
  return chain(reader.page(resource, range, view), page =>
    respondList({ resource, page, range, parameters, vocabulary, path: request.path }, formatIso(services.clock.time())),
  )
}

function getRecord({ target, view }: OperationOn<'record'>, services: Services): Awaitable<RestResponse> {
  return chain(services.reader.record(target.resource, target.key, view), record => {
    if (record === undefined) throw notFound(target.resource, target.id)
    return respondRecord(target.resource, record, formatIso(services.clock.time()))
  })
}

function getAttribute({ request, target, view }: OperationOn<'attribute'>, services: Services): Awaitable<RestResponse> {
  const { reader, limits, vocabulary } = services
  const { parameters } = view
  const { resource, key, attribute } = target
  if (attribute.kind === 'toOneOf') return getPolymorphic(target, attribute, view, services)
  // `siteIds` is hidden where `site` is.
  refuseHidden(resource, resource.byName.get(attribute.name) ?? attribute, view.visibility)
  if (attribute.kind === 'toMany') {
    const range = findPageRange(parameters, limits)
    return chain(reader.relatedPage(resource, key, attribute, range, view), page => {
      if (page === undefined) throw notFound(resource, target.id)
      return respondList(
        { resource: attribute.target, page, range, parameters, vocabulary, path: request.path },
        formatIso(services.clock.time()),
      )
    })
  }
  if (attribute.kind === 'toOne') {
    return chain(reader.relatedRecord(resource, key, attribute, view), record => {
      if (record === undefined) throw notFound(resource, target.id)
      return respondRecord(attribute.target, record, formatIso(services.clock.time()))
    })
  }
  return chain(reader.value(resource, key, attribute, view), holder => {
    if (holder === undefined) throw notFound(resource, target.id)
    return respondValue(resource, attribute, holder[attribute.name] ?? null, formatIso(services.clock.time()))
  })
}

async function getPolymorphic(
  { resource, key, id }: Target & { kind: 'attribute' },
  attribute: ToOneOfAttribute,
  view: View,
  services: Services,
): Promise<RestResponse> {
  const { reader } = services
  await retryWithRules(view.visibility, () => refuseHidden(resource, attribute, view.visibility))
  const linked = await reader.linkedRecord(resource, key, attribute, view)
  if (linked === undefined) throw notFound(resource, id)
  if (linked === null) return respondValue(resource, attribute, null, formatIso(services.clock.time()))
  return respondRecord(linked.branch.target, linked.record ?? null, formatIso(services.clock.time()))
}

function createRecord({ request, target, view, ctx }: OperationOn<'collection'>, services: WritingServices): Awaitable<RestResponse> {
  return chain(services.writing.writer.create(target.resource, ctx.body, view), written => answerCreated(written, request.path, services))
}

/** @param path of the collection, as the client sees the path */
function answerCreated(written: Written, path: string, services: Services): Awaitable<RestResponse> {
  const { resource, key, record } = written
  const { connection, createdStatus, clock } = services
  if (resource.shownKey === undefined)
    return respondCreated(resource, record, `${path}/${keyToSegment(key, resource.key)}`, createdStatus, formatIso(clock.time()))
  return chain(formatSegment(written, connection), segment =>
    respondCreated(resource, record, `${path}/${segment}`, createdStatus, formatIso(clock.time())),
  )
}

/** An ID as the body links a record, an object creates one. */
function addToList(operation: OperationOn<'attribute'>, services: WritingServices): Awaitable<RestResponse> {
  const { request, target, view, ctx } = operation
  const { writer } = services.writing
  if (target.attribute.kind !== 'toMany') throw new Error('add: not a list.')
  const list = target.attribute
  // `findActions` takes a link for an update of the owner.
  return chain(hasRowKey(target) ? target : locateShown(target, view, services), owner =>
    ctx.action === 'update'
      ? answerChange(writer.updateAttribute(owner, list, { connect: [ctx.body] }, view), operation, services)
      : chain(writer.append(owner, list, ctx.body, view), written =>
          answerCreated(written, `${formatRoot(request.base, ctx.version)}/${written.resource.plural}`, services),
        ),
  )
}

function update(operation: OperationOn<'record' | 'attribute'>, services: WritingServices): Awaitable<RestResponse> {
  const { target, view } = operation
  const written = hasRowKey(target)
    ? change(operation, target, services)
    : chain(locateShown(target, view, services), address => change(operation, address, services))
  return answerChange(written, operation, services)
}

const PATCH_TYPE = /^application\/(merge|json)-patch\+json\s*(?:;|$)/i

function change(operation: OperationOn<'record' | 'attribute'>, address: RecordAddress, services: WritingServices): Awaitable<Written> {
  const { request, target, view, ctx } = operation
  const format =
    request.method === 'PATCH' ? PATCH_TYPE.exec(readHeaders(request.sender)['content-type'] ?? '')?.[1]!.toLowerCase() : undefined
  if (format === 'json' || (format === 'merge' && isObject(ctx.body))) return changeByPatch(operation, address, services, format)
  if (target.kind === 'record') return services.writing.writer.update(address, ctx.body, view)
  return services.writing.writer.updateAttribute(address, target.attribute, ctx.body, view)
}

function changeByPatch(
  { target, view, ctx }: OperationOn<'record' | 'attribute'>,
  address: RecordAddress,
  { reader, writing: { writer }, limits, transaction }: WritingServices,
  format: 'json' | 'merge',
): Awaitable<Written> {
  const { body } = ctx
  const attribute = target.kind === 'attribute' ? target.attribute : undefined
  const patch = async (): Promise<Written> => {
    if (format === 'json') {
      const { applyJsonPatch } = await import('../patches/json-patch.ts')
      return writer.update(address, await applyJsonPatch(body, address, attribute?.name, { reader, limits, view }), view)
    }
    const { mergeBody } = await import('../patches/merge-patch.ts')
    if (attribute === undefined) return writer.update(address, await mergeBody(body as JsonObject, address, reader), view)
    const merged = await mergeBody({ [attribute.name]: body }, address, reader)
    return writer.updateAttribute(address, attribute, merged[attribute.name], view)
  }
  // Of two requests that append to one list, the later runs again, and reads the earlier's list.
  return transaction(patch, view.end, ctx, writer.isRepeatable(view))
}

function answerChange(
  written: Awaitable<Written>,
  { request, target }: OperationOn<'record' | 'attribute'>,
  services: Services,
): Awaitable<RestResponse> {
  return chain(written, result => {
    const { resource, record, removed } = result
    if (removed === true) return respondDeleted(resource, record, formatIso(services.clock.time()))
    const response = respondRecord(resource, record, formatIso(services.clock.time()))
    if (hasRowKey(target)) return response
    return chain(findNewPath(target.key, request, result, services.connection), path =>
      path === undefined ? response : { ...response, headers: { ...response.headers, location: path } },
    )
  })
}

function removeRecord({ target, view }: OperationOn<'record'>, services: WritingServices): Awaitable<RestResponse> {
  const { connection, writing } = services
  const deleted = chain(hasRowKey(target) ? target : locate(target, connection), address => writing.writer.delete(address, view))
  return chain(deleted, ({ resource, record }) => respondDeleted(resource, record, formatIso(services.clock.time())))
}

async function removeRelated({ target, view }: OperationOn<'attribute'>, services: WritingServices): Promise<RestResponse> {
  const { connection, writing } = services
  const { writer } = writing
  const { resource: owner, attribute } = target
  await retryWithRules(view.visibility, () => refuseHidden(owner, attribute, view.visibility))
  const address = hasRowKey(target) ? target : await locate(target, connection)
  if (attribute.kind === 'toMany') {
    return respondDeletedList(attribute.target, await writer.deleteRelated(address, attribute, view), formatIso(services.clock.time()))
  }
  if (attribute.kind !== 'toOne' && attribute.kind !== 'toOneOf') throw new Error('remove: not a relation.')
  const { resource, record } = await writer.deleteLinked(address, attribute, view)
  return respondDeleted(resource, record, formatIso(services.clock.time()))
}
