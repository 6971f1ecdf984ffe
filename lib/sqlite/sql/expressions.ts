/** Expressions: attributes, conditions and sort terms as SQL for SQLite. Three-valued logic is left as it is; `not` makes the exact complement. */
import type { Origin, ValueForm } from '../../database/dialect.ts'
import { targetKeyOf } from '../../model/model.ts'
import type { RelationAttribute, Resource, ScalarAttribute, ToOneAttribute } from '../../model/model.ts'
import type { Condition, KeyRef, Operand, SortTerm, ValueRef } from '../../plan/read-plan.ts'
import type { ScalarType } from '../../values/scalar-type.ts'
import { FromClause, startList, tableOf } from './from-clause.ts'
import type { Tables } from './from-clause.ts'
import { bind, inDocument, join, joinEvenly, jsonKey, literal, name, sql, text, tuple } from './sql.ts'
import type { Sql } from './sql.ts'

/** The stored value of an attribute, in a form that compares and sorts as its type does. */
export function valueOf(attribute: ScalarAttribute, scope: FromClause): Sql {
  const { source, type } = attribute
  switch (source.kind) {
    case 'column': {
      const column = scope.column(source.column)
      // A default such as current_timestamp writes a text, where MikroORM writes milliseconds.
      if (type.kind === 'datetime' && source.rawDefault) {
        return text(
          `(case typeof(${column}) when 'text' then ${momentOfText(column)} when 'real' then cast(${column} as integer) else ${column} end)`,
        )
      }
      // Stored in several forms: compared as milliseconds.
      if (type.time?.uniform === false) return text(`mikro_time(${column}, ${literal(type.time.unit)})`)
      return text(type.collated === true ? `${column} collate binary` : column)
    }
    case 'document': {
      const value = inDocument(scope.column(source.column), source.keys)
      if (type.kind === 'decimal') return text(`cast(${value} as numeric)`)
      return text(type.kind === 'bigint' ? `cast(${value} as integer)` : value)
    }
    case 'formula': {
      const formula = source.sql(scope.alias, name)
      const inner = { text: `(${formula.sql})`, bindings: formula.values.map(value => ({ from: 'literal', value }) as const) }
      return type.kind === 'decimal' ? sql`cast(${inner} as numeric)` : inner
    }
    case 'tag':
      return sql`case when ${scope.column(source.column)} is not null then ${bind({ from: 'literal', value: source.value })} end`
    case 'within': {
      const { value, type: found } = within(source.json, source.names, scope)
      // An object or an array is no plain value.
      return sql`case when ${found} in ('object', 'array') then null else ${value} end`
    }
    case 'getter':
    case 'none':
      /* node:coverage ignore next */
      throw new Error(`"${attribute.name}" is not stored.`)
  }
}

/** Milliseconds of a text. SQLite's own function is quicker than ours; it rounds what is finer, and does not know every form. */
function momentOfText(column: string): string {
  const quick = `cast(round(unixepoch(${column}, 'subsec') * 1000) as integer)`
  const own = `mikro_moment(${column}, 'text')`
  return `case when length(${column}) > 24 then ${own} else ifnull(${quick}, ${own}) end`
}

/** What stands inside a JSON value: its value, and the name of its JSON type (NULL where nothing is). A column that holds no JSON has nothing inside. */
function within(json: ScalarAttribute, names: readonly string[], scope: FromClause): { value: Sql; type: Sql } {
  const { source } = json
  const keys = source.kind === 'document' ? source.keys : []
  const whole = source.kind === 'document' ? text(scope.column(source.column)) : valueOf(json, scope)
  if (names.length === 0 && keys.length === 0) {
    // What is no JSON is shown as the text that it is.
    return {
      value: sql`case when json_valid(${whole}) then json_extract(${whole}, '$') else ${whole} end`,
      type: sql`case when json_valid(${whole}) then json_type(${whole}) when ${whole} is not null then 'text' end`,
    }
  }
  const holder = sql`case when json_valid(${whole}) then ${whole} end`
  let plain = `$${keys.map(jsonKey).join('')}`
  let before: Sql | undefined
  const path = (): Sql => {
    const rest = bind({ from: 'literal', value: plain })
    return before === undefined ? rest : plain === '' ? before : sql`${before} || ${rest}`
  }
  for (const name of names) {
    if (!/^(?:0|[1-9]\d*)$/.test(name)) {
      plain += jsonKey(name)
      continue
    }
    // A number is a place in a list, or a key that looks like one. What leads there is written once, or the text would double with each number.
    const place = bind({ from: 'literal', value: `[${name}]` })
    const key = bind({ from: 'literal', value: jsonKey(name) })
    const step = (at: Sql | string): Sql => sql`${at} || case json_type(${holder}, ${at}) when 'array' then ${place} else ${key} end`
    before = before === undefined ? step(path()) : sql`(with w(p) as materialized (select ${path()}) select ${step('p')} from w)`
    plain = ''
  }
  return { value: sql`json_extract(${holder}, ${path()})`, type: sql`json_type(${holder}, ${path()})` }
}

