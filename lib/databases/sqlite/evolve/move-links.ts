/** Moves links of a file from a column to a table of links, or back. */
import type { DatabaseTable } from '@mikro-orm/sqlite'
import type { FilledRows } from '../../evolve/compute-fill.ts'
import { findMovedLinks, gatherLinks, spreadLinks, type MovedLinks, type OldLink } from '../../evolve/move-links.ts'
import type { Plan } from '../../evolve/plan.ts'
import { name as quoted } from '../../sql/sql.ts'
import { foldCase, readPlainTable, type ExistingTable } from '../schema/existing-table.ts'
import { listLoneTables } from './drop-tables.ts'
import type { FileEvolution } from './table-change.ts'

export function findMoves(tables: readonly DatabaseTable[], evolution: FileEvolution, plan: Plan): MovedLinks {
  const { db, orm, request } = evolution
  const links = tables.flatMap(target => {
    const existing = readPlainTable(db, target.name)
    return existing === undefined ? [] : listLinks(existing).filter(({ column }) => !target.hasColumn(column))
  })
  const pivots = listLoneTables(tables, evolution).flatMap(name => {
    const [one, other, ...more] = listLinks(readPlainTable(db, name)!)
    return one === undefined || other === undefined || more.length > 0 ? [] : [{ name, links: [one, other] as const }]
  })
  const hasTable = (table: string): boolean => readPlainTable(db, table) !== undefined
  const hasColumn = (table: string, column: string): boolean =>
    readPlainTable(db, table)?.columns.some(({ name }) => foldCase(name) === foldCase(column)) === true
  return findMovedLinks(orm, request, { links, pivots, hasTable, hasColumn }, plan)
}

function listLinks({ name, foreignKeys }: ExistingTable): OldLink[] {
  return foreignKeys.flatMap(({ columns, table }) => (columns.length === 1 ? [{ table: name, column: columns[0]!, target: table }] : []))
}

/** @returns the rows of new tables of links */
export function moveLinks({ spread, gather }: MovedLinks, { db, request }: FileEvolution, plan: Plan): FilledRows[] {
  for (const each of gather) {
    const [from, to] = each.columns.map(quoted) as [string, string]
    const sql = `select cast(${from} as text), cast(${to} as text) from main.${quoted(each.pivot.name)} where ${to} is not null`
    gatherLinks(each, db.prepare(sql).raw().all() as [string, string][], request, plan)
  }
  return spread.map(each => {
    const { table, column } = each.link
    const key = readPlainTable(db, table)!.key[0] ?? 'rowid'
    const sql = `select ${quoted(key)}, ${quoted(column)} from main.${quoted(table)} where ${quoted(column)} is not null`
    return spreadLinks(each, db.prepare(sql).raw().safeIntegers(true).all() as [unknown, unknown][])
  })
}
