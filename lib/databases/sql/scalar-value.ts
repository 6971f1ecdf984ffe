/** Scalar value: what a statement reads of a scalar attribute, and how a record takes it from the row. */
import type { CompiledChild } from '../../records/database/dialect.ts'
import type { ScalarAttribute } from '../../model/model.ts'
import type { Field } from '../../records/plan/read-plan.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import type { BuilderSource } from './builder-source.ts'
import { MemberReader } from './decode-document.ts'
import type { FromClause } from './from-clause.ts'
import { selected, type Select } from './select.ts'

/** What a node of a plan is compiled into. */
export interface NodeContext {
  /** Its table. */
  readonly scope: FromClause
  /** The statement that reads it. */
  readonly select: Select
  /** The function that makes its records. */
  readonly source: BuilderSource
  /** The statements of its relations. */
  readonly children: CompiledChild[]
}

/** Kinds whose values are short whatever they are. */
const SHORT: ReadonlySet<string> = new Set(['integer', 'bigint', 'float', 'decimal', 'boolean', 'date', 'datetime', 'time', 'uuid'])

/** Whether values of the type may be of any length. */
export function isLong(type: ScalarType): boolean {
  return type.loose === true || type.codec !== undefined || !SHORT.has(type.kind)
}

/** What a record takes in an answer beside its long texts: names, punctuation, and short values. */
export function estimateBytes(fields: readonly Field[]): number {
  return fields.reduce((bytes, field) => {
    const own = field.attribute.name.length + 4
    return bytes + own + (field.kind === 'embedded' ? estimateBytes(field.fields) : VALUE_BYTES)
  }, 2)
}

/** What a short value takes. */
export const VALUE_BYTES = 8

/** The value of a member of a JSON value. Of all members together the value is read and parsed once a row. */
function memberExpression(json: ScalarAttribute, [member = '']: readonly string[], { scope, select, source }: NodeContext): string {
  const at = select.add(scope.tables.flavour.shown(json, scope))
  source.long.add(at)
  return `(${source.shared('members', () => new MemberReader().read)}(r[${at}],${JSON.stringify(member)}))`
}

/** The value of a scalar attribute in a record. */
export function scalarExpression(attribute: ScalarAttribute, { scope, select, source }: NodeContext): string {
  const { type } = attribute
  // What a getter gives is put in later.
  if (attribute.source.kind === 'getter') return 'null'
  if (attribute.source.kind === 'within')
    return memberExpression(attribute.source.json, attribute.source.names, { scope, select, source, children: [] })
  const { selectSql, exact = type.kind === 'bigint' && type.asNumber !== true } = type.codec ?? {}
  const { flavour } = scope.tables
  const value = flavour.shown(attribute, scope)
  const at = select.add(selected(selectSql === undefined ? value : { ...value, text: selectSql(value.text) }, exact, flavour))
  if (isLong(type)) source.long.add(at)
  return flavour.readValue(type, `r[${at}]`, source)
}
