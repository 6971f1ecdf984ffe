/** Opens a SQLite database with MikroORM, and adds, evolves or checks the tables. */
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { existsSync, rmSync } from 'node:fs'
import { MikroORM, type Options } from '@mikro-orm/sqlite'
import type { Notes } from '../../foundation/errors/notes.ts'
import { addSchema } from './schema/add-schema.ts'
import { checkFile, checkFolder, checkWritable, fileError } from './database/check-file.ts'
import type { Opened, Opening } from '../../records/database/world-store.ts'
import { SqliteConnection } from './connection.ts'
import { Content } from './content.ts'
import { CountingDriver, DRIVER_MEMBERS } from './orm/driver.ts'
import { prepareBytes } from './driver/open-raw.ts'
import type { DescribedModel } from '../introspect/entities.ts'
import { adaptFormulas } from './foreign/formula.ts'
import { ForeignModel } from './foreign/model.ts'
import { ForeignSchema } from './foreign/schema.ts'
import { name as quoted } from '../sql/sql.ts'
import { SqliteDatabase } from './database/sqlite-database.ts'
import { SqliteWorldStore } from './world-store.ts'
import { noteBrokenKeys, noteMissingFunctions } from './schema/note-missing.ts'
import { findCounters, requireKeys } from './orm/autoincrement.ts'
import type { SharedSqliteDialect } from './orm/shared-dialect.ts'
import { checkTables, noteMissing } from './schema/note-missing.ts'
import { followClock } from '../orm/model-time.ts'
import { openReadOnly } from './database/open-read-only.ts'
import { correctMetadata } from '../orm/correct-metadata.ts'
import { storeDays, readTextKeys } from './orm/column-types.ts'
import { leaveMissingColumns, listQueries, noteBroken } from '../orm/query-columns.ts'
import { runMigrations } from '../orm/run-migrations.ts'
import { checkMembers } from '../orm/orm-members.ts'
import { hasGlobs, optionsForEngine } from '../orm/orm-options.ts'

/**
 * Without entities, reads them from the file.
 *
 * @throws Error in one line, when the file cannot be read, or not written without `readOnly`
 */
export async function openSqlite(opening: Opening<string>): Promise<Opened> {
  const { entities, database, readOnly } = opening
  const isNew = entities !== undefined && database !== ':memory:' && !existsSync(database)
  let handle: SqliteDatabase | undefined
  try {
    if (entities === undefined) {
      checkFile(database)
      if (!readOnly) checkWritable(database)
      handle = readOnly ? openReadOnly(database) : new SqliteDatabase(database)
    } else {
      if (isNew) checkFolder(database)
      handle = database === ':memory:' ? new SqliteDatabase(database) : openFile(opening, isNew)
    }
    handle.addFunctions(opening.functions ?? {})
    const model = entities === undefined ? await readFileModel(handle, database, opening.notes) : undefined
    const foreign = new ForeignModel(opening.notes)
    if ('attachDatabases' in opening.orm)
      foreign.found('orm.attachDatabases is left out: an engine has one database, and the tables of all schemas are in it.')
    const hasOtherWriters = database !== ':memory:' && !isNew
    if (hasOtherWriters) noteMissingFunctions(handle.db, opening.notes)
    const connection = await openWith(
      { ...opening, entities: entities ?? [...model!.entities] },
      { handle, foreign, found: model, hasOtherWriters },
    )
    return {
      connection,
      worlds: new SqliteWorldStore(connection),
      definitions: model?.definitions ?? [],
      migrate: () => migrate(connection, handle!),
      complete: build =>
        inOneLine(database, () =>
          complete({ connection, handle: handle!, foreign }, opening, () => {
            // Added tables may link tables of others.
            if (hasOtherWriters) noteBrokenKeys(handle!.db, opening.notes)
            return build()
          }),
        ),
      abandon: async () => {
        await connection.close()
        if (isNew) removeEmpty(database)
      },
    }
  } catch (error) {
    handle?.close()
    if (isNew) removeEmpty(database)
    throw database === ':memory:' ? error : fileError(error, database)
  }
}

/** Explains errors of SQLite, also of asynchronous work. */
function inOneLine<T>(path: string, work: () => Awaitable<T>): Awaitable<T> {
  const rethrow = (error: unknown): never => {
    throw path === ':memory:' ? error : fileError(error, path)
  }
  try {
    const done = work()
    return done instanceof Promise ? done.catch(rethrow) : done
  } catch (error) {
    return rethrow(error)
  }
}

async function migrate({ orm }: SqliteConnection, handle: SqliteDatabase): Promise<boolean> {
  const [[count] = []] = handle.all('select count(*) from sqlite_schema', [])
  await runMigrations(orm)
  return count === 0
}

/** Leaves a file in which another process has written. */
function removeEmpty(path: string): void {
  if (!existsSync(path)) return
  const handle = new SqliteDatabase(path)
  // An empty list of migrations does not count.
  const objects = handle.all("select name from sqlite_schema where type = 'table' and name <> 'sqlite_sequence'", [])
  const isEmpty = objects.length === 0 || (objects.length === 1 && isUnused(handle, String(objects[0]![0])))
  handle.close()
  if (isEmpty) for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true })
}

