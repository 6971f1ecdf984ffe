/**
 * Makes the tables of a server fit the entities, with all rows, in the open transaction. Renames, fills and checks before MikroORM's schema
 * generator runs.
 */
import type { PoolClient } from 'pg'
import type { MikroORM } from '@mikro-orm/core'
import type { Column, DatabaseTable, SchemaDifference, TableDifference } from '@mikro-orm/postgresql'
import type { Notes } from '../../../foundation/errors/notes.ts'
import { Rehearsed, type EvolveStep, type Evolving } from '../../../records/database/evolving.ts'
import { DropRequest } from '../../evolve/drop-request.ts'
import { askForRenames } from '../../evolve/find-renames.ts'
import { Plan } from '../../evolve/plan.ts'
import { isGiven } from '../../evolve/read-fill.ts'
import { exampleFill, isModelled, keyOfTable, readRequest, type EvolveRequest } from '../../evolve/request.ts'
import { name } from '../../sql/sql.ts'
import { CREATES_SCHEMA, createSchema, findViews, isOfView, lockSchema, SchemaError, type Views } from '../schema/add-schema.ts'
import { compare, listStatements, type ComparedDatabase } from '../schema/compare.ts'
import { listSchemas } from '../kit/change-log.ts'
import { isComputed } from '../schema/unchanged.ts'
import { isLost } from '../server/errors.ts'
import { ask, command } from '../server/sessions.ts'
import { checkRows } from './check-rows.ts'
import { dropColumn, dropTables } from './drop-tables.ts'
import { addFilled, fillEmpty } from './fill-column.ts'
import { addRows, prepareRows } from './fill-rows.ts'
import { findLoss } from './guard-statement.ts'
import { findMoves, moveLinks } from './move-links.ts'
import { askForOldTables, renameColumns, renameTables } from './rename.ts'

interface Evolution {
  readonly orm: MikroORM
  readonly session: PoolClient
  readonly evolving: Evolving
  readonly request: EvolveRequest
  readonly plan: Plan
  readonly drops: DropRequest
  readonly views: Views
  readonly schemas: readonly string[]
}

const PLACE = 'The database'

/** @throws EvolveError in one line for all faults */
export async function evolveDatabase(orm: MikroORM, session: PoolClient, evolving: Evolving, notes: Notes): Promise<void> {
  await lockSchema(session)
  const plan = new Plan()
  const evolution = {
    orm,
    session,
    evolving,
    request: readRequest(orm, evolving),
    plan,
    drops: new DropRequest(evolving.drop, plan),
    views: await findViews(orm, session),
    schemas: await listSchemas(session, orm),
  }
  for (const [view, column] of evolution.views.lacking)
    plan.faults.push(`the column ${view}.${column} cannot be added, since ${view} is a view`)
  const renaming = { orm, session, request: evolution.request, plan }
  await renameTables(renaming)
  const moved = await findMoves(evolution)
  await renameColumns(renaming, moved.served)
  plan.check(PLACE)
  const first = await compareAll(evolution)
  const begun = plan.steps.length
  await askForOldTables(first, evolution)
  const rows = [...(await prepareRows(first, evolution)), ...(await moveLinks(moved, evolution))]
  for (const table of Object.values(first.changedTables)) await prepareTable(table, evolution)
  plan.check(PLACE)
  // Reading the schemas again takes longer than all else.
  let difference = plan.steps.length === begun ? first : await compareAll(evolution)
  if (rows.length > 0) {
    // Other tables may link the new rows.
    await run({ ...difference, changedTables: {}, newViews: {}, changedViews: {} }, evolution)
    for (const each of rows) if (plan.faults.length === 0) await addRows(each, evolution)
    plan.check(PLACE)
    difference = await compareAll(evolution)
  }
  for (const table of Object.values(difference.changedTables)) await checkRows(table, { session, plan, request: evolution.request })
  plan.check(PLACE)
  await run(difference, evolution)
  plan.check(PLACE)
  await dropTables(difference, evolution)
  evolution.drops.finish(name => isModelled(name, evolution.request))
  plan.check(PLACE)
  plan.keepHints()
  await evolving.onPlan?.(plan)
  if (evolving.rehearses === true) throw new Rehearsed()
  for (const { sentence } of plan.steps) notes.add(`Evolved: ${sentence}`)
  if (plan.steps.length > 0) for (const sentence of plan.stays) notes.add(sentence)
}

/** @throws SchemaError, as when others drop tables meanwhile: the opening then begins again */
async function compareAll(evolution: Evolution): Promise<SchemaDifference> {
  try {
    return await compare(databaseOf(evolution))
  } catch (error) {
    if (isLost(error)) throw error
    throw new SchemaError(`${PLACE} cannot be compared with the entities: ${(error as Error).message.split('\n')[0]!}.`, { cause: error })
  }
}

function databaseOf({ orm, session, schemas, drops }: Evolution): ComparedDatabase {
  return { orm, session, schemas, drop: drops.takesAll }
}

