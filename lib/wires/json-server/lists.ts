/** Answers a list of json-server, with filters, order (`_sort`, `_order`) and pages (`_page`, `_limit`, `_start`). */
import type { WireAnswer, WireApi, WireQuery, WireRequest, WireResource } from '../../foundation/base/wire.ts'
import { ConditionReader, findPlace, type Version } from './conditions.ts'
import { askedOf, findShow, readEmbedded, type EmbeddedRelations, type Fields } from './records.ts'

interface Slice {
  readonly start: number
  readonly end: number
}

interface FoundRecords {
  readonly records: readonly Fields[]
  readonly count: number
}

/** By the count, since a page beyond the last is the last. */
type Slicing = (count: number) => Slice

const ALL: Slicing = () => ({ start: 0, end: Infinity })

export async function answerList(request: WireRequest, api: WireApi, resource: WireResource, version: Version): Promise<WireAnswer> {
  const { pairs } = request
  const given = (name: string): string | undefined => pairs.find(([key]) => key === name)?.[1]
  const embedded = embeddedOf(request, api, resource)
  const conditions = new ConditionReader(api, resource, version).read(pairs)
  const { attributes, expand = [] } = askedOf(resource, embedded)
  const read = conditions.expand.filter(path => !expand.includes(path))
  const names = attributes === undefined || read.length === 0 ? attributes : [...attributes, ...read]
  const query: WireQuery = {
    sort: readSort(api, resource, given('_sort'), given('_order')),
    expand: [...expand, ...read],
    ...(names === undefined ? {} : { attributes: names }),
    ...(conditions.where === undefined ? {} : { where: conditions.where }),
  }
  const pages = readPages(given)
  const show = (records: readonly Fields[]): readonly Fields[] => records.map(findShow(api, resource, embedded))
  const isEnvelope = pages !== undefined && version === 1 && (given('_per_page') !== undefined || given('_limit') === undefined)
  const slicing = isEnvelope ? lastAtMost(pages) : pages === undefined ? readSlice(given) : () => pageOf(pages.page, pages.size)
  const { records, count } = await find(api, resource, query, conditions.holds, slicing)
  if (isEnvelope) return { status: 200, body: envelope(show(records), count, pages) }
  const link = pages === undefined ? undefined : writeLinks(request, count, pages)
  return {
    status: 200,
    headers: {
      'x-total-count': String(count),
      'access-control-expose-headers': `X-Total-Count${pages === undefined ? '' : ', Link'}`,
      ...(link === undefined ? {} : { link }),
    },
    body: show(records),
  }
}

export function valuesOf(pairs: WireRequest['pairs'], ...names: readonly string[]): string[] {
  return pairs.filter(([name]) => names.includes(name)).flatMap(([, value]) => value.split(','))
}

export async function listAll(api: WireApi, resource: WireResource, query: WireQuery): Promise<readonly Fields[]> {
  return (await readRows(api, resource, query, ALL)).records
}

async function find(
  api: WireApi,
  resource: WireResource,
  query: WireQuery,
  holds: ((record: Fields) => boolean) | undefined,
  slicing: Slicing,
): Promise<FoundRecords> {
  if (holds === undefined) return readRows(api, resource, query, slicing)
  const records = (await listAll(api, resource, query)).filter(record => holds(record))
  const { start, end } = slicing(records.length)
  return { records: records.slice(start, end), count: records.length }
}

/** For one call; `limits.maxLimit` may allow fewer. */
const STEP = 1000

async function readRows(api: WireApi, resource: WireResource, query: WireQuery, slicing: Slicing): Promise<FoundRecords> {
  const step = async (offset: number, end: number): Promise<FoundRecords> =>
    api.list(resource, { ...query, offset, limit: Math.max(1, Math.min(STEP, end - offset)) })
  let { start, end } = slicing(Infinity)
  let { records, count } = await step(start, end)
  const known = slicing(count)
  if (known.start !== start) {
    ;({ start, end } = known)
    ;({ records, count } = await step(start, end))
  }
  const all = [...records]
  while (records.length > 0 && start + all.length < Math.min(end, count)) {
    ;({ records, count } = await step(start + all.length, end))
    all.push(...records)
  }
  return { records: end <= start ? [] : all, count }
}

