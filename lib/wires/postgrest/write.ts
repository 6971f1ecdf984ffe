/** Answers POST, PATCH, PUT and DELETE of a PostgREST table, by single calls to the engine. */
import type { WireAnswer, WireApi, WireRequest, WireResource } from '../../foundation/base/wire.ts'
import { formatRange, headersOf, requireOne, showRows, wantsOne, type Preferences } from './answer.ts'
import { Failure, isRefusal, translate, type RefusedRequest } from './failure.ts'
import type { Query } from './query.ts'
import { renderRows } from './render.ts'
import { idOf, keyOf, textOf, whereKeys, type ShownRow } from './keys.ts'
import { askedOf, listAll, whereOf } from './rows.ts'
import { columnOf, findColumn, isStored, needColumn, typeOf } from './tables.ts'
import { readSent } from './values.ts'

interface RowWriting {
  readonly api: WireApi
  readonly query: Query
  readonly request: WireRequest
  readonly preferences: Preferences
}

const BULK = 1000

/** @throws Failure for a body without rows */
function readBody(body: unknown): readonly ShownRow[] {
  const rows = Array.isArray(body) ? (body as unknown[]) : [body]
  if (!rows.every(row => typeof row === 'object' && row !== null && !Array.isArray(row)))
    throw new Failure(400, 'PGRST102', 'Empty or invalid json')
  return rows as readonly ShownRow[]
}

function readRows({ api, query, request, preferences }: RowWriting): ShownRow[] {
  const { resource } = query.root
  const sent = readBody(request.body)
  const { columns } = query
  if (columns === undefined && Array.isArray(request.body)) requireSameKeys(sent)
  return sent.map(row => {
    const values: [string, unknown][] = []
    for (const column of columns ?? Object.keys(row)) {
      const attribute = findColumn(resource, column)
      if (attribute === undefined)
        throw new Failure(400, 'PGRST204', `Could not find the '${column}' column of '${resource.table}' in the schema cache`)
      const isGiven = Object.hasOwn(row, column)
      if (isGiven || !preferences.isDefault) values.push([attribute.name, isGiven ? readSent(row[column], typeOf(api, attribute)) : null])
    }
    return Object.fromEntries(values)
  })
}

function requireSameKeys(rows: readonly ShownRow[]): void {
  const keys = rows.map(row => JSON.stringify(Object.keys(row).sort()))
  if (new Set(keys).size > 1) throw new Failure(400, 'PGRST102', 'All object keys must match')
}

export async function insertRows(writing: RowWriting): Promise<WireAnswer> {
  const { api, query, preferences } = writing
  const { resource } = query.root
  const rows = readRows(writing)
  if (preferences.resolution !== undefined) return upsertRows(writing, rows)
  const made: unknown[] = []
  for (let at = 0; at < rows.length; at += BULK) made.push(...((await api.create(resource, rows.slice(at, at + BULK))) as unknown[]))
  return showWritten(
    writing,
    201,
    made.map(record => keyOf(api, record, resource)),
  )
}

/** `on_conflict`, or the key. @throws Failure for columns that are not unique */
function findConflict({ query: { root, onConflict } }: RowWriting): readonly string[] {
  const { key, uniques } = root.resource
  const names = onConflict?.map(column => needColumn(root.resource, column).name)
  if (names === undefined || names.length === 0) return key
  const wanted = new Set(names)
  if ([key, ...uniques].some(unique => unique.length === wanted.size && unique.every(name => wanted.has(name)))) return names
  throw new Failure(400, '42P10', 'there is no unique or exclusion constraint matching the ON CONFLICT specification')
}

