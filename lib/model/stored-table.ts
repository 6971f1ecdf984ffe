/** The types of a stored table, by which the engine's own statements write an entity's rows. Made by metadata/read-stored-table.ts. */

import type { ScalarType } from '../foundation/values/scalar-type.ts'

export interface StoredColumn {
  readonly column: string
  /** Undefined: unknown. */
  readonly type: ScalarType | undefined
  /** Never called for null. Undefined: no conversion. */
  readonly toColumn: ((value: unknown) => unknown) | undefined
}

/** One column, or for a link a column for each part of the key. */
export interface StoredProperty {
  readonly property: string
  readonly columns: readonly StoredColumn[]
  /** Whether null may be stored as another value. */
  readonly convertsNull: boolean
  /** Whether values stored alike are no change. */
  readonly comparable: boolean
  /** For a new record without a value; undefined: the database sets a default. */
  readonly default: unknown
  /** For embedded objects. */
  readonly document?: ToDocument | undefined
  /** For a new record without a value, or with null. */
  readonly onCreate: Computed | undefined
  readonly onUpdate: Computed | undefined
}

/** @param current the stored JSON, whose members stay where `value` has none; null: none */
export type ToDocument = (value: unknown, current: unknown) => unknown

/** An `onCreate` or `onUpdate` without parameters: `() => new Date()`. */
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
  /** By MikroORM's names. The unit of work writes bodies with other properties. */
  readonly properties: ReadonlyMap<string, StoredProperty>
  /** Properties of embedded objects, by column. */
  readonly inside: ReadonlyMap<string, StoredProperty>
  /** False: the unit of work inserts. */
  readonly inserts: boolean
  readonly updates: boolean
  readonly deletes: boolean
  /** Whether the database refuses each taken value. */
  readonly refusesTaken: boolean
  /** As `refusesTaken`, before any code of the model (a constructor, `onCreate`) runs. */
  readonly keepsUnique: boolean
  readonly uniques: readonly (readonly StoredColumn[])[]
  readonly rawDefaults: readonly string[]
  /** A new record must have these. */
  readonly required: readonly string[]
  /** Properties set by the constructor. */
  readonly constructed: ReadonlySet<string>
  /** Undefined: no constructor. */
  readonly construct: (() => Record<string, unknown>) | undefined
  readonly version: StoredProperty | undefined
  /** Whether MikroORM calls `onCreate` again after nothing. */
  readonly asksTwice: boolean
}

/** A pivot table, seen from the record with the list. */
export interface PivotTable {
  readonly table: string
  readonly owner: string
  readonly member: string
  readonly ownerType: ScalarType
  readonly memberType: ScalarType
  /** The column of the place, in an ordered list. */
  readonly order: string | undefined
  /** The members' table, where rows may link missing members. */
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
