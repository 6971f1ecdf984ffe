/** Changes the tables of an open file to fit the entities, in the open transaction. Each step and each fault is a sentence of the plan. */
import type { IndexDef, DatabaseTable, SchemaHelper, SqlSchemaGenerator } from '@mikro-orm/sqlite'
import type { RawDatabase } from '../driver/raw-database.ts'
import { DropRequest } from '../../evolve/drop-request.ts'
import { Plan } from '../../evolve/plan.ts'
import { askForRenames, type LoneColumn } from '../../evolve/find-renames.ts'
import { isGiven } from '../../evolve/read-fill.ts'
import { isModelled, type EvolveRequest } from '../../evolve/request.ts'
import { name as quoted } from '../../sql/sql.ts'
import { compareSchema } from '../schema/add-schema.ts'
import { isThere } from '../schema/compare-table.ts'
import { formatIndexName, type Findings } from '../schema/create-table.ts'
import { foldCase, readPlainTable, type ExistingTable } from '../schema/existing-table.ts'
import { changeTable } from './change-table.ts'
import type { FileEvolution, TableChange } from './table-change.ts'
import { checkRows, countBroken, countOf, describeDuplicates, listBrokenObjects } from './check-rows.ts'
import { classify } from './column-class.ts'
import { parseCreate } from './create-text.ts'
import { dropTables } from './drop-tables.ts'
import { addRows, prepareRows } from './fill-rows.ts'
import { findMoves, moveLinks } from './move-links.ts'
import { rebuildTable } from './rebuild-table.ts'
import { askForOldTables, renameColumns, renameTables } from './rename.ts'

/** @returns the findings of the comparison, too, unless the plan has faults */
export function evolveTables(evolution: FileEvolution): { plan: Plan; findings: Findings | undefined } {
  const { orm, db, drop, request } = evolution
  const plan = new Plan()
  const drops = new DropRequest(drop, plan)
  const schema = (orm.schema as SqlSchemaGenerator).getTargetSchema()
  // Entities may share a table.
  const tables = [...Map.groupBy(schema.getTables(), ({ name }) => foldCase(name)).values()]
  const before = { broken: countBroken(db), objects: listBrokenObjects(db) }
  renameTables(tables, evolution, plan)
  const moved = findMoves(tables.flat(), evolution, plan)
  for (const targets of tables) renameColumns(targets, moved.served, evolution, plan)
  if (plan.faults.length > 0) return { plan, findings: undefined }
  askForOldTables(tables, evolution, plan)
  const rows = [...prepareRows(evolution, tables.flat(), plan), ...moveLinks(moved, evolution, plan)]
  const changes = tables.flatMap(targets => changeOne(targets, evolution, drops, plan) ?? [])
  dropTables([...tables.map(([target]) => target!), ...schema.getViews()], { ...evolution, drops }, plan)
  drops.finish(name => isModelled(name, request))
  plan.refuseLosses()
  if (plan.faults.length > 0) return { plan, findings: undefined }
  const findings = addRest(evolution, plan)
  for (const each of rows) if (plan.faults.length === 0) addRows(each, db, plan)
  for (const change of changes) if (plan.faults.length === 0) checkRows(change, db, plan)
  if (plan.steps.length > 0 && plan.faults.length === 0) checkWhole(before, db, plan)
  plan.keepHints()
  return { plan, findings }
}

function changeOne(targets: readonly DatabaseTable[], evolution: FileEvolution, drops: DropRequest, plan: Plan): TableChange | undefined {
  const { orm, db, request } = evolution
  const [target] = targets as [DatabaseTable]
  const existing = readPlainTable(db, target.name)
  if (existing === undefined) return undefined
  const helper = orm.em.getPlatform().getSchemaHelper() as SchemaHelper
  const hasRows = db.prepare(`select 1 from main.${quoted(existing.name)} limit 1`).get() !== undefined
  const countValues = (column: string): number => countOf(db, `from main.${quoted(existing.name)} where ${quoted(column)} is not null`)
  const faults = plan.faults.length
  let change: TableChange | undefined
  try {
    const isStrict = /\bstrict\b/i.test(parseCreate(existing.sql).options)
    change = changeTable(targets, existing, { table: target.name, plan, request, helper, drops, countValues, hasRows, isStrict })
  } catch (error) {
    plan.faults.push(`the statement of "${existing.name}" cannot be split, ${(error as Error).message}: change the table by hand`)
    return undefined
  }
  guessRenames(targets, existing, request, plan, change)
  if (plan.faults.length > faults) return undefined
  if (change !== undefined) rebuildTable(change, { db, plan, request, table: target.name })
  for (const each of targets) for (const index of each.getIndexes()) if (!index.primary) dropOtherIndex(each, index, db, plan)
  return change
}

