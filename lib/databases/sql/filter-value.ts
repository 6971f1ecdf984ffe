/** Filter value: the values and keys of a filter as parameters, one by one or as one list. */
import { thresholds } from '../../foundation/base/thresholds.ts'
import type { ValueForm } from '../../records/database/value-form.ts'
import type { ScalarAttribute } from '../../model/model.ts'
import type { KeyRef, ValueRef } from '../../records/plan/read-plan.ts'
import type { Flavour } from './flavour.ts'
import { bind, join, joinEvenly, sql, text } from './sql.ts'
import type { Sql } from './sql.ts'

/** One value of a filter. */
export function filterValue(ref: ValueRef, attribute: ScalarAttribute, form: ValueForm = 'value'): Sql {
  const value = bind({ ...ref, form, inDocument: attribute.source.kind === 'document' })
  const { compareSql } = attribute.type.codec ?? {}
  return compareSql === undefined ? value : { ...value, text: compareSql(value.text) }
}

/** Whether all values come from one filter of the request. */
export function areOfOneFilter(refs: readonly { readonly from: ValueRef['from'] }[]): boolean {
  return refs.every(({ from }) => from === 'filter')
}

/** A value is one of several. */
export function compileIsOneOf(value: Sql, parameters: readonly Sql[]): Sql {
  return parameters.length === 1 ? sql`${value} = ${parameters[0]!}` : sql`${value} in (${join(parameters, ', ')})`
}

/** A key is one of several. */
export function keyIn(columns: readonly string[], keys: readonly KeyRef[], flavour: Flavour): Sql {
  const part = (key: KeyRef, index: number): Sql[] => {
    const value = (form: ValueForm): Sql =>
      bind(
        key.from === 'filter'
          ? { ...key, from: 'filterKey', part: index, form }
          : key.from === 'model'
            ? { from: 'model', value: key.key[index], type: key.resource.key[index]!.type, form, inDocument: false }
            : { from: 'scopeKey', of: key.of, index: key.index, part: index, type: key.resource.key[index]!.type, form },
      )
    return flavour.keyForms(key.resource.key[index]!.type).map(value)
  }
  const compared = (column: string, index: number): Sql => text(flavour.compared(column, keys[0]!.resource.key[index]!.type))
  if (columns.length === 1) {
    const [{ from, resource }] = keys as [KeyRef]
    if (keys.length > thresholds.listedValues && from === 'filter' && areOfOneFilter(keys) && resource.key[0]!.type.codec === undefined) {
      const { filter, oneOf } = keys[0] as KeyRef & { from: 'filter' }
      const forms = flavour.keyForms(resource.key[0]!.type)
      return flavour.isInKeys(columns[0]!, { from: 'filterKeys', filter, resource, forms, ...(oneOf === undefined ? {} : { oneOf }) })
    }
    return compileIsOneOf(
      compared(columns[0]!, 0),
      keys.flatMap(key => part(key, 0)),
    )
  }
  const whole = keys.map(
    key =>
      sql`(${join(
        columns.map((column, index) => compileIsOneOf(compared(column, index), part(key, index))),
        ' and ',
      )})`,
  )
  return sql`(${joinEvenly(whole, ' or ')})`
}
