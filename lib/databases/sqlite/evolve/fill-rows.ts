/** Reads old rows for functions of `fill`, and inserts the rows made of old rows. */
import type { RawDatabase } from '../driver/raw-database.ts'
import { computeRows, leaveEmpty, type FilledRows, type OldRows } from '../../evolve/compute-fill.ts'
import { listTableNames } from '../../evolve/drop-request.ts'
import { countRows, type Plan } from '../../evolve/plan.ts'
import type { RowsFrom } from '../../evolve/read-fill.ts'
import type { EvolveRequest } from '../../evolve/request.ts'
import { name as quoted } from '../../sql/sql.ts'
import { findDecoder } from '../sql/decode.ts'
import { toParameter } from '../sql/encode.ts'
import { readPlainTable, type ExistingTable } from '../schema/existing-table.ts'
import { countOf } from './check-rows.ts'
import { listLoneTables } from './drop-tables.ts'
import type { FileEvolution } from './table-change.ts'
import { runtime } from '../../../foundation/runtime/runtime.ts'

/** SQL of a row's identity. */
export function placeOf({ rowid, key }: ExistingTable): string {
  return rowid === undefined ? key.map(column => `quote(${quoted(column)})`).join(" || ',' || ") : `cast(${rowid} as text)`
}

/** @param table the entities' name of the table; undefined: a table without an entity */
export function readOldRows(
  existing: ExistingTable,
  { db, request }: Pick<FileEvolution, 'db' | 'request'>,
  table: string | undefined,
  where = '',
): OldRows {
  const types = table === undefined ? undefined : request.columns.get(table)
  const names = existing.key.length > 0 ? existing.key : ['row']
  const shown = existing.key.length > 0 ? existing.key.map(quoted) : [existing.rowid ?? '1']
  const columns = existing.columns.map(({ name }) => {
    const type = types?.get(name)?.type
    const decode = type === undefined ? undefined : (findDecoder(type) as ((value: unknown) => unknown) | undefined)
    return { name, decode: (value: unknown) => showWhole(decode === undefined ? value : decode(value)) }
  })
  const list = [placeOf(existing), ...shown, ...columns.map(({ name }) => quoted(name))]
  const order = existing.rowid === undefined ? '' : ` order by ${existing.rowid}`
  const rows = db
    .prepare(`select ${list.join(', ')} from main.${quoted(existing.name)}${where}${order}`)
    .raw()
    .safeIntegers(true)
    .all() as unknown[][]
  const first = 1 + shown.length
  return {
    table: existing.name,
    columns,
    rows: rows.map(row => ({
      place: String(row[0]),
      shown: `${names.join('~')} ${row.slice(1, first).map(String).join('~')}`,
      values: row.slice(first).map(narrow),
    })),
  }
}

function narrow(value: unknown): unknown {
  return typeof value === 'bigint' ? (Number.isSafeInteger(Number(value)) ? Number(value) : String(value)) : value
}

function showWhole(value: unknown): unknown {
  return value instanceof Uint8Array ? runtime.formatBytes(value, 'base64') : value
}

/** After renames, before other changes. Only new tables get rows. */
export function prepareRows(evolution: FileEvolution, wanted: readonly { readonly name: string }[], plan: Plan): FilledRows[] {
  const { db, request } = evolution
  return request.from.flatMap(from => {
    const target = readPlainTable(db, from.table)
    if (target !== undefined) {
      if (countOf(db, `from main.${quoted(target.name)}`) === 0) leaveEmpty(from, plan)
      return []
    }
    const found = findSource(from, evolution, wanted)
    if (found === undefined) {
      plan.faults.push(`"${from.asked}" takes rows of "${from.from}", and the database has no such table`)
      return []
    }
    const { existing, table } = found
    const old = readOldRows(existing, evolution, table)
    return [computeRows(from, old, table === undefined ? undefined : request.columns.get(table), request.columns.get(from.table)!, plan)]
  })
}

function findSource(
  { from }: RowsFrom,
  { orm, db, request }: FileEvolution,
  wanted: readonly { readonly name: string }[],
): { readonly existing: ExistingTable; readonly table: string | undefined } | undefined {
  const table = findModelled(from, request)
  const name = table ?? listLoneTables(wanted, { orm, db }).find(each => listTableNames(each).includes(from))
  const existing = name === undefined ? undefined : readPlainTable(db, name)
  return existing === undefined ? undefined : { existing, table }
}

function findModelled(name: string, { columns, namesOf }: EvolveRequest): string | undefined {
  return [...columns.keys()].find(key => namesOf(key).includes(name))
}

export function addRows({ asked, table, source, rows }: FilledRows, db: RawDatabase, plan: Plan): void {
  if (rows.length === 0) return
  for (const { shown, values } of rows) {
    const columns = [...values.keys()]
    const sql = `insert into main.${quoted(table)} (${columns.map(quoted).join(', ')}) values (${columns.map(() => '?').join(', ')})`
    try {
      db.prepare(columns.length === 0 ? `insert into main.${quoted(table)} default values` : sql).run(
        ...[...values.values()].map(toParameter),
      )
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      if (!code?.startsWith('SQLITE_CONSTRAINT')) throw error
      plan.faults.push(`what "${asked}" makes of ${shown} of "${source}" does not fit: ${message}`)
      return
    }
  }
  plan.add(`${table}: ${countRows(rows.length)} ${rows.length === 1 ? 'is' : 'are'} made of the rows of "${source}".`, [])
}