function operandOf(operand: Operand, scope: FromClause): Sql {
  return valueOf(operand.attribute, scope.through(operand.hops))
}

function filterValue(ref: ValueRef, attribute: ScalarAttribute, form: ValueForm = 'value'): Sql {
  const value = bind({ ...ref, form, inDocument: attribute.source.kind === 'document' })
  const { compareSql } = attribute.type.codec ?? {}
  return compareSql === undefined ? value : { ...value, text: compareSql(value.text) }
}

/** The forms that a value is compared in: a UUID may be stored in upper or lower case, and `true` as a text. */
function formsOf({ kind }: ScalarType): readonly ValueForm[] {
  if (kind === 'boolean') return ['value', 'word']
  if (kind === 'time') return ['value', 'minutes']
  return kind === 'any' ? ['value', 'number'] : kind === 'uuid' ? ['value', 'upper'] : ['value']
}

/** From how many values on a list is one parameter. There may be 32,766 parameters in a statement. */
const MANY = 32

function areOfOneFilter(refs: readonly { readonly from: ValueRef['from'] }[]): boolean {
  return refs.every(({ from }) => from === 'filter')
}

/** All plain values of a filter, as a subquery: in the statement they are one parameter, however many they are. */
function listOf(ref: ValueRef, { source }: ScalarAttribute, forms: readonly ValueForm[]): Sql {
  if (ref.from !== 'filter') throw new Error('listOf: only filters have lists.')
  const { filter, type } = ref
  return sql`(select value from json_each(${bind({ from: 'filterList', filter, type, forms, inDocument: source.kind === 'document' })}))`
}

function isOneOf(value: Sql, parameters: readonly Sql[]): Sql {
  return parameters.length === 1 ? sql`${value} = ${parameters[0]!}` : sql`${value} in (${join(parameters, ', ')})`
}

/**
 * A condition as SQL. `wide` tells that all records are asked: then the owners of the list's records that meet a condition are found once, for all of them
 * (`in`), and else record by record (`exists`), by the index on the link.
 */
