/**
 * Renames columns, and tables with constraints, indexes, sequences, tables of links and values of discriminators. An empty table or column
 * of the new name makes room.
 */
import type { PoolClient } from 'pg'
import type { MikroORM } from '@mikro-orm/core'
import type { DatabaseTable, SchemaDifference, SqlSchemaGenerator } from '@mikro-orm/postgresql'
import { askForTables, findRenamed, findRenamedTable, refuseBoth, refuseTriggers, type FoundTable } from '../../evolve/find-renames.ts'
import { listColumnNames } from '../../evolve/drop-request.ts'
import type { Plan } from '../../evolve/plan.ts'
import { listFollowers, type AskedTable } from '../../evolve/read-renames.ts'
import { keyOfTable, type EvolveRequest } from '../../evolve/request.ts'
import { name } from '../../sql/sql.ts'
import { ask, command } from '../server/sessions.ts'
import { isDone, listLoneTables } from './drop-tables.ts'

interface Renaming {
  readonly orm: MikroORM
  readonly session: PoolClient
  readonly request: EvolveRequest
  readonly plan: Plan
}

function listTargets(orm: MikroORM): DatabaseTable[] {
  return (orm.schema as SqlSchemaGenerator).getTargetSchema().getTables()
}

export async function renameTables(renaming: Renaming): Promise<void> {
  const { orm, session, request, plan } = renaming
  for (const asked of request.tables) {
    const targets = listTargets(orm)
    const columns = asked.old === undefined ? [] : await listColumns(quoteBeside(asked.owner!, asked, targets), session)
    const isMove = columns.some(column => listColumnNames(column).includes(asked.old!))
    const from = await renameTable({ ...asked, isMove }, targets, renaming)
    if (from === undefined) continue
    const followers = listFollowers(orm, asked, from)
    for (const each of followers.tables)
      if ((await findTable(each.from[0]!, each, targets, session)) !== undefined) await renameTable(each, targets, renaming)
    for (const { table, from: old, to } of followers.columns) {
      const quoted = quoteBeside(table, asked, targets)
      const columns = await listColumns(quoted, session)
      if (columns.includes(old) && !columns.includes(to)) await renameColumn(quoted, table, old, to, renaming)
    }
    for (const { table, column, from: old, to } of followers.marks) {
      const target = targets.find(each => each.name === table)
      if (target === undefined || !(await listColumns(target.getQuotedName(), session)).includes(column)) continue
      const sql = `update ${target.getQuotedName()} set ${name(column)} = $1 where ${name(column)} = $2`
      const { rowCount } = await session.query(sql, [to, old])
      if ((rowCount ?? 0) > 0) plan.add(`${table}.${column}: "${old}" becomes "${to}" in ${rowCount} rows.`, [])
    }
  }
}

/** Quotes a name with the renamed table's schema. */
function quoteBeside(table: string, { to }: AskedTable, targets: readonly DatabaseTable[]): string {
  const renamed = targets.find(each => each.name === to)?.getQuotedName() ?? name(to)
  return renamed.replace(/"(?:[^"]|"")*"$/, () => name(table))
}

async function findTable(
  table: string,
  asked: AskedTable,
  targets: readonly DatabaseTable[],
  session: PoolClient,
): Promise<FoundTable | undefined> {
  const quoted = quoteBeside(table, asked, targets)
  const found = await ask(session, "select 1 from pg_class where oid = to_regclass($1) and relkind in ('r', 'p')", [quoted])
  if (found.length === 0) return undefined
  const [[count] = [0]] = await ask(session, `select count(*)::int from ${quoted}`)
  return { name: table, rows: Number(count) }
}

/** @returns the old name of a renamed table */
async function renameTable(
  asked: AskedTable & { readonly isMove?: boolean },
  targets: readonly DatabaseTable[],
  renaming: Renaming,
): Promise<string | undefined> {
  const { session, plan } = renaming
  const existing = new Map<string, FoundTable>()
  for (const table of [...asked.from, asked.to]) {
    const found = await findTable(table, asked, targets, session)
    if (found !== undefined) existing.set(table, found)
  }
  const isWanted = (table: string): boolean => targets.some(target => target.name === table)
  const found = findRenamedTable(asked, table => existing.get(table), isWanted, plan)
  if (found === undefined) return undefined
  const quoted = quoteBeside(asked.to, asked, targets)
  if (found.replaces) {
    const triggers = await ask(
      session,
      "select tgname from pg_trigger where tgrelid = to_regclass($1) and not tgisinternal and tgname not like 'mikro\\_%'",
      [quoted],
    )
    const target = targets.find(({ name: table }) => table === asked.to)
    const byHand = triggers.map(([each]) => String(each)).filter(each => target?.hasTrigger(each) !== true)
    if (refuseTriggers(asked.to, byHand, plan) || !(await takeAway(quoted, asked.to, renaming))) return undefined
  }
  const sql = `alter table ${quoteBeside(found.old, asked, targets)} rename to ${name(asked.to)}`
  await command(session, sql)
  const parts = await listParts(quoted, found.old, asked.to, session)
  for (const statement of parts) await command(session, statement)
  plan.add(`the table ${found.old} becomes "${asked.to}", with its rows.`, [sql, ...parts])
  return found.old
}

/** Foreign keys to the empty table are made again. */
async function takeAway(quoted: string, table: string, { session, plan }: Renaming): Promise<boolean> {
  const links = await ask(
    session,
    `select conrelid::regclass::text, conname from pg_constraint
       where contype = 'f' and confrelid = to_regclass($1) and conrelid <> confrelid`,
    [quoted],
  )
  const statements = links.map(([from, link]) => `alter table ${String(from)} drop constraint ${name(String(link))}`)
  for (const statement of statements) await command(session, statement)
  const sql = `drop table ${quoted}`
  if (await isDone(sql, session)) {
    plan.add(`${table}: the empty table makes room.`, [...statements, sql])
    return true
  }
  plan.faults.push(`the empty table "${table}" cannot make room for one by a new name, since other objects depend on "${table}"`)
  return false
}

