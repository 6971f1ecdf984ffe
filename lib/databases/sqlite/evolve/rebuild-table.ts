/**
 * Writes a table anew in the form of the entities: creates, copies, drops, renames (https://www.sqlite.org/lang_altertable.html, section
 * 7). Rowids, indexes, triggers, counter and statistics stay. Runs in a transaction, with foreign keys off.
 */
import type { RawDatabase } from '../driver/raw-database.ts'
import { countRows, BareValue, sayFilled, type Plan } from '../../evolve/plan.ts'
import { computeValues } from '../../evolve/compute-fill.ts'
import { exampleFill, type EvolveRequest } from '../../evolve/request.ts'
import { name as quoted } from '../../sql/sql.ts'
import { hasAutoincrement } from '../database/ddl.ts'
import { toParameter } from '../sql/encode.ts'
import { foldCase, type ExistingTable } from '../schema/existing-table.ts'
import { describeDuplicates, selectKey, findRows, countOf } from './check-rows.ts'
import { placeOf, readOldRows } from './fill-rows.ts'
import { guardRows } from './guard-rows.ts'
import type { FilledColumn, TableChange } from './table-change.ts'
import { convertValue } from './column-class.ts'
import { formatCreate, listMentioned } from './create-text.ts'

const NEW_PREFIX = 'mikro_evolved_'

interface Rebuilding {
  readonly db: RawDatabase
  readonly plan: Plan
  readonly request: EvolveRequest
  readonly table: string
}

export function rebuildTable(change: TableChange, rebuilding: Rebuilding): void {
  const { db, plan } = rebuilding
  const faults = plan.faults.length
  const computed = computeFills(change, rebuilding)
  checkConverted(change, rebuilding)
  checkRequired(change, rebuilding)
  const kept = keepObjects(change, rebuilding)
  if (plan.faults.length > faults) return
  const { existing } = change
  const table = quoted(existing.name)
  const newTable = quoted(NEW_PREFIX + existing.name)
  const create = formatCreate(newTable, change.text)
  const sequence = readSequence(db, existing)
  const isAnalyzed = hasStatistics(db, existing.name)
  const { sql: copy, parameters } = copyRows(change, rebuilding)
  const statements = [create, copy, `drop table ${table}`, `alter table ${newTable} rename to ${table}`, ...kept]
  for (const { sentence, part } of change.differences) plan.add(`${sentence}.`, [part])
  for (const filled of change.filled) plan.add(describeFill(filled, change, rebuilding), [])
  plan.add(
    `${existing.name}: the table is written anew, ` +
      `${countRows(countOf(db, `from main.${quoted(existing.name)}`))} with all the values that stay.`,
    statements,
  )
  db.exec(create)
  runCopy({ change, computed }, rebuilding, copy, parameters)
  if (plan.faults.length === faults) guardRows(change, newTable, db, plan)
  if (plan.faults.length > faults) return
  db.exec(`drop table ${table}`)
  // Else SQLite checks all views and triggers, and some name the dropped table.
  db.pragma('legacy_alter_table = on')
  try {
    db.exec(`alter table ${newTable} rename to ${table}`)
  } finally {
    db.pragma('legacy_alter_table = off')
  }
  for (const statement of kept) keepObject(statement, change, rebuilding)
  if (plan.faults.length > faults) return
  if (sequence !== undefined) keepSequence(db, existing.name, sequence)
  if (isAnalyzed) db.exec(`analyze ${table}`)
}

/** Filled values may break a unique index. */
function keepObject(statement: string, { existing }: TableChange, { db, plan }: Rebuilding): void {
  try {
    db.exec(statement)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code !== 'SQLITE_CONSTRAINT_UNIQUE') throw error
    const columns = [...message.matchAll(/\.([^.,]+)(?=,|$)/g)].map(([, column]) => column!)
    plan.faults.push(describeDuplicates(existing, columns, undefined, db) ?? `rows of "${existing.name}" must be unique: ${message}`)
  }
}

function checkConverted({ existing, converted }: TableChange, { db, plan }: Rebuilding): void {
  const key = selectKey(existing)
  for (const { column, from, to } of converted) {
    const rows = db.prepare(`select ${quoted(column)}, ${key.sql} from main.${quoted(existing.name)} where ${quoted(column)} is not null`)
    const shown: BareValue[][] = []
    const values: unknown[] = []
    let count = 0
    for (const [value, ...names] of rows.raw().safeIntegers(true).iterate() as IterableIterator<unknown[]>) {
      if (convertValue(value, from, to) !== undefined || ++count > 5) continue
      shown.push(names.map(each => new BareValue(each)))
      values.push(value)
    }
    plan.refuseType(`${existing.name}.${column}`, to.type?.kind ?? 'json', { key: key.names, rows: shown, values, count })
  }
}

function checkRequired({ existing, required, needed }: TableChange, { db, plan, request, table }: Rebuilding): void {
  for (const column of needed) plan.refuseRequired(`${existing.name}.${column}`, exampleFill(request, table, column))
  for (const column of required)
    plan.refuseEmpty(
      `${existing.name}.${column}`,
      exampleFill(request, table, column),
      findRows(db, existing, `from main.${quoted(existing.name)} where ${quoted(column)} is null`),
    )
}