export function condition(node: Condition, scope: FromClause, wide = false): Sql {
  switch (node.kind) {
    case 'all':
    case 'any':
      if (node.of.length === 0) return text(node.kind === 'all' ? 'true' : 'false')
      return sql`(${joinEvenly(
        node.of.map(part => condition(part, scope, wide)),
        node.kind === 'all' ? ' and ' : ' or ',
      )})`
    case 'not':
      return sql`(${condition(node.of, scope, wide)}) is not true`
    case 'null':
      if (node.operand.attribute.source.kind === 'within') {
        const { json, names } = node.operand.attribute.source
        return sql`ifnull(${within(json, names, scope.through(node.operand.hops)).type}, 'null') = 'null'`
      }
      return sql`${operandOf(node.operand, scope)} is null`
    case 'in':
      if (node.operand.attribute.source.kind === 'within') {
        if (node.values.length > 1 && areOfOneFilter(node.values)) return isOneOfWithin(node.operand, node.values[0]!, scope)
        const parts = node.values.map(value => compareWithin(node.operand, '=', value, scope))
        return sql`(${joinEvenly(parts, ' or ')})`
      }
      if (node.values.length > MANY && areOfOneFilter(node.values) && node.operand.attribute.type.codec === undefined) {
        return isInList(node.operand, node.values[0]!, scope)
      }
      if (isRounded(node.operand.attribute.type)) {
        const equal = node.values.map(value => compareRounded(node.operand, '=', value, scope))
        return sql`(${joinEvenly(equal, ' or ')})`
      }
      if (mayBeText(node.operand.attribute)) {
        const times = node.values.map(value => equalsTime(node.operand, value, scope))
        return sql`(${joinEvenly(times, ' or ')})`
      }
      if (isLooseTime(node.operand.attribute)) {
        const times = node.values.map(value => {
          const misfit = filterValue(value, node.operand.attribute, 'misfit')
          return sql`(${compareTime(node.operand, '=', value, scope)} or ${columnOf(node.operand, scope)} = ${misfit})`
        })
        return sql`(${joinEvenly(times, ' or ')})`
      }
      return isOneOf(
        operandOf(node.operand, scope),
        node.values.flatMap(value => formsOf(value.type).map(form => filterValue(value, node.operand.attribute, form))),
      )
    case 'compare':
      if (isLooseTime(node.operand.attribute)) return compareTime(node.operand, node.operator, node.value, scope)
      if (mayBeText(node.operand.attribute)) return compareTimeOrText(node.operand, node.operator, node.value, scope)
      if (isRounded(node.operand.attribute.type)) return compareRounded(node.operand, node.operator, node.value, scope)
      if (node.operand.attribute.source.kind === 'within') return compareWithin(node.operand, node.operator, node.value, scope)
      if (node.value.type.kind === 'any') return compareAny(node, scope)
      return sql`${operandOf(node.operand, scope)} ${node.operator} ${filterValue(node.value, node.operand.attribute)}`
    case 'match':
      return match(node, scope)
    case 'matchAny': {
      const patterns = bind({ from: 'filterPatterns', filter: node.filter })
      return sql`mikro_match(${textOf(node.operand, scope)}, ${patterns}, ${node.fold ? '1' : '0'})`
    }
    case 'like':
      return sql`${operandOf(node.operand, scope)} like ${filterValue(node.value, node.operand.attribute)}`
    case 'unlinked':
      return sql`(${join(
        linkOf(node.hops, node.relation, scope).map(column => text(`${column} is null`)),
        ' or ',
      )})`
    case 'linked':
      return keyIn(linkOf(node.hops, node.relation, scope), node.keys)
    case 'some': {
      const owner = scope.through(node.hops)
      const joins: Sql[] = []
      // The owners of known records are few, whoever asks.
      const isOnce = node.where !== undefined && (wide || node.where.kind === 'key')
      const list = startList(node.relation, isOnce ? undefined : owner, scope.tables, joins, node.where !== undefined)
      if (node.where !== undefined && isOnce) {
        const where = join([...(list.existing === undefined ? [] : [list.existing]), condition(node.where, list.scope, wide)], ' and ')
        const owners = sql`select ${list.links.join(', ')} from ${list.from} ${join([...joins, text('')], ' ')}where ${list.mark}${where}`
        return sql`${tuple(owner.referred(targetKeyOf(node.relation)))} in (${owners})`
      }
      const where = node.where === undefined ? list.on : sql`${list.on} and ${condition(node.where, list.scope)}`
      return sql`exists (select 1 from ${list.from} ${join([...joins, text('')], ' ')}where ${where})`
    }
    case 'key':
      return keyIn(scope.key, node.keys)
  }
}

/** A value inside a JSON value is compared as what it is: a text with the text that was given, a number with the number that the text is, if it is one. */
function compareWithin(operand: Operand, operator: '=' | '>=' | '<=' | '>' | '<', ref: ValueRef, scope: FromClause): Sql {
  const { attribute } = operand
  if (attribute.source.kind !== 'within') throw new Error(`"${attribute.name}" is not inside a JSON value.`)
  const { value, type } = within(attribute.source.json, attribute.source.names, scope.through(operand.hops))
  const given = filterValue(ref, attribute)
  const number = filterValue(ref, attribute, 'number')
  if (operator === '=') {
    // An object or array equals the one that the text is; a text, the one that the text in quotes is.
    const same = sql`mikro_json(${value}) = ${filterValue(ref, attribute, 'json')}`
    return sql`case ${type} when 'text' then ${value} in (${given}, ${filterValue(ref, attribute, 'jsonText')}) when 'object' then ${same} when 'array' then ${same} when 'true' then ${given} = 'true' when 'false' then ${given} = 'false' when 'integer' then ${value} = ${number} when 'real' then ${value} = ${number} end`
  }
  // Numbers are compared with numbers, texts with what is no number.
  return sql`case ${type} when 'text' then case when ${number} is null then ${value} ${operator} ${given} end when 'integer' then ${value} ${operator} ${number} when 'real' then ${value} ${operator} ${number} end`
}