function hasNoDefault({ default: fallback }: Column): boolean {
  return fallback === undefined || fallback === null || /^null$/i.test(fallback)
}

/** Fills new columns. Drops columns without a property, or makes these columns nullable. */
async function prepareTable(table: TableDifference, evolution: Evolution): Promise<void> {
  const { session, request, plan, views } = evolution
  const { toTable, fromTable } = table
  if (views.tables.includes(toTable.getQuotedName())) return
  const [[hasRows] = [false]] = await ask(session, `select exists (select from ${toTable.getQuotedName()})`)
  const unmodelled = fromTable.getColumns().filter(({ name: column }) => !toTable.hasColumn(column))
  const added = Object.values(table.addedColumns).filter(({ name: column }) => !fromTable.hasColumn(column))
  const needed =
    hasRows === true || hasRows === 't' ? added.filter(column => needsValue(column, keyOfTable(request, toTable), request)) : []
  guessRenames(table, unmodelled, added, needed, evolution)
  for (const { column, fromColumn, changedProperties } of Object.values(table.changedColumns))
    if (changedProperties.has('generated') && isComputed(column) && !isComputed(fromColumn))
      plan.refuseGenerated(`${toTable.name}.${column.name}`)
  if (plan.faults.length > 0) return
  for (const column of needed) await addNeeded(column, table, evolution)
  for (const { column, changedProperties } of Object.values(table.changedColumns)) {
    if (changedProperties.has('generated')) await keepComputed(column, toTable, evolution)
    const value = request.fill.get(keyOfTable(request, toTable))?.get(column.name)
    if (value !== undefined && changedProperties.has('nullable') && column.nullable !== true)
      await fillEmpty({ table: toTable, old: fromTable, column, value }, { session, plan, request })
  }
  for (const column of unmodelled) {
    const isKey = fromTable.getPrimaryKey()?.columnNames.includes(column.name) === true
    if (!(await isDropped(column, toTable, evolution))) await leaveColumn(column, isKey, toTable, evolution)
    else if (isKey) plan.faults.push(`${toTable.name}.${column.name} belongs to the key of the table, so it cannot be dropped`)
    else await dropColumn(toTable, column.name, session, plan)
  }
}

async function isDropped(column: Column, table: DatabaseTable, { session, request, drops }: Evolution): Promise<boolean> {
  const from = `${table.getQuotedName()} where ${name(column.name)} is not null`
  const [[count] = [0]] = isComputed(column) ? [] : await ask(session, `select count(*)::int from ${from}`)
  return drops.takesColumn(
    [request.resourceOf(keyOfTable(request, table)), ...request.namesOf(keyOfTable(request, table)), table.name],
    column.name,
    Number(count),
  )
}

async function keepComputed({ name: column }: Column, table: DatabaseTable, { session, plan }: Evolution): Promise<void> {
  const sql = `alter table ${table.getQuotedName()} alter column ${name(column)} drop expression`
  await command(session, sql)
  plan.add(`${table.name}.${column}: what was generated is kept as values.`, [sql])
}

function needsValue(column: Column, table: string, request: EvolveRequest): boolean {
  if (column.generated !== undefined || column.autoincrement === true) return false
  return request.fill.get(table)?.has(column.name) === true || (column.nullable !== true && hasNoDefault(column))
}

async function addNeeded(column: Column, { toTable, fromTable }: TableDifference, { session, request, plan }: Evolution): Promise<void> {
  const table = keyOfTable(request, toTable)
  const value = request.fill.get(table)?.get(column.name)
  if (value === undefined) return plan.refuseRequired(`${toTable.name}.${column.name}`, exampleFill(request, table, column.name))
  await addFilled({ table: toTable, old: fromTable, column, value }, { session, plan, request })
}

async function leaveColumn(column: Column, isKey: boolean, toTable: DatabaseTable, { session, plan }: Evolution): Promise<void> {
  const place = `${toTable.name}.${column.name}`
  plan.stays.push(`${place}: no property of the model. It stays as it is.`)
  if (isKey || column.nullable === true || column.generated !== undefined || column.autoincrement === true || !hasNoDefault(column)) return
  const sql = `alter table ${toTable.getQuotedName()} alter column ${name(column.name)} drop not null`
  await command(session, sql)
  plan.add(`${place}: no property of the model any more. It stays, and may be empty in new rows.`, [sql])
}

