/** Dialect: a database's SQL, value codecs and errors. */
import type { Attribute, KeyPart, Renderer, Resource, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'
import type { Operator } from '../request/operators.ts'
import type { ExpandedList } from '../request/query-string.ts'
import type { PivotTable, StoredColumn, StoredTable } from '../../model/stored-table.ts'
import type { ReadPlan, ScopeLookup } from '../plan/read-plan.ts'
import type { AnswerBudget } from '../plan/answer-limits.ts'
import type { ScalarType, ScalarValue } from '../../foundation/values/scalar-type.ts'
import type { Binding } from './binding.ts'

/** Locked; broken (a full disk, a damaged file); without the right; read-only. */
export type DatabaseFailure = 'busy' | 'failed' | 'denied' | 'readOnly'

export interface Statement {
  readonly sql: string
  readonly bindings: readonly Binding[]
  readonly costs?: Costs
  /** Rows are bare values of the only column. */
  readonly isBare?: boolean
}

export interface Costs {
  readonly visits: readonly Visit[]
  readonly weight: number
  /** The same statement with time checks. */
  readonly watched: string
  /** `rows`, `count`, or the name of a relation. */
  readonly about: string
}

/** Rows that a statement goes through. */
export interface Visit {
  /** Undefined: not a table, any number of rows. */
  readonly table: string | undefined
  /** Looked up for each row of the origin; undefined: gone through once. */
  readonly from?: Origin | undefined
  readonly columns?: readonly string[]
  /** A further look-up column, which may come first in an index. */
  readonly tag?: string | undefined
  /** A table with conditions, where the database may begin instead. */
  readonly filtered?: string | undefined
}

export interface Origin {
  readonly visit: Visit
  /** Each record occurs at most once. */
  readonly isOnce: boolean
}

export type Row = readonly unknown[]

export type Builder = (row: Row) => unknown

export interface CompiledNode {
  readonly build: Builder
  readonly renders: readonly CompiledRender[]
  readonly source: Builder | undefined
  readonly children: readonly CompiledChild[]
  /** Bytes of every record; `long` has the places of texts and bytes, to be added. */
  readonly bytes: number
  readonly long: readonly number[]
  /** Rows are IDs. */
  readonly areIds: boolean
}

export interface CompiledRender {
  readonly name: string
  readonly within?: readonly string[]
  readonly render: Renderer
  /** Undefined: all records have the attribute. */
  readonly only?: (row: Row) => boolean
}

export interface CompiledChild {
  readonly name: string
  /** The embedded objects around, outermost first. */
  readonly within?: readonly string[]
  /** `one`: a row for a record, else null. */
  readonly cardinality: 'one' | 'many'
  /** Places of the linking values: in a row of the owner, and in a row of the statement. */
  readonly from: readonly number[]
  readonly to: readonly number[]
  readonly parts: readonly KeyPart[]
  /** The place of its parameters in `Arguments.lists`; undefined: those of its owner. */
  readonly list?: number
  /** The value of an owner without rows; undefined: null, or an empty list. */
  readonly none?: 0
  readonly only?: (row: Row) => boolean
  readonly statement: Statement
  /** Compares with one key. Bare rows are IDs as in answers. */
  readonly single: Statement
  /** A row may belong to several owners. */
  readonly isPivoted: boolean
  readonly node: CompiledNode
}

export interface CompiledRead {
  readonly rows: Statement
  /** Faster than `rows` far into a list. */
  readonly deep: (() => Statement) | undefined
  /** `rows`, with the number of matching records as last column, counted to `most`; a larger number means more. */
  readonly counted: (() => Statement) | undefined
  /** Counts records of all pages. */
  readonly count: (() => Statement) | undefined
  readonly node: CompiledNode
  /** Undefined: pages are not by keys. */
  readonly cursor: readonly number[] | undefined
  /** Places of `ReadPlan.bareColumns` in a row. */
  readonly barePlaces: readonly number[]
  readonly rendered: boolean
}

/**
 * Yields batches of independent statements, and receives rows. Synchronous on SQLite; PostgreSQL may get a batch at once. All statements
 * see one state of the data.
 */
export type Reading<T> = Generator<readonly ReadingStep[], T, readonly (readonly Row[])[]>

export interface ReadingStep {
  readonly statement: Statement
  readonly parameters: readonly unknown[]
  readonly bound?: RowBound | undefined
  /** Receives the rows before the next statement, if statements run one by one. */
  readonly take?: (rows: readonly Row[]) => void
  /** Decides by the rows of the previous statement: a database may leave out an unneeded statement, with no rows. */
  readonly isNeeded?: (before: readonly Row[]) => boolean
  /** Takes the place of two statements: see `CompiledRead.counted`. */
  readonly counted?: CountedPage | undefined
  /** Undefined: the parameters of the request. */
  readonly list?: ExpandedList | undefined
  /** Only the first row is needed. */
  readonly isOne?: boolean
  /** No batch follows: a reading of one statement needs no transaction. */
  readonly isLast?: boolean
}

export interface CountedPage {
  readonly limit: number
  readonly offset: number
  readonly statement: () => Statement
  readonly bind: (most: number) => readonly unknown[]
}

export interface EncodedLinks {
  readonly parameter: unknown
  /** The number of different keys. */
  readonly count: number
}

export interface RowBound {
  readonly room: AnswerBudget
  readonly areIds: boolean
  /** How often a row may occur: through a pivot table, once for each owner. */
  readonly times: number
  readonly at: string | undefined
}

export interface Dialect {
  /** A column of every table that sorts rows nearly as inserted: `rowid`, `ctid`. */
  readonly insertionOrder: string
  compile(plan: ReadPlan): CompiledRead
  /** Finds the record of a key, if the `where` of `list` holds. `shown`: the key is a `ShownKey`. */
  exists(resource: Resource, scopeOf: ScopeLookup, list?: ToManyAttribute, shown?: boolean): Statement
  /** Finds keys of `Arguments.links` with records; undefined where keys cannot be compared as texts. */
  existing(resource: Resource, scopeOf: ScopeLookup): Statement | undefined
  /** Finds a key with NUL among the first rows of a table; undefined where no text has NUL. */
  readonly nulKey?: (table: string, column: string) => Statement
  columns(resource: Resource, columns: readonly string[]): Statement
  decode(value: unknown, type: ScalarType): unknown
  /** Undefined for a value that the database did not write. */
  readCursor(value: string): unknown
  /**
   * Finds another record with equal values: from `Arguments.given`, or of the key's record. Undefined for attributes without columns to
   * compare.
   */
  taken(
    resource: Resource,
    attributes: readonly { readonly attribute: Attribute; readonly given: boolean }[],
    excludeSelf: boolean,
  ): Statement | undefined
  /** Finds keys of records with a link to the key's record. */
  referrers(resource: Resource, attribute: ToOneAttribute): Statement
  /** As `referrers`, for the keys of `Arguments.links`; undefined where keys cannot be compared as texts. */
  referrersOfAll(resource: Resource, attribute: ToOneAttribute): Statement | undefined
  readonly writing: WritingDialect
  /** An error ends the transaction. */
  readonly failsWhole: boolean
  violation(error: Error): { readonly schema?: string; readonly table: string; readonly columns: readonly string[] } | undefined
  /** The name or expression of a broken check. */
  brokenCheck(error: Error): string | undefined
  breaksReference(error: Error): boolean
  breaksConstraint(error: unknown): boolean
  /** The message of a trigger that refuses a write. */
  refusal(error: Error): string | undefined
  failure(error: unknown): DatabaseFailure | undefined
  /** How a value is stored exactly: the rest of "must be …". */
  describeUnstorable(value: ScalarValue, type: ScalarType): string | undefined
  storesAll(type: ScalarType): boolean
  /**
   * For a filter value that the database cannot hold, as a decimal of 20 digits: a neighbour that compares alike with all stored values;
   * null if no stored value is equal.
   */
  findBound(value: ScalarValue, type: ScalarType, operator: Operator): unknown
  encode(value: unknown, type: ScalarType, inDocument: boolean): unknown
  /** Leaves out NULL, equal to nothing. */
  encodeList(values: readonly unknown[], type: ScalarType): unknown
  /** Encodes linked keys, each once, without empty links. */
  encodeLinks(rows: readonly Row[], child: Pick<CompiledChild, 'from' | 'parts'>): EncodedLinks
  encodePatterns(patterns: readonly (readonly string[])[]): unknown
}

export interface SeenRows {
  readonly resource: Resource
  readonly scopeOf: ScopeLookup
}

/** Statements on rows; parameters in the order of the columns. */
export interface WritingDialect {
  /** On PostgreSQL, leaves out a row with taken unique values: an error would use up a key. */
  insert(table: StoredTable, columns: readonly StoredColumn[]): Statement
  /** For at least one column. Generated keys are not returned. */
  insertRows(table: StoredTable, columns: readonly StoredColumn[], rows: number): Statement
  /** The row of a key, the last parameter, if a column differs from its parameter. */
  differs(table: StoredTable, columns: readonly StoredColumn[]): Statement
  /**
   * Changes the row of a key, the last parameter. Counts up the version, if any.
   *
   * @param guarded only if a column differs: the parameters of the columns follow the key again
   * @param seen parameters of the scope, named by the bindings, come last
   */
  update(table: StoredTable, columns: readonly StoredColumn[], guarded: boolean, seen?: SeenRows): Statement
  /**
   * The guarded `update` where columns hold values of their own types (`typeof(title) = 'text'`): leaves a row with a stray value, as a
   * number in a column of texts. Undefined: types with several forms.
   */
  updatePlain?(table: StoredTable, columns: readonly StoredColumn[]): Statement | undefined
  delete(table: StoredTable): Statement
  deleteAll(table: StoredTable): Statement
  /** Sets the link in rows of a list of keys. Parameters: value, list, value. */
  link(table: StoredTable, column: StoredColumn): Statement
  /** Empties the link in rows that link the value, but for a list of keys. Parameters: value, list. */
  unlink(table: StoredTable, column: StoredColumn): Statement
  /** Deletes the rows that `unlink` changes. Parameters: value, list. */
  deleteOthers(table: StoredTable, column: StoredColumn): Statement
  /** Reads the keys of the rows that `unlink` changes, as texts. Parameters: value, list. */
  others(table: StoredTable, column: StoredColumn): Statement
  /** Keys of a list whose rows have another link, as texts in order. Parameters: list, value. */
  unlinked(table: StoredTable, column: StoredColumn): Statement
  /**
   * Removes all members but a list of keys. Parameters: owner, list.
   *
   * @param seen hidden members stay; parameters of the scope come last
   */
  leave(pivot: PivotTable, seen?: SeenRows): Statement
  /** Removes members. Parameters: owner, list. */
  take(pivot: PivotTable): Statement
  /** Adds missing members. Parameters: owner, list, owner. */
  enter(pivot: PivotTable): Statement
  /** Keys as texts, in order. Parameter: owner. */
  members(pivot: PivotTable): Statement
  /** Undefined for a value that cannot be a parameter. */
  toParameter(value: unknown): unknown
}