/** The same comparison as `compareWithin` makes with `=`, with any value of a list. */
function isOneOfWithin(operand: Operand, ref: ValueRef, scope: FromClause): Sql {
  const { attribute } = operand
  if (attribute.source.kind !== 'within') throw new Error(`"${attribute.name}" is not inside a JSON value.`)
  const { value, type } = within(attribute.source.json, attribute.source.names, scope.through(operand.hops))
  const list = (...forms: ValueForm[]): Sql => listOf(ref, attribute, forms)
  const same = sql`mikro_json(${value}) in ${list('json')}`
  const number = sql`${value} in ${list('number')}`
  return sql`case ${type} when 'text' then ${value} in ${list('value', 'jsonText')} when 'object' then ${same} when 'array' then ${same} when 'true' then 'true' in ${list('value')} when 'false' then 'false' in ${list('value')} when 'integer' then ${number} when 'real' then ${number} end`
}

function isLooseTime({ type, source }: ScalarAttribute): boolean {
  return type.kind === 'datetime' && type.loose === true && source.kind === 'column'
}

/** Whether it is a date-time that MikroORM writes in milliseconds, and others may have written as text. */
function mayBeText({ type, source }: ScalarAttribute): boolean {
  return type.kind === 'datetime' && type.loose !== true && source.kind === 'column' && !source.rawDefault
}

function columnOf({ hops, attribute: { source, name } }: Operand, scope: FromClause): string {
  if (source.kind !== 'column') throw new Error(`"${name}" is not a column.`)
  return scope.through(hops).column(source.column)
}

/** A date-time is found in milliseconds, of which SQLite's own functions make fractions, and in a text that is shown as the same. */
function equalsTime(operand: Operand, ref: ValueRef, scope: FromClause): Sql {
  const column = columnOf(operand, scope)
  const [value, next] = [filterValue(ref, operand.attribute), filterValue(ref, operand.attribute, 'timeNext')]
  const [low, high] = [filterValue(ref, operand.attribute, 'timeLow'), filterValue(ref, operand.attribute, 'timeHigh')]
  const text = sql`${column} >= ${low} and ${column} <= ${high} and mikro_moment(${column}, 'text') = ${value}`
  return sql`(${column} = ${value} or (${column} > ${value} and ${column} < ${next}) or (${text}))`
}

/** The same for an order. What is text sorts after all numbers, so an index finds either. */
function compareTimeOrText(operand: Operand, operator: Order, ref: ValueRef, scope: FromClause): Sql {
  const column = columnOf(operand, scope)
  const bound = filterValue(ref, operand.attribute, operator === '>' || operator === '<=' ? 'timeNext' : 'value')
  const text = sql`mikro_moment(${column}, 'text') ${operator} ${filterValue(ref, operand.attribute)}`
  if (operator.startsWith('>')) return sql`(${column} >= ${bound} and (typeof(${column}) <> 'text' or ${text}))`
  return sql`(${column} < ${bound} or (${column} >= '' and ${column} <= ${filterValue(ref, operand.attribute, 'timeHigh')} and ${text}))`
}

/** Whether values are shown with fewer digits than may be stored. */
function isRounded({ kind, scale, asNumber, loose }: ScalarType): boolean {
  return kind === 'decimal' && scale !== undefined && asNumber !== true && loose !== true
}

/** Decimals are compared as they are shown, rounded to their scale: by the numbers between which all are shown so. */
function compareRounded(operand: Operand, operator: '=' | Order, ref: ValueRef, scope: FromClause): Sql {
  const column = operandOf(operand, scope)
  const [low, high] = [filterValue(ref, operand.attribute, 'roundLow'), filterValue(ref, operand.attribute, 'roundHigh')]
  switch (operator) {
    case '=':
      // A text that is not a number is compared as it is.
      return sql`(${column} = ${filterValue(ref, operand.attribute)} or (${column} >= ${low} and ${column} <= ${high}))`
    case '>':
      return sql`${column} > ${high}`
    case '>=':
      return sql`${column} >= ${low}`
    case '<':
      return sql`${column} < ${low}`
    case '<=':
      return sql`${column} <= ${high}`
  }
}