async function listParts(quoted: string, old: string, next: string, session: PoolClient): Promise<string[]> {
  const renamed = (part: unknown): string => name(next + String(part).slice(old.length))
  const bears = (part: unknown): boolean => String(part).startsWith(`${old}_`)
  const constraints = await ask(session, 'select conname from pg_constraint where conrelid = to_regclass($1)', [quoted])
  const indexes = await ask(
    session,
    `select i.oid::regclass::text, i.relname from pg_index join pg_class i on i.oid = indexrelid where indrelid = to_regclass($1)
       and not exists (select from pg_constraint where conindid = i.oid and conrelid = indrelid)`,
    [quoted],
  )
  const sequences = await ask(
    session,
    `select s.oid::regclass::text, s.relname from pg_depend d join pg_class s on s.oid = d.objid and s.relkind = 'S'
       where d.classid = 'pg_class'::regclass and d.refobjid = to_regclass($1) and d.deptype in ('a', 'i')`,
    [quoted],
  )
  return [
    ...constraints.flatMap(([part]) =>
      bears(part) ? [`alter table ${quoted} rename constraint ${name(String(part))} to ${renamed(part)}`] : [],
    ),
    ...indexes.flatMap(([place, part]) => (bears(part) ? [`alter index ${String(place)} rename to ${renamed(part)}`] : [])),
    ...sequences.flatMap(([place, part]) => (bears(part) ? [`alter sequence ${String(place)} rename to ${renamed(part)}`] : [])),
  ]
}

async function listColumns(quoted: string, session: PoolClient): Promise<string[]> {
  const found = await ask(
    session,
    'select attname from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped',
    [quoted],
  )
  return found.map(([column]) => String(column))
}

/** @param served renames that are moves of links */
export async function renameColumns(renaming: Renaming, served: ReadonlySet<string>): Promise<void> {
  const { orm, session, request, plan } = renaming
  if (request.renamed.size === 0) return
  for (const table of listTargets(orm)) {
    const quoted = table.getQuotedName()
    for (const asked of request.renamed.get(keyOfTable(request, table)) ?? []) {
      const columns = await listColumns(quoted, session)
      if (columns.length === 0 || served.has(asked.asked)) continue
      const find = (column: string): string | undefined => (columns.includes(column) ? column : undefined)
      const found = findRenamed(asked, table.name, find, column => table.hasColumn(column), plan)
      if (found === undefined) continue
      const isFree = found.replaces === undefined || (await makeRoom(found.old, found.replaces, table, renaming))
      if (isFree) await renameColumn(quoted, table.name, found.old, asked.to, renaming)
    }
  }
}

/** Drops an empty column of an earlier start. */
async function makeRoom(old: string, empty: string, table: DatabaseTable, { session, request, plan }: Renaming): Promise<boolean> {
  const quoted = table.getQuotedName()
  const hasValues = async (column: string): Promise<boolean> =>
    (await ask(session, `select 1 from ${quoted} where ${name(column)} is not null limit 1`)).length > 0
  if (!(await hasValues(old))) return false
  if (await hasValues(empty)) {
    refuseBoth(table.name, request.resourceOf(keyOfTable(request, table)), old, empty, plan)
    return false
  }
  const sql = `alter table ${quoted} drop column ${name(empty)}`
  if (await isDone(sql, session)) {
    plan.add(`${table.name}.${empty}: the empty column of that name makes room.`, [sql])
    return true
  }
  plan.faults.push(`${table.name}.${old} cannot become "${empty}", since other objects depend on the empty column of that name`)
  return false
}

/** The check of an enum bears the column's name. */
async function renameColumn(quoted: string, table: string, old: string, to: string, { orm, session, plan }: Renaming): Promise<void> {
  const statements = [`alter table ${quoted} rename column ${name(old)} to ${name(to)}`]
  const naming = orm.config.getNamingStrategy()
  const [check, next] = [old, to].map(column => naming.indexName(table, [column], 'check')) as [string, string]
  const found = await ask(session, 'select 1 from pg_constraint where conrelid = to_regclass($1) and conname = $2', [quoted, check])
  if (found.length > 0) statements.push(`alter table ${quoted} rename constraint ${name(check)} to ${name(next)}`)
  for (const statement of statements) await command(session, statement)
  plan.add(`${table}.${old}: the column becomes "${to}", with its values.`, statements)
}

export async function askForOldTables(
  difference: SchemaDifference,
  context: Renaming & { readonly schemas: readonly string[] },
): Promise<void> {
  const { orm, session, request, plan } = context
  const lone = (await listLoneTables(difference, context)).filter(({ count }) => count > 0)
  if (lone.length === 0) return
  const isMissing = new Set(Object.values(difference.newTables).map(({ name: table }) => table))
  const added: { readonly name: string; readonly columns: readonly string[] }[] = []
  for (const target of listTargets(orm)) {
    const isEmpty = async (): Promise<boolean> => (await ask(session, `select 1 from ${target.getQuotedName()} limit 1`)).length === 0
    if (isMissing.has(target.name) || (await isEmpty()))
      added.push({ name: keyOfTable(request, target), columns: target.getColumns().map(column => column.name) })
  }
  askForTables(
    lone.map(({ table, columns }) => ({ name: table, columns })),
    added,
    request,
    plan,
  )
}