function guessRenames(
  targets: readonly DatabaseTable[],
  existing: ExistingTable,
  request: EvolveRequest,
  plan: Plan,
  change: TableChange | undefined,
): void {
  const wanted = targets.flatMap(target => target.getColumns())
  const old = existing.columns.flatMap(({ name, type, generated }, place): LoneColumn[] =>
    generated || wanted.some(column => foldCase(column.name) === foldCase(name)) ? [] : [{ name, type: classify(type), place }],
  )
  const added = wanted.flatMap(({ name, type, generated }, place): LoneColumn[] =>
    generated !== undefined ||
    existing.columns.some(column => foldCase(column.name) === foldCase(name)) ||
    isGiven(request.fill.get(targets[0]!.name)?.get(name))
      ? []
      : [{ name, type: classify(type), place }],
  )
  const isNeeded = (name: string): boolean =>
    change?.needed.includes(name) === true || request.fill.get(targets[0]!.name)?.has(name) === true
  askForRenames({ table: existing.name, key: targets[0]!.name, old, added }, isNeeded, request, plan)
}

/** Drops an index with the name of an entity's index, but other columns, for `addRest` to make anew. */
function dropOtherIndex(target: DatabaseTable, index: IndexDef, db: RawDatabase, plan: Plan): void {
  const existing = readPlainTable(db, target.name)!
  const isPlain = index.expression === undefined && index.where === undefined && !index.columnNames.some(name => name.includes('.'))
  const same = existing.indexes.find(({ name }) => foldCase(name) === foldCase(formatIndexName(index)))
  if (!isPlain || same === undefined || isThere(index, { ...existing, indexes: [same] })) return
  const sql = `drop index ${quoted(same.name)}`
  db.exec(sql)
  plan.add(`${existing.name}: the index "${same.name}" is made anew, since that of the model is another one.`, [sql])
}

function addRest({ orm, db }: FileEvolution, plan: Plan): Findings {
  const findings = compareSchema(orm, db)
  plan.faults.push(...findings.faults)
  const schema = (orm.schema as SqlSchemaGenerator).getTargetSchema()
  for (const { what, sql, orNote } of findings.additions) {
    if (plan.faults.length > 0) return findings
    const duplicates = orNote === undefined ? undefined : findDuplicates(what, schema.getTables(), db)
    if (duplicates !== undefined) {
      plan.faults.push(duplicates)
      continue
    }
    try {
      db.exec(sql)
      plan.add(`${what[0]!.toUpperCase()}${what.slice(1)} is added.`, [sql])
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      if (code !== 'SQLITE_ERROR' && !code?.startsWith('SQLITE_CONSTRAINT')) throw error
      plan.faults.push(`${what} cannot be added: ${message}`)
    }
  }
  return findings
}

function findDuplicates(what: string, targets: readonly DatabaseTable[], db: RawDatabase): string | undefined {
  for (const target of targets) {
    const index = target.getIndexes().find(each => what === `the index "${formatIndexName(each)}" of "${target.name}"`)
    const existing = index === undefined ? undefined : readPlainTable(db, target.name)
    if (index === undefined || existing === undefined || index.columnNames.length === 0) continue
    if (index.expression !== undefined || index.columnNames.some(name => name.includes('.'))) return undefined
    return describeDuplicates(existing, index.columnNames, index.where, db)
  }
  return undefined
}

interface WholeFile {
  readonly broken: ReadonlyMap<string, number>
  readonly objects: ReadonlySet<string>
}

function checkWhole(before: WholeFile, db: RawDatabase, plan: Plan): void {
  for (const [link, count] of countBroken(db))
    if (count > (before.broken.get(link) ?? 0)) plan.faults.push(`${count} rows would break a foreign key (${link})`)
  const object = [...listBrokenObjects(db)].find(each => !before.objects.has(each))
  if (object !== undefined) plan.faults.push(`a view or trigger of the file would not fit any more: ${object}`)
}
