/** Answers GET and HEAD of a PostgREST table. */
import type { WireAnswer, WireApi, WireRequest } from '../../foundation/base/wire.ts'
import { formatRange, showRows, type Preferences } from './answer.ts'
import { outOfRange, type Query } from './query.ts'
import { aggregate, hasAggregates, renderRows } from './render.ts'
import { askedOf, listAll, whereOf } from './rows.ts'

export async function readTable(api: WireApi, { root }: Query, request: WireRequest, preferences: Preferences): Promise<WireAnswer> {
  const where = await whereOf(api, root)
  if (hasAggregates(root)) return readAggregates(api, root, { where, request, preferences })
  const { limit, offset, sort } = root
  const { records, count } = await listAll(api, root.resource, {
    where,
    sort,
    offset,
    ...(limit === undefined ? {} : { limit }),
    ...(await askedOf(api, root)),
  })
  const total = preferences.isCounted ? count : undefined
  if (total !== undefined && offset > 0 && offset >= total)
    throw outOfRange(`An offset of ${offset} was requested, but there are only ${total} rows.`, { 'content-range': `*/${total}` })
  const rows = await renderRows(api, root, records)
  const status = total !== undefined && rows.length < total ? 206 : 200
  return showRows(request, { status, rows, range: formatRange(offset, rows.length, total), applied: preferences.applied })
}

interface Asking {
  readonly where: object
  readonly request: WireRequest
  readonly preferences: Preferences
}

/** Groups need all rows; a count alone, none. */
async function readAggregates(api: WireApi, root: Query['root'], { where, request, preferences }: Asking): Promise<WireAnswer> {
  const { resource, items, limit, offset, sort } = root
  const isCount = items.every(item => item.kind === 'aggregate' && item.of === undefined && item.cast === undefined)
  const query = { where, sort, ...(await askedOf(api, root)) }
  const page = isCount ? await api.list(resource, { where, limit: 0, attributes: resource.key }) : await listAll(api, resource, query)
  const all = isCount
    ? [Object.fromEntries(items.map(item => [item.kind === 'aggregate' ? item.key : '', page.count]))]
    : aggregate(api, root, page.records, await renderRows(api, root, page.records))
  const rows = all.slice(offset, limit === undefined ? undefined : offset + limit)
  const total = preferences.isCounted ? all.length : undefined
  const status = total !== undefined && rows.length < total ? 206 : 200
  return showRows(request, { status, rows, range: formatRange(offset, rows.length, total), applied: preferences.applied })
}
