/** Stored value: attributes as SQL that compares and sorts by type; texts by code point, whatever the database's collation. */
import type { ScalarAttribute } from '../../../model/model.ts'
import type { Operand } from '../../../records/plan/read-plan.ts'
import type { ColumnScope } from '../../sql/flavour.ts'
import { bind, literal, name, sql, text, type Sql } from '../../sql/sql.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'
import { compileSortedWithin } from './compare-json.ts'
import { findOwnType, type OwnTypes } from './own-types.ts'
import { castColumn, findSqlType } from './parameters.ts'

export function compileBareValue(attribute: ScalarAttribute, columns: ColumnScope): Sql {
  const { source, type } = attribute
  switch (source.kind) {
    case 'column':
      return text(castColumn(columns.column(source.column), type))
    case 'document':
      return text(compileDocument(columns.column(source.column), source.keys, type))
    case 'formula': {
      const formula = source.sql(columns.alias, name)
      return { text: `(${formula.sql})`, bindings: formula.values.map(value => ({ from: 'literal', value }) as const) }
    }
    case 'tag':
      return sql`case when ${columns.column(source.column)} is not null then ${bind({ from: 'literal', value: source.value })} end`
    case 'within':
      return compileSortedWithin(source.json, source.names, columns)
    case 'getter':
    case 'none':
      throw new Error(`"${attribute.name}" is not stored.`)
  }
}

/** Returns the stored value of an attribute, in a form that compares and sorts as its type does. */
function compileStoredValue(attribute: ScalarAttribute, columns: ColumnScope, own: OwnTypes): Sql {
  const { source, type } = attribute
  if (source.kind === 'column') return compileOrdered(columns.column(source.column), type, own)
  return collate(compileBareValue(attribute, columns), type)
}

/** Returns a column in a form that sorts as its type does. */
export function compileOrdered(column: string, type: ScalarType, own: OwnTypes): Sql {
  const target = findOwnType(type, own)
  return target === undefined ? collate(text(castColumn(column, type)), type) : text(`(${column})::${target}`)
}

/**
 * Returns the same as a sort key. A type of the application's own may store a number or a text in a JSON document: it sorts as what it is.
 */
export function compileSortedValue(attribute: ScalarAttribute, columns: ColumnScope, own: OwnTypes): Sql {
  return isOwnInDocument(attribute) ? compileSortedWithin(attribute, [], columns) : compileStoredValue(attribute, columns, own)
}

export function isOwnInDocument({ source, type }: ScalarAttribute): boolean {
  return source.kind === 'document' && type.kind === 'custom'
}

/** Dates in documents are texts in one form, sorted like time. */
export function compileDocument(column: string, keys: readonly string[], type: ScalarType): string {
  const path = keys.map(key => `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(',')
  const value = `(${column} #>> ${literal(`{${path}}`)})`
  const target = findSqlType(type)
  return target === undefined || target === 'text' ? value : `${value}::${target}`
}

/** Texts compare by code point. */
function collate(value: Sql, { kind }: ScalarType): Sql {
  return kind === 'text' ? sql`${value} collate "C"` : value
}

/** Returns the value of what a filter is about. */
export function compileOperand(operand: Operand, columns: ColumnScope, own: OwnTypes): Sql {
  return compileStoredValue(operand.attribute, columns.through(operand.hops), own)
}

/** Equality needs no collation and can use any index. */
export function compileBareOperand(operand: Operand, columns: ColumnScope): Sql {
  return compileBareValue(operand.attribute, columns.through(operand.hops))
}
