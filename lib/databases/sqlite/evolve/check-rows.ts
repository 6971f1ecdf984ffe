/** Finds rows that break new constraints, and views and triggers that no longer fit. */
import type { RawDatabase } from '../driver/raw-database.ts'
import { show, sayDuplicates, type Plan, type FoundRows } from '../../evolve/plan.ts'
import { name as quoted } from '../../sql/sql.ts'
import type { ExistingTable } from '../schema/existing-table.ts'
import type { TableChange } from './table-change.ts'

export function selectKey({ key, rowid }: Pick<ExistingTable, 'key' | 'rowid'>): { names: readonly string[]; sql: string } {
  if (key.length > 0) return { names: key, sql: key.map(quoted).join(', ') }
  return { names: ['row'], sql: rowid ?? '1' }
}

export function countOf(db: RawDatabase, from: string): number {
  return db.prepare(`select count(*) ${from}`).pluck().get() as number
}

export function findRows(db: RawDatabase, existing: ExistingTable, from: string): FoundRows {
  const { names: key, sql } = selectKey(existing)
  const count = countOf(db, from)
  return { key, count, rows: count === 0 ? [] : (db.prepare(`select ${sql} ${from} limit 5`).raw().all() as unknown[][]) }
}

export function checkRows({ existing, checks, links }: TableChange, db: RawDatabase, plan: Plan): void {
  const table = quoted(existing.name)
  for (const { name, expression } of checks)
    plan.refuseCheck(existing.name, name, expression, findRows(db, existing, `from ${table} where not (${expression})`))
  for (const { columns, table: target, targets } of links) {
    const filled = columns.map(column => `${table}.${quoted(column)} is not null`).join(' and ')
    const same = columns.map((column, at) => `t.${quoted(targets[at]!)} = ${table}.${quoted(column)}`).join(' and ')
    const from = `from ${table} where ${filled} and not exists (select 1 from ${quoted(target)} as t where ${same})`
    plan.refuseLink(existing.name, columns, target, findRows(db, existing, from))
  }
}

export function describeDuplicates(
  existing: ExistingTable,
  columns: readonly string[],
  where: string | undefined,
  db: RawDatabase,
): string | undefined {
  const list = columns.map(quoted).join(', ')
  const filled = columns.map(column => `${quoted(column)} is not null`).join(' and ')
  const ownCondition = where === undefined ? '' : ` and (${where})`
  const key = selectKey(existing)
  const groups = db
    .prepare(
      `select ${list}, group_concat(${key.sql.replaceAll(', ', " || '~' || ")}, ', ') ` +
        `from ${quoted(existing.name)} where ${filled}${ownCondition} group by ${list} having count(*) > 1 limit 5`,
    )
    .raw()
    .all() as unknown[][]
  if (groups.length === 0) return undefined
  const named = groups.map(group => `${group.slice(0, -1).map(show).join(', ')} in ${key.names.join('~')} ${shorten(String(group.at(-1)))}`)
  return sayDuplicates(existing.name, columns, named)
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}

export function countBroken(db: RawDatabase): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  let rows: { table: string; parent: string }[]
  try {
    rows = db.pragma('main.foreign_key_check') as { table: string; parent: string }[]
  } catch (error) {
    // SQLite cannot check a foreign key that fits no key of its table.
    if ((error as { code?: string }).code === 'SQLITE_ERROR') return counts
    throw error
  }
  for (const { table, parent } of rows) counts.set(`${table} -> ${parent}`, (counts.get(`${table} -> ${parent}`) ?? 0) + 1)
  return counts
}

/** SQLite finds misfit views and triggers only in use. */
export function listBrokenObjects(db: RawDatabase): ReadonlySet<string> {
  const broken = new Set<string>()
  const test = (place: string, sql: string): void => {
    try {
      db.prepare(sql)
    } catch (error) {
      broken.add(`${place}: ${(error as Error).message}`)
    }
  }
  const list = (sql: string): string[] => db.prepare(sql).pluck().all() as string[]
  for (const view of list("select name from main.sqlite_schema where type = 'view'"))
    test(`the view ${quoted(view)}`, `select * from main.${quoted(view)}`)
  for (const table of list("select distinct tbl_name from main.sqlite_schema where type = 'trigger'")) {
    const columns = (db.pragma(`main.table_xinfo(${quoted(table)})`) as { name: string; hidden: number }[]).filter(
      ({ hidden }) => hidden === 0,
    )
    const place = `a trigger of ${quoted(table)}`
    test(place, `insert into main.${quoted(table)} default values`)
    test(place, `delete from main.${quoted(table)}`)
    for (const { name } of columns) test(place, `update main.${quoted(table)} set ${quoted(name)} = null`)
  }
  return broken
}
