/**
 * Stored table: how the records of an entity are stored, as far as statements of the engine write them without MikroORM's unit of work.
 * Plain data, read once from MikroORM's metadata by metadata/read-stored-table.ts.
 */

import type { ScalarType } from '../foundation/values/scalar-type.ts'

/** A column of a table. */
export interface StoredColumn {
  readonly column: string
  /** The type of its values; undefined where that is not known. */
  readonly type: ScalarType | undefined
  /** Converts the value of the property to that of the column; undefined where both are the same. NULL needs no conversion. */
  readonly toColumn: ((value: unknown) => unknown) | undefined
}

/** A property of an entity in columns of its table: a plain value in one, or a link in as many as the key that it refers to has parts. */
export interface StoredProperty {
  readonly property: string
  readonly columns: readonly StoredColumn[]
  /** Whether a null of the property may be stored as something else. */
  readonly convertsNull: boolean
  /** Whether MikroORM compares two stored values as they are, apart from numbers, which the database compares. */
  readonly comparable: boolean
  /** The value of a new record that is given none; undefined: the database sets it. */
  readonly default: unknown
  /** Makes the JSON of an embedded object, or of a list of them; undefined for what is stored otherwise. */
  readonly document?: ToDocument | undefined
  /** Computes the value of a new record that has none, or null. */
  readonly onCreate: Computed | undefined
  /** Computes the value of a record that changes. */
  readonly onUpdate: Computed | undefined
}

/**
 * Returns the JSON of a value of a property.
 *
 * @param current the JSON that is stored, of which an object keeps what the value does not give; null: none
 */
export type ToDocument = (value: unknown, current: unknown) => unknown

/** A function of the model that computes a value without looking at the entity. The entity manager gives it the clock of its engine. */
export type Computed = (entity: object, em: unknown) => unknown

/** The table of an entity. */
export interface StoredTable {
  readonly table: string
  /** The columns of the key, in the order of its parts. */
  readonly key: readonly StoredColumn[]
  /** The column of the key whose values the database counts. */
  readonly counter: StoredColumn | undefined
  /** The properties that make the key. */
  readonly keyProperties: readonly StoredProperty[]
  /** The column that says of which class a row is, in a table of several classes, and its value for this one. */
  readonly discriminator: { readonly column: StoredColumn; readonly value: unknown } | undefined
  /** By name; those inside embedded objects by MikroORM's name for them. A property that is missing here is written by the unit of work. */
  readonly properties: ReadonlyMap<string, StoredProperty>
  /** The properties inside embedded objects, by their column. */
  readonly inside: ReadonlyMap<string, StoredProperty>
  /** Whether statements can insert, change and remove records; else the unit of work does. */
  readonly inserts: boolean
  readonly updates: boolean
  readonly deletes: boolean
  /** Whether the database refuses every value that is taken. */
  readonly refusesTaken: boolean
  /** Whether it does so before a function of the model is called for the record. */
  readonly keepsUnique: boolean
  /** The columns, outside of the key, that are unique together. */
  readonly uniques: readonly (readonly StoredColumn[])[]
  /** The defaults of its columns that are SQL. */
  readonly rawDefaults: readonly string[]
  /** The properties that a new record must have. */
  readonly required: readonly string[]
  /** Calls the constructor of the class, which may give properties their values; undefined where there is no code in it. */
  readonly construct: (() => Record<string, unknown>) | undefined
  /** The property that counts the changes of a record. */
  readonly version: StoredProperty | undefined
  /** Whether `onCreate` is called for a second time when it has given nothing. */
  readonly asksTwice: boolean
}

/** The pivot table of a many-to-many list, seen from the record that has the list. */
export interface PivotTable {
  readonly table: string
  /** The column that links the record, and the one that links a member of its list. */
  readonly owner: string
  readonly member: string
  /** The types of their values. */
  readonly ownerType: ScalarType
  readonly memberType: ScalarType
  /** The column that counts the rows, where the list has an order of its own. */
  readonly order: string | undefined
  /** The table of the members with its key, where rows may link members that do not exist, and stay. */
  readonly members: { readonly table: string; readonly key: string } | undefined
}

/** A column by which rows link others, or the key by which they are linked. */
export interface LinkColumn {
  readonly table: string
  readonly column: string
  readonly type: ScalarType | undefined
}

/** Returns the key of a table, and other columns of it, as those by which rows are linked. */
export function linkColumns({ table, key }: StoredTable, others: readonly StoredColumn[] = []): LinkColumn[] {
  return [...others, ...key].map(({ column, type }) => ({ table, column, type }))
}