/** One of many values of a filter. */
function isInList(operand: Operand, ref: ValueRef, scope: FromClause): Sql {
  const { attribute } = operand
  const list = listOf(ref, attribute, formsOf(ref.type))
  if (isLooseTime(attribute)) return sql`${momentOf(operand, scope)} in ${list}`
  const value = operandOf(operand, scope)
  if (mayBeText(attribute)) return sql`(${value} in ${list} or (${value} >= '' and mikro_moment(${value}, 'text') in ${list}))`
  if (isRounded(attribute.type))
    return sql`mikro_rounded(${value}, ${String(attribute.type.scale)}) in ${listOf(ref, attribute, ['number'])}`
  return sql`${value} in ${list}`
}

type Order = '>=' | '<=' | '>' | '<'

/** Milliseconds since 1970 of a date-time of a file, however it is stored; NULL for what is no time. */
function momentOf({ hops, attribute }: Operand, scope: FromClause): Sql {
  const { column } = attribute.source as typeof attribute.source & { kind: 'column' }
  return text(`mikro_moment(${scope.through(hops).column(column)}, ${literal(attribute.type.time!.unit)})`)
}

/**
 * Date-times of a file are compared as they are shown, in milliseconds: a column may hold finer ones, and several forms of one. What is far from the given time
 * is told by the stored values alone, which an index can do; what is near is looked at one by one.
 */
function compareTime({ hops, attribute }: Operand, operator: '=' | '>=' | '<=' | '>' | '<', ref: ValueRef, scope: FromClause): Sql {
  const { type, source } = attribute
  const { uniform } = type.time!
  const column = scope.through(hops).column((source as typeof source & { kind: 'column' }).column)
  const exact = sql`${momentOf({ hops, attribute }, scope)} ${operator} ${filterValue(ref, attribute)}`
  if (!uniform) return exact
  const [low, high] = [filterValue(ref, attribute, 'timeLow'), filterValue(ref, attribute, 'timeHigh')]
  if (operator === '=') return sql`(${column} >= ${low} and ${column} <= ${high} and ${exact})`
  return operator.startsWith('>')
    ? sql`(${column} >= ${low} and (${column} > ${high} or ${exact}))`
    : sql`(${column} <= ${high} and (${column} < ${low} or ${exact}))`
}

/** Numbers are compared with numbers, texts with what is no number. */
function compareAny({ operand, operator, value }: Condition & { kind: 'compare' }, scope: FromClause): Sql {
  const stored = operandOf(operand, scope)
  const number = filterValue(value, operand.attribute, 'number')
  const isText = sql`typeof(${stored}) = 'text' and ${stored} ${operator} ${filterValue(value, operand.attribute)}`
  return sql`case when ${number} is null then ${isText} else typeof(${stored}) in ('integer', 'real') and ${stored} ${operator} ${number} end`
}

/** The columns that are NULL when a to-one is empty, and else hold the key of the record it links. */
function linkOf(hops: readonly ToOneAttribute[], relation: ToOneAttribute, scope: FromClause): readonly string[] {
  return scope.through(hops).toOne(relation).key
}

function keyIn(columns: readonly string[], keys: readonly KeyRef[]): Sql {
  const part = (key: KeyRef, index: number): Sql[] => {
    const value = (form: ValueForm): Sql =>
      bind(
        key.from === 'filter'
          ? { ...key, from: 'filterKey', part: index, form }
          : key.from === 'model'
            ? { from: 'model', value: key.key[index], type: key.resource.key[index]!.type, form, inDocument: false }
            : { from: 'scopeKey', of: key.of, index: key.index, part: index, type: key.resource.key[index]!.type, form },
      )
    return key.resource.key[index]!.type.kind === 'uuid' ? [value('value'), value('upper')] : [value('value')]
  }
  if (columns.length === 1) {
    const [{ from, resource }] = keys as [KeyRef]
    if (keys.length > MANY && from === 'filter' && areOfOneFilter(keys) && resource.key[0]!.type.codec === undefined) {
      const { filter, oneOf } = keys[0] as KeyRef & { from: 'filter' }
      const forms: readonly ValueForm[] = resource.key[0]!.type.kind === 'uuid' ? ['value', 'upper'] : ['value']
      const list = bind({ from: 'filterKeys', filter, resource, forms, ...(oneOf === undefined ? {} : { oneOf }) })
      return sql`${columns[0]!} in (select value from json_each(${list}))`
    }
    return isOneOf(
      text(columns[0]!),
      keys.flatMap(key => part(key, 0)),
    )
  }
  const whole = keys.map(
    key =>
      sql`(${join(
        columns.map((column, index) => isOneOf(text(column), part(key, index))),
        ' and ',
      )})`,
  )
  return sql`(${joinEvenly(whole, ' or ')})`
}

