/** The forms of a compared filter value, and all plain values as one parameter. */
import type { ValueForm } from '../../../records/database/value-form.ts'
import type { ScalarAttribute } from '../../../model/model.ts'
import type { ValueRef } from '../../../records/plan/read-plan.ts'
import { bind, sql, type Sql } from '../../sql/sql.ts'
import { mayHoldAny, type ScalarType } from '../../../foundation/values/scalar-type.ts'
import { MINUTES, NUMBER, UPPER, WORD } from './value-forms.ts'

/** Other programs and documents may store a UUID in upper case, `true` as a text. Each form costs a comparison for each row. */
export function listForms({ kind }: ScalarType, { type, source }: ScalarAttribute): readonly ValueForm[] {
  if (kind === 'boolean') return source.kind === 'column' && !mayHoldAny(type) ? ['value'] : ['value', WORD]
  if (kind === 'time') return ['value', MINUTES]
  return kind === 'any' ? ['value', NUMBER] : kind === 'uuid' ? ['value', UPPER] : ['value']
}

export function compileList(ref: ValueRef, { source }: ScalarAttribute, forms: readonly ValueForm[]): Sql {
  if (ref.from !== 'filter') throw new Error('compileList: only filters have lists.')
  const { filter, type } = ref
  return sql`(select value from json_each(${bind({ from: 'filterList', filter, type, forms, inDocument: source.kind === 'document' })}))`
}