function isUnused(handle: SqliteDatabase, table: string): boolean {
  return handle.all(`select 1 from ${quoted(table)} limit 1`, []).length === 0
}

async function readFileModel({ db }: SqliteDatabase, path: string, notes: Notes): Promise<DescribedModel> {
  const [{ introspect }, { buildFileEntities }] = await Promise.all([
    import('./introspect/introspect.ts'),
    import('./introspect/entities.ts'),
  ])
  // Introspection sees one state of the file.
  const model = db.transaction(() => buildFileEntities(introspect(db), db))()
  for (const note of model.notes) notes.add(note)
  if (model.entities.length === 0)
    throw new Error(`${path} has no tables${model.notes.length > 0 ? ' that SQLite can read' : ''}: there is nothing in it to serve.`)
  return model
}

function openFile({ database, readOnly }: Opening<string>, isNew: boolean): SqliteDatabase {
  if (readOnly) return openReadOnly(database)
  if (!isNew) checkWritable(database)
  const handle = new SqliteDatabase(database)
  try {
    // A new file gets the faster journal.
    if (isNew) handle.db.pragma('journal_mode = wal')
    return handle
  } catch (error) {
    handle.close()
    throw error
  }
}

interface Base {
  readonly handle: SqliteDatabase
  readonly foreign: ForeignModel
  readonly found: DescribedModel | undefined
  readonly hasOtherWriters: boolean
}

async function openWith(opening: Opening<string>, { handle, foreign, found, hasOtherWriters }: Base): Promise<SqliteConnection> {
  const { notes } = opening
  const options = optionsForEngine(opening, (meta, platform) => {
    foreign.adapt(meta, platform)
    readTextKeys(meta)
  })
  const optionsOn = (shared: SharedSqliteDialect): Options =>
    ({
      ...options,
      schema: undefined,
      attachDatabases: undefined,
      dbName: ':memory:',
      driver: CountingDriver,
      driverOptions: shared,
    }) as unknown as Options
  const connection = new SqliteConnection(new Content(handle, hasOtherWriters), shared => new MikroORM(optionsOn(shared)))
  // Only globs need the asynchronous discovery.
  if (hasGlobs(opening)) connection.attach(await MikroORM.init(optionsOn(connection.shareWithOrm())))
  checkMembers(connection.orm, DRIVER_MEMBERS)
  correctMetadata(connection.orm, false, notes)
  storeDays(connection.orm)
  if (found === undefined) new ForeignSchema(connection.orm, foreign).adapt()
  followClock(connection.orm)
  if (foreign.isForeign) connection.content.addForeignFunctions()
  requireKeys(connection.orm, handle.db, notes)
  if (holdsBytes(connection.orm)) await prepareBytes()
  return connection
}

function holdsBytes(orm: SqliteConnection['orm']): boolean {
  return [...orm.getMetadata()].some(({ props }) =>
    props.some(({ runtimeType, columnTypes }) => runtimeType === 'Buffer' || (columnTypes ?? []).some(type => /blob/i.test(type))),
  )
}

interface Begun {
  readonly connection: SqliteConnection
  readonly handle: SqliteDatabase
  readonly foreign: ForeignModel
}

function complete<T>(
  { connection, handle, foreign }: Begun,
  { schema, evolving, database, notes, entities }: Opening<string>,
  build: () => Awaitable<T>,
): Awaitable<T> {
  const { orm } = connection
  const finish = (): Awaitable<T> => {
    adaptFormulas(orm, handle.db, foreign, () => {
      connection.content.addForeignFunctions()
    })
    foreign.noteMapped()
    leaveMissing(connection, handle, notes)
    connection.content.count(findCounters(orm, handle.db))
    return build()
  }
  if (schema === 'migrate' || (schema === 'keep' && entities !== undefined && database !== ':memory:'))
    noteMissing(orm, handle, schema, notes)
  if (schema === 'evolve' && !handle.readOnly && !handle.db.memory)
    return import('./evolve/evolve-file.ts').then(({ evolveFile }) =>
      evolveFile({ orm, db: handle.db, path: database, notes, evolving: evolving! }, finish),
    )
  if (schema === 'keep' || schema === 'migrate') return finish()
  if (!handle.readOnly) return addSchema({ orm, db: handle.db, path: database, notes }, finish)
  checkTables(orm, handle, database)
  return finish()
}

/** Leaves out columns that a view or virtual entity does not give. */
function leaveMissing({ orm }: SqliteConnection, { db }: SqliteDatabase, notes: Notes): void {
  for (const query of listQueries(orm)) {
    let columns: string[]
    try {
      columns = db
        .prepare(`select * from ${query.from} limit 0`)
        .columns()
        .map(column => column.name)
    } catch (error) {
      noteBroken(query, 'SQLite', error, notes)
      continue
    }
    leaveMissingColumns(query, columns, notes)
  }
}
