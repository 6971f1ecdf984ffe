/**
 * Seed rows: turns a seed the model was inferred from into table rows, without entities: no code of the application listens. If a value
 * does not fit, seed.ts inserts the seed record by record and reports the fault.
 */
import type { TableRows } from './table-rows.ts'
import { isRelation, type Attribute, type Model, type Resource } from './model.ts'

/** Records by resource name, for `engine.seed`. */
export type SeedData = Readonly<Record<string, readonly object[]>>

const inferred = new WeakSet<object>()

/** Marks a seed that a model was inferred from. */
export function markInferred<T extends SeedData>(data: T): T {
  inferred.add(data)
  return data
}

/** Undefined: insert record by record. */
export function buildRows(data: SeedData, model: Model): TableRows[] | undefined {
  if (!inferred.has(data)) return undefined
  const tables: TableRows[] = []
  const pivots: TableRows[] = []
  for (const [name, records] of Object.entries(data)) {
    const resource = model.byName.get(name)
    const plan = resource === undefined || !Array.isArray(records) ? undefined : planRows(resource)
    if (plan === undefined) return undefined
    const rows: unknown[][] = []
    const lists = plan.lists.map(({ table, columns }): TableRows & { rows: unknown[][] } => ({ table, columns, rows: [] }))
    for (const record of records as readonly Record<string, unknown>[]) {
      const row = buildRow(record, plan)
      if (row === undefined) return undefined
      rows.push(row)
      for (const [index, list] of plan.lists.entries()) {
        const ids = record[list.name]
        if (ids === undefined) continue
        if (!Array.isArray(ids) || !ids.every(isKey)) return undefined
        for (const id of ids) lists[index]!.rows.push([row[plan.key], id])
      }
      const count = Object.keys(record).length
      if (count > plan.cells.length + plan.lists.length || !Object.keys(record).every(key => plan.names.has(key))) return undefined
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
  /** Undefined: does not fit. */
  readonly store: (value: unknown) => unknown
}

interface SeedSteps {
  readonly cells: readonly Cell[]
  /** The index of the key's cell. */
  readonly key: number
  readonly lists: readonly { readonly name: string; readonly table: string; readonly columns: readonly string[] }[]
  readonly names: ReadonlySet<string>
}

function planRows(resource: Resource): SeedSteps | undefined {
  const [key, ...others] = resource.key
  if (key === undefined || others.length > 0 || resource.source.kind !== 'table' || resource.hierarchy !== undefined) return undefined
  // A seed links records by shown keys.
  if (resource.attributes.some(attribute => isRelation(attribute) && attribute.target.shownKey !== undefined)) return undefined
  const cells: Cell[] = []
  const lists: SeedSteps['lists'][number][] = []
  for (const attribute of resource.attributes) {
    if (attribute.kind === 'toMany') {
      if (attribute.via.kind === 'foreign') continue
      const { table, ownerColumns, targetColumns } = attribute.via
      // The inverse side has no order column and no values in the data.
      if (attribute.via.orderColumn !== undefined) lists.push({ name: attribute.name, table, columns: [...ownerColumns, ...targetColumns] })
      continue
    }
    const cell = planCell(attribute)
    if (cell === undefined) return undefined
    cells.push(cell)
  }
  const keyIndex = cells.findIndex(({ column }) => column === key.column)
  const names = new Set([...cells, ...lists].map(({ name }) => name))
  return keyIndex < 0 ? undefined : { cells, key: keyIndex, lists, names }
}

function planCell(attribute: Attribute): Cell | undefined {
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
  text: storeText,
  uuid: storeText,
  boolean: value => (typeof value === 'boolean' ? Number(value) : undefined),
  json: value => JSON.stringify(value),
}

function storeText(value: unknown): string | undefined {
  return typeof value === 'string' && value.isWellFormed() ? value : undefined
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

function buildRow(record: Record<string, unknown>, { cells }: SeedSteps): unknown[] | undefined {
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
