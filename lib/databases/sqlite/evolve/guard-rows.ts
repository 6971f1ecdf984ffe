/**
 * Compares a table written anew with the old table, before the drop: all columns, rows and values must be there, but for changes somebody
 * asked for. A loss is a fault of the plan.
 */
import type { RawDatabase } from '../driver/raw-database.ts'
import { countRows, type Plan } from '../../evolve/plan.ts'
import { name as quoted } from '../../sql/sql.ts'
import { foldCase } from '../schema/existing-table.ts'
import { countOf } from './check-rows.ts'
import type { TableChange } from './table-change.ts'

/** @param newTable the new table, quoted */
export function guardRows(change: TableChange, newTable: string, db: RawDatabase, plan: Plan): void {
  const { existing, converted, filled, dropped } = change
  const table = `main.${quoted(existing.name)}`
  const columnsOf = (of: string): string[] =>
    (db.pragma(`main.table_xinfo(${of})`) as { name: string; hidden: number }[]).flatMap(({ name, hidden }) => (hidden === 0 ? [name] : []))
  const oldColumns = columnsOf(quoted(existing.name))
  const newColumns = new Set(columnsOf(newTable).map(foldCase))
  const isAsked = (column: string): boolean => dropped.some(each => foldCase(each) === foldCase(column))
  for (const column of oldColumns)
    if (!newColumns.has(foldCase(column)) && !isAsked(column))
      plan.faults.push(`${existing.name}.${column} would be lost, which nobody asked for`)
  const [before, after] = [countOf(db, `from ${table}`), countOf(db, `from ${newTable}`)]
  if (before !== after) plan.faults.push(`${existing.name} would have ${countRows(after)} in the place of ${before}`)
  if (plan.faults.length > 0) return
  const kept = oldColumns.filter(column => newColumns.has(foldCase(column)) && !converted.some(each => each.column === column))
  const differs = kept.map(column => {
    const isDifferent = `o.${quoted(column)} is not n.${quoted(column)}`
    return filled.some(each => each.column === column) ? `(o.${quoted(column)} is not null and ${isDifferent})` : isDifferent
  })
  const place = existing.rowid === undefined ? existing.key : [existing.rowid]
  if (place.length === 0 || differs.length === 0) return
  const same = place.map(column => `o.${quoted(column)} is n.${quoted(column)}`).join(' and ')
  const shown = existing.key.length > 0 ? existing.key : place
  const lost = db
    .prepare(
      `select ${shown.map(column => `o.${quoted(column)}`).join(', ')} from ${table} as o left join ${newTable} as n on ${same} ` +
        `where n.${quoted(place[0]!)} is null or ${differs.join(' or ')} limit 1`,
    )
    .raw()
    .get() as unknown[] | undefined
  if (lost !== undefined)
    plan.faults.push(`the row ${lost.map(String).join('~')} of "${existing.name}" would lose a value, which nobody asked for`)
}
