/** Pieces of SQL that differ between SQLite and PostgreSQL. Called when a plan is compiled, never for a request or a row. */
import type { Binding, ValueForm } from '../../records/database/binding.ts'
import type { Statement, Visit } from '../../records/database/dialect.ts'
import type { KeyPart, Resource, ScalarAttribute, ToOneAttribute } from '../../model/model.ts'
import type { Condition, Operand, ValueRef, SortTerm } from '../../records/plan/read-plan.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import type { BuilderSource, RowValue } from './builder-source.ts'
import type { Sql } from './sql.ts'

export interface ColumnScope {
  readonly alias: string
  column(column: string): string
  /** Joins relations on first use. */
  through(hops: readonly ToOneAttribute[]): ColumnScope
}

export interface Flavour {
  /**
   * Numbers and casts parameters on PostgreSQL; takes out the marks of time checks on SQLite.
   *
   * @param visits the tables to go through, for an estimate
   * @param about `rows`, `count`, or the name of a relation
   */
  readonly finish: (whole: Sql, visits: readonly Visit[], about: string) => Statement
  /**
   * A time check before the conditions, to end a running statement; empty where the server ends statements.
   *
   * @param column of the key, as an expression
   * @param isInteger the column holds integers
   * @param isWhole the statement has no other conditions
   */
  readonly mark: (column: string, isInteger: boolean, isWhole?: boolean) => string
  readonly formatBoolean: (value: boolean) => string

  readonly document: (column: string, keys: readonly string[], type: ScalarType) => string
  /** The attribute, to compare and sort by: a datetime by moment, not by text. */
  readonly stored: (attribute: ScalarAttribute, columns: ColumnScope) => Sql
  /** The attribute, for `readValue`. */
  readonly shown: (attribute: ScalarAttribute, columns: ColumnScope) => Sql
  readonly exactText: (value: Sql) => Sql

  readonly isNull: (operand: Operand, columns: ColumnScope) => Sql
  readonly isOneOf: (operand: Operand, values: readonly ValueRef[], columns: ColumnScope) => Sql
  readonly compare: (node: Condition & { readonly kind: 'compare' }, columns: ColumnScope) => Sql
  readonly matches: (node: Condition & { readonly kind: 'match' }, columns: ColumnScope) => Sql
  readonly matchesAny: (node: Condition & { readonly kind: 'matchAny' }, columns: ColumnScope) => Sql
  readonly like: (node: Condition & { readonly kind: 'like' }, columns: ColumnScope) => Sql
  readonly expression: (node: Condition & { readonly kind: 'expression' }, columns: ColumnScope) => Sql
  readonly contains: (node: Condition & { readonly kind: 'contains' }, columns: ColumnScope) => Sql

  /**
   * Whether a write would change the column. Both values may be NULL. `Ann` differs from `ann` under any collation.
   */
  readonly differs: (column: string, parameter: Sql, type: ScalarType | undefined) => Sql

  readonly compared: (column: string, type: ScalarType) => string
  readonly keyForms: (type: ScalarType) => readonly ValueForm[]
  /** For keys of one part. The list is a single parameter. */
  readonly isInKeys: (column: string, list: Binding & { readonly from: 'filterKeys' }) => Sql
  /** The keys of all owners are a single parameter. */
  readonly isInLinks: (columns: readonly string[], parts: readonly KeyPart[]) => Sql

  /** A term for ORDER BY. NULL is the smallest value, unless the term decides. */
  readonly order: (value: Sql, term: Pick<SortTerm, 'descending' | 'nulls'>, mayBeNull: boolean) => Sql
  /** A sort value for a cursor, as `Dialect.readCursor` takes the value. */
  readonly cursor: (value: Sql) => Sql
  /** @param type undefined for a column without an attribute */
  readonly keyOrder: (column: string, type: ScalarType | undefined) => Sql
  readonly rowLimit: (parameter: Sql) => Sql
  /** ORDER BY would take a number for the position of a column. */
  readonly sortedFormula: (value: Sql) => Sql
  /** Sorts false before true, and can be added up. */
  readonly truth: (condition: string) => string
  readonly extreme: (which: 'min' | 'max', value: Sql, type: ScalarType) => Sql
  /** The least or greatest value of one row; values may be NULL. */
  readonly extremeOfAll: (which: 'min' | 'max', values: readonly Sql[]) => Sql
  /**
   * Counts different keys of several parts.
   *
   * @param isThere no part of the key is NULL
   */
  readonly countDistinct: (key: readonly string[], isThere: string) => string
  /** Undefined: the database cannot count records behind a path for all records at once. */
  readonly reach: Reach | undefined

  readonly readsBare: boolean
  /** Undefined: the database returns the JSON value. */
  readonly findDecoder: (type: ScalarType) => Decoder | undefined
  readonly readValue: (type: ScalarType, value: RowValue, source: BuilderSource) => RowValue
}

/** Never called for NULL. */
export type Decoder = (value: never) => unknown

export interface Reach {
  /** A key as a single value; NULL without a key. */
  readonly key: (columns: readonly string[], resource: Resource) => string
  readonly links: (from: string, to: string) => string
  readonly count: (from: string, steps: readonly Sql[]) => Sql
}
