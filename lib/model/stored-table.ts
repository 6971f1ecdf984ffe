/**
 * Stored table: how the records of an entity are stored, as far as statements of the engine write them without MikroORM's unit of work. Plain data, read once
 * from MikroORM's metadata by metadata/read-stored-table.ts.
 */

/** A property of an entity in one column of its table: a plain value, or the link to a record with a key of one part. */
export interface StoredColumn {
  readonly property: string
  readonly column: string
  /** Converts the value of the property to that of the column; undefined where both are the same. NULL needs no conversion. */
  readonly toColumn: ((value: unknown) => unknown) | undefined
  /** Whether a null of the property may be stored as something else. */
  readonly convertsNull: boolean
  /** Whether MikroORM compares two stored values as they are, apart from numbers, which the database compares. */
  readonly comparable: boolean
  /** The value of a new record that is given none; undefined: the database sets it. */
  readonly default: unknown
  /** Computes the value of a new record that has none, or null. */
  readonly onCreate: Computed | undefined
  /** Computes the value of a record that changes. */
  readonly onUpdate: Computed | undefined
}

/** A function of the model that computes a value without looking at the entity. The entity manager gives it the clock of its engine. */
export type Computed = (entity: object, em: unknown) => unknown

/** The table of an entity. */
export interface StoredTable {
  readonly table: string
  readonly key: StoredColumn
  /** By the name of the property. A property that is missing here is written by the unit of work. */
  readonly columns: ReadonlyMap<string, StoredColumn>
  /** Whether statements can insert, change and remove records; else the unit of work does. */
  readonly inserts: boolean
  readonly updates: boolean
  readonly deletes: boolean
  /** Whether the database refuses every value that is taken, and no function of the model is called for a record before it does so. */
  readonly keepsUnique: boolean
  /** The properties that a new record must have. */
  readonly required: readonly string[]
  /** Calls the constructor of the class, which may give properties their values; undefined where there is no code in it. */
  readonly construct: (() => Record<string, unknown>) | undefined
  /** The column that counts the changes of a record. */
  readonly version: string | undefined
  /** Whether `onCreate` is called for a second time when it has given nothing. */
  readonly asksTwice: boolean
}
