/** Adds the columns of a key or link to a SELECT, and makes an ID of the values. */
import { idParts, joinKey } from '../../model/key.ts'
import { referredParts, type KeyPart, type Resource, type ToOneAttribute } from '../../model/model.ts'
import type { BuilderSource, RowValue } from './builder-source.ts'
import { FromClause, conjunction, discriminatorCondition, equal, formatTable } from './from-clause.ts'
import { isLong } from './scalar-value.ts'
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
