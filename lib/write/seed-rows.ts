/**
 * Seed rows: the records of a seed that infer.ts has looked through, as rows of their tables. They are inserted as they are, without an entity for each:
 * nobody listens, and nothing has to be found out. A value that does not fit after all leaves the whole seed to seed.ts, which says what is wrong.
 */
import type { TableRows } from '../database/dialect.ts'
import type { Attribute, Model, Resource } from '../model/model.ts'

/** Records by resource name, as `engine.seed` takes them. */
export type SeedData = Readonly<Record<string, readonly object[]>>

const proved = new WeakSet<object>()

/** Says that the records of a seed have been made for the model that they come with. */
export function markProved<T extends SeedData>(data: T): T {
  proved.add(data)
  return data
}

/** The rows of a seed; undefined where it has to be loaded record by record. */
export function rowsOf(data: SeedData, model: Model): TableRows[] | undefined {
  if (!proved.has(data)) return undefined
  const tables: TableRows[] = []
  const pivots: TableRows[] = []
  for (const [name, records] of Object.entries(data)) {
    const resource = model.byName.get(name)
    const plan = resource === undefined || !Array.isArray(records) ? undefined : planOf(resource)
    if (plan === undefined) return undefined
    const rows: unknown[][] = []
    const lists = plan.lists.map(({ table, columns }): TableRows & { rows: unknown[][] } => ({ table, columns, rows: [] }))
    for (const record of records as readonly Record<string, unknown>[]) {
      const row = rowOf(record, plan)
      if (row === undefined) return undefined
      rows.push(row)
      for (const [index, list] of plan.lists.entries()) {
        const ids = record[list.name]
        if (ids === undefined) continue
        if (!Array.isArray(ids) || !ids.every(isKey)) return undefined
        for (const id of ids) lists[index]!.rows.push([row[plan.key], id])
      }
      const given = Object.keys(record).length
      if (given > plan.cells.length + plan.lists.length || !Object.keys(record).every(key => plan.names.has(key))) return undefined
    }
    tables.push({ table: resource!.table, columns: plan.cells.map(({ column }) => column), rows })
    pivots.push(...lists)
  }
  return [...tables, ...pivots]
}

interface Cell {
  readonly name: string
  readonly column: string
  readonly nullable: boolean
  /** The value as it is stored; undefined where it does not fit. */
  readonly store: (value: unknown) => unknown
}

interface Plan {
  readonly cells: readonly Cell[]
  /** The place of the key. */
  readonly key: number
  readonly lists: readonly { readonly name: string; readonly table: string; readonly columns: readonly string[] }[]
  readonly names: ReadonlySet<string>
}

function planOf(resource: Resource): Plan | undefined {
  const [key, ...others] = resource.key
  if (key === undefined || others.length > 0 || resource.source.kind !== 'table' || resource.hierarchy !== undefined) return undefined
  const cells: Cell[] = []
  const lists: Plan['lists'][number][] = []
  for (const attribute of resource.attributes) {
    if (attribute.kind === 'toMany') {
      if (attribute.via.kind === 'foreign') continue
      const { table, ownerColumns, targetColumns } = attribute.via
      // The other side of a list has no order of its own, and no values in the data.
      if (attribute.via.orderColumn !== undefined) lists.push({ name: attribute.name, table, columns: [...ownerColumns, ...targetColumns] })
      continue
    }
    const cell = cellOf(attribute)
    if (cell === undefined) return undefined
    cells.push(cell)
  }
  const at = cells.findIndex(({ column }) => column === key.column)
  const names = new Set([...cells, ...lists].map(({ name }) => name))
  return at < 0 ? undefined : { cells, key: at, lists, names }
}

function cellOf(attribute: Attribute): Cell | undefined {
  const { name } = attribute
  if (attribute.kind === 'toOne') {
    const [column, ...others] = attribute.columns
    if (column === undefined || others.length > 0) return undefined
    return { name, column, nullable: attribute.nullable, store: value => (isKey(value) ? value : undefined) }
  }
  if (attribute.kind !== 'scalar' || attribute.source.kind !== 'column') return undefined
  const store = STORES[attribute.type.kind]
  return store === undefined ? undefined : { name, column: attribute.source.column, nullable: attribute.nullable, store }
}

const STORES: Readonly<Partial<Record<string, Cell['store']>>> = {
  integer: value => (Number.isSafeInteger(value) ? value : undefined),
  float: value => (Number.isFinite(value) ? value : undefined),
  text: textOf,
  uuid: textOf,
  boolean: value => (typeof value === 'boolean' ? Number(value) : undefined),
  json: value => JSON.stringify(value),
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.isWellFormed() ? value : undefined
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

function rowOf(record: Record<string, unknown>, { cells }: Plan): unknown[] | undefined {
  const row: unknown[] = []
  for (const { name, nullable, store } of cells) {
    const value = record[name]
    if (value === undefined || value === null) {
      if (!nullable) return undefined
      row.push(null)
      continue
    }
    const stored = store(value)
    if (stored === undefined) return undefined
    row.push(stored)
  }
  return row
}
