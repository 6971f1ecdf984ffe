/** Read page: reads a page, and new records outside the page. */
import { look, Refusal } from '../state/ask.ts'
import { findResource, pathOf, type OutlinedResource } from '../state/outline.ts'
import type { AnyRecord } from '../state/records.ts'
import { readListQuery, type ShownQuery } from './list-query.ts'
import { parameterNames } from './parameter-names.ts'
import { filterName, literal } from './search-records.ts'

export interface ShownPage {
  readonly records: readonly AnyRecord[]
  readonly count: number
  /** The server may allow fewer records than requested. */
  readonly limit: number
}

/** If the caller may not read linked records (403), reads IDs. */
export async function readPage(path: string, { asked, plain }: ShownQuery, signal: AbortSignal): Promise<ShownPage> {
  try {
    return await read(`${path}?${asked}`, signal)
  } catch (error) {
    if (error instanceof Refusal && error.answer.status === 403 && asked !== plain) return read(`${path}?${plain}`, signal)
    throw error
  }
}

/** Returns nothing for a composite key, because no filter can name the key. */
export async function readFresh(resource: OutlinedResource, ids: readonly string[], signal: AbortSignal): Promise<readonly AnyRecord[]> {
  const [key, ...others] = resource.key
  const isFilterable = resource.attributes.some(({ name, filterable }) => name === key && filterable)
  if (ids.length === 0 || key === undefined || others.length > 0 || !isFilterable) return []
  const query = `${filterName(key)}=${ids.map(literal).join(',')}`
  return (await readPage(pathOf(resource.name), readListQuery(query, resource, parameterNames(), findResource), signal)).records
}

async function read(request: string, signal: AbortSignal): Promise<ShownPage> {
  const body = (await look(request, signal)).body as Readonly<Record<string, unknown>> & {
    readonly resource: string
    readonly count: number
    readonly limit: number
  }
  return { records: body[body.resource] as readonly AnyRecord[], count: body.count, limit: body.limit }
}
