/**
 * The SQL of PostgreSQL, from version 15, for the compiler of `databases/sql/`. Rows are texts; sessions need the time zone UTC and the
 * DateStyle ISO.
 */
import { idParts } from '../../../model/key.ts'
import type { KeyPart, ScalarAttribute } from '../../../model/model.ts'
import type { ValueForm, OwnPatternForm } from '../../../records/database/binding.ts'
import type { Flavour, ColumnScope } from '../../sql/flavour.ts'
import { bind, join, sql, text, tuple, type Sql, joinEvenly, literal, name } from '../../sql/sql.ts'
import { ACCENTS } from '../../../foundation/values/accents.ts'
import type { ScalarType } from '../../../foundation/values/scalar-type.ts'
import type { Fold } from '../../../records/request/operators.ts'
import type { CaseFolding } from './case-folding.ts'
import { isNullWithin, compareStoredWithin, compareWithin, compileTextWithin, compileSortedWithin } from './compare-json.ts'
import { findDecoder, readValue } from './decode.ts'
import { findOwnType, NO_OWN_TYPES, type OwnTypes, castColumn, findSqlType, numberParameters } from './parameters.ts'
import { differs } from './write-rows.ts'
import { thresholds } from '../../../foundation/base/thresholds.ts'
import type { Condition, Operand, ValueRef } from '../../../records/plan/read-plan.ts'
import { areOfOneFilter, compileIsOneOf, filterValue } from '../../sql/filter-value.ts'
import { OWN_TYPE, TIME_LAST, CONTAINED, EXPRESSION, EXPRESSION_FOLDED, GIVEN_LIKE, LIKE, PREFIX_HIGH, PREFIX_LOW } from './value-forms.ts'

const PLAIN_FORM: readonly ValueForm[] = ['value']