async function upsertRows(writing: RowWriting, rows: readonly ShownRow[]): Promise<WireAnswer> {
  const { api, query, preferences } = writing
  const { resource } = query.root
  const refused = { resource, isAnonymous: false, method: writing.request.method }
  const names = findConflict(writing)
  const met = new Set<string>()
  const keys: unknown[] = []
  let made = 0
  for (const row of rows) {
    const { record, isNew } = await findOrCreate(api, resource, names, row, refused)
    const key = keyOf(api, record, resource)
    if (isNew) {
      keys.push(key)
      met.add(textOf(key))
      made++
      continue
    }
    if (preferences.resolution === 'ignore-duplicates') continue
    if (met.has(textOf(key)))
      throw new Failure(400, '21000', 'ON CONFLICT DO UPDATE command cannot affect row a second time', {
        hint: 'Ensure that no rows proposed for insertion within the same command have duplicate constrained values.',
      })
    met.add(textOf(key))
    const changes = Object.fromEntries(Object.entries(row).filter(([name]) => !resource.key.includes(name)))
    if (Object.keys(changes).length > 0) await api.update(resource, idOf(key), changes)
    keys.push(key)
  }
  return showWritten(writing, made > 0 || rows.length === 0 || preferences.resolution === 'ignore-duplicates' ? 201 : 200, keys)
}

async function findOrCreate(
  api: WireApi,
  resource: WireResource,
  names: readonly string[],
  row: ShownRow,
  refused: RefusedRequest,
): Promise<{ readonly record: unknown; readonly isNew: boolean }> {
  const find = async (): Promise<unknown> => {
    if (names.some(name => (row[name] ?? null) === null)) return undefined
    const where = Object.fromEntries(names.map(name => [name, { $eq: row[name] }]))
    return (await api.list(resource, { where, attributes: resource.key, limit: 1 })).records[0]
  }
  const found = await find()
  if (found !== undefined) return { record: found, isNew: false }
  try {
    return { record: await api.create(resource, row), isNew: true }
  } catch (error) {
    if (!isRefusal(error) || error.code !== 'unique_conflict') throw error
    // The transaction does not see the new row of another request.
    const { status, code, message, parts } = translate(error, refused)
    throw new Failure(status, code, message, { ...parts, again: true })
  }
}

async function readByKeys(api: WireApi, { root }: Query, keys: readonly unknown[]): Promise<readonly ShownRow[]> {
  const { resource } = root
  const records: ShownRow[] = []
  for (let at = 0; at < keys.length; at += 500)
    records.push(
      ...(await listAll(api, resource, { where: whereKeys(resource, keys.slice(at, at + 500)), ...(await askedOf(api, root)) })).records,
    )
  const places = new Map(keys.map((key, index) => [textOf(key), index]))
  const place = (record: ShownRow): number => places.get(textOf(keyOf(api, record, resource))) ?? 0
  return renderRows(
    api,
    root,
    records.sort((one, other) => place(one) - place(other)),
  )
}

async function showWritten(
  { api, query, request, preferences }: RowWriting,
  status: number,
  keys: readonly unknown[],
): Promise<WireAnswer> {
  const { applied, shown, isCounted } = preferences
  const range =
    status === 201 || keys.length === 0
      ? `*/${isCounted ? keys.length : '*'}`
      : formatRange(0, keys.length, isCounted ? keys.length : undefined)
  if (shown === 'representation') return showRows(request, { status, rows: await readByKeys(api, query, keys), range, applied })
  if (wantsOne(request)) requireOne(keys)
  const location =
    shown === 'headers-only' && status === 201 && keys.length === 1 ? { location: formatLocation(query.root.resource, keys[0]) } : {}
  return { status: status === 200 ? 204 : status, headers: { ...headersOf(range, applied), ...location } }
}

function formatLocation(resource: WireResource, key: unknown): string {
  const parts = Array.isArray(key) ? (key as unknown[]) : [key]
  const columns = resource.key.map(name => columnOf(resource.attributes.find(each => each.name === name)!))
  return `/${resource.table}?${columns.map((column, index) => `${column}=eq.${encodeURIComponent(textOf(parts[index]))}`).join('&')}`
}

