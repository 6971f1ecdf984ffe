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
import { castColumn, findSqlType, numberParameters } from './parameters.ts'
import { differs } from './write-rows.ts'
import { collate, compileBareOperand, compileBareValue, compileDocument, compileSortedValue } from './stored-value.ts'

const NO_ENUMS: ReadonlySet<string> = new Set()

const PLAIN_FORM: readonly ValueForm[] = ['value']

/** @param enums enum types, as the server writes them */
export function createFlavour(folding: CaseFolding, enums: ReadonlySet<string> = NO_ENUMS): Flavour {
  return {
    finish: numberParameters,
    // The server ends statements: `statement_timeout`.
    mark: () => '',
    formatBoolean: String,

    document: compileDocument,
    stored: compileSortedValue,
    shown: compileBareValue,
    exactText: value => value,

    isNull: (operand, columns) =>
      operand.attribute.source.kind === 'within' ? isNullWithin(operand, columns) : sql`${compileBareOperand(operand, columns)} is null`,
    isOneOf: (operand, values, columns) => isOneOfValues(operand, values, columns, enums),
    compare: compareValue,
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
    keyOrder: (column, type) => (type === undefined ? text(column) : collate(text(castColumn(column, type)), type)),
    rowLimit: parameter => parameter,
    sortedFormula: value => sql`coalesce(${value}, null)`,
    truth: condition => `(${condition})::int`,
    extreme: compileExtreme,
    extremeOfAll: (which, values) => sql`${which === 'min' ? 'least' : 'greatest'}(${join(values, ', ')})`,
    countDistinct: (key, isThere) => `count(distinct (${key.join(', ')})) filter (where ${isThere})`,
    reach: undefined,

    readsBare: false,
    findDecoder,
    readValue,
  }
}

function compileExtreme(which: 'min' | 'max', value: Sql, { kind }: ScalarType): Sql {
  // PostgreSQL has no min() and max() of booleans, nor of UUIDs up to version 17.
  if (kind === 'boolean') return sql`${which}((${value})::int)`
  // PostgreSQL has none of rows up to version 17, and maybe none of a custom type.
  if (kind === 'jsonValue' || kind === 'custom')
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
