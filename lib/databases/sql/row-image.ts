/** For rows that triggers report (`old`, `new`): the columns to report, and the function from their values to a record. */
import { idParts } from '../../model/key.ts'
import { isObject } from '../../foundation/json/json.ts'
import type { WatchedList } from '../../records/database/changes.ts'
import type { Builder } from '../../records/database/dialect.ts'
import { referredParts, type Resource } from '../../model/model.ts'
import type { RecordNode } from '../../records/plan/read-plan.ts'
import { BuilderSource } from './builder-source.ts'
import { compileIds, compileNode } from './compile-node.ts'
import type { Flavour } from './flavour.ts'
import { FromClause, formatTable, type Recall } from './from-clause.ts'
import { isRecalled, keyValue, referredColumn, tableWith } from './row-values.ts'
import { Select } from './select.ts'
import { name, sql, text } from './sql.ts'

export interface CompiledImage {
  readonly columns: readonly string[]
  readonly record: Builder
  readonly id: Builder
}

/**
 * @param node fields in the row itself: no lists, inverse relations and computed attributes
 * @param recall finds keys of deleted linked records
 */
export function compileImage(node: RecordNode, alias: string, flavour: Flavour, recall: Recall): CompiledImage {
  const select = new Select(flavour)
  select.tables.recall = recall
  const scope = new FromClause(node.resource, select.tables, alias, select.joins)
  const build = compileNode(node, scope, select).build
  const { open } = node.resource
  // The row shows all members, even those learned later.
  const record: Builder = open === undefined ? build : row => spreadMembers(build(row) as Record<string, unknown>, open.holder.name)
  return { record, id: compileIds(scope, select).build, columns: select.columns.map(column => column.text) }
}

function spreadMembers(image: Record<string, unknown>, holder: string): Record<string, unknown> {
  const { [holder]: members, ...record } = image
  return isObject(members) ? { ...record, ...members } : record
}

export function compileLink(
  resource: Resource,
  alias: string,
  columns: readonly string[],
  flavour: Flavour,
): Omit<CompiledImage, 'record'> {
  const select = new Select(flavour)
  const source = new BuilderSource()
  const key = columns.map(column => text(`${alias}.${name(column)}`))
  return { id: source.finish(keyValue(key, resource.key, select, source)), columns: select.columns.map(column => column.text) }
}

/** A `key` to remember when a record is deleted or changed: other rows link the record by `column`, but their images show the `key`. */
export interface RecalledKey {
  readonly name: string
  readonly table: string
  readonly column: string
  readonly key: readonly string[]
}

/** For links by another column than the ID. */
export function recalledKeys({ fields }: Pick<RecordNode, 'fields'>): RecalledKey[] {
  return fields.flatMap(field => {
    if (field.kind === 'embedded') return recalledKeys({ fields: field.fields })
    if (field.kind !== 'reference' || !isRecalled(field.attribute)) return []
    const { target, targetKey } = field.attribute
    const { column } = referredParts(target, targetKey)[0]!
    const table = tableWith(target, column)
    const key = target.source.kind === 'joined' ? target.source.tables.find(part => part.table === table)!.key : undefined
    return [{ name: referredColumn(field.attribute), table, column, key: key ?? idParts(target).map(part => part.column) }]
  })
}

/** For members with another ID than the pivot table's key. */
export function recalledMembers({ attribute: { target } }: WatchedList): RecalledKey[] {
  const { shownKey, table } = target
  if (shownKey === undefined) return []
  return [{ name: memberName(target), table, column: target.key[0]!.column, key: [shownKey.part.column] }]
}

function memberName({ table, key }: Resource): string {
  return `${table}.${key[0]!.column}`
}

/** @returns undefined if clients know the primary key */
export function compileShownLink(
  target: Resource,
  link: string,
  flavour: Flavour,
  recall: Recall,
): Omit<CompiledImage, 'record'> | undefined {
  const { shownKey, key } = target
  if (shownKey === undefined) return undefined
  const select = new Select(flavour)
  const source = new BuilderSource()
  const there = new FromClause(target, select.tables, select.tables.next())
  const found = sql`(select ${there.id[0]!} from ${formatTable(target)} as ${there.alias} where ${there.column(key[0]!.column)} = ${link})`
  const column = recall(found, memberName(target), 0, link)
  return { id: source.finish(keyValue([column], [shownKey.part], select, source)), columns: select.columns.map(each => each.text) }
}