/** The operand of a text comparison. Inside a JSON value, and in a column of a file, there may be something else than a text. */
function textOf(operand: Operand, scope: FromClause): Sql {
  const { source, type: declared } = operand.attribute
  if (source.kind !== 'within') {
    const stored = operandOf(operand, scope)
    return declared.kind === 'any' ? sql`case typeof(${stored}) when 'text' then ${stored} end` : stored
  }
  const { value, type } = within(source.json, source.names, scope.through(operand.hops))
  return sql`case ${type} when 'text' then ${value} end`
}

function match(node: Condition & { kind: 'match' }, scope: FromClause): Sql {
  const value = textOf(node.operand, scope)
  const parameter = (form: ValueForm): Sql => filterValue(node.value, node.operand.attribute, form)
  // SQLite's LIKE folds ASCII only, neither LIKE nor GLOB looks behind a NUL, and all of them take long over long texts: such rows are left to our own function.
  if (node.form === 'any') return sql`${value} is not null`
  if (node.fold) {
    return sql`case when ${parameter('isAscii')} and octet_length(${value}) = length(${value}) and octet_length(${value}) <= ${MAX_COMPARED} then ${value} like ${parameter('like')} escape '\\' else mikro_match(${value}, ${parameter('pieces')}, 1) end`
  }
  switch (node.form) {
    case 'prefix':
      return sql`(${value} >= ${parameter('prefixLow')} and ${value} < ${parameter('prefixHigh')})`
    case 'contains':
      return sql`case when octet_length(${value}) > ${MAX_SEARCHED} then mikro_match(${value}, ${parameter('pieces')}, 0) else instr(${value}, ${parameter('contains')}) > 0 end`
    case 'general':
      return sql`case when octet_length(${value}) > ${MAX_COMPARED} or instr(${value}, char(0)) then mikro_match(${value}, ${parameter('pieces')}, 0) else ${value} glob ${parameter('glob')} end`
  }
}

/** Longest texts, in bytes, that are left to LIKE and GLOB, and to `instr`. */
const MAX_COMPARED = '1000'
const MAX_SEARCHED = '10000'

/**
 * A sort term as an expression with its direction. NULL is the smallest value in SQLite, as the contract wants it. `wide` says that all records are asked, as
 * in `condition`.
 */
export function sortTerm(term: SortTerm, root: FromClause, wide = false): Sql {
  const value = term.or === undefined ? sortValue(term, root, wide) : sortValues([term, ...term.or], root, wide)
  return sql`${value}${term.descending ? ' desc' : ''}`
}

/** The value of several ends of one path, of which one is there; or some, where it leads through a list. */
function sortValues(terms: readonly SortTerm[], root: FromClause, wide: boolean): Sql {
  const values = terms.map(term => sortValue(term, root, wide))
  const [{ attribute, descending }] = terms as [SortTerm]
  if (attribute === undefined) return sql`(${join(values, ' + ')})`
  if (!terms.some(({ hops }) => hops.some(({ kind }) => kind === 'toMany'))) return sql`coalesce(${join(values, ', ')})`
  const [first, ...others] = values.map(value => sql`select ${value}`) as [Sql, ...Sql[]]
  const all = others.reduce((union, value) => sql`${union} union all ${value}`, sql`${first} as v`)
  return sql`(select ${descending ? 'max' : 'min'}(v) from (${all}))`
}

/** The value that a record is sorted by. */
function sortValue(term: SortTerm, root: FromClause, wide: boolean): Sql {
  let scope = root
  for (const [index, hop] of term.hops.entries()) {
    if (hop.kind === 'toMany') return wide && comesBack(term, scope) ? reachedBy(term, index, scope) : throughList(term, index, scope)
    scope = scope.toOne(hop)
  }
  if (term.attribute !== undefined) {
    const value = valueOf(term.attribute, scope)
    // A bare number would be the position of a column.
    return term.attribute.source.kind === 'formula' ? sql`ifnull(${value}, null)` : value
  }
  return text(`(${isThere(scope)})`)
}

/** Whether a to-one leads to anything. One that shares columns with another relation may lack a part of its key only. */
function isThere({ key }: FromClause): string {
  return key.map(column => `${column} is not null`).join(' and ')
}

