/** Stored table: what statements without MikroORM's unit of work need. Read once by metadata/read-stored-table.ts. */

import type { ScalarType } from '../foundation/values/scalar-type.ts'

export interface StoredColumn {
  readonly column: string
  /** Undefined: unknown. */
  readonly type: ScalarType | undefined
  /** Undefined: the same value. Never called for NULL. */
  readonly toColumn: ((value: unknown) => unknown) | undefined
}

/** A plain value in one column, or a link with a column for each part of the referred key. */
export interface StoredProperty {
  readonly property: string
  readonly columns: readonly StoredColumn[]
  /** Null may be stored as something else. */
  readonly convertsNull: boolean
  /** Whether equal stored values are no change. */
  readonly comparable: boolean
  /** For a new record without a value; undefined: the database sets a default. */
  readonly default: unknown
  /** For embedded objects. */
  readonly document?: ToDocument | undefined
  /** For a new record without a value, or with null. */
  readonly onCreate: Computed | undefined
  readonly onUpdate: Computed | undefined
}

/** @param current the stored JSON; an object keeps members the value leaves out; null: none */
export type ToDocument = (value: unknown, current: unknown) => unknown

/** Never looks at the entity. The entity manager has the engine's clock. */
export type Computed = (entity: object, em: unknown) => unknown

export interface StoredTable {
  readonly table: string
  /** In key order. */
  readonly key: readonly StoredColumn[]
  /** The key column the database counts. */
  readonly counter: StoredColumn | undefined
  readonly keyProperties: readonly StoredProperty[]
  /** For a table of several classes. */
  readonly discriminator: { readonly column: StoredColumn; readonly value: unknown } | undefined
  /** Inner properties have MikroORM's names. The unit of work writes missing properties. */
  readonly properties: ReadonlyMap<string, StoredProperty>
  /** Properties of embedded objects, by column. */
  readonly inside: ReadonlyMap<string, StoredProperty>
  /** False: the unit of work inserts. */
  readonly inserts: boolean
  readonly updates: boolean
  readonly deletes: boolean
  /** The database refuses every taken value. */
  readonly refusesTaken: boolean
  /** The database refuses taken values before any code of the model runs. */
  readonly keepsUnique: boolean
  readonly uniques: readonly (readonly StoredColumn[])[]
  readonly rawDefaults: readonly string[]
  /** A new record must have these. */
  readonly required: readonly string[]
  readonly constructed: ReadonlySet<string>
  /** Undefined: the constructor has no code. */
  readonly construct: (() => Record<string, unknown>) | undefined
  readonly version: StoredProperty | undefined
  /** `onCreate` runs again after giving nothing. */
  readonly asksTwice: boolean
}

/** A pivot table, seen from the record with the list. */
export interface PivotTable {
  readonly table: string
  readonly owner: string
  readonly member: string
  readonly ownerType: ScalarType
  readonly memberType: ScalarType
  /** Counts rows where the list has an order. */
  readonly order: string | undefined
  /** Where rows may link missing members and stay. */
  readonly members: { readonly table: string; readonly key: string } | undefined
}

export interface LinkColumn {
  readonly table: string
  readonly column: string
  readonly type: ScalarType | undefined
}

export function linkColumns({ table, key }: StoredTable, others: readonly StoredColumn[] = []): LinkColumn[] {
  return [...others, ...key].map(({ column, type }) => ({ table, column, type }))
}
