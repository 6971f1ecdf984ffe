/** Flavour: one database's SQL, for the compiler here. Called when a plan is compiled, never for a request or a row. */
import type { Binding } from '../../records/database/binding.ts'
import type { Statement, Visit } from '../../records/database/dialect.ts'
import type { ValueForm } from '../../records/database/value-form.ts'
import type { KeyPart, Resource, ScalarAttribute, ToOneAttribute } from '../../model/model.ts'
import type { Condition, Operand, ValueRef, SortTerm } from '../../records/plan/read-plan.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import type { BuilderSource, RowValue } from './builder-source.ts'
import type { Sql } from './sql.ts'

/** A table, with the tables of its to-one relations. */
export interface ColumnScope {
  readonly alias: string
  column(column: string): string
  /** Joins relations on first use. */
  through(hops: readonly ToOneAttribute[]): ColumnScope
}

export interface Flavour {
  /**
   * Takes text with `?`s; numbers and casts parameters where needed.
   *
   * @param visits whose rows it may go through, for an estimate
   * @param about see `Costs`
   */
  readonly finish: (whole: Sql, visits: readonly Visit[], about: string) => Statement
  /**
   * A time check before the conditions, which can end a running statement; empty where the server ends statements.
   *
   * @param column of the key, as an expression
   * @param isInteger the column holds integers
   * @param isWhole the statement has no other conditions
   */
  readonly mark: (column: string, isInteger: boolean, isWhole?: boolean) => string
  readonly formatBoolean: (value: boolean) => string

  readonly document: (column: string, keys: readonly string[], type: ScalarType) => string
  /** In a form that compares and sorts by type. */
  readonly stored: (attribute: ScalarAttribute, columns: ColumnScope) => Sql
  /** In the form that `readValue` takes. */
  readonly shown: (attribute: ScalarAttribute, columns: ColumnScope) => Sql
  readonly exactText: (value: Sql) => Sql

  readonly isNull: (operand: Operand, columns: ColumnScope) => Sql
  readonly isOneOf: (operand: Operand, values: readonly ValueRef[], columns: ColumnScope) => Sql
  readonly compare: (node: Condition & { readonly kind: 'compare' }, columns: ColumnScope) => Sql
  readonly matches: (node: Condition & { readonly kind: 'match' }, columns: ColumnScope) => Sql
  readonly matchesAny: (node: Condition & { readonly kind: 'matchAny' }, columns: ColumnScope) => Sql
  /** `$like` in a filter of MikroORM. */
  readonly like: (node: Condition & { readonly kind: 'like' }, columns: ColumnScope) => Sql
  readonly expression: (node: Condition & { readonly kind: 'expression' }, columns: ColumnScope) => Sql
  readonly contains: (node: Condition & { readonly kind: 'contains' }, columns: ColumnScope) => Sql

  /**
   * Both may be NULL. Texts differ by characters.
   *
   * @param type undefined if unknown
   */
  readonly differs: (column: string, parameter: Sql, type: ScalarType | undefined) => Sql

  /** As compared with a parameter of its type. */
  readonly compared: (column: string, type: ScalarType) => string
  readonly keyForms: (type: ScalarType) => readonly ValueForm[]
  /** For keys of one part. The list is a single parameter. */
  readonly isInKeys: (column: string, list: Binding & { readonly from: 'filterKeys' }) => Sql
  /** The keys of the rows above are a single parameter. */
  readonly isInLinks: (columns: readonly string[], parts: readonly KeyPart[]) => Sql

  /**
   * NULL is the smallest value.
   *
   * @param mayBeNull NULL is possible
   */
  readonly order: (value: Sql, term: Pick<SortTerm, 'descending' | 'nulls'>, mayBeNull: boolean) => Sql
  /** As `formatStart` writes and `Dialect.readCursor` reads. */
  readonly cursor: (value: Sql) => Sql
  /** @param type undefined for a column without an attribute */
  readonly keyOrder: (column: string, type: ScalarType | undefined) => Sql
  readonly rowLimit: (parameter: Sql) => Sql
  /** ORDER BY would take a number for the position of a column. */
  readonly sortedFormula: (value: Sql) => Sql
  /** Sorts false before true, and can be added up. */
  readonly truth: (condition: string) => string
  /** An aggregate. */
  readonly extreme: (which: 'min' | 'max', value: Sql, type: ScalarType) => Sql
  /** Values may be NULL. */
  readonly extremeOfAll: (which: 'min' | 'max', values: readonly Sql[]) => Sql
  /**
   * Of keys of several parts, as an aggregate.
   *
   * @param isThere when there is a key
   */
  readonly countDistinct: (key: readonly string[], isThere: string) => string
  /** Counts records behind a path, for all records at once; undefined: impossible. */
  readonly reach: Reach | undefined

  readonly readsBare: boolean
  /** Undefined: the database returns the JSON value. */
  readonly findDecoder: (type: ScalarType) => Decoder | undefined
  /** NULL is null. */
  readonly readValue: (type: ScalarType, value: RowValue, source: BuilderSource) => RowValue
}

/** The value is not NULL. */
export type Decoder = (value: never) => unknown

export interface Reach {
  /** As one value; NULL for no key. */
  readonly key: (columns: readonly string[], resource: Resource) => string
  /** Aggregates the links of one step. */
  readonly links: (from: string, to: string) => string
  /** Counts the keys behind the steps. */
  readonly count: (from: string, steps: readonly Sql[]) => Sql
}
