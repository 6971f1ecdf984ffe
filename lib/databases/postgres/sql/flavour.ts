/** Flavour: SQL of PostgreSQL 15 and later. Rows are texts; sessions need the time zone UTC and the DateStyle ISO. */
import { idParts } from '../../../model/key.ts'
import type { KeyPart } from '../../../model/model.ts'
import type { ValueForm } from '../../../records/database/value-form.ts'
import type { Flavour } from '../../sql/flavour.ts'
import { bind, join, sql, text, tuple, type Sql } from '../../sql/sql.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'
import type { CaseFolding } from './case-folding.ts'
import { isNullWithin } from './compare-json.ts'
import { compareValue, isOneOfValues } from './compare-value.ts'
import { findDecoder, readValue } from './decode.ts'
import { compileMatches } from './match-text.ts'
import { findOwnType, NO_OWN_TYPES, type OwnTypes } from './own-types.ts'
import { castColumn, findSqlType, numberParameters } from './parameters.ts'
import { differs } from './write-rows.ts'
import { compileBareOperand, compileBareValue, compileDocument, compileOrdered, compileSortedValue } from './stored-value.ts'

const PLAIN_FORM: readonly ValueForm[] = ['value']

/** @param own the types that have an order of their own */
export function createFlavour(folding: CaseFolding, own: OwnTypes = NO_OWN_TYPES): Flavour {
  return {
    finish: whole => numberParameters(whole, own),
    // The server ends statements by itself: `statement_timeout`.
    mark: () => '',
    formatBoolean: String,

    document: compileDocument,
    stored: (attribute, columns) => compileSortedValue(attribute, columns, own),
    shown: compileBareValue,
    exactText: value => value,

    isNull: (operand, columns) =>
      operand.attribute.source.kind === 'within' ? isNullWithin(operand, columns) : sql`${compileBareOperand(operand, columns)} is null`,
    isOneOf: (operand, values, columns) => isOneOfValues(operand, values, columns, own),
    compare: (node, columns) => compareValue(node, columns, own),
    ...compileMatches(folding),

    differs,

    compared: castColumn,
    keyForms: () => PLAIN_FORM,
    isInKeys: (column, list) => sql`${castColumn(column, idParts(list.resource)[0]!.type)} = any(${bind(list)})`,
    isInLinks,

    order(value, descending, mayBeNull) {
      // Only if NULL is possible: else a common index would not serve.
      const nulls = mayBeNull ? (descending ? ' nulls last' : ' nulls first') : ''
      return sql`${value}${descending ? ' desc' : ''}${nulls}`
    },
    keyOrder: (column, type) => (type === undefined ? text(column) : compileOrdered(column, type, own)),
    rowLimit: parameter => parameter,
    sortedFormula: value => sql`coalesce(${value}, null)`,
    truth: condition => `(${condition})::int`,
    extreme: (which, value, type) => compileExtreme(which, value, type, own),
    extremeOfAll: (which, values) => sql`${which === 'min' ? 'least' : 'greatest'}(${join(values, ', ')})`,
    countDistinct: (key, isThere) => `count(distinct (${key.join(', ')})) filter (where ${isThere})`,
    reach: undefined,

    readsBare: false,
    findDecoder,
    readValue,
  }
}

/** The least or greatest value of a group. */
function compileExtreme(which: 'min' | 'max', value: Sql, type: ScalarType, own: OwnTypes): Sql {
  const { kind } = type
  // PostgreSQL has no min() and max() of booleans, and up to version 17 none of UUIDs.
  if (kind === 'boolean') return sql`${which}((${value})::int)`
  // PostgreSQL has none of rows up to version 17, none of bits, and may have none of the column of a custom type.
  if (kind === 'jsonValue' || kind === 'custom' || findOwnType(type, own) !== undefined)
    return sql`(array_agg(${value} order by ${value}${which === 'max' ? ' desc' : ''}) filter (where ${value} is distinct from null))[1]`
  return kind === 'uuid' ? sql`${which}((${value})::text collate "C")` : sql`${which}(${value})`
}

/** An array of keys; keys of several parts are JSON. */
function isInLinks(columns: readonly string[], parts: readonly KeyPart[]): Sql {
  const links = bind({ from: 'links', parts })
  const own = columns.map((column, index) => castColumn(column, parts[index]!.type))
  if (own.length === 1) return sql`${own[0]!} = any(${links})`
  const values = parts.map(({ type }, index) => {
    const target = findSqlType(type)
    return target === undefined ? `l ->> ${index}` : `(l ->> ${index})::${target}`
  })
  return sql`${tuple(own)} in (select ${values.join(', ')} from json_array_elements(${links}) as l)`
}
