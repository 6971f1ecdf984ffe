/** Dialect: the interface of a database: SQL, value codecs, errors; implemented in lib/databases/sqlite/ and lib/databases/postgres/. */
import type { Attribute, KeyPart, Renderer, Resource, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'
import type { Operator } from '../request/operators.ts'
import type { ExpandedList } from '../request/query-string.ts'
import type { PivotTable, StoredColumn, StoredTable } from '../../model/stored-table.ts'
import type { ReadPlan, ScopeLookup } from '../plan/read-plan.ts'
import type { AnswerBudget } from '../plan/answer-limits.ts'
import type { ScalarType, ScalarValue } from '../../foundation/values/scalar-type.ts'
import type { Binding } from './binding.ts'

/** Locked by others; broken (a full disk, a damaged file); no right; read-only. */
export type DatabaseFailure = 'busy' | 'failed' | 'denied' | 'readOnly'

export interface Statement {
  readonly sql: string
  readonly bindings: readonly Binding[]
  /** Undefined: cheap. */
  readonly costs?: Costs
  /** Whether rows come as bare values of the only column. */
  readonly isBare?: boolean
}

/** Input for an estimate of the work. */
export interface Costs {
  readonly visits: readonly Visit[]
  /** Comparisons for each row. */
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
  /** The rows for each of which these are looked up; undefined: gone through once. */
  readonly from?: Origin | undefined
  /** The columns of the look-up. */
  readonly columns?: readonly string[]
  /** A further look-up column, which may come first in an index. */
  readonly tag?: string | undefined
  /** A table with conditions, where the database may begin instead. */
  readonly filtered?: string | undefined
}

export interface Origin {
  readonly visit: Visit
  /** Whether each record occurs at most once. */
  readonly isOnce: boolean
}

export type Row = readonly unknown[]

export type Builder = (row: Row) => unknown

/** How rows become records, and the relations to read. */
export interface CompiledNode {
  readonly build: Builder
  readonly renders: readonly CompiledRender[]
  readonly source: Builder | undefined
  readonly children: readonly CompiledChild[]
  /** The bytes of every record, and the places of texts that add bytes. */
  readonly bytes: number
  readonly long: readonly number[]
  /** Whether rows are IDs. */
  readonly areIds: boolean
}

export interface CompiledRender {
  readonly name: string
  /** The embedded objects around, outermost first. */
  readonly within?: readonly string[]
  readonly render: Renderer
  /** Whether the record of a row has the attribute; undefined: all have. */
  readonly only?: (row: Row) => boolean
}

/** A relation of all records of a node. */
export interface CompiledChild {
  readonly name: string
  /** The embedded objects around, outermost first. */
  readonly within?: readonly string[]
  /** `one`: at most one row for a record, else null. */
  readonly cardinality: 'one' | 'many'
  /** Places of the linking values: in a row of the owner, and in a row of the statement. */
  readonly from: readonly number[]
  readonly to: readonly number[]
  readonly parts: readonly KeyPart[]
  /** The place of its parameters in `Arguments.lists`; undefined: those of its owner. */
  readonly list?: number
  /** What an owner without rows shows; undefined: null, or an empty list. */
  readonly none?: 0
  /** Whether the record of a row has the relation; undefined: all have. */
  readonly only?: (row: Row) => boolean
  readonly statement: Statement
  /** For a single record: compares with one key. Bare rows are IDs as answers show them. */
  readonly single: Statement
  /** Whether a row may belong to several owners. */
  readonly isPivoted: boolean
  readonly node: CompiledNode
}

export interface CompiledRead {
  readonly rows: Statement
  /** Faster than `rows` far into a list. Compiled on first use. */
  readonly deep: (() => Statement) | undefined
  /**
   * `rows`, with the number of matching records as last column, counted to `most`; a larger number means more. Faster than `count` if few
   * records match, slower if many do. Compiled on first use.
   */
  readonly counted: (() => Statement) | undefined
  /** Counts all pages; for paged plans. Compiled on first use. */
  readonly count: (() => Statement) | undefined
  readonly node: CompiledNode
  /** Places of the values of a cursor; undefined: pages are not by keys. */
  readonly cursor: readonly number[] | undefined
  /** Places of the values of `ReadPlan.bareColumns`. */
  readonly barePlaces: readonly number[]
  /** Whether any node has a render function. */
  readonly rendered: boolean
}

/**
 * Yields batches of statements that do not depend on each other, and receives their rows. Runs synchronously on SQLite; PostgreSQL may get
 * a batch at once. All statements see one state of the data.
 */
export type Reading<T> = Generator<readonly ReadingStep[], T, readonly (readonly Row[])[]>

export interface ReadingStep {
  readonly statement: Statement
  readonly parameters: readonly unknown[]
  /** Undefined where the engine itself reads. */
  readonly bound?: RowBound | undefined
  /** Receives the rows before the next statement runs, if statements run one by one. */
  readonly take?: (rows: readonly Row[]) => void
  /** Tells by the rows of the previous statement whether this one is needed; if not, a database may leave it out, with no rows. */
  readonly isNeeded?: (before: readonly Row[]) => boolean
  /** A statement that reads the page and counts, in the place of two: see `CompiledRead.counted`. */
  readonly counted?: CountedPage | undefined
  /** The list whose parameters the statement has; undefined: those of the request. */
  readonly list?: ExpandedList | undefined
  /** Whether only the first row is needed. */
  readonly isOne?: boolean
  /** Whether no batch follows. A reading of one statement then needs no transaction. */
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

/** The budget for rows. */
export interface RowBound {
  readonly room: AnswerBudget
  readonly areIds: boolean
  /** How often a row may occur: through a pivot table, once for each owner. */
  readonly times: number
  readonly at: string | undefined
}

export interface Dialect {
  /** A column of every table that sorts by insertion. */
  readonly insertionOrder: string
  compile(plan: ReadPlan): CompiledRead
  /** Finds the record of a key, if it meets the condition of `list`. `shown`: the key is a `ShownKey`. */
  exists(resource: Resource, scopeOf: ScopeLookup, list?: ToManyAttribute, shown?: boolean): Statement
  /** Finds the keys of `Arguments.links` with records; undefined where keys cannot be compared as texts. */
  existing(resource: Resource, scopeOf: ScopeLookup): Statement | undefined
  /** Finds a key with NUL among the first rows of a table; undefined where no text has NUL. */
  readonly nulKey?: (table: string, column: string) => Statement
  columns(resource: Resource, columns: readonly string[]): Statement
  decode(value: unknown, type: ScalarType): unknown
  /** Returns a parameter; undefined for a value that the database did not write. */
  readCursor(value: string): unknown
  /**
   * Finds another record with these values: given ones from `Arguments.given`, others from the record of the key. Undefined for attributes
   * without columns to compare.
   */
  taken(
    resource: Resource,
    attributes: readonly { readonly attribute: Attribute; readonly given: boolean }[],
    excludeSelf: boolean,
  ): Statement | undefined
  /** Finds the keys of records that link the record of the key. */
  referrers(resource: Resource, attribute: ToOneAttribute): Statement
  /** As `referrers`, for the keys of `Arguments.links`; undefined where keys cannot be compared as texts. */
  referrersOfAll(resource: Resource, attribute: ToOneAttribute): Statement | undefined
  readonly writing: WritingDialect
  /** Whether an error ends the transaction: further statements fail. */
  readonly failsWhole: boolean
  /** The columns of a broken constraint, if known. */
  violation(error: Error): { readonly schema?: string; readonly table: string; readonly columns: readonly string[] } | undefined
  /** The name or expression of a broken check. */
  brokenCheck(error: Error): string | undefined
  breaksReference(error: Error): boolean
  /** Whether an error is a broken reference, unique key, check or NOT NULL. */
  breaksConstraint(error: unknown): boolean
  /** The message of a trigger that refuses a write. */
  refusal(error: Error): string | undefined
  failure(error: unknown): DatabaseFailure | undefined
  /** Says how a value must be to be stored exactly, as the rest of "must be …". */
  describeUnstorable(value: ScalarValue, type: ScalarType): string | undefined
  storesAll(type: ScalarType): boolean
  /**
   * Replaces a filter value that the database cannot hold, such as a decimal of 20 digits, by a neighbour that compares alike with all
   * stored values; null if no stored value is equal.
   */
  findBound(value: ScalarValue, type: ScalarType, operator: Operator): unknown
  /** The value as stored. */
  encode(value: unknown, type: ScalarType, inDocument: boolean): unknown
  /** Without NULL, which equals nothing. */
  encodeList(values: readonly unknown[], type: ScalarType): unknown
  /** The keys that rows link, each once, without empty links. */
  encodeLinks(rows: readonly Row[], child: Pick<CompiledChild, 'from' | 'parts'>): EncodedLinks
  encodePatterns(patterns: readonly (readonly string[])[]): unknown
}

export interface SeenRows {
  readonly resource: Resource
  readonly scopeOf: ScopeLookup
}

/** Statements on rows; parameters in the order of the columns. */
export interface WritingDialect {
  insert(table: StoredTable, columns: readonly StoredColumn[]): Statement
  /** For at least one column. Generated keys are not returned. */
  insertRows(table: StoredTable, columns: readonly StoredColumn[], rows: number): Statement
  /** Finds the row of a key, the last parameter, if a column differs from its parameter. */
  differs(table: StoredTable, columns: readonly StoredColumn[]): Statement
  /**
   * Sets columns of the row of a key, the last parameter, and counts up the version of the row, if any.
   *
   * @param guarded only if a column differs: the parameters of the columns follow the key again
   * @param seen only a row of these: the parameters of the scope, named by the bindings, come last
   */
  update(table: StoredTable, columns: readonly StoredColumn[], guarded: boolean, seen?: SeenRows): Statement
  /**
   * The guarded `update` of a row whose columns hold values of their own types (`typeof(title) = 'text'`): leaves a row with a stray value,
   * such as a number in a column of texts. Undefined: types with values of several forms.
   */
  updatePlain?(table: StoredTable, columns: readonly StoredColumn[]): Statement | undefined
  /** The parameter is the key. */
  delete(table: StoredTable): Statement
  deleteAll(table: StoredTable): Statement
  /** Sets a link in rows of a list of keys. Parameters: value, list, value. */
  link(table: StoredTable, column: StoredColumn): Statement
  /** Empties the link of the rows with this link, but for a list of keys. Parameters, also of the next two: value, list. */
  unlink(table: StoredTable, column: StoredColumn): Statement
  /** Deletes these rows instead. */
  deleteOthers(table: StoredTable, column: StoredColumn): Statement
  /** Reads the keys of these rows, as texts. */
  others(table: StoredTable, column: StoredColumn): Statement
  /** Reads, as texts in order, the keys of a list whose rows have another link. Parameters: list, value. */
  unlinked(table: StoredTable, column: StoredColumn): Statement
  /**
   * Removes all members of a many-to-many list but for a list of keys. Parameters: owner, list.
   *
   * @param seen removes only members of these, see `update`
   */
  leave(pivot: PivotTable, seen?: SeenRows): Statement
  /** Removes members. Parameters: owner, list. */
  take(pivot: PivotTable): Statement
  /** Adds missing members. Parameters: owner, list, owner. */
  enter(pivot: PivotTable): Statement
  /** Reads the keys of members as texts, in order. Parameter: owner. */
  members(pivot: PivotTable): Statement
  /** Undefined for a value that cannot be a parameter. */
  toParameter(value: unknown): unknown
}
