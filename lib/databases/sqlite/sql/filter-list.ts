/** Filter list: the forms that values of a filter are compared in, and all plain values of a filter as one parameter. */
import type { ValueForm } from '../../../records/database/value-form.ts'
import type { ScalarAttribute } from '../../../model/model.ts'
import type { ValueRef } from '../../../records/plan/read-plan.ts'
import { bind, sql, type Sql } from '../../sql/sql.ts'
import { mayHoldAny, type ScalarType } from '../../../foundation/values/scalar-type.ts'
import { MINUTES, NUMBER, UPPER, WORD } from './value-forms.ts'

/**
 * The forms that a value is compared in: a UUID may be stored in upper or lower case, and where other programs write, or in a document,
 * `true` as a text. Each form is a comparison more for each row that is gone through.
 */
export function listForms({ kind }: ScalarType, { type, source }: ScalarAttribute): readonly ValueForm[] {
  if (kind === 'boolean') return source.kind === 'column' && !mayHoldAny(type) ? ['value'] : ['value', WORD]
  if (kind === 'time') return ['value', MINUTES]
  return kind === 'any' ? ['value', NUMBER] : kind === 'uuid' ? ['value', UPPER] : ['value']
}

/** All plain values of a filter, as a subquery: in the statement they are one parameter, however many they are. */
export function compileList(ref: ValueRef, { source }: ScalarAttribute, forms: readonly ValueForm[]): Sql {
  if (ref.from !== 'filter') throw new Error('compileList: only filters have lists.')
  const { filter, type } = ref
  return sql`(select value from json_each(${bind({ from: 'filterList', filter, type, forms, inDocument: source.kind === 'document' })}))`
}
