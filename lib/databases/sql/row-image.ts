/** Row image: a row as a trigger hands it over, and what makes a record of it, by the same code that reads one. */
import { isObject } from '../../foundation/base/json.ts'
import type { Builder } from '../../records/database/dialect.ts'
import type { Resource } from '../../model/model.ts'
import type { RecordNode } from '../../records/plan/read-plan.ts'
import { BuilderSource } from './builder-source.ts'
import { compileIds, compileNode } from './compile-node.ts'
import type { Flavour } from './flavour.ts'
import { FromClause } from './from-clause.ts'
import type { Recall } from './from-clause.ts'
import { keyExpression, referredColumn, tableWith } from './row-key.ts'
import { Select } from './select.ts'
import { name, text } from './sql.ts'

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
  return { id: source.finish(keyExpression(key, resource, select, source)), columns: select.columns.map(column => column.text) }
}

/** What triggers must remember of records that go, or get another key, so that those that link them by it still have an ID. */
export interface RecalledKey {
  readonly name: string
  readonly table: string
  readonly column: string
  readonly key: readonly string[]
}

/** The keys by which the records of a node are linked otherwise than by the primary one. */
export function recalledKeys({ fields }: RecordNode): RecalledKey[] {
  return fields.flatMap(field => {
    if (field.kind !== 'reference' || field.attribute.targetKey === undefined) return []
    const { target, targetKey } = field.attribute
    const { column } = targetKey.part
    const table = tableWith(target, column)
    const key = target.source.kind === 'joined' ? target.source.tables.find(part => part.table === table)!.key : undefined
    return [{ name: referredColumn(field.attribute), table, column, key: key ?? target.key.map(part => part.column) }]
  })
}