/** The value of a path through a list, from the hop that is the first list on. */
function throughList(term: SortTerm, first: number, owner: FromClause): Sql {
  const joins: Sql[] = []
  const relation = term.hops[first]!
  if (relation.kind !== 'toMany') throw new Error('throughList: not a list.')
  const list = startList(relation, owner, owner.tables, joins)
  let scope = list.scope
  for (const hop of term.hops.slice(first + 1)) scope = scope.joinAny(hop)
  let what: Sql
  if (term.attribute !== undefined) {
    what = sql`${term.descending ? 'max' : 'min'}(${valueOf(term.attribute, scope)})`
  } else if (first === term.hops.length - 1 && relation.via.kind === 'foreign') {
    what = text('count(*)')
  } else {
    const key = scope.key
    what = text(
      key.length === 1
        ? `count(distinct ${key[0]!})`
        : `count(distinct case when ${isThere(scope)} then json_array(${key.join(', ')}) end)`,
    )
  }
  return sql`(select ${what} from ${list.from} ${join([...joins, text('')], ' ')}where ${list.on})`
}

/** The types of keys that come out of SQLite as values which are equal where SQLite finds them equal. */
const PLAIN_KEYS: ReadonlySet<string> = new Set(['integer', 'bigint', 'string', 'uuid'])

/**
 * Whether a count comes upon a list of the same record again for many of the records that are asked: behind a to-one, or a list that shares its records with
 * others. Then it is worked out for all of them together.
 */
function comesBack({ hops, attribute }: SortTerm, { resource }: FromClause): boolean {
  if (attribute !== undefined) return false
  const last = hops.findLastIndex(({ kind }) => kind === 'toMany')
  const isShared = hops.slice(0, last).some(hop => hop.kind === 'toOne' || hop.via.kind === 'pivot')
  const isByKey = hops.every(hop => (hop.kind === 'toOne' ? hop.targetKey : targetKeyOf(hop)) === undefined)
  const isPlain = [resource, ...hops.map(({ target }) => target)].every(({ key }) =>
    key.every(({ type }) => PLAIN_KEYS.has(type.kind) && type.loose !== true && type.codec === undefined),
  )
  return isShared && isByKey && isPlain
}

/** The number of records that a path reaches from the hop that is the first list on, by `mikro_reach`: see count-reachable.ts. */
function reachedBy(term: SortTerm, first: number, owner: FromClause): Sql {
  let { resource } = owner
  const steps = term.hops.slice(first).map((hop, index) => {
    const step = stepOf(hop, resource, owner.tables, index === 0 ? undefined : owner.origin)
    resource = hop.target
    return step
  })
  return sql`mikro_reach(${numberable(owner.key, owner.resource)}, ${join(steps, ', ')})`
}

/**
 * All links of one relation, for `mikro_reach`.
 *
 * @param from the rows for each of which they may be walked
 */
function stepOf(hop: RelationAttribute, resource: Resource, tables: Tables, from: Origin | undefined): Sql {
  const joins: Sql[] = []
  const select = (links: readonly string[], reached: FromClause, from: Sql, existing: Sql | undefined): Sql => {
    const what = `mikro_links(${numberable(links, resource)}, ${numberable(reached.key, hop.target)})`
    const parts = [sql`select ${what} from ${from}`, ...joins, ...(existing === undefined ? [] : [sql`where ${existing}`])]
    return sql`(${join(parts, ' ')})`
  }
  if (hop.kind === 'toMany') {
    const list = startList(hop, undefined, tables, joins)
    if (from !== undefined) tables.watched?.push({ table: list.scope.origin?.visit.table, from })
    return select(list.links, list.scope, list.from, list.existing)
  }
  tables.watched?.push({ table: resource.source.kind === 'query' ? undefined : resource.table, from })
  const here = new FromClause(resource, tables, tables.next(), joins)
  return select(here.key, here.toOne(hop), sql`${tableOf(resource)} as ${here.alias}`, undefined)
}

/** A key as one value, NULL where there is none. */
function numberable(columns: readonly string[], { key }: Resource): string {
  // Beyond 2^53 a JavaScript number is not exact.
  const parts = columns.map((column, part) => (key[part]!.type.kind === 'bigint' ? `cast(${column} as text)` : column))
  if (parts.length === 1) return parts[0]!
  return `case when ${columns.map(column => `${column} is not null`).join(' and ')} then json_array(${parts.join(', ')}) end`
}
