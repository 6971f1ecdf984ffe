/** The interface of a database's SQL, which compiles plans, encodes values and explains errors. SQLite and PostgreSQL each have one. */
import type { Attribute, KeyPart, Renderer, Resource, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'
import type { Operator } from '../request/operators.ts'
import type { ExpandedList } from '../request/query-string.ts'
import type { PivotTable, StoredColumn, StoredTable } from '../../model/stored-table.ts'
import type { ReadPlan, ScopeLookup } from '../plan/read-plan.ts'
import type { AnswerBudget } from '../plan/answer-limits.ts'
import type { ScalarType, ScalarValue } from '../../foundation/values/scalar-type.ts'
import type { Binding } from './binding.ts'

/** Locked; a statement that took too long; broken (a full disk, a damaged file); no right; read-only. */
export type DatabaseFailure = 'busy' | 'ended' | 'failed' | 'denied' | 'readOnly'

export interface Statement {
  readonly sql: string
  readonly bindings: readonly Binding[]
  readonly costs?: Costs
  /** One column: rows are bare values. */
  readonly isBare?: boolean
}

export interface Costs {
  readonly visits: readonly Visit[]
  readonly weight: number
  /** The SQL, with time checks. */
  readonly watched: string
  /** `rows`, `count`, or a relation's name. */
  readonly about: string
}

/** Rows a statement goes through, for its cost. */
export interface Visit {
  /** Undefined: not a table, with any number of rows. */
  readonly table: string | undefined
  /** The lookup's origin; undefined: gone through once. */
  readonly from?: Origin | undefined
  readonly columns?: readonly string[]
  /** Another column, maybe the first of an index. */
  readonly tag?: string | undefined
  /** A filtered table for the database to begin with. */
  readonly filtered?: string | undefined
}

export interface Origin {
  readonly visit: Visit
  /** Each record at most once. */
  readonly isOnce: boolean
}

export type Row = readonly unknown[]

export type Builder = (row: Row) => unknown

export interface CompiledNode {
  readonly build: Builder
  readonly renders: readonly CompiledRender[]
  readonly source: Builder | undefined
  readonly children: readonly CompiledChild[]
  /** Per record; values at the places of `long` are added. */
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
  /** Places of linking values, in rows of the owner, and of the statement. */
  readonly from: readonly number[]
  readonly to: readonly number[]
  readonly parts: readonly KeyPart[]
  /** The place in `Arguments.lists`; undefined: as for the owner. */
  readonly list?: number
  /** For an owner without rows; undefined: null, or an empty list. */
  readonly none?: 0
  readonly only?: (row: Row) => boolean
  readonly statement: Statement
  /** For one owner. Bare rows are IDs. */
  readonly single: Statement
  /** A row may have several owners. */
  readonly isPivoted: boolean
  readonly node: CompiledNode
}

export interface CompiledRead {
  readonly rows: Statement
  /** Faster far into a list. */
  readonly deep: (() => Statement) | undefined
  /** `rows`, with the count of matches as last column; beyond `most`, there are more. */
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
 * Yields batches of independent statements, and receives their rows. Synchronous on SQLite; PostgreSQL may get a whole batch. All
 * statements see the same data.
 */
export type Reading<T> = Generator<readonly ReadingStep[], T, readonly (readonly Row[])[]>

export interface ReadingStep {
  readonly statement: Statement
  readonly parameters: readonly unknown[]
  readonly bound?: RowBound | undefined
  /** Receives rows before the next statement, if run one by one. */
  readonly take?: (rows: readonly Row[]) => void
  /** A database may skip an unneeded statement, with no rows. */
  readonly isNeeded?: (before: readonly Row[]) => boolean
  /** Replaces two statements: see `CompiledRead.counted`. */
  readonly counted?: CountedPage | undefined
  /** Undefined: as in the request. */
  readonly list?: ExpandedList | undefined
  /** Only the first row is needed. */
  readonly isOne?: boolean
  /** No batch follows: a single statement needs no transaction. */
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
  /** The column of nearly the order of insertion: `rowid`, `ctid`. */
  readonly insertionOrder: string
  compile(plan: ReadPlan): CompiledRead
  /** Finds the record of a key, if `list.where` holds. `shown`: by `ShownKey`. */
  exists(resource: Resource, scopeOf: ScopeLookup, list?: ToManyAttribute, shown?: boolean): Statement
  /** Finds the keys of `Arguments.links` with records; undefined where texts of keys do not compare. */
  existing(resource: Resource, scopeOf: ScopeLookup): Statement | undefined
  /** Finds a key with NUL among a table's first rows; undefined where texts have no NUL. */
  readonly nulKey?: (table: string, column: string) => Statement
  columns(resource: Resource, columns: readonly string[]): Statement
  decode(value: unknown, type: ScalarType): unknown
  /** Undefined: not written by this database. */
  readCursor(value: string): unknown
  /** Finds another record with equal values, from `Arguments.given` or the key's record. Undefined: nothing to compare. */
  taken(
    resource: Resource,
    attributes: readonly { readonly attribute: Attribute; readonly given: boolean }[],
    excludeSelf: boolean,
  ): Statement | undefined
  /** Finds the keys of linking records. */
  referrers(resource: Resource, attribute: ToOneAttribute): Statement
  /** As `referrers`, for `Arguments.links`; undefined where texts of keys do not compare. */
  referrersOfAll(resource: Resource, attribute: ToOneAttribute): Statement | undefined
  readonly writing: WritingDialect
  /** An error ends the transaction. */
  readonly failsWhole: boolean
  violation(error: Error): { readonly schema?: string; readonly table: string; readonly columns: readonly string[] } | undefined
  /** Name or expression of the check. */
  brokenCheck(error: Error): string | undefined
  breaksReference(error: Error): boolean
  breaksConstraint(error: unknown): boolean
  /** The message of a trigger refusing the write. */
  refusal(error: Error): string | undefined
  failure(error: unknown): DatabaseFailure | undefined
  /** How a value is stored exactly, to follow "must be …". */
  describeUnstorable(value: ScalarValue, type: ScalarType): string | undefined
  storesAll(type: ScalarType): boolean
  /**
   * For a filter value unfit for the database, as a decimal of 20 digits: a neighbour, alike in comparisons; null: equal to no stored
   * value.
   */
  findBound(value: ScalarValue, type: ScalarType, operator: Operator): unknown
  encode(value: unknown, type: ScalarType, inDocument: boolean): unknown
  /** NULL is left out. */
  encodeList(values: readonly unknown[], type: ScalarType): unknown
  /** Each key once, without empty links. */
  encodeLinks(rows: readonly Row[], child: Pick<CompiledChild, 'from' | 'parts'>): EncodedLinks
  encodePatterns(patterns: readonly (readonly string[])[]): unknown
}

export interface SeenRows {
  readonly resource: Resource
  readonly scopeOf: ScopeLookup
}

/** Statements on rows. Parameters follow the columns. */
export interface WritingDialect {
  /** PostgreSQL skips a row with taken unique values: an error would use up a key. */
  insert(table: StoredTable, columns: readonly StoredColumn[]): Statement
  /** Needs a column. Gives no keys. */
  insertRows(table: StoredTable, columns: readonly StoredColumn[], rows: number): Statement
  /** Finds the row of a key, the last parameter, if some column differs. */
  differs(table: StoredTable, columns: readonly StoredColumn[]): Statement
  /**
   * Changes the row of a key, the last parameter; counts up the version.
   *
   * @param guarded only if a column differs: the parameters of the columns follow the key again
   * @param seen parameters of the scope, named by the bindings, come last
   */
  update(table: StoredTable, columns: readonly StoredColumn[], guarded: boolean, seen?: SeenRows): Statement
  /**
   * The guarded `update`, only for rows with values of the columns' types (`typeof(title) = 'text'`), not strays such as a number among
   * texts. Undefined: types with several forms.
   */
  updatePlain?(table: StoredTable, columns: readonly StoredColumn[]): Statement | undefined
  delete(table: StoredTable): Statement
  deleteAll(table: StoredTable): Statement
  /** Links listed rows. Parameters: value, list, value. */
  link(table: StoredTable, column: StoredColumn): Statement
  /** Empties links to the value, except of listed rows. Parameters: value, list. */
  unlink(table: StoredTable, column: StoredColumn): Statement
  /** Deletes the rows of `unlink`. Parameters: value, list. */
  deleteOthers(table: StoredTable, column: StoredColumn): Statement
  /** Reads the keys of the rows of `unlink`, as texts. Parameters: value, list. */
  others(table: StoredTable, column: StoredColumn): Statement
  /** Listed keys with another link, as texts in order. Parameters: list, value. */
  unlinked(table: StoredTable, column: StoredColumn): Statement
  /**
   * Removes members not listed. Parameters: owner, list.
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
  /** Undefined: no parameter can hold it. */
  toParameter(value: unknown): unknown
}