function keepObjects({ existing, dropped }: TableChange, { db, plan }: Rebuilding): string[] {
  const objects = db
    .prepare(
      'select type, name, sql from main.sqlite_schema ' +
        "where tbl_name = ? collate nocase and type in ('index', 'trigger') and sql is not null order by rowid",
    )
    .all(existing.name) as { type: string; name: string; sql: string }[]
  return objects.flatMap(({ type, name, sql }) => {
    const lost = dropped.find(column => listMentioned(sql).some(mentioned => foldCase(mentioned) === foldCase(column)))
    if (lost === undefined) return [sql]
    if (type === 'index') plan.add(`${existing.name}: the index "${name}" is dropped with "${lost}".`, [`drop index ${quoted(name)}`])
    else plan.faults.push(`${existing.name}.${lost} cannot be dropped, since the trigger "${name}" names it`)
    return []
  })
}

function copyRows(change: TableChange, { db }: Rebuilding): { sql: string; parameters: unknown[] } {
  const { existing, text, filled, converted } = change
  const targets: string[] = []
  const values: string[] = []
  const parameters: unknown[] = []
  const info = db.pragma(`main.table_xinfo(${quoted(existing.name)})`) as { name: string; hidden: number }[]
  const isGenerated = (column: string): boolean =>
    text.columns.some(
      each => each.name === column && (each.clauses.some(({ kind }) => kind === 'generated') || /\bgenerated\s+always\b/i.test(each.type)),
    )
  for (const { name } of text.columns) {
    if (isGenerated(name)) continue
    const fill = filled.findIndex(({ column }) => column === name)
    const source = info.some(each => foldCase(each.name) === foldCase(name))
    const conversion = converted.findIndex(({ column }) => column === name)
    if (!source && fill < 0) continue
    targets.push(quoted(name))
    const old = conversion >= 0 ? `mikro_evolve(${conversion}, ${quoted(name)})` : quoted(name)
    const isEach = fill >= 0 && filled[fill]!.value.each !== undefined
    if (fill >= 0 && !isEach) parameters.push(toParameter(filled[fill]!.value.stored))
    const given = isEach ? `mikro_fill(${fill}, ${placeOf(existing)})` : '?'
    values.push(fill < 0 ? old : source ? `ifnull(${old}, ${given})` : given)
  }
  const { rowid, rowidKey } = existing
  if (rowid !== undefined && !rowidKey && !text.columns.some(({ name }) => foldCase(name) === rowid)) {
    targets.unshift(rowid)
    values.unshift(rowid)
  }
  const order = rowid === undefined ? '' : ` order by ${rowid}`
  const sql =
    `insert into ${quoted(NEW_PREFIX + existing.name)} (${targets.join(', ')}) ` +
    `select ${values.join(', ')} from ${quoted(existing.name)}${order}`
  return { sql, parameters }
}

interface Copying {
  readonly change: TableChange
  /** By filled column, then by `placeOf`. */
  readonly computed: readonly ReadonlyMap<string, unknown>[]
}

function computeFills({ existing, filled }: TableChange, { db, request, plan, table }: Rebuilding): ReadonlyMap<string, unknown>[] {
  return filled.map(({ column, value, isNew }) => {
    if (value.each === undefined) return new Map()
    const rows = readOldRows(existing, { db, request }, table, isNew ? '' : ` where ${quoted(column)} is null`)
    const values = computeValues(value, rows, request.columns.get(table), plan)
    return new Map([...values].map(([place, stored]) => [place, toParameter(stored)]))
  })
}

/** Copies without checks: `checkRows` finds all refused rows. */
function runCopy({ change, computed }: Copying, rebuilding: Rebuilding, sql: string, parameters: readonly unknown[]): void {
  const { db, plan } = rebuilding
  const { converted, existing } = change
  db.function('mikro_evolve', { directOnly: true, safeIntegers: true }, (at: bigint, value: unknown) => {
    const { from, to } = converted[Number(at)]!
    return convertValue(value, from, to)
  })
  db.function('mikro_fill', { directOnly: true, safeIntegers: true }, (at: bigint, place: unknown) =>
    computed[Number(at)]!.get(place as string),
  )
  db.pragma('ignore_check_constraints = on')
  try {
    db.prepare(sql).run(...parameters)
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string }
    if (code !== '' && code !== 'SQLITE_ERROR' && !code.startsWith('SQLITE_CONSTRAINT')) throw error
    plan.faults.push(`the rows of "${existing.name}" do not fit: ${message}`)
  } finally {
    db.pragma('ignore_check_constraints = off')
  }
}

function describeFill({ column, value, isNew }: FilledColumn, { existing }: TableChange, { db }: Rebuilding): string {
  const place = `${existing.name}.${column}`
  const count = countOf(db, `from main.${quoted(existing.name)}${isNew ? '' : ` where ${quoted(column)} is null`}`)
  return `${place}: ${sayFilled(count, value)}`
}

function readSequence(db: RawDatabase, { name, sql }: ExistingTable): bigint | undefined {
  if (!hasAutoincrement(sql)) return undefined
  return db.prepare('select seq from main.sqlite_sequence where name = ?').pluck().safeIntegers(true).get(name) as bigint | undefined
}

function keepSequence(db: RawDatabase, table: string, sequence: bigint): void {
  const { changes } = db.prepare('update main.sqlite_sequence set seq = ? where name = ?').run(sequence, table)
  if (changes === 0) db.prepare('insert into main.sqlite_sequence (name, seq) values (?, ?)').run(table, sequence)
}

function hasStatistics(db: RawDatabase, table: string): boolean {
  if (db.prepare("select 1 from main.sqlite_schema where name = 'sqlite_stat1'").get() === undefined) return false
  return db.prepare('select 1 from main.sqlite_stat1 where tbl = ? limit 1').get(table) !== undefined
}
