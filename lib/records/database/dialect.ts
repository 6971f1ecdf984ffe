/**
 * Dialect: the interface between the stages and a database. Everything that is particular to one database (SQL text, value codecs, running,
 * transactions) stands behind these types; lib/databases/sqlite/ and lib/databases/postgres/ are the implementations. A connection may
 * answer at once or with a promise.
 */
import type { Attribute, KeyPart, Renderer, Resource, ToManyAttribute, ToOneAttribute } from '../../model/model.ts'
import type { Operator } from '../request/operators.ts'
import type { PivotTable, StoredColumn, StoredTable } from '../../model/stored-table.ts'
import type { ReadPlan, ScopeLookup } from '../plan/read-plan.ts'
import type { AnswerBudget } from '../plan/answer-limits.ts'
import type { ScalarType, ScalarValue } from '../../foundation/values/scalar-type.ts'
import type { Binding } from './binding.ts'

/**
 * Why a database does nothing: others have locked it, it fails itself (a full disk, a damaged file), its user has no right to what is asked
 * for, or it takes no writes.
 */
export type DatabaseFailure = 'busy' | 'failed' | 'denied' | 'readOnly'

/** A statement, ready to be prepared. Rows come as arrays. */
export interface Statement {
  readonly sql: string
  readonly bindings: readonly Binding[]
  /** What it may cost; undefined where that is little. */
  readonly costs?: Costs
  /** Whether its rows come as the bare values of their one column, without an array for each. */
  readonly isBare?: boolean
}

/** What an estimate of a statement's work goes by. */
export interface Costs {
  /** The tables whose rows it may go through. */
  readonly visits: readonly Visit[]
  /** The work on each row, in comparisons. */
  readonly weight: number
  /** The same statement with time checks. */
  readonly watched: string
  /** What it reads: `rows`, `count`, or the name of a relation. */
  readonly about: string
}

/** The rows of a table that a statement goes through. */
export interface Visit {
  /** Undefined: what is not a table has any number of rows. */
  readonly table: string | undefined
  /** The rows for each of which these are looked for; undefined: they are gone through once. */
  readonly from?: Origin | undefined
  /** The columns by which they are looked for. */
  readonly columns?: readonly string[]
  /** A further column that narrows them, which an index may have in front. */
  readonly tag?: string | undefined
  /** The table that has further conditions, by which the database may look for rows instead. */
  readonly filtered?: string | undefined
}

/** Rows from which others are looked for. */
export interface Origin {
  readonly visit: Visit
  /** Whether each record occurs at most once among them. */
  readonly isOnce: boolean
}

export type Row = readonly unknown[]

/** Makes the JSON value of a row. */
export type Builder = (row: Row) => unknown

/** How the rows of one node of the plan become records, and what else is read for them. */
export interface CompiledNode {
  readonly build: Builder
  /** Attributes that are shown with another value than the stored one. */
  readonly renders: readonly CompiledRender[]
  /** The stored plain attributes of a row, for those. */
  readonly source: Builder | undefined
  readonly children: readonly CompiledChild[]
  /** What a record takes in an answer: bytes that every one does, and where in a row the texts stand that add to it. */
  readonly bytes: number
  readonly long: readonly number[]
  /** Whether these are IDs instead of records. */
  readonly areIds: boolean
}

/** An attribute that a function gives another value. */
export interface CompiledRender {
  readonly name: string
  /** The embedded objects, or lists of such, that it is in, from the outside; undefined: none. */
  readonly within?: readonly string[]
  readonly render: Renderer
  /** The rows whose records have it; undefined: all. */
  readonly only?: (row: Row) => boolean
}

/** One relation of all records of a node, read by one statement. */
export interface CompiledChild {
  /** Key of the relation in the record, or in an embedded object of it. */
  readonly name: string
  /** The embedded objects that it is in, from the outside; undefined: none. */
  readonly within?: readonly string[]
  /** `one`: at most one row a record, null without; `many`: a list. */
  readonly cardinality: 'one' | 'many'
  /** Where the values that link stand: in the row of the record, and in the rows of the statement. */
  readonly from: readonly number[]
  readonly to: readonly number[]
  /** What the linking values are parts of. */
  readonly parts: readonly KeyPart[]
  /** The rows whose records have the relation; undefined: all. */
  readonly only?: (row: Row) => boolean
  readonly statement: Statement
  /** The same for one record: a plain comparison with its key instead of a list of keys. Bare rows are IDs as they are shown. */
  readonly single: Statement
  /** Whether one row may come with several owners. */
  readonly isPivoted: boolean
  readonly node: CompiledNode
}

