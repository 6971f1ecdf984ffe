/**
 * Operate: what each method does to each kind of target: which reading or writing it is, and which envelope answers it.
 * Takes a resolved and checked request; gives the response.
 */
import type { Clock } from './clock.ts'
import { isoOf } from './iso-time.ts'
import { keyToSegment } from './key.ts'
import type { Limits } from './limits.ts'
import type { Model } from './model.ts'
import type { Request } from './parse.ts'
import type { Parameters } from './parse-query.ts'
import type { Reader } from './read.ts'
import { allowedMethods, notFound, refuseHidden } from './resolve.ts'
import type { Target } from './resolve.ts'
import {
  respondCreated,
  respondDeleted,
  respondDeletedList,
  respondIndex,
  respondList,
  respondOptions,
  respondRecord,
  respondValue,
  windowOf,
  withoutBody,
} from './respond.ts'
import type { RestResponse } from './respond.ts'
import type { Writer } from './write.ts'

/** What operations work with. */
export interface Services {
  readonly reader: Reader
  readonly writer: Writer
  readonly model: Model
  readonly clock: Clock
  readonly limits: Limits
  readonly versions: readonly string[]
  readonly createdStatus: number
}

export async function operate(
  request: Request,
  target: Target,
  parameters: Parameters,
  services: Services,
  signal: AbortSignal | undefined,
): Promise<RestResponse> {
  switch (request.method) {
    case 'GET':
      return get(request, target, parameters, services, signal)
    case 'HEAD':
      return withoutBody(await get(request, target, parameters, services, signal))
    case 'POST':
      return post(request, target, parameters, services, signal)
    case 'PUT':
    case 'PATCH':
      return put(request, target, parameters, services, signal)
    case 'DELETE':
      return remove(target, parameters, services, signal)
    default:
      return respondOptions(allowedMethods(target))
  }
}

function timestampOf(services: Services): string {
  return isoOf(services.clock.now().getTime())
}

async function get(
  request: Request,
  target: Target,
  parameters: Parameters,
  services: Services,
  signal: AbortSignal | undefined,
): Promise<RestResponse> {
  const { reader, limits } = services
  switch (target.kind) {
    case 'index':
      return respondIndex(services.model, services.versions, request.segments[0] ?? services.versions[0]!, timestampOf(services))
    case 'collection': {
      const window = windowOf(parameters, limits)
      const page = await reader.page(target.resource, parameters, window, signal)
      return respondList(target.resource, page, page.sort, window, parameters, request.path, timestampOf(services))
    }
    case 'record': {
      const record = await reader.record(target.resource, target.key, parameters, signal)
      if (record === undefined) throw notFound(target.resource, target.id)
      return respondRecord(target.resource, record, timestampOf(services))
    }
    case 'attribute': {
      const { resource, key, attribute } = target
      refuseHidden(resource, attribute)
      if (attribute.kind === 'toMany') {
        const window = windowOf(parameters, limits)
        const page = await reader.relatedPage(resource, key, attribute, parameters, window, signal)
        if (page === undefined) throw notFound(resource, target.id)
        return respondList(attribute.target, page, page.sort, window, parameters, request.path, timestampOf(services))
      }
      if (attribute.kind === 'toOne') {
        const record = await reader.relatedRecord(resource, key, attribute, parameters, signal)
        if (record === undefined) throw notFound(resource, target.id)
        return respondRecord(attribute.target, record, timestampOf(services))
      }
      const holder = await reader.value(resource, key, attribute, signal)
      if (holder === undefined) throw notFound(resource, target.id)
      return respondValue(resource, attribute, holder[attribute.name], timestampOf(services))
    }
  }
}

async function post(
  request: Request,
  target: Target,
  parameters: Parameters,
  services: Services,
  signal: AbortSignal | undefined,
): Promise<RestResponse> {
  const { writer, createdStatus } = services
  if (target.kind === 'collection') {
    const { resource, key, record } = await writer.create(target.resource, request.body, parameters, signal)
    return respondCreated(resource, record, `${target.base}/${keyToSegment(key)}`, createdStatus, timestampOf(services))
  }
  if (target.kind !== 'attribute' || target.attribute.kind !== 'toMany') throw new Error('post: not a list.')
  const { resource, key, record } = await writer.append(target, target.attribute, request.body, parameters, signal)
  const location = `/${request.segments[0]!}/${resource.plural}/${keyToSegment(key)}`
  return respondCreated(resource, record, location, createdStatus, timestampOf(services))
}

async function put(
  request: Request,
  target: Target,
  parameters: Parameters,
  services: Services,
  signal: AbortSignal | undefined,
): Promise<RestResponse> {
  const { writer } = services
  if (target.kind !== 'record' && target.kind !== 'attribute') throw new Error('put: not a record.')
  const { resource, record } =
    target.kind === 'record'
      ? await writer.update(target, request.body, parameters, signal)
      : await writer.updateAttribute(target, target.attribute, request.body, parameters, signal)
  return respondRecord(resource, record, timestampOf(services))
}

async function remove(target: Target, parameters: Parameters, services: Services, signal: AbortSignal | undefined): Promise<RestResponse> {
  const { writer } = services
  if (target.kind === 'record') {
    const { resource, record } = await writer.delete(target, parameters, signal)
    return respondDeleted(resource, record, timestampOf(services))
  }
  if (target.kind !== 'attribute') throw new Error('remove: not a record.')
  const { attribute } = target
  if (attribute.kind === 'toMany') {
    return respondDeletedList(attribute.target, await writer.deleteRelated(target, attribute, parameters, signal), timestampOf(services))
  }
  if (attribute.kind !== 'toOne') throw new Error('remove: not a relation.')
  const { resource, record } = await writer.deleteLinked(target, attribute, parameters, signal)
  return respondDeleted(resource, record, timestampOf(services))
}
