/** Adds the column of an attribute to a SELECT, and reads its value in a row. */
import type { CompiledChild } from '../../records/database/dialect.ts'
import type { ScalarAttribute } from '../../model/model.ts'
import type { Field } from '../../records/plan/read-plan.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import type { BuilderSource, RowValue } from './builder-source.ts'
import { MemberReader } from './decode-document.ts'
import type { FromClause } from './from-clause.ts'
import { selected, type Select } from './select.ts'

export interface NodeContext {
  readonly scope: FromClause
  readonly select: Select
  readonly source: BuilderSource
  readonly children: CompiledChild[]
}

const SHORT: ReadonlySet<string> = new Set(['integer', 'bigint', 'float', 'decimal', 'boolean', 'date', 'datetime', 'time', 'uuid'])

export function isLong(type: ScalarType): boolean {
  return type.loose === true || type.codec !== undefined || !SHORT.has(type.kind)
}

/** Leaves out long texts, measured in each row. */
export function estimateBytes(fields: readonly Field[]): number {
  return fields.reduce((bytes, field) => {
    const name = field.attribute.name.length + 4
    return bytes + name + (field.kind === 'embedded' ? estimateBytes(field.fields) : VALUE_BYTES)
  }, 2)
}

/** An estimate. */
export const VALUE_BYTES = 8

/** The JSON column is parsed once for all attributes inside. */
function memberValue(json: ScalarAttribute, [member = '']: readonly string[], { scope, select, source }: NodeContext): RowValue {
  const at = select.add(scope.tables.flavour.shown(json, scope))
  source.long.add(at)
  return source.call(
    source.share('members', () => new MemberReader().read),
    source.column(at),
    source.constant(member),
  )
}

export function scalarValue(attribute: ScalarAttribute, { scope, select, source }: NodeContext): RowValue {
  const { type } = attribute
  // The render of a getter sets the value.
  if (attribute.source.kind === 'getter') return source.constant(null)
  if (attribute.source.kind === 'within')
    return memberValue(attribute.source.json, attribute.source.names, { scope, select, source, children: [] })
  const { selectSql, exact = type.kind === 'bigint' && type.asNumber !== true } = type.codec ?? {}
  const { flavour } = scope.tables
  const value = flavour.shown(attribute, scope)
  const at = select.add(selected(selectSql === undefined ? value : { ...value, text: selectSql(value.text) }, exact, flavour))
  if (isLong(type)) source.long.add(at)
  return flavour.readValue(type, source.column(at), source)
}
