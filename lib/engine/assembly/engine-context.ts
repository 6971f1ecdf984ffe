/** Engine context: the context of a request without a caller, for records that the engine itself reads and generates. */
import type { EntityManager } from '@mikro-orm/core'
import { formatRoot, type Address } from '../../records/request/address.ts'
import type { EngineHandle } from '../../model/hook-context.ts'
import { parse } from '../../records/request/parse-request.ts'
import { QueryCache } from '../../records/request/parsed-query.ts'
import { RequestContext } from '../../records/request/request-context.ts'
import { NO_CONTEXT } from '../pipeline/handle.ts'

export interface ContextOrigin {
  readonly engine: EngineHandle
  /** Where the engine answers. */
  readonly address: Address
  /** Makes an entity manager for the request. */
  readonly fork: () => EntityManager
  readonly logsIn: boolean
}

/** For a GET of a version's index. */
export function createIndexContext(origin: ContextOrigin, version: string): RequestContext {
  return createContext(origin, 'GET', version, undefined)
}

/**
 * For a POST that creates a record.
 *
 * @param resource its plural name
 */
export function createCreationContext(origin: ContextOrigin, version: string, resource: string): RequestContext {
  return createContext(origin, 'POST', version, resource)
}

function createContext(
  { address, ...origin }: ContextOrigin,
  method: 'GET' | 'POST',
  version: string,
  resource: string | undefined,
): RequestContext {
  const root = formatRoot(address.base, version)
  const path = resource === undefined ? root || '/' : `${root}/${resource}`
  const request = parse({ method, path, query: undefined, body: undefined, context: NO_CONTEXT }, address, false, new QueryCache())
  const action = method === 'POST' ? 'create' : undefined
  return new RequestContext({
    ...origin,
    request,
    version,
    principal: undefined,
    about: () => ({ action, resource, id: undefined, attribute: undefined }),
  })
}