/** @param own types with an order of their own */
export function createFlavour(folding: CaseFolding, own: OwnTypes = NO_OWN_TYPES): Flavour {
  return {
    finish: whole => numberParameters(whole, own),
    // `statement_timeout` ends statements.
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
    expression: ({ operand, value, fold }, columns) =>
      sql`${compileText(operand, columns)} ~ ${filterValue(value, operand.attribute, fold ? EXPRESSION_FOLDED : EXPRESSION)}`,
    contains: compileContains,

    differs,

    compared: castColumn,
    keyForms: () => PLAIN_FORM,
    isInKeys: (column, list) => sql`${castColumn(column, idParts(list.resource)[0]!.type)} = any(${bind(list)})`,
    isInLinks,

    order(value, { descending, nulls: asked = descending ? 'last' : 'first' }, mayBeNull) {
      // Without NULL, a common index serves.
      const nulls = mayBeNull ? ` nulls ${asked}` : ''
      return sql`${value}${descending ? ' desc' : ''}${nulls}`
    },
    cursor: value => sql`'t' || (${value})::text`,
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

function compileExtreme(which: 'min' | 'max', value: Sql, type: ScalarType, own: OwnTypes): Sql {
  const { kind } = type
  // No `min` of booleans, and up to version 17 of UUIDs.
  if (kind === 'boolean') return sql`${which}((${value})::int)`
  // No `min` of rows up to version 17, of bits, and maybe of a custom type.
  if (kind === 'jsonValue' || kind === 'custom' || findOwnType(type, own) !== undefined)
    return sql`(array_agg(${value} order by ${value}${which === 'max' ? ' desc' : ''}) filter (where ${value} is distinct from null))[1]`
  return kind === 'uuid' ? sql`${which}((${value})::text collate "C")` : sql`${which}(${value})`
}

/** Keys of several parts are JSON. */
function isInLinks(columns: readonly string[], parts: readonly KeyPart[]): Sql {
  const links = bind({ from: 'links', parts })
  const keys = columns.map((column, index) => castColumn(column, parts[index]!.type))
  if (keys.length === 1) return sql`${keys[0]!} = any(${links})`
  const values = parts.map(({ type }, index) => {
    const target = findSqlType(type)
    return target === undefined ? `l ->> ${index}` : `(l ->> ${index})::${target}`
  })
  return sql`${tuple(keys)} in (select ${values.join(', ')} from json_array_elements(${links}) as l)`
}

/**
 * See `Flavour.isOneOf`.
 *
 * @param own types with an order of their own
 */
function isOneOfValues(operand: Operand, values: readonly ValueRef[], columns: ColumnScope, own: OwnTypes): Sql {
  const { attribute } = operand
  const compare = attribute.source.kind === 'within' ? compareWithin : isOwnInDocument(attribute) ? compareStoredWithin : undefined
  if (compare !== undefined)
    return sql`(${joinEvenly(
      values.map(value => compare(operand, '=', value, columns)),
      ' or ',
    )})`
  const [first] = values as [ValueRef]
  const form = findForm(attribute, own)
  const stored = form === 'value' ? compileBareOperand(operand, columns) : compileOperand(operand, columns, own)
  if (values.length > thresholds.listedValues && areOfOneFilter(values) && first.from === 'filter' && attribute.type.codec === undefined) {
    const { filter, type } = first
    const list = bind({ from: 'filterList', filter, type, forms: [form], inDocument: attribute.source.kind === 'document' })
    return sql`${type.kind === 'datetime' ? sql`date_trunc('milliseconds', ${stored})` : stored} = any(${list})`
  }
  if (attribute.type.kind === 'datetime') {
    const equals = (value: ValueRef): Sql =>
      sql`(${stored} >= ${filterValue(value, attribute)} and ${stored} <= ${filterValue(value, attribute, TIME_LAST)})`
    return sql`(${joinEvenly(values.map(equals), ' or ')})`
  }
  return compileIsOneOf(
    stored,
    values.map(value => filterValue(value, attribute, form)),
  )
}

/** `money`, `inet` and enums have an order of their own. */
function findForm({ source, type }: ScalarAttribute, own: OwnTypes): ValueForm {
  return source.kind === 'column' && findOwnType(type, own) !== undefined ? OWN_TYPE : 'value'
}

/** See `Flavour.compare`. */
function compareValue({ operand, operator, value }: Condition & { kind: 'compare' }, columns: ColumnScope, own: OwnTypes): Sql {
  const { attribute } = operand
  if (attribute.source.kind === 'within') return compareWithin(operand, operator, value, columns)
  if (isOwnInDocument(attribute)) return compareStoredWithin(operand, operator, value, columns)
  const stored = compileOperand(operand, columns, own)
  // A column may hold finer times, equal to the shown millisecond.
  if (attribute.type.kind === 'datetime' && operator === '>') return sql`${stored} > ${filterValue(value, attribute, TIME_LAST)}`
  if (attribute.type.kind === 'datetime' && operator === '<=') return sql`${stored} <= ${filterValue(value, attribute, TIME_LAST)}`
  return sql`${stored} ${operator} ${filterValue(value, attribute, findForm(attribute, own))}`
}

/** UUIDs, dates and enums are matched as shown. */
function compileText(operand: Operand, columns: ColumnScope): Sql {
  if (operand.attribute.source.kind === 'within') return compileTextWithin(operand, columns)
  return sql`(${compileBareOperand(operand, columns)})::text collate "C"`
}

function compileMatches({ collation, from, to }: CaseFolding): {
  readonly matches: (node: Condition & { kind: 'match' }, columns: ColumnScope) => Sql
  readonly matchesAny: (node: Condition & { kind: 'matchAny' }, columns: ColumnScope) => Sql
  readonly like: (node: Condition & { kind: 'like' }, columns: ColumnScope) => Sql
} {
  const lower = (value: Sql): Sql => sql`lower(translate(${value}, ${literal(DOTTED)}, ${literal(INSTEAD)}) collate ${collation})`
  const fold = (value: Sql): Sql => sql`translate(${lower(value)}, ${literal(from)}, ${literal(to)}) collate "C"`
  const bare = (value: Sql): Sql => sql`regexp_replace(normalize(${value}, NFD), ${literal(ACCENTS)}, '', 'g')`
  const folded = (value: Sql, level: Fold): Sql => fold(level === 2 ? bare(value) : value)
  return {
    matches(node, columns) {
      const value = compileText(node.operand, columns)
      const parameter = (form: OwnPatternForm): Sql => filterValue(node.value, node.operand.attribute, form)
      if (node.form === 'any') return sql`${value} is not null`
      if (node.fold > 0) return sql`${folded(value, node.fold)} like ${folded(parameter(LIKE), node.fold)}`
      switch (node.form) {
        case 'prefix':
          return sql`(${value} >= ${parameter(PREFIX_LOW)} and ${value} < ${parameter(PREFIX_HIGH)})`
        case 'contains':
          return sql`strpos(${value}, ${parameter(CONTAINED)}) > 0`
        case 'general':
          return sql`${value} like ${parameter(LIKE)}`
      }
    },
    matchesAny({ operand, filter, fold: level }, columns) {
      const value = compileText(operand, columns)
      const patterns = bind({ from: 'filterPatterns', filter })
      if (level === 0) return sql`${value} like any(${patterns})`
      // Not rows of a query: the server would fold the value for each pattern.
      return sql`${folded(value, level)} like any(array(select ${folded(sql`p`, level)} from unnest(${patterns}) as p))`
    },
    like({ operand, value, fold: isFolded }, columns) {
      const [stored, pattern] = [compileText(operand, columns), filterValue(value, operand.attribute, GIVEN_LIKE)]
      return isFolded ? sql`${fold(stored)} like ${fold(pattern)}` : sql`${stored} like ${pattern}`
    },
  }
}

const CONTAINMENT = { contains: '@>', contained: '<@', overlap: '&&' } as const

function compileContains({ how, operand, value }: Condition & { kind: 'contains' }, columns: ColumnScope): Sql {
  const stored = compileBareOperand(operand, columns)
  const given = sql`(${filterValue(value, operand.attribute)})::jsonb`
  if (operand.attribute.type.kind !== 'array') return sql`(${stored})::jsonb ${CONTAINMENT[how]} ${given}`
  return sql`(${stored})::text[] ${CONTAINMENT[how]} array(select jsonb_array_elements_text(${given}))`
}

/** The only letter with a lower case of two characters, and a character of no text. */
const DOTTED = 'İ'
const INSTEAD = '\u{10fffe}'

/** Without the collation "C", which sorting adds. */
function compileBareValue(attribute: ScalarAttribute, columns: ColumnScope): Sql {
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

function compileStoredValue(attribute: ScalarAttribute, columns: ColumnScope, own: OwnTypes): Sql {
  const { source, type } = attribute
  if (source.kind === 'column') return compileOrdered(columns.column(source.column), type, own)
  return collate(compileBareValue(attribute, columns), type)
}

function compileOrdered(column: string, type: ScalarType, own: OwnTypes): Sql {
  const target = findOwnType(type, own)
  return target === undefined ? collate(text(castColumn(column, type)), type) : text(`(${column})::${target}`)
}

/** In a document, a custom type may store numbers and texts: each sorts as stored. */
function compileSortedValue(attribute: ScalarAttribute, columns: ColumnScope, own: OwnTypes): Sql {
  return isOwnInDocument(attribute) ? compileSortedWithin(attribute, [], columns) : compileStoredValue(attribute, columns, own)
}

function isOwnInDocument({ source, type }: ScalarAttribute): boolean {
  return source.kind === 'document' && type.kind === 'custom'
}

/** `(data #>> '{address,zip}')::bigint` */
function compileDocument(column: string, keys: readonly string[], type: ScalarType): string {
  const path = keys.map(key => `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(',')
  const value = `(${column} #>> ${literal(`{${path}}`)})`
  const target = findSqlType(type)
  return target === undefined || target === 'text' ? value : `${value}::${target}`
}

/** Texts compare by code point. */
function collate(value: Sql, { kind }: ScalarType): Sql {
  return kind === 'text' ? sql`${value} collate "C"` : value
}

function compileOperand(operand: Operand, columns: ColumnScope, own: OwnTypes): Sql {
  return compileStoredValue(operand.attribute, columns.through(operand.hops), own)
}

/** Without collation, equality can use any index. */
function compileBareOperand(operand: Operand, columns: ColumnScope): Sql {
  return compileBareValue(operand.attribute, columns.through(operand.hops))
}
