/** Row image: a row as a trigger hands it over, and what makes a record of it, by the same code that reads one. */
import { idParts } from '../../model/key.ts'
import { isObject } from '../../foundation/base/json.ts'
import type { WatchedList } from '../../records/database/changes.ts'
import type { Builder } from '../../records/database/dialect.ts'
import { referredParts, type Resource } from '../../model/model.ts'
import type { RecordNode } from '../../records/plan/read-plan.ts'
import { BuilderSource } from './builder-source.ts'
import { compileIds, compileNode } from './compile-node.ts'
import type { Flavour } from './flavour.ts'
import { FromClause, formatTable, type Recall } from './from-clause.ts'
import { isRecalled, keyExpression, referredColumn, tableWith } from './row-key.ts'
import { Select } from './select.ts'
import { name, sql, text } from './sql.ts'

/** The columns of a row that a trigger hands over, and what makes a value of them. */
export interface CompiledImage {
  readonly columns: readonly string[]
  readonly record: Builder
  readonly id: Builder
}

/**
 * A row as a trigger sees it, under the alias `"old"` or `"new"`: its ID, and the fields that the row itself holds.
 *
 * @param node fields without lists, inverse relations and computed attributes: those are not in the row
 * @param recall finds the keys of linked records that have gone
 */
export function compileImage(node: RecordNode, alias: string, flavour: Flavour, recall: Recall): CompiledImage {
  const select = new Select(flavour)
  select.tables.recall = recall
  const scope = new FromClause(node.resource, select.tables, alias, select.joins)
  const build = compileNode(node, scope, select).build
  const { open } = node.resource
  // Whatever the resource has learned by then, the row shows all that stands in it.
  const record: Builder = open === undefined ? build : row => spreadMembers(build(row) as Record<string, unknown>, open.holder.name)
  return { record, id: compileIds(scope, select).build, columns: select.columns.map(column => column.text) }
}

/** Puts the members of the JSON object of an attribute in its place. */
function spreadMembers(image: Record<string, unknown>, holder: string): Record<string, unknown> {
  const { [holder]: members, ...record } = image
  return isObject(members) ? { ...record, ...members } : record
}

/** The ID of a record that other columns than its own hold, as a trigger sees them. */
export function compileLink(
  resource: Resource,
  alias: string,
  columns: readonly string[],
  flavour: Flavour,
): Omit<CompiledImage, 'record'> {
  const select = new Select(flavour)
  const source = new BuilderSource()
  const key = columns.map(column => text(`${alias}.${name(column)}`))
  return { id: source.finish(keyExpression(key, resource.key, select, source)), columns: select.columns.map(column => column.text) }
}

/** What triggers must remember of records that go, or get another key, so that those that link them by it still have an ID. */
export interface RecalledKey {
  readonly name: string
  readonly table: string
  readonly column: string
  readonly key: readonly string[]
}

/** The IDs that the records of a node show of linked records, where the rows themselves hold others. */
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

/** The IDs of the members of a list that clients know by another key than the pivot table holds. */
export function recalledMembers({ attribute: { target } }: WatchedList): RecalledKey[] {
  const { shownKey, table } = target
  if (shownKey === undefined) return []
  return [{ name: memberName(target), table, column: target.key[0]!.column, key: [shownKey.part.column] }]
}

function memberName({ table, key }: Resource): string {
  return `${table}.${key[0]!.column}`
}

/**
 * The ID that clients know a record by which a column of another row holds the primary key of, as a trigger sees it; undefined where that
 * is the primary key.
 */
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
  return { id: source.finish(keyExpression([column], [shownKey.part], select, source)), columns: select.columns.map(each => each.text) }
}