/** The keys of the filtered rows. @throws Failure for more rows than the client allows */
async function findRows({ api, query, request, preferences }: RowWriting): Promise<readonly unknown[]> {
  const { root, isFiltered } = query
  const { method } = request
  if (!isFiltered) throw new Failure(400, '21000', `${method === 'DELETE' ? 'DELETE' : 'UPDATE'} requires a WHERE clause`)
  const { sort, limit, offset, resource } = root
  const reading = { where: await whereOf(api, root), sort, offset, ...(limit === undefined ? {} : { limit }), attributes: resource.key }
  const { records } = await listAll(api, resource, reading)
  if (preferences.maxAffected !== undefined && records.length > preferences.maxAffected)
    throw new Failure(400, 'PGRST124', 'Query result exceeds max-affected preference constraint', {
      details: `The query affects ${records.length} rows`,
    })
  return records.map(record => keyOf(api, record, resource))
}

export async function updateRows(writing: RowWriting): Promise<WireAnswer> {
  const { api, query, request } = writing
  const { resource } = query.root
  if (Array.isArray(request.body) && request.body.length !== 1) throw new Failure(400, 'PGRST102', 'Empty or invalid json')
  const [changes = {}] = readRows({
    ...writing,
    request: { ...request, body: Array.isArray(request.body) ? (request.body as unknown[])[0] : request.body },
  })
  const keys = Object.keys(changes).length === 0 ? [] : await findRows(writing)
  for (const key of keys) await api.update(resource, idOf(key), withoutKey(resource, key, changes))
  return showWritten(writing, 200, keys)
}

/** The body may repeat the row's key. */
function withoutKey({ key: names }: WireResource, key: unknown, changes: ShownRow): ShownRow {
  const keyParts = Array.isArray(key) ? (key as unknown[]) : [key]
  return Object.fromEntries(
    Object.entries(changes).filter(([name, value]) => !names.includes(name) || textOf(keyParts[names.indexOf(name)]) !== textOf(value)),
  )
}

export async function deleteRows(writing: RowWriting): Promise<WireAnswer> {
  const { api, query, request, preferences } = writing
  const { resource } = query.root
  const keys = await findRows(writing)
  const rows = preferences.shown === 'representation' ? await readByKeys(api, query, keys) : undefined
  for (const key of keys) await api.remove(resource, idOf(key))
  const range = `*/${preferences.isCounted ? keys.length : '*'}`
  if (rows !== undefined) return showRows(request, { status: 200, rows, range, applied: preferences.applied })
  if (wantsOne(request)) requireOne(keys)
  return { status: 204, headers: headersOf(range, preferences.applied) }
}

export async function putRow(writing: RowWriting): Promise<WireAnswer> {
  const { api, query, request, preferences } = writing
  const { resource } = query.root
  const keyAttributes = resource.attributes.filter(({ name }) => resource.key.includes(name))
  const filters = request.pairs.filter(([name]) => name !== 'select' && name !== 'columns')
  const isKey =
    filters.length === keyAttributes.length &&
    keyAttributes.every(attribute => filters.some(([name, value]) => name === columnOf(attribute) && value.startsWith('eq.')))
  if (!isKey) throw new Failure(405, 'PGRST105', "Filters must include all and only primary key columns with 'eq' operators")
  const [row] = readRows(writing)
  const isSame = keyAttributes.every(attribute =>
    filters.some(([name, value]) => name === columnOf(attribute) && value.slice(3) === textOf(row?.[attribute.name])),
  )
  if (!isSame) throw new Failure(400, 'PGRST115', 'Payload values do not match URL in primary key column(s)')
  // PUT unsets what the row lacks.
  const unset = resource.attributes.filter(attribute => isStored(attribute) && attribute.nullable && !Object.hasOwn(row!, attribute.name))
  const whole = { ...Object.fromEntries(unset.map(({ name }) => [name, null])), ...row }
  return upsertRows(
    { api, query: { ...query, onConflict: undefined }, request, preferences: { ...preferences, resolution: 'merge-duplicates' } },
    [whole],
  )
}
