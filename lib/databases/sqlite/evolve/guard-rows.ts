/**
 * Guard rows: the last look at a table that was written anew, before the old one goes: it has each column of the old one, and each row with
 * the values that nobody has asked to change. Whatever the comparison has computed: where anything is lost, it is named, and nothing is.
 */
import type Database from 'better-sqlite3'
import { countRows, type Plan } from '../../evolve/plan.ts'
import { name as quoted } from '../../sql/sql.ts'
import { foldCase } from '../schema/existing-table.ts'
import { countOf } from './check-rows.ts'
import type { TableChange } from './table-change.ts'

/**
 * @param begun the new table, quoted
 * @param mayDrop whether columns that the model lacks may be dropped
 */
export function guardRows(change: TableChange, begun: string, mayDrop: boolean, db: Database.Database, plan: Plan): void {
  const { existing, converted, filled, dropped } = change
  const table = `main.${quoted(existing.name)}`
  const columnsOf = (of: string): string[] =>
    (db.pragma(`main.table_xinfo(${of})`) as { name: string; hidden: number }[]).flatMap(({ name, hidden }) => (hidden === 0 ? [name] : []))
  const own = columnsOf(quoted(existing.name))
  const next = new Set(columnsOf(begun).map(foldCase))
  const isAsked = (column: string): boolean => mayDrop && dropped.some(each => foldCase(each) === foldCase(column))
  for (const column of own)
    if (!next.has(foldCase(column)) && !isAsked(column))
      plan.faults.push(`${existing.name}.${column} would be lost, which nobody asked for`)
  const [before, after] = [countOf(db, `from ${table}`), countOf(db, `from ${begun}`)]
  if (before !== after) plan.faults.push(`${existing.name} would have ${countRows(after)} in the place of ${before}`)
  if (plan.faults.length > 0) return
  const kept = own.filter(column => next.has(foldCase(column)) && !converted.some(each => each.column === column))
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
      `select ${shown.map(column => `o.${quoted(column)}`).join(', ')} from ${table} as o left join ${begun} as n on ${same} ` +
        `where n.${quoted(place[0]!)} is null or ${differs.join(' or ')} limit 1`,
    )
    .raw()
    .get() as unknown[] | undefined
  if (lost !== undefined)
    plan.faults.push(`the row ${lost.map(String).join('~')} of "${existing.name}" would lose a value, which nobody asked for`)
}
