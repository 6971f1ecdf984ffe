/** Adds the columns of attributes, keys and links to a SELECT, and reads their values in a row: an ID of the columns of a key. */
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import { idParts, joinKey } from '../../model/key.ts'
import { referredParts, type KeyPart, type Resource, type ToOneAttribute, type ScalarAttribute } from '../../model/model.ts'
import type { CompiledChild } from '../../records/database/dialect.ts'
import type { Field } from '../../records/plan/read-plan.ts'
import type { BuilderSource, RowValue } from './builder-source.ts'
import { MemberReader } from './decode-document.ts'
import { FromClause, conjunction, discriminatorCondition, equal, formatTable } from './from-clause.ts'
import { existing, isExact, selected, type Select } from './select.ts'
import { join, name, sql, text, type Sql } from './sql.ts'

/** An ID as in answers: several parts are one text, `7~de`. */
export function keyValue(columns: readonly Sql[], keyParts: readonly KeyPart[], select: Select, source: BuilderSource): RowValue {
  const { flavour } = select.tables
  const places = columns.map((column, index) => select.add(selected(column, isExact(keyParts[index]!), flavour)))
  for (const [index, at] of places.entries()) if (isLong(keyParts[index]!.type)) source.long.add(at)
  const raw = places.map(at => source.column(at))
  const parts = raw.map((part, index) => {
    const decoder = flavour.findDecoder(keyParts[index]!.type)
    return decoder === undefined ? part : source.call(decoder, part)
  })
  if (parts.length === 1) return parts[0] === raw[0] ? raw[0]! : source.unlessNull(raw, 'some', parts[0]!)
  return source.unlessNull(raw, 'some', source.call(joinKey, source.list(parts)))
}

/** @returns the places in the rows */
export function addKey(columns: readonly string[], parts: readonly KeyPart[], select: Select): number[] {
  const { flavour } = select.tables
  const isText = (part: KeyPart): boolean => isExact(part) || part.type.kind === 'bigint'
  return columns.map((column, index) => select.add(selected(text(column), isText(parts[index]!), flavour)))
}

/** Reads the ID in the linked record's row: on inverse sides, for links by another key, for polymorphic links. */
export function keyThere(attribute: ToOneAttribute, scope: FromClause): Sql[] {
  const { owner, columns, targetKey, target } = attribute
  const alias = scope.tables.next()
  const rows = new FromClause(attribute.target, scope.tables, alias)
  const linked = owner
    ? equal(rows.referred(targetKey), scope.foreignKey(attribute))
    : equal(rows.columns(columns), scope.referred(targetKey))
  const on = conjunction(
    linked,
    discriminatorCondition(attribute.discriminator, column => (owner ? scope : rows).column(column)),
  )
  const where = join([on, ...existing(rows)], ' and ')
  return idParts(target).map((part, index) => {
    const found = sql`(select ${alias}.${name(part.column)} from ${formatTable(target)} as ${alias} where ${where})`
    const { recall } = scope.tables
    return recall === undefined || !isRecalled(attribute)
      ? found
      : recall(found, referredColumn(attribute), index, scope.foreignKey(attribute)[0]!)
  })
}

/** Only the linked row holds the ID: a deletion loses the ID. */
export function isRecalled({ owner, targetKey, target }: ToOneAttribute): boolean {
  return owner && (targetKey !== undefined || target.shownKey !== undefined)
}

export function referredColumn({ target, targetKey }: ToOneAttribute): string {
  const { column } = referredParts(target, targetKey)[0]!
  return `${tableWith(target, column)}.${column}`
}

export function tableWith({ table, source }: Resource, column: string): string {
  return source.kind === 'joined' ? source.tables.find(({ columns }) => columns.includes(column))!.table : table
}

export interface NodeContext {
  readonly scope: FromClause
  readonly select: Select
  readonly source: BuilderSource
  readonly children: CompiledChild[]
}

const SHORT: ReadonlySet<string> = new Set(['integer', 'bigint', 'float', 'decimal', 'boolean', 'date', 'datetime', 'time', 'uuid'])

function isLong(type: ScalarType): boolean {
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
