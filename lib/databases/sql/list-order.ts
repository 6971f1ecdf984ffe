/**
 * List order: finds the place of a removed member, by the order column or the model's own order. Undefined for a list in key order, which
 * the IDs show.
 */
import type { WatchedList } from '../../records/database/changes.ts'
import type { Builder, Statement } from '../../records/database/dialect.ts'
import type { KeyPart } from '../../model/model.ts'
import { planListOrder } from '../../records/plan/order.ts'
import { compileIds } from './compile-node.ts'
import type { Flavour } from './flavour.ts'
import { FromClause, discriminatorCondition, formatTable } from './from-clause.ts'
import { compileLink } from './row-image.ts'
import { Select, isKey, keyOrder } from './select.ts'
import { name, sql, tableName, text } from './sql.ts'
import { sortTerm } from './sort-term.ts'

export interface CompiledListOrder {
  /** Reads the target's columns and the order column. */
  readonly members: Statement
  /** Reads the targets in the model's order; undefined with an order column. */
  readonly ranks: CompiledRanks | undefined
}

interface CompiledRanks {
  readonly statement: Statement
  /** Places of the keys in the rows of `members`. */
  readonly from: readonly number[]
  readonly parts: readonly KeyPart[]
  readonly id: Builder
}

export function compileListOrder(list: WatchedList, flavour: Flavour): CompiledListOrder | undefined {
  const { attribute } = list
  const isRanked = attribute.orderBy.length > 0 || (attribute.target.key.length > 1 && attribute.via.orderColumn === undefined)
  if (!isRanked && attribute.via.orderColumn === undefined) return undefined
  return { members: compileMembers(list, flavour), ranks: isRanked ? compileRanks(list, flavour) : undefined }
}

function compileMembers({ attribute, table }: WatchedList, flavour: Flavour): Statement {
  const { table: pivot, ownerColumns, targetColumns, orderColumn, discriminator } = attribute.via
  const select = new Select(flavour)
  const alias = select.tables.next()
  const column = (called: string): string => `${alias}.${name(called)}`
  select.columns.push(...compileLink(attribute.target, alias, targetColumns, flavour).columns.map(text))
  if (orderColumn !== undefined) select.columns.push(text(column(orderColumn)))
  select.from = sql`${tableName(pivot)} as ${alias}`
  const isMeant = discriminatorCondition(discriminator, column)
  select.where = [isKey(ownerColumns.map(column), table.resource.key, flavour), ...(isMeant === undefined ? [] : [isMeant])]
  if (orderColumn !== undefined) select.order = [text(column(orderColumn))]
  return select.finish()
}

function compileRanks({ attribute }: WatchedList, flavour: Flavour): CompiledRanks {
  const { target } = attribute
  const select = new Select(flavour)
  const scope = new FromClause(target, select.tables, select.tables.next(), select.joins)
  const { build } = compileIds(scope, select)
  select.from = sql`${formatTable(target)} as ${scope.alias}`
  select.where = [flavour.isInLinks(scope.key, target.key)]
  select.order = [...planListOrder(attribute).map(term => sortTerm(term, scope)), ...keyOrder(scope)]
  return { statement: select.finish(), from: target.key.map((_, index) => index), parts: target.key, id: build }
}