/** A plan as statements. */
export interface CompiledRead {
  readonly rows: Statement
  /**
   * The same rows as `rows`, found in another way, which is faster from far into a list. Compiled when it is first asked for. Undefined:
   * there is none.
   */
  readonly deep: (() => Statement) | undefined
  /**
   * The same rows, with the number of records that match as a last column, as far as that is at most `most`: a greater number stands for
   * more. Faster where few match, and slower where many do. Compiled when it is first asked for. Undefined: there is none.
   */
  readonly counted: (() => Statement) | undefined
  /** The number of records that match, whatever the page. Compiled when it is first asked for. Only for paged plans. */
  readonly count: (() => Statement) | undefined
  readonly node: CompiledNode
  /** Where the values of `ReadPlan.beside` stand in a row. */
  readonly beside: readonly number[]
  /** Whether some attribute of some node is shown with another value than the stored one. */
  readonly rendered: boolean
}

/**
 * Reading work: yields statements that need nothing of each other, and receives the rows of each. Written once, it runs at once on a
 * synchronous database, which runs them one after another, and awaits on an asynchronous one, which may send them together. All its
 * statements see one state of the data.
 */
export type Reading<T> = Generator<readonly ReadingStep[], T, readonly (readonly Row[])[]>

/** A statement of reading work with its parameters. */
export interface ReadingStep {
  readonly statement: Statement
  readonly parameters: readonly unknown[]
  /** What bounds its rows; undefined for what the engine reads for itself. */
  readonly bound?: RowBound | undefined
  /** Takes the rows, before the next statement runs where statements run one after another. */
  readonly take?: (rows: readonly Row[]) => void
  /**
   * Whether the statement is needed, by the rows of the statement before it. One that is not needed may be left out, and has no rows then;
   * a database that runs all of them at once need not ask.
   */
  readonly isNeeded?: (before: readonly Row[]) => boolean
  /**
   * Makes a statement of this one, which reads a page, and the next one, which counts: see `CompiledRead.counted`. A database that runs it
   * gives its rows to the one and the number to the other.
   */
  readonly counted?: CountedPage | undefined
  /** Whether no row but the first is needed. */
  readonly isOne?: boolean
  /**
   * Whether no statement of the reading follows the batch. A reading that does not say so may have more; one that says so and is one
   * statement needs no transaction.
   */
  readonly isLast?: boolean
}

/** A page that may be read and counted by one statement. */
export interface CountedPage {
  readonly limit: number
  readonly offset: number
  readonly statement: () => Statement
  /** Returns the parameters of the statement. */
  readonly bind: (most: number) => readonly unknown[]
}

/** The keys of rows, as a parameter. */
export interface EncodedLinks {
  readonly parameter: unknown
  /** The number of different keys. */
  readonly count: number
}

/** The room that is left for the rows of a statement. */
export interface RowBound {
  readonly room: AnswerBudget
  readonly areIds: boolean
  /** How often a row may come at most: through a pivot table, with every owner. */
  readonly times: number
  readonly at: string | undefined
}

/** One kind of database. */
export interface Dialect {
  /** The column that every table has whose order is that in which rows were inserted. */
  readonly insertionOrder: string
  compile(plan: ReadPlan): CompiledRead
  /**
   * A statement that gives one row when the record of a key exists; with a list, when it meets the condition of that, too. `shown`: the key
   * is a `ShownKey`.
   */
  exists(resource: Resource, scopeOf: ScopeLookup, list?: ToManyAttribute, shown?: boolean): Statement
  /** A statement that gives those keys of `Arguments.links` whose records exist; undefined where they cannot be compared as texts. */
  existing(resource: Resource, scopeOf: ScopeLookup): Statement | undefined
  /** A statement that gives the bare values of columns of the record of a key. */
  columns(resource: Resource, columns: readonly string[]): Statement
  /** A bare value of a column as the engine holds values of its type. */
  decode(value: unknown, type: ScalarType): unknown
  /**
   * A statement that gives one row when a record other than that of the key has these values: those marked as given come from
   * `Arguments.given` in order, the others are those of the record of the key. Undefined when the attributes have no columns to compare.
   */
  taken(
    resource: Resource,
    attributes: readonly { readonly attribute: Attribute; readonly given: boolean }[],
    excludeSelf: boolean,
  ): Statement | undefined
  /** A statement that gives the keys of the records whose to-one links the record of the key. */
  referrers(resource: Resource, attribute: ToOneAttribute): Statement
  /** The same for the records of the keys of `Arguments.links`; undefined where they cannot be compared as texts. */
  referrersOfAll(resource: Resource, attribute: ToOneAttribute): Statement | undefined
  /** Statements that write one row, their parameters in the order of the columns. See `WritingDialect`. */
  readonly writing: WritingDialect
  /** Whether an error ends the transaction that it is in: nothing can be asked in it any more. */
  readonly failsWhole: boolean
  /** What a broken constraint is about, as far as the database says: the columns of a table. */
  violation(error: Error): { readonly schema?: string; readonly table: string; readonly columns: readonly string[] } | undefined
  /** The check of the schema that a write did not meet, by its name or expression; undefined where the error is about something else. */
  brokenCheck(error: Error): string | undefined
  /** Whether an error is that a record refers to none. */
  breaksReference(error: Error): boolean
  /** Whether an error is about a constraint of the schema: a reference, a unique key, a check, a value that must be given. */
  breaksConstraint(error: unknown): boolean
  /** What a rule of the database's own (a trigger) says of a write that it refuses. */
  refusal(error: Error): string | undefined
  /** Why the database does not do what it is asked for; undefined for any other error. */
  failure(error: unknown): DatabaseFailure | undefined
  /**
   * What a value must be so that the database can store it, as the rest of "must be …"; undefined for a value of the type that it stores
   * exactly.
   */
  describeUnstorable(value: ScalarValue, type: ScalarType): string | undefined
  /** Whether it stores every value of a type exactly, so that `describeUnstorable` has nothing to say. */
  storesAll(type: ScalarType): boolean
  /**
   * The value to compare with in place of one of a filter that the database cannot hold, so that every stored value compares alike; null
   * where none is equal.
   */
  findBound(value: ScalarValue, type: ScalarType, operator: Operator): unknown
  /** The parameter for a value in its plain form: as the database stores it. */
  encode(value: unknown, type: ScalarType, inDocument: boolean): unknown
  /** The parameter for a list of values, as `encode` gives them. NULL equals nothing, so it is left out. */
  encodeList(values: readonly unknown[], type: ScalarType): unknown
  /** The parameter for the keys by which rows link others, each once. A row with an empty link has none. */
  encodeLinks(rows: readonly Row[], child: Pick<CompiledChild, 'from' | 'parts'>): EncodedLinks
  /** The parameter of several wildcard patterns. */
  encodePatterns(patterns: readonly (readonly string[])[]): unknown
}