function guessRenames(
  { toTable, fromTable }: TableDifference,
  unmodelled: readonly Column[],
  added: readonly Column[],
  needed: readonly Column[],
  { request, plan }: Evolution,
): void {
  const place = (columns: readonly Column[], { name: wanted }: Column): number => columns.findIndex(column => column.name === wanted)
  const describe = (all: readonly Column[]) => (column: Column) => ({
    name: column.name,
    type: column.type.replace(/\(.*$/, '').replace('varchar', 'text'),
    place: place(all, column),
  })
  const isOpen = ({ name: column }: Column): boolean => !isGiven(request.fill.get(keyOfTable(request, toTable))?.get(column))
  const loneColumns = {
    table: toTable.name,
    key: keyOfTable(request, toTable),
    old: unmodelled.map(describe(fromTable.getColumns())),
    added: added.filter(isOpen).map(describe(toTable.getColumns())),
  }
  askForRenames(loneColumns, wanted => needed.some(column => column.name === wanted), request, plan)
}

async function listOwnStatements(difference: SchemaDifference, evolution: Evolution): Promise<string[]> {
  const statements = await listStatements(difference, databaseOf(evolution))
  return statements.filter(statement => !isOfView(statement, evolution.views.tables))
}

/** A statement of each start, such as a default over several lines, is not a step. */
async function run(difference: SchemaDifference, evolution: Evolution): Promise<void> {
  const { session, plan } = evolution
  const statements = await listOwnStatements(difference, evolution)
  if (statements.length === 0) return
  await command(session, 'savepoint mikro_run')
  const steps: EvolveStep[] = []
  for (const statement of statements) {
    const loss = findLoss(statement, difference)
    if (loss !== undefined) {
      plan.faults.push(loss)
      return
    }
    const [, wanted] = CREATES_SCHEMA.exec(statement) ?? []
    try {
      if (wanted !== undefined) await createSchema(session, wanted.replaceAll('""', '"'))
      else await command(session, statement)
    } catch (error) {
      const { code, message } = error as { readonly code?: string; readonly message: string }
      // Not for lost connections, full disks and held locks.
      if (code === undefined || /^(?:08|53|55|57|58|XX)/.test(code)) throw error
      plan.faults.push(`${sayStatement(statement).replace(/\.$/, '')}, which the server refuses: ${message.split('\n')[0]!}`)
      return
    }
    if (wanted === undefined) steps.push({ sentence: sayStatement(statement), sql: [statement] })
  }
  const again = new Set(await listOwnStatements(await compareAll(evolution), evolution))
  const real = steps.filter(({ sql }) => !again.has(sql[0]!))
  if (real.length === 0) await command(session, 'rollback to savepoint mikro_run')
  await command(session, 'release savepoint mikro_run')
  plan.steps.push(...real)
}

/** A quoted name, perhaps with a schema. */
const NAME = String.raw`((?:"(?:[^"]|"")+"\.?)+)`

const FORMS: readonly (readonly [pattern: RegExp, say: (...parts: string[]) => string])[] = [
  [new RegExp(`^create table ${NAME}`, 'i'), table => `The table ${table} is added.`],
  [new RegExp(`^create (?:unique )?index ${NAME} on ${NAME}`, 'i'), (index, table) => `The index ${index} of ${table} is added.`],
  [new RegExp(`^create (?:or replace )?(?:materialized )?view ${NAME}`, 'i'), view => `The view ${view} is made.`],
  [new RegExp(`^create type ${NAME}`, 'i'), type => `The type ${type} is added.`],
  [new RegExp(`^alter type ${NAME} add value`, 'i'), type => `The type ${type} gets a value.`],
  [
    new RegExp(`^alter table ${NAME} add constraint ${NAME}`, 'i'),
    (table, constraint) => `${table}: the constraint ${constraint} is added.`,
  ],
  [
    new RegExp(`^alter table ${NAME} drop constraint ${NAME}`, 'i'),
    (table, constraint) => `${table}: the constraint ${constraint} is taken off.`,
  ],
  [new RegExp(`^alter table ${NAME} add (?:column )?${NAME}`, 'i'), (table, column) => `${table}.${column}: the column is added.`],
  [
    new RegExp(`^alter table ${NAME} alter column ${NAME} type (.+?)(?: using .*)?$`, 'i'),
    (table, column, type) => `${table}.${column}: its values become ${type}.`,
  ],
  [
    new RegExp(`^alter table ${NAME} alter column ${NAME} set not null`, 'i'),
    (table, column) => `${table}.${column}: it may be empty no more.`,
  ],
  [new RegExp(`^alter table ${NAME} alter column ${NAME} drop not null`, 'i'), (table, column) => `${table}.${column}: it may be empty.`],
  [
    new RegExp(`^alter table ${NAME} alter column ${NAME} set default (.+)$`, 'i'),
    (table, column, value) => `${table}.${column}: new rows get ${value} by default.`,
  ],
  [
    new RegExp(`^alter table ${NAME} alter column ${NAME} drop default`, 'i'),
    (table, column) => `${table}.${column}: new rows get nothing by default.`,
  ],
  [new RegExp(`^drop index ${NAME}`, 'i'), index => `The index ${index} is made anew.`],
]

function sayStatement(sql: string): string {
  for (const [pattern, say] of FORMS) {
    const found = pattern.exec(sql)
    if (found !== null) return say(...found.slice(1).map(part => part.replaceAll(/^"((?:[^"]|"")+)"$/g, '$1')))
  }
  return `The database is told: ${sql.split('\n')[0]!}`
}
