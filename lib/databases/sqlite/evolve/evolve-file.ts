/**
 * Makes a file fit the entities, in a transaction, after a rehearsal that is rolled back, and a copy. For an obstacle, throws EvolveError
 * in one line, and leaves the file unchanged.
 */
import type { MikroORM } from '@mikro-orm/core'
import type { RawDatabase } from '../driver/raw-database.ts'
import type { Awaitable } from '../../../foundation/async/awaitable.ts'
import type { Notes } from '../../../foundation/errors/notes.ts'
import { EvolveError, type Evolving, Rehearsed } from '../../../records/database/evolving.ts'
import { listMentions } from '../../evolve/drop-request.ts'
import { countRows, type Plan } from '../../evolve/plan.ts'
import { readRequest } from '../../evolve/request.ts'
import { addSchema, takeAnyType } from '../schema/add-schema.ts'
import { copyFile, nameCopy, removeCopy, removeOldCopies } from './copy-file.ts'
import { evolveTables } from './evolve-tables.ts'
import type { FileEvolution } from './table-change.ts'
import type { SqlSchemaGenerator } from '@mikro-orm/sqlite'
import { name as quoted } from '../../sql/sql.ts'
import { foldCase, readCatalog, readExistingTable } from '../schema/existing-table.ts'
import { countOf } from './check-rows.ts'

interface EvolvedFile {
  readonly orm: MikroORM
  readonly db: RawDatabase
  readonly path: string
  readonly notes: Notes
  readonly evolving: Evolving
}

/** While other processes change the file. */
const ATTEMPTS = 4

/**
 * @param build runs on the new schema; when it throws, nothing is changed
 * @throws EvolveError; errors of SQLite where the file cannot be written or copied.
 */
export async function evolveFile<T>(file: EvolvedFile, build: () => Awaitable<T>): Promise<T> {
  const { orm, db, path, notes, evolving } = file
  if (evolving.begins === true) {
    beginAnew(file)
    return build()
  }
  const evolution: FileEvolution = {
    orm,
    db,
    request: readRequest(orm, evolving),
    drop: evolving.drop,
    isMentioned: listMentions(orm, evolving),
  }
  // Without tables there is nothing to keep.
  const isEmpty = db.prepare('select 1 from sqlite_schema limit 1').get() === undefined
  for (let attempt = 1; ; attempt++) {
    if (isEmpty) break
    const rehearsal = await rehearse(evolution, path)
    await evolving.onPlan?.(rehearsal)
    if (evolving.rehearses === true || rehearsal.steps.length === 0) break
    const done = await apply(file, evolution, rehearsal, build)
    if (done !== undefined) return done.built
    if (attempt === ATTEMPTS)
      throw new EvolveError(`${path} is changed by others all the time, so it is left as it is: end them first`, rehearsal)
  }
  if (evolving.rehearses === true) throw new Rehearsed()
  // Makes the tables of an empty file, and notes differences.
  return addSchema({ orm, db, path, notes }, build)
}

async function rehearse(evolution: FileEvolution, path: string): Promise<Plan> {
  const { db } = evolution
  return withoutLinks(db, () => {
    db.exec('begin immediate')
    try {
      const { plan } = evolveTables(evolution)
      plan.check(path)
      return plan
    } finally {
      // On a full disk SQLite itself rolls back.
      if (db.inTransaction) db.exec('rollback')
    }
  })
}

/** @returns undefined where the steps differ from the rehearsal */
async function apply<T>(
  { orm, db, path, notes, evolving }: EvolvedFile,
  evolution: FileEvolution,
  rehearsal: Plan,
  build: () => Awaitable<T>,
): Promise<{ built: Awaitable<T> } | undefined> {
  const copy = db.memory || evolving.copies === 0 ? undefined : nameCopy(path, new Date())
  return withoutLinks(db, async () => {
    db.exec('begin immediate')
    let isDone = false
    try {
      // The lock is held, and nothing is written yet: the copy has the file as before.
      if (copy !== undefined) await copyFile(path, copy)
      const { plan, findings } = evolveTables(evolution)
      plan.check(path)
      if (JSON.stringify(plan.steps) !== JSON.stringify(rehearsal.steps)) return undefined
      for (const { table, column } of findings!.otherTypes) takeAnyType(orm, table, column)
      const built = build()
      db.exec('commit')
      isDone = true
      if (copy !== undefined) clearCopies(path, copy, evolving.copies, notes)
      for (const note of findings!.notes) notes.add(note)
      noteSteps(plan, notes, copy)
      return { built }
    } finally {
      if (db.inTransaction) db.exec('rollback')
      if (!isDone && copy !== undefined) removeCopy(path, copy)
    }
  })
}

/** A failure is only noted: the file has evolved. */
function clearCopies(path: string, copy: string, kept: number, notes: Notes): void {
  try {
    removeOldCopies(path, copy, kept)
  } catch (error) {
    notes.add(`Old copies of ${path} cannot be removed: ${(error as Error).message}.`)
  }
}

function noteSteps({ steps, stays }: Plan, notes: Notes, copy: string | undefined): void {
  for (const { sentence } of steps) notes.add(`Evolved: ${sentence}`)
  for (const sentence of stays) notes.add(sentence)
  if (copy !== undefined) notes.add(`The file as it was before it evolved: ${copy}`)
}

/** Dropping an old table would set off foreign keys. The setting works only outside of transactions. */
async function withoutLinks<T>(db: RawDatabase, run: () => Awaitable<T>): Promise<T> {
  db.pragma('foreign_keys = off')
  try {
    return await run()
  } finally {
    db.pragma('foreign_keys = on')
  }
}

/**
 * Drops the tables of the entities, with all rows, and makes the tables again.
 *
 * @throws Error in one line where rows of a table of no entity refer to a table of the entities.
 */
function beginAnew({ orm, db, path, notes }: EvolvedFile): void {
  const schema = (orm.schema as SqlSchemaGenerator).getTargetSchema()
  const names = [...schema.getTables(), ...schema.getViews()].map(({ name }) => name)
  db.pragma('foreign_keys = off')
  try {
    db.transaction(() => {
      const catalog = readCatalog(db)
      const user = findUser(names, db)
      if (user !== undefined)
        throw new Error(`${path} is left as it is, since rows of its table "${user}", which no entity has, refer to those of the entities.`)
      for (const name of new Set(names.map(foldCase))) {
        const found = readExistingTable(db, catalog, name)
        if (found === undefined) continue
        const isView = found.kind === 'view'
        if (!isView)
          notes.add(
            `${found.name}: the table is made anew; ${countRows(countOf(db, `from main.${quoted(found.name)}`))} went with the old one.`,
          )
        db.exec(`drop ${isView ? 'view' : 'table'} ${quoted(found.name)}`)
      }
      addSchema({ orm, db, path, notes }, () => undefined)
    }).immediate()
  } finally {
    db.pragma('foreign_keys = on')
  }
}

function findUser(names: readonly string[], db: RawDatabase): string | undefined {
  const entityTables = new Set(names.map(foldCase))
  const tables = db.prepare("select name from main.sqlite_schema where type = 'table'").pluck().all() as string[]
  return tables.find(table => {
    if (entityTables.has(foldCase(table))) return false
    const links = db.pragma(`main.foreign_key_list(${quoted(table)})`) as { table: string; from: string }[]
    return links.some(
      link =>
        entityTables.has(foldCase(link.table)) &&
        db.prepare(`select 1 from main.${quoted(table)} where ${quoted(link.from)} is not null limit 1`).get() !== undefined,
    )
  })
}
