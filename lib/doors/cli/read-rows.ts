/** Reads records from the database in the form of the JSON file, for a save. */
import type { RestEngine } from '../../engine.ts'
import { parseLong } from '../../foundation/json/json-numbers.ts'
import { internalsOf } from '../../engine/assembly/internals.ts'
import type { InferredAttribute, InferredCollection } from '../../model/json-model/infer-model.ts'
import type { Resource, ScalarAttribute } from '../../model/model.ts'
import type { JsonRow } from './json-document.ts'

/** IDs in a statement. */
const CHUNK = 500

interface Wanted {
  readonly collection: InferredCollection
  readonly ids: Iterable<unknown> | 'all'
}

/** @returns rows of one state of the data, by collection and ID; in the order of creation within a statement */
export async function readRows(engine: RestEngine, wanted: readonly Wanted[]): Promise<ReadonlyMap<string, ReadonlyMap<unknown, JsonRow>>> {
  return await engine.orm.em.fork().transactional(async em => {
    // MikroORM's core does not declare the method of both databases.
    const kysely = (em as unknown as { getKysely(): Queries }).getKysely()
    const all = new Map<string, ReadonlyMap<unknown, JsonRow>>()
    for (const { collection, ids } of wanted) {
      const rows: [unknown, JsonRow][] = []
      for (const chunk of ids === 'all' ? ['all' as const] : chunked([...ids]))
        rows.push(...(await readChunk(engine, kysely, collection, chunk)))
      all.set(collection.name, new Map(rows))
    }
    return all
  })
}

function chunked(ids: readonly unknown[]): (readonly unknown[])[] {
  return Array.from({ length: Math.ceil(ids.length / CHUNK) }, (_, index) => ids.slice(index * CHUNK, (index + 1) * CHUNK))
}

async function readChunk(
  engine: RestEngine,
  kysely: Queries,
  { resource: resourceName, attributes }: InferredCollection,
  ids: readonly unknown[] | 'all',
): Promise<[unknown, JsonRow][]> {
  const { model, insertionOrder } = internalsOf(engine)
  const resource = model.byName.get(resourceName)!
  const lists = new Map<string, ReadonlyMap<unknown, unknown[]>>()
  for (const { kind, key, name } of attributes) if (kind === 'toMany') lists.set(key, await readList(kysely, resource, name, ids))
  const { column: idColumn } = resource.key[0]!
  const stored = await among(kysely.selectFrom(resource.table).selectAll(), idColumn, ids).orderBy(insertionOrder).execute()
  return stored.map(row => {
    const id = row[idColumn]
    const value = ({ kind, key, name }: InferredAttribute): unknown =>
      kind === 'toMany' ? (lists.get(key)!.get(id) ?? []) : decode(row, resource, name)
    const members = (resource.open === undefined ? null : decodeColumn(row, resource.open.holder)) as JsonRow | null
    const present = attributes.map(attribute => [attribute.key, value(attribute)] as const)
    // The column of a missing member is null.
    const shown = resource.open?.exact === true ? present.filter(([, each]) => each !== null) : present
    return [id, { ...Object.fromEntries(shown), ...members }]
  })
}

interface Queries {
  selectFrom(table: string): RowSelection
}

interface RowSelection {
  selectAll(): RowSelection
  where(column: string, operator: 'in', values: readonly unknown[]): RowSelection
  orderBy(column: string): RowSelection
  execute(): Promise<readonly JsonRow[]>
}

function among(selection: RowSelection, column: string, ids: readonly unknown[] | 'all'): RowSelection {
  return ids === 'all' ? selection : selection.where(column, 'in', ids)
}

async function readList(
  kysely: Queries,
  resource: Resource,
  name: string,
  ids: readonly unknown[] | 'all',
): Promise<ReadonlyMap<unknown, unknown[]>> {
  const attribute = resource.byName.get(name)
  if (attribute?.kind !== 'toMany' || attribute.via.kind !== 'pivot')
    throw new Error(`${resource.className}.${name} is not a list with its own table.`)
  const { table, ownerColumns, targetColumns, orderColumn } = attribute.via
  const [owner] = ownerColumns
  const [target] = targetColumns
  const rows = await among(kysely.selectFrom(table).selectAll(), owner!, ids)
    .orderBy(orderColumn ?? target!)
    .execute()
  const lists = new Map<unknown, unknown[]>()
  for (const row of rows) {
    const list = lists.get(row[owner!])
    if (list === undefined) lists.set(row[owner!], [row[target!]])
    else list.push(row[target!])
  }
  return lists
}

function decode(row: JsonRow, resource: Resource, name: string): unknown {
  const attribute = resource.byName.get(name)!
  if (attribute.kind === 'toOne') return row[attribute.columns[0]!]
  if (attribute.kind !== 'scalar') throw new Error(`${resource.className}.${name} does not have a column.`)
  return decodeColumn(row, attribute)
}

function decodeColumn(row: JsonRow, attribute: ScalarAttribute): unknown {
  if (attribute.source.kind !== 'column') throw new Error(`"${attribute.name}" does not have a column.`)
  const value = row[attribute.source.column]
  if (value === null || value === undefined) return null
  if (attribute.type.kind === 'boolean') return value === 1
  // As in the text of the file, numbers inside of JSON keep their digits.
  return attribute.type.kind === 'json' && typeof value === 'string' ? parseLong(value) : value
}
