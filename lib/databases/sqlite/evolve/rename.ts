/** Renames tables and columns, also in indexes, triggers, views, tables of links and discriminators. */
import type { DatabaseTable } from '@mikro-orm/sqlite'
import type { RawDatabase } from '../driver/raw-database.ts'
import {
  askForTables,
  findRenamed,
  findRenamedTable,
  refuseBoth,
  refuseTriggers,
  type FoundTable,
  type LoneTable,
} from '../../evolve/find-renames.ts'
import { listColumnNames } from '../../evolve/drop-request.ts'
import type { Plan } from '../../evolve/plan.ts'
import { listFollowers, type AskedTable } from '../../evolve/read-renames.ts'
import { name as quoted } from '../../sql/sql.ts'
import { foldCase, readPlainTable } from '../schema/existing-table.ts'
import { countOf } from './check-rows.ts'
import { listLoneTables } from './drop-tables.ts'
import { EMPTY_PREFIX, type FileEvolution } from './table-change.ts'

type Targets = readonly (readonly DatabaseTable[])[]

export function renameTables(tables: Targets, evolution: FileEvolution, plan: Plan): void {
  for (const asked of evolution.request.tables) {
    const isMove = isMoveOfLinks(asked, evolution)
    const from = renameTable({ ...asked, isMove }, tables, evolution, plan)
    if (from === undefined) continue
    const { db, orm } = evolution
    const followers = listFollowers(orm, asked, from)
    for (const each of followers.tables) if (readPlainTable(db, each.from[0]!) !== undefined) renameTable(each, tables, evolution, plan)
    for (const { table, from: old, to } of followers.columns) {
      const existing = readPlainTable(db, table)
      if (existing === undefined || !hasColumn(existing, old) || hasColumn(existing, to)) continue
      run(`alter table ${quoted(existing.name)} rename column ${quoted(old)} to ${quoted(to)}`, `${table}.${old}`, to, db, plan)
    }
    for (const { table, column, from: old, to } of followers.marks) {
      const existing = readPlainTable(db, table)
      if (existing === undefined || !hasColumn(existing, column)) continue
      const { changes } = db.prepare(`update ${quoted(existing.name)} set ${quoted(column)} = ? where ${quoted(column)} = ?`).run(to, old)
      if (changes > 0) plan.add(`${table}.${column}: "${old}" becomes "${to}" in ${changes} rows.`, [])
    }
  }
}

/** The old relation had a column, not a table. */
function isMoveOfLinks({ owner, old }: AskedTable, { db }: FileEvolution): boolean {
  const existing = owner === undefined || old === undefined ? undefined : readPlainTable(db, owner)
  return existing?.columns.some(({ name }) => listColumnNames(name).includes(old!)) === true
}

/** @returns the old name of a renamed table */
function renameTable(
  asked: AskedTable & { readonly isMove?: boolean },
  tables: Targets,
  { db }: FileEvolution,
  plan: Plan,
): string | undefined {
  const find = (table: string): FoundTable | undefined => {
    const existing = readPlainTable(db, table)
    return existing === undefined ? undefined : { name: existing.name, rows: countOf(db, `from main.${quoted(existing.name)}`) }
  }
  const isWanted = (table: string): boolean => tables.some(([target]) => foldCase(target!.name) === foldCase(table))
  const found = findRenamedTable(asked, find, isWanted, plan)
  if (found === undefined) return undefined
  const { old, replaces } = found
  if (replaces) {
    const targets = tables.flat().filter(({ name }) => foldCase(name) === foldCase(asked.to))
    const triggers = db.prepare("select name from main.sqlite_schema where type = 'trigger' and lower(tbl_name) = lower(?)").pluck()
    const byHand = (triggers.all(asked.to) as string[]).filter(name => !targets.some(target => target.hasTrigger(name)))
    if (refuseTriggers(asked.to, byHand, plan)) return undefined
    const sql = `drop table ${quoted(asked.to)}`
    db.exec(sql)
    plan.add(`${asked.to}: the empty table makes room.`, [sql])
  }
  const isDone = run(`alter table ${quoted(old)} rename to ${quoted(asked.to)}`, `the table ${old}`, asked.to, db, plan)
  return isDone ? old : undefined
}

function run(sql: string, place: string, to: string, db: RawDatabase, plan: Plan): boolean {
  try {
    db.exec(sql)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code !== 'SQLITE_ERROR') throw error
    plan.faults.push(`${place} cannot become "${to}": ${message}`)
    return false
  }
  const isTable = / rename to /.test(sql)
  plan.add(isTable ? `${place} becomes "${to}", with its rows.` : `${place}: the column becomes "${to}", with its values.`, [sql])
  return true
}

/** @param served renames that are moves of links */
export function renameColumns(
  [target]: readonly DatabaseTable[],
  served: ReadonlySet<string>,
  { db, request }: FileEvolution,
  plan: Plan,
): void {
  const { name } = target!
  for (const renaming of request.renamed.get(name) ?? []) {
    const existing = readPlainTable(db, name)
    if (existing === undefined || served.has(renaming.asked)) continue
    const has = (column: string): string | undefined => existing.columns.find(each => foldCase(each.name) === foldCase(column))?.name
    const found = findRenamed(renaming, existing.name, has, column => target!.hasColumn(column), plan)
    if (found === undefined) continue
    const { old, replaces } = found
    if (replaces !== undefined) {
      const count = (column: string): number => countOf(db, `from main.${quoted(existing.name)} where ${quoted(column)} is not null`)
      if (count(old) === 0) continue
      if (count(replaces) > 0) {
        refuseBoth(existing.name, request.resourceOf(name), old, replaces, plan)
        continue
      }
      db.exec(`alter table ${quoted(existing.name)} rename column ${quoted(replaces)} to ${quoted(EMPTY_PREFIX + replaces)}`)
    }
    run(
      `alter table ${quoted(existing.name)} rename column ${quoted(old)} to ${quoted(renaming.to)}`,
      `${existing.name}.${old}`,
      renaming.to,
      db,
      plan,
    )
  }
}

function hasColumn({ columns }: { readonly columns: readonly { readonly name: string }[] }, wanted: string): boolean {
  return columns.some(({ name }) => foldCase(name) === foldCase(wanted))
}

export function askForOldTables(tables: Targets, evolution: FileEvolution, plan: Plan): void {
  const { db, request } = evolution
  const added = tables.flatMap(([target]): LoneTable[] => {
    const existing = readPlainTable(db, target!.name)
    const isOpen = existing === undefined || countOf(db, `from main.${quoted(existing.name)}`) === 0
    return isOpen ? [{ name: target!.name, columns: target!.getColumns().map(({ name }) => name) }] : []
  })
  if (added.length === 0) return
  const old = listLoneTables(tables.flat(), evolution).flatMap((name): LoneTable[] => {
    const existing = readPlainTable(db, name)
    if (existing === undefined || countOf(db, `from main.${quoted(name)}`) === 0) return []
    return [{ name, columns: existing.columns.map(column => column.name) }]
  })
  askForTables(old, added, request, plan)
}