function readSort(api: WireApi, resource: WireResource, sort = '', order = ''): string[] {
  const orders = order.split(',').map(each => each.trim().toLowerCase())
  return sort.split(',').flatMap((given, index) => {
    const isReversed = given.startsWith('-')
    const place = findPlace(api, resource, isReversed ? given.slice(1) : given)
    if (place === undefined) return []
    const { hops, attribute, key, keys } = place
    const path = [...hops, attribute.name, ...(key === undefined ? [] : [key.name]), ...keys].join('.')
    return [`${path}.${isReversed || orders[index] === 'desc' ? 'desc.nullsfirst' : 'asc.nullslast'}`]
  })
}

interface AskedPages {
  readonly page: number
  readonly size: number
}

function readPages(given: (name: string) => string | undefined): AskedPages | undefined {
  const page = given('_page')
  if (page === undefined) return undefined
  return { page: readPositive(page) ?? 1, size: readPositive(given('_per_page') ?? given('_limit')) ?? 10 }
}

/** More than this means all. */
const MOST = 1_000_000_000

function readCount(text: string | undefined): number | undefined {
  const count = Number.parseInt(text ?? '', 10)
  return Number.isNaN(count) || count < 0 ? undefined : Math.min(count, MOST)
}

function readPositive(text: string | undefined): number | undefined {
  const count = readCount(text)
  return count === 0 ? undefined : count
}

function pageOf(page: number, size: number): Slice {
  const start = Math.min((page - 1) * size, MOST)
  return { start, end: start + size }
}

function countPages(count: number, { size }: AskedPages): number {
  return Math.max(1, Math.ceil(count / size))
}

function lastAtMost(pages: AskedPages): Slicing {
  return count => pageOf(Math.min(pages.page, countPages(count, pages)), pages.size)
}

/** As in json-server 0.17, `_start` alone means nothing, and `_end` wins over `_limit`. */
function readSlice(given: (name: string) => string | undefined): Slicing {
  const start = readCount(given('_start')) ?? 0
  const end = readCount(given('_end'))
  const limit = readCount(given('_limit'))
  if (end !== undefined) return () => ({ start, end: Math.max(start, end) })
  return limit === undefined ? ALL : () => ({ start, end: start + limit })
}

function envelope(data: readonly Fields[], count: number, pages: AskedPages): Fields {
  const last = countPages(count, pages)
  const page = Math.min(pages.page, last)
  return { first: 1, prev: page > 1 ? page - 1 : null, next: page < last ? page + 1 : null, last, pages: last, items: count, data }
}

/** Undefined for a single page, and beyond the last page. */
function writeLinks(request: WireRequest, count: number, pages: AskedPages): string | undefined {
  const last = countPages(count, pages)
  const { page } = pages
  if (last === 1 || page > last) return undefined
  const links: [string, number][] = [['first', 1]]
  if (page > 1) links.push(['prev', page - 1])
  if (page < last) links.push(['next', page + 1])
  links.push(['last', last])
  return links.map(([name, number]) => `<${addressOf(request)}?${writePage(request, number)}>; rel="${name}"`).join(', ')
}

function writePage({ pairs }: WireRequest, page: number): string {
  return pairs.map(([name, value]) => `${encodeURIComponent(name)}=${name === '_page' ? page : encodeURIComponent(value)}`).join('&')
}

export function addressOf({ headers, base, path }: WireRequest): string {
  const { host, 'x-forwarded-proto': scheme } = headers
  return `${host === undefined ? '' : `${scheme === 'https' ? 'https' : 'http'}://${host}`}${base}${path}`
}

export function embeddedOf({ pairs }: WireRequest, api: WireApi, resource: WireResource): EmbeddedRelations {
  return readEmbedded(api, resource, valuesOf(pairs, '_embed', '_expand'))
}
