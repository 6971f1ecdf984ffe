/** The wire of PostgREST, which answers requests to tables (`/posts`) and functions (`/rpc/name`). */
import type { Wire, WireAnswer, WireApi, WireError, WireRequest, WireResource } from '../../foundation/base/wire.ts'
import { checkAccepted, readPreferences, requireOne, wantsOne, formatRange, showRows, type Preferences } from './answer.ts'
import { Failure, isRefusal, translate } from './failure.ts'
import { parseQuery, outOfRange, type Query } from './query.ts'
import { aggregate, hasAggregates, renderRows } from './render.ts'
import { askedOf, listAll, whereOf } from './rows.ts'
import { findTable } from './tables.ts'
import { deleteRows, insertRows, putRow, updateRows } from './write.ts'

/** In the place of a function of the database. Gives a value, or `undefined` for none. */
export type RpcFunction = (args: Readonly<Record<string, unknown>>, api: WireApi) => unknown

/** Options of `postgrest`. */
export interface PostgrestOptions {
  /** By name: `/rpc/{name}`. */
  readonly rpc?: Readonly<Record<string, RpcFunction>>
}

/**
 * Answers as PostgREST does, with the database's names of tables and columns.
 *
 * @example
 * const engine = await RestEngine.create({ entities, wire: postgrest() })
 * // GET /posts?select=id,author:users(name)&views=gte.10&order=views.desc
 */
export function postgrest(options: PostgrestOptions = {}): Wire {
  const rpc = checkRpc(options, ['rpc'], 'postgrest')
  return { answer: (request, api) => answerRest(rpc, request, api), refuse: refuseRest, repeatable: isOfTable }
}

/** @throws TypeError for other options, and for what is no function */
export function checkRpc(options: PostgrestOptions, names: readonly string[], place: string): Readonly<Record<string, RpcFunction>> {
  for (const name of Object.keys(options))
    if (!names.includes(name)) throw new TypeError(`${place}: there is no option "${name}", only ${names.join(' and ')}.`)
  const { rpc = {} } = options
  for (const [name, run] of Object.entries(rpc))
    if (typeof run !== 'function') throw new TypeError(`${place}: "rpc.${name}" must be a function, got ${typeof run}.`)
  return rpc
}

/** Functions of `rpc` must not run twice. */
export function isOfTable({ segments }: WireRequest): boolean {
  return segments[0] !== 'rpc'
}

/** supabase-js sends the anonymous key also as a token. */
export function isAnonymous({ headers }: WireRequest): boolean {
  const { authorization, apikey } = headers
  return authorization === undefined || (apikey !== undefined && authorization === `Bearer ${apikey}`)
}

/** `apikey` alone names no user. */
function apiOf(request: WireRequest, api: WireApi): WireApi {
  if (!isAnonymous(request)) return api
  const { authorization: _, ...headers } = request.headers
  return api.as(headers)
}

export async function answerRest(rpc: Readonly<Record<string, RpcFunction>>, request: WireRequest, given: WireApi): Promise<WireAnswer> {
  const api = apiOf(request, given)
  let resource: WireResource | undefined
  try {
    checkProfile(request)
    const [name = '', second, ...more] = request.segments
    if (name === 'rpc' && second !== undefined && more.length === 0) return await call(rpc, second, request, api)
    if (name === '' || second !== undefined) throw new Failure(404, 'PGRST125', 'Invalid path specified in request URL')
    if (request.pairs.some(pair => pair.some(text => text.includes('\0'))))
      throw new Failure(400, '22021', 'invalid byte sequence for encoding "UTF8": 0x00')
    resource = findTable(api, name)
    return await answerTable(api, resource, request)
  } catch (error) {
    if (error instanceof Failure) return error.answer
    if (isRefusal(error) && error.status < 500)
      return translate(error, { resource, isAnonymous: isAnonymous(request), method: request.method }).answer
    throw error
  }
}

/** @throws Failure for another schema than `public` */
function checkProfile({ method, headers }: WireRequest): void {
  const profile = headers[method === 'GET' || method === 'HEAD' ? 'accept-profile' : 'content-profile']
  if (profile !== undefined && profile !== 'public')
    throw new Failure(406, 'PGRST106', `Invalid schema: ${profile}`, { hint: 'Only the following schemas are exposed: public' })
}

function answerTable(api: WireApi, resource: WireResource, request: WireRequest): Promise<WireAnswer> {
  checkAccepted(request)
  const preferences = readPreferences(request)
  const query = parseQuery(api, resource, request)
  const writing = { api, query, request, preferences }
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return readTable(api, query, request, preferences)
    case 'POST':
      return insertRows(writing)
    case 'PATCH':
      return updateRows(writing)
    case 'PUT':
      return putRow(writing)
    case 'DELETE':
      return deleteRows(writing)
    default:
      throw new Failure(405, 'PGRST117', `Unsupported HTTP method: ${request.method}`)
  }
}

async function call(rpc: Readonly<Record<string, RpcFunction>>, name: string, request: WireRequest, api: WireApi): Promise<WireAnswer> {
  const { method, body, pairs } = request
  if (!['GET', 'HEAD', 'POST'].includes(method)) throw new Failure(405, 'PGRST101', `Cannot use the ${method} method on RPC`)
  const args: unknown = method === 'POST' ? (body ?? {}) : Object.fromEntries(pairs)
  if (typeof args !== 'object' || args === null || Array.isArray(args)) throw new Failure(400, 'PGRST102', 'Empty or invalid json')
  if (!Object.hasOwn(rpc, name)) {
    const names = Object.keys(args)
    const called = `public.${name}${names.length === 0 ? '' : `(${names.join(', ')})`}`
    throw new Failure(
      404,
      'PGRST202',
      `Could not find the function ${called}${names.length === 0 ? ' without parameters' : ''} in the schema cache`,
      {
        details: `Searched for the function ${called}, but no matches were found in the schema cache.`,
      },
    )
  }
  const value = await rpc[name]!(args as Record<string, unknown>, api)
  if (value === undefined) return { status: 204 }
  if (!wantsOne(request) || !Array.isArray(value)) return json(value)
  requireOne(value)
  return json((value as unknown[])[0])
}

/** A text becomes JSON, in quotes. */
function json(value: unknown): WireAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: typeof value === 'string' ? JSON.stringify(value) : value,
  }
}

export function refuseRest(error: WireError, request: WireRequest): WireAnswer {
  return translate(error, { resource: undefined, isAnonymous: isAnonymous(request), method: request.method }).answer
}

async function readTable(api: WireApi, { root }: Query, request: WireRequest, preferences: Preferences): Promise<WireAnswer> {
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