/** The rows of a resource that exist under a scope. */
export interface SeenRows {
  readonly resource: Resource
  readonly scopeOf: ScopeLookup
}

/** The statements that write one row of a table. */
export interface WritingDialect {
  /** Inserts a row with values in these columns. */
  insert(table: StoredTable, columns: readonly StoredColumn[]): Statement
  /** Inserts several rows with values in these columns, of which there is at least one. Nobody asks for keys that the database counts. */
  insertRows(table: StoredTable, columns: readonly StoredColumn[], rows: number): Statement
  /** Looks for the row of a key, the last parameter, in which one of these columns differs from its parameter. */
  differs(table: StoredTable, columns: readonly StoredColumn[]): Statement
  /**
   * Sets columns of the row of a key, the last parameter, and counts the change where the table has a version.
   *
   * @param guarded whether only a row in which one of the columns differs is set; the parameters of the columns are given a second time
   * then, behind the key
   * @param seen only a row that is among these is set; the parameters of the scope, which the bindings of the statement name, come last
   */
  update(table: StoredTable, columns: readonly StoredColumn[], guarded: boolean, seen?: SeenRows): Statement
  /**
   * The guarded `update` of a row whose columns hold values of their own types, as `typeof(title) = 'text'`. A row with a stray value, such
   * as a number in a column of texts, is left alone. Undefined: the types of the columns have values of several forms.
   */
  updatePlain?(table: StoredTable, columns: readonly StoredColumn[]): Statement | undefined
  /** Deletes the row of a key, the one parameter. */
  delete(table: StoredTable): Statement
  /** Deletes the rows of a list of keys, the one parameter, in a table whose key has one part. */
  deleteAll(table: StoredTable): Statement
  /** Sets a link of the rows of a list of keys, where they have another one. Its parameters: the value, the list, the value. */
  link(table: StoredTable, column: StoredColumn): Statement
  /**
   * Sets a link to NULL in the rows that have this one, apart from those of a list of keys. Its parameters: the value, the list; also of
   * the next two.
   */
  unlink(table: StoredTable, column: StoredColumn): Statement
  /** Deletes those rows. */
  deleteOthers(table: StoredTable, column: StoredColumn): Statement
  /** Reads the keys of those rows, as texts. */
  others(table: StoredTable, column: StoredColumn): Statement
  /**
   * Reads, of a list of keys, those whose rows have another link, as texts, in the order of the list. Its parameters: the list, the value.
   */
  unlinked(table: StoredTable, column: StoredColumn): Statement
  /**
   * Takes out of a many-to-many list what is not in a list of keys. Its parameters: the key of the owner, the list.
   *
   * @param seen only members that are among these are taken out: see `update`
   */
  leave(pivot: PivotTable, seen?: SeenRows): Statement
  /** Takes out of it what is in a list of keys. Its parameters: the key of the owner, the list. */
  take(pivot: PivotTable): Statement
  /**
   * Puts into a many-to-many list, of a list of keys, those that are not in it. Its parameters: the key of the owner, the list, the key of
   * the owner.
   */
  enter(pivot: PivotTable): Statement
  /** Reads the keys of a many-to-many list, as texts, in its order where it has one. Its parameter: the key of the owner. */
  members(pivot: PivotTable): Statement
  /** The parameter for a value of a column; undefined where it cannot be one. */
  toParameter(value: unknown): unknown
}
