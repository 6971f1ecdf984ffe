/**
 * Evolve database: makes a server's tables fit the entities, with all rows, in the open transaction. Renames, fills and checks before
 * MikroORM's generator runs. The server takes back what fails.
 */
import type { PoolClient } from 'pg'
import type { MikroORM } from '@mikro-orm/core'
import type { Column, DatabaseTable, SchemaDifference, TableDifference } from '@mikro-orm/postgresql'
import type { Notes } from '../../../foundation/errors/notes.ts'
import { Rehearsed, type EvolveStep, type Evolving } from '../../../records/database/evolving.ts'
import { askForRenames } from '../../evolve/find-renames.ts'
import { Plan } from '../../evolve/plan.ts'
import { exampleFill, keyOfTable, readRequest, type EvolveRequest } from '../../evolve/request.ts'
import { name } from '../../sql/sql.ts'
import { CREATES_SCHEMA, createSchema, findViews, isOfView, lockSchema, SchemaError, type Views } from '../schema/add-schema.ts'
import { compare, listStatements, type ComparedDatabase } from '../schema/compare.ts'
import { listSchemas } from '../kit/change-log.ts'
import { isComputed } from '../schema/unchanged.ts'
import { isLost } from '../server/errors.ts'
import { ask, command } from '../server/sessions.ts'
import { checkRows } from './check-rows.ts'
import { dropTables } from './drop-tables.ts'
import { addFilled, fillEmpty } from './fill-column.ts'
import { findLoss } from './guard-statement.ts'
import { renameColumns } from './rename-columns.ts'
import { sayStatement } from './statement-sentence.ts'

interface Evolution {
  readonly orm: MikroORM
  readonly session: PoolClient
  readonly evolving: Evolving
  readonly request: EvolveRequest
  readonly plan: Plan
  readonly views: Views
  /** Of the entities. */
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
    views: await findViews(orm, session),
    schemas: await listSchemas(session, orm),
  }
  for (const [view, column] of evolution.views.lacking)
    plan.faults.push(`the column ${view}.${column} cannot be added, since ${view} is a view`)
  await renameColumns(orm, session, evolution.request, plan)
  plan.check(PLACE)
  const first = await compareAll(evolution)
  const begun = plan.steps.length
  for (const table of Object.values(first.changedTables)) await prepareTable(table, evolution)
  plan.check(PLACE)
  // To read the whole database takes longer than all else.
  const difference = plan.steps.length === begun ? first : await compareAll(evolution)
  for (const table of Object.values(difference.changedTables)) await checkRows(table, { session, plan, request: evolution.request })
  plan.check(PLACE)
  await run(difference, evolution)
  if (evolving.drop) await dropTables(difference, evolution)
  plan.check(PLACE)
  await evolving.onPlan?.(plan)
  if (evolving.rehearses === true) throw new Rehearsed()
  for (const { sentence } of plan.steps) notes.add(`Evolved: ${sentence}`)
  if (plan.steps.length > 0) for (const sentence of plan.stays) notes.add(sentence)
}

/** All begins again when others drop tables meanwhile. */
async function compareAll(evolution: Evolution): Promise<SchemaDifference> {
  try {
    return await compare(databaseOf(evolution))
  } catch (error) {
    if (isLost(error)) throw error
    throw new SchemaError(`${PLACE} cannot be compared with the entities: ${(error as Error).message.split('\n')[0]!}.`, { cause: error })
  }
}

function databaseOf({ orm, session, schemas, evolving: { drop } }: Evolution): ComparedDatabase {
  return { orm, session, schemas, drop }
}

function hasNoDefault({ default: fallback }: Column): boolean {
  return fallback === undefined || fallback === null || /^null$/i.test(fallback)
}

/** Adds and fills mandatory columns, and lets new rows leave out columns that the model lacks. */
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
      await fillEmpty({ table: toTable, column, value }, session, plan)
  }
  if (evolution.evolving.drop) return
  for (const column of unmodelled) await leaveColumn(column, table, evolution)
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

async function addNeeded(column: Column, { toTable }: TableDifference, { session, request, plan }: Evolution): Promise<void> {
  const table = keyOfTable(request, toTable)
  const value = request.fill.get(table)?.get(column.name)
  if (value === undefined) return plan.refuseRequired(`${toTable.name}.${column.name}`, exampleFill(request, table, column.name))
  await addFilled({ table: toTable, column, value }, session, plan)
}

async function leaveColumn(column: Column, { toTable, fromTable }: TableDifference, { session, plan }: Evolution): Promise<void> {
  const place = `${toTable.name}.${column.name}`
  plan.stays.push(`${place}: no property of the model. It stays as it is.`)
  const isKey = fromTable.getPrimaryKey()?.columnNames.includes(column.name) === true
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
  const isOpen = ({ name: column }: Column): boolean => request.fill.get(keyOfTable(request, toTable))?.has(column) !== true
  const loneColumns = {
    table: toTable.name,
    key: keyOfTable(request, toTable),
    old: unmodelled.map(describe(fromTable.getColumns())),
    added: added.filter(isOpen).map(describe(toTable.getColumns())),
  }
  askForRenames(loneColumns, wanted => needed.some(column => column.name === wanted), request, plan)
}

/** Leaves out views in the place of tables. */
async function listOwnStatements(difference: SchemaDifference, evolution: Evolution): Promise<string[]> {
  const statements = await listStatements(difference, databaseOf(evolution))
  return statements.filter(statement => !isOfView(statement, evolution.views.tables))
}

/** A statement repeated at each start, such as a default over several lines, is no step. */
async function run(difference: SchemaDifference, evolution: Evolution): Promise<void> {
  const { session, plan } = evolution
  const statements = await listOwnStatements(difference, evolution)
  if (statements.length === 0) return
  await command(session, 'savepoint mikro_run')
  const steps: EvolveStep[] = []
  for (const statement of statements) {
    const loss = findLoss(statement, difference, evolution.evolving.drop)
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
      // Lost connections, full disks and held locks are not the model's faults.
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
