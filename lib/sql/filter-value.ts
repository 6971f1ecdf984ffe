/** Filter value: the values and keys of a filter as parameters, one by one or as one list. */
import type { ValueForm } from '../database/dialect.ts'
import type { ScalarAttribute } from '../model/model.ts'
import type { KeyRef, ValueRef } from '../plan/read-plan.ts'
import type { ScalarType } from '../values/scalar-type.ts'
import { bind, join, joinEvenly, sql, text } from './sql.ts'
import type { Sql } from './sql.ts'

/** One value of a filter. */
export function filterValue(ref: ValueRef, attribute: ScalarAttribute, form: ValueForm = 'value'): Sql {
  const value = bind({ ...ref, form, inDocument: attribute.source.kind === 'document' })
  const { compareSql } = attribute.type.codec ?? {}
  return compareSql === undefined ? value : { ...value, text: compareSql(value.text) }
}

/** The forms that a value is compared in: a UUID may be stored in upper or lower case, and `true` as a text. */
export function listForms({ kind }: ScalarType): readonly ValueForm[] {
  if (kind === 'boolean') return ['value', 'word']
  if (kind === 'time') return ['value', 'minutes']
  return kind === 'any' ? ['value', 'number'] : kind === 'uuid' ? ['value', 'upper'] : ['value']
}

/** From how many values on a list is one parameter. There may be 32,766 parameters in a statement. */
export const MANY = 32

/** Whether all values come from one filter of the request. */
export function areOfOneFilter(refs: readonly { readonly from: ValueRef['from'] }[]): boolean {
  return refs.every(({ from }) => from === 'filter')
}

/** All plain values of a filter, as a subquery: in the statement they are one parameter, however many they are. */
export function compileList(ref: ValueRef, { source }: ScalarAttribute, forms: readonly ValueForm[]): Sql {
  if (ref.from !== 'filter') throw new Error('listOf: only filters have lists.')
  const { filter, type } = ref
  return sql`(select value from json_each(${bind({ from: 'filterList', filter, type, forms, inDocument: source.kind === 'document' })}))`
}

/** A value is one of several. */
export function compileIsOneOf(value: Sql, parameters: readonly Sql[]): Sql {
  return parameters.length === 1 ? sql`${value} = ${parameters[0]!}` : sql`${value} in (${join(parameters, ', ')})`
}

/** A key is one of several. */
export function keyIn(columns: readonly string[], keys: readonly KeyRef[]): Sql {
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
    return compileIsOneOf(
      text(columns[0]!),
      keys.flatMap(key => part(key, 0)),
    )
  }
  const whole = keys.map(
    key =>
      sql`(${join(
        columns.map((column, index) => compileIsOneOf(text(column), part(key, index))),
        ' and ',
      )})`,
  )
  return sql`(${joinEvenly(whole, ' or ')})`
}
