/**
 * Flavour: what the compiler of `databases/sql/` asks of the SQL of one database. Tables, joins, lists, scopes and order are compiled here
 * for all databases; how a value is stored, compared, sorted and decoded is what a flavour says. Its functions are called when a plan is
 * compiled, never for a request or a row.
 */
import type { Binding } from '../../records/database/binding.ts'
import type { Statement, Visit } from '../../records/database/dialect.ts'
import type { ValueForm } from '../../records/database/value-form.ts'
import type { KeyPart, Resource, ScalarAttribute, ToOneAttribute } from '../../model/model.ts'
import type { Condition, Operand, ValueRef } from '../../records/plan/read-plan.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import type { BuilderSource } from './builder-source.ts'
import type { Sql } from './sql.ts'

/** The columns of one table of a statement, and of the tables that its to-one relations lead to. */
export interface ColumnScope {
  /** The alias of the table. */
  readonly alias: string
  /** Returns a column as an expression. */
  column(column: string): string
  /** Returns the columns of the record at the end of the relations, which are joined when they are first needed. */
  through(hops: readonly ToOneAttribute[]): ColumnScope
}

/** The SQL that one database writes in its own way. */
export interface Flavour {
  /**
   * Makes the statement of a whole text. The text has `?` for each parameter, in the order of its bindings; a database that wants numbers
   * or casts writes them here.
   *
   * @param visits the tables whose rows it may go through, for an estimate
   * @param about see `Costs`
   */
  readonly finish: (whole: Sql, visits: readonly Visit[], about: string) => Statement
  /**
   * Returns what stands in front of the conditions of a table, so that the statement can be ended while it runs; an empty text where the
   * server ends statements itself.
   *
   * @param column a column of the key, as an expression
   * @param isInteger whether the column holds integers
   * @param isWhole whether the statement has no conditions otherwise
   */
  readonly mark: (column: string, isInteger: boolean, isWhole?: boolean) => string
  /** Returns a boolean as a literal. */
  readonly formatBoolean: (value: boolean) => string

  /** Returns what stands at the keys of a JSON document, as a value of a type. */
  readonly document: (column: string, keys: readonly string[], type: ScalarType) => string
  /** Returns the stored value of an attribute, in a form that compares and sorts as its type does. */
  readonly stored: (attribute: ScalarAttribute, columns: ColumnScope) => Sql
  /** Returns what a statement reads of an attribute, for `readValue`. */
  readonly shown: (attribute: ScalarAttribute, columns: ColumnScope) => Sql
  /** Returns a value as an exact text. */
  readonly exactText: (value: Sql) => Sql

  /** Compiles the condition that an attribute has no value. */
  readonly isNull: (operand: Operand, columns: ColumnScope) => Sql
  /** Compiles the condition that a value is one of those of a filter. */
  readonly isOneOf: (operand: Operand, values: readonly ValueRef[], columns: ColumnScope) => Sql
  /** Compiles the condition that a value is before or behind that of a filter. */
  readonly compare: (node: Condition & { readonly kind: 'compare' }, columns: ColumnScope) => Sql
  /** Compiles the condition that a text matches the wildcard pattern of a filter. */
  readonly matches: (node: Condition & { readonly kind: 'match' }, columns: ColumnScope) => Sql
  /** Compiles the condition that a text matches any of the wildcard patterns of a filter. */
  readonly matchesAny: (node: Condition & { readonly kind: 'matchAny' }, columns: ColumnScope) => Sql
  /** Compiles the condition of `$like` in a filter of MikroORM. */
  readonly like: (node: Condition & { readonly kind: 'like' }, columns: ColumnScope) => Sql

  /**
   * Returns the condition that a column, which may be NULL, holds another value than a parameter, which may be NULL too. Texts differ by
   * their characters.
   *
   * @param type undefined where it is not known
   */
  readonly differs: (column: string, parameter: Sql, type: ScalarType | undefined) => Sql

  /** Returns a column of a key, or of what must be unique, in the form in which it is compared with a parameter of its type. */
  readonly compared: (column: string, type: ScalarType) => string
  /** Returns the forms in which a part of a key may be stored. */
  readonly keyForms: (type: ScalarType) => readonly ValueForm[]
  /** Compiles the condition that a key of one part is in the list of a filter, which is one parameter. */
  readonly isInKeys: (column: string, list: Binding & { readonly from: 'filterKeys' }) => Sql
  /** Compiles the condition that the columns hold one of the keys of the rows above, which are one parameter. */
  readonly isInLinks: (columns: readonly string[], parts: readonly KeyPart[]) => Sql

  /**
   * Returns a term of ORDER BY. NULL is the smallest value.
   *
   * @param mayBeNull whether NULL is possible
   */
  readonly order: (value: Sql, descending: boolean, mayBeNull: boolean) => Sql
  /**
   * Returns a column of a key as a term of ORDER BY.
   *
   * @param type undefined for a column that is not an attribute
   */
  readonly keyOrder: (column: string, type: ScalarType | undefined) => Sql
  /** Returns a parameter as the number of rows that LIMIT takes. */
  readonly rowLimit: (parameter: Sql) => Sql
  /** Returns an expression of the application's as one that ORDER BY does not take for the position of a column. */
  readonly sortedFormula: (value: Sql) => Sql
  /** Returns a condition as a value that sorts false before true, and that can be added. */
  readonly truth: (condition: string) => string
  /** Returns the least or greatest value of a group, as an aggregate. */
  readonly extreme: (which: 'min' | 'max', value: Sql, type: ScalarType) => Sql
  /** Returns the least or greatest of some values, of which any may be NULL. */
  readonly extremeOfAll: (which: 'min' | 'max', values: readonly Sql[]) => Sql
  /**
   * Returns the number of different keys of several parts, as an aggregate.
   *
   * @param isThere the condition under which there is a key
   */
  readonly countDistinct: (key: readonly string[], isThere: string) => string
  /** Counts what a path of relations reaches, for all records at once; undefined where the database has no means for it. */
  readonly reach: Reach | undefined

  /** Whether rows of one column can come as bare values. */
  readonly readsBare: boolean
  /** Returns the decoder of what a statement reads of a key, or undefined where that is the JSON value. */
  readonly findDecoder: (type: ScalarType) => Decoder | undefined
  /** Returns JavaScript for the JSON form of what a statement reads of an attribute: an expression over an expression. NULL is null. */
  readonly readValue: (type: ScalarType, value: string, source: BuilderSource) => string
}

/** Returns the JSON form of a value that is not NULL. */
export type Decoder = (value: never) => unknown

/** How a database counts what paths of relations reach. */
export interface Reach {
  /** Returns a key as one value, NULL where there is none. */
  readonly key: (columns: readonly string[], resource: Resource) => string
  /** Returns all links of one step, as an aggregate over the rows of two keys. */
  readonly links: (from: string, to: string) => string
  /** Returns the number of keys that the steps reach from a key. */
  readonly count: (from: string, steps: readonly Sql[]) => Sql
}
