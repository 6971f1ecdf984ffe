/** Open: a SQLite database with a MikroORM instance on it, and the schema that the entities want. */
import type { Awaitable } from '../base/awaitable.ts'
import { existsSync, rmSync } from 'node:fs'
import { MikroORM } from '@mikro-orm/sqlite'
import type { MikroORM as CoreMikroORM, Options as CoreOptions } from '@mikro-orm/core'
import type { Options } from '@mikro-orm/sqlite'
import { unreadableIn } from '../model/metadata/getters.ts'
import type { Notes } from '../base/notes.ts'
import { isGetter, isUnnamed, scalarType } from '../model/metadata/property-type.ts'
import { isMixedList } from '../model/metadata/read-common.ts'
import { addSchema } from './schema/add-schema.ts'
import { checkFile, checkWritable, fileError } from './database/check-file.ts'
import type { Opened, Opening } from '../database/world-store.ts'
import { SqliteConnection } from './connection.ts'
import { Content } from './content.ts'
import { CountingDriver } from './orm/counting-driver.ts'
import type { FileModel } from './introspect/entities.ts'
import { adaptFormulas } from './foreign/formula.ts'
import { ForeignModel } from './foreign/model.ts'
import { ForeignSchema } from './foreign/schema.ts'
import { SqliteDatabase } from './database/sqlite-database.ts'
import { SqliteWorldStore } from './world-store.ts'
import { findCounters, requireKeys } from './orm/autoincrement.ts'
import type { SharedSqliteDialect } from './orm/shared-dialect.ts'
import { checkTables } from './schema/missing-tables.ts'
import { followClock } from './orm/model-time.ts'
import { skipUpdateOfCreated } from './orm/on-update.ts'
import { openReadOnly } from './database/open-read-only.ts'
import { correctPolymorphicLinks } from './orm/polymorphic-links.ts'
import { readLazyLinks } from './orm/lazy-links.ts'
import { checkMembers } from './orm/orm-members.ts'
import { readTextKeys } from './orm/text-keys.ts'
import { correctSiblingColumns } from './orm/sibling-columns.ts'
import { correctTargetKeys } from './orm/target-keys.ts'

/** @throws Error in one line, when there are no entities and the file cannot be read and written. */
export async function openSqlite(opening: Opening): Promise<Opened> {
  const { entities, database, readOnly } = opening
  const isNew = entities !== undefined && database !== ':memory:' && !existsSync(database)
  let handle: SqliteDatabase | undefined
  try {
    if (entities === undefined) {
      checkFile(database)
      if (!readOnly) checkWritable(database)
      handle = readOnly ? openReadOnly(database) : new SqliteDatabase(database)
    } else handle = database === ':memory:' ? new SqliteDatabase(database) : openFile(opening, isNew)
    const model = entities === undefined ? await readFileModel(handle, database, opening.notes) : undefined
    const foreign = new ForeignModel(opening.notes, 'attachDatabases' in opening.orm)
    const isOfOthers = database !== ':memory:' && !isNew
    const connection = await openWith(
      { ...opening, entities: entities ?? [...model!.entities] },
      { handle, foreign, found: model, isOfOthers },
    )
    return {
      connection,
      worlds: new SqliteWorldStore(connection),
      definitions: model?.definitions ?? [],
      complete: build => {
        try {
          return complete({ connection, handle: handle!, foreign }, opening, build)
        } catch (error) {
          throw fileError(error, database)
        }
      },
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

/** Takes away a file that was made for nothing. One that another process has written to meanwhile stays. */
function removeEmpty(path: string): void {
  if (!existsSync(path)) return
  const handle = new SqliteDatabase(path)
  const objects = handle.all('select count(*) from sqlite_schema', [])
  handle.close()
  if (objects[0]![0] === 0) rmSync(path)
}

async function readFileModel({ db }: SqliteDatabase, path: string, notes: Notes): Promise<FileModel> {
  const [{ introspect }, { buildEntities }] = await Promise.all([import('./introspect/introspect.ts'), import('./introspect/entities.ts')])
  // One state of the file, whatever other processes do to it.
  const model = db.transaction(() => buildEntities(introspect(db), db))()
  for (const note of model.notes) notes.add(note)
  if (model.entities.length === 0)
    throw new Error(`${path} has no tables${model.notes.length > 0 ? ' that SQLite can read' : ''}: there is nothing in it to serve.`)
  return model
}

function openFile({ database, readOnly }: Opening, isNew: boolean): SqliteDatabase {
  if (readOnly) return openReadOnly(database)
  if (!isNew) checkWritable(database)
  const handle = new SqliteDatabase(database)
  try {
    // A file of our own gets the faster journal; an existing one keeps what it has.
    if (isNew) handle.db.pragma('journal_mode = wal')
    return handle
  } catch (error) {
    handle.close()
    throw error
  }
}

/** What is opened. */
interface Base {
  readonly handle: SqliteDatabase
  readonly foreign: ForeignModel
  /** The model that the file describes, where it is read from there. */
  readonly found: FileModel | undefined
  /** Whether the file was there before. */
  readonly isOfOthers: boolean
}

async function openWith({ entities, orm: extra, notes }: Opening, { handle, foreign, found, isOfOthers }: Base): Promise<SqliteConnection> {
  const hasGlobs = entities!.some(entity => typeof entity === 'string')
  const { discovery } = extra
  const optionsOn = (shared: SharedSqliteDialect): Options =>
    ({
      ...extra,
      ...(foreign.keepsSchemas ? {} : { schema: undefined }),
      discovery: {
        ...discovery,
        // MikroORM.init sets it in the options that it is given, which the application may give both.
        skipSyncDiscovery: hasGlobs,
        onMetadata: (meta, platform) => {
          foreign.adapt(meta)
          readTextKeys(meta)
          return discovery?.onMetadata?.(meta, platform)
        },
      } satisfies CoreOptions['discovery'],
      entities,
      dbName: ':memory:',
      driver: CountingDriver,
      driverOptions: shared,
    }) as unknown as Options
  const connection = new SqliteConnection(new Content(handle, isOfOthers), shared => new MikroORM(optionsOn(shared)))
  // Only glob texts need the asynchronous discovery, which looks for extensions on the disk.
  if (hasGlobs) connection.attach(await MikroORM.init(optionsOn(connection.shareWithOrm())))
  checkMembers(connection.orm)
  takeAnyName(connection.orm)
  correctTargetKeys(connection.orm.getMetadata())
  readLazyLinks(connection.orm.getMetadata())
  findPivots(connection.orm)
  leaveInherited(connection.orm)
  correctPolymorphicLinks(connection.orm.getMetadata())
  correctSiblingColumns(connection.orm.getMetadata())
  noteModel(connection.orm, notes)
  skipUpdateOfCreated(connection.orm)
  if (found === undefined) new ForeignSchema(connection.orm, foreign).adapt()
  followClock(connection.orm)
  if (foreign.isForeign) connection.content.addForeignFunctions()
  requireKeys(connection.orm, handle.db, notes)
  return connection
}

/** What is completed. */
interface Begun {
  readonly connection: SqliteConnection
  readonly handle: SqliteDatabase
  readonly foreign: ForeignModel
}

function complete<T>(
  { connection, handle, foreign }: Begun,
  { schema, database, notes }: Opening,
  build: () => Awaitable<T>,
): Awaitable<T> {
  const { orm } = connection
  const counted = (): Awaitable<T> => {
    adaptFormulas(orm, handle.db, foreign, () => {
      connection.content.addForeignFunctions()
    })
    foreign.noteMapped()
    connection.content.count(findCounters(orm, handle.db))
    return build()
  }
  if (schema !== 'update') return counted()
  if (!handle.readOnly) return addSchema({ orm, db: handle.db, path: database, notes }, counted)
  checkTables(orm, handle, database)
  return counted()
}

/** Says which properties are texts because nothing says what they are, and which have no place in the API. */
function noteModel(orm: CoreMikroORM, notes: Notes): void {
  for (const meta of orm.getMetadata()) {
    const { className, props } = meta
    for (const prop of props) {
      const read = isGetter(prop) && !meta.embeddable && prop.embedded === undefined ? unreadableIn(meta, prop) : undefined
      if (read !== undefined)
        notes.add(`${className}.${prop.name}: the getter is left out, since it reads "${read}", which a record does not have loaded.`)
      if (isMixedList(prop)) {
        const several = prop.polymorphTargets!.map(target => target.className).join(', ')
        notes.add(`${className}.${prop.name}: a list of several entities (${several}) is left out; their other sides of it are served.`)
      }
      if (prop.kind !== 'scalar' || prop.embedded !== undefined || !isUnnamed(prop) || scalarType(prop)?.kind !== 'text') continue
      notes.add(
        `${className}.${prop.name}: its type is not known (for "string | null" the compiler emits none), so it is a text, as its column; give it a "type".`,
      )
    }
  }
}

/**
 * MikroORM generates code in which a column or table that begins with a digit would be a syntax error, and calls what belongs to two properties the same
 * when their names are of one length and beyond ASCII.
 */
function takeAnyName(orm: CoreMikroORM): void {
  const comparator = orm.config.getComparator(orm.getMetadata())
  const wrap = (key: string): string =>
    /^(?:\[idx_\d+\])$/.test(key) ? key : /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
  const safeKey = (key: string): string => key.replaceAll(/\W/g, each => `$${each.charCodeAt(0)}_`).replace(/^(?=\d)/, '_')
  Object.assign(comparator, { wrap, safeKey })
  Object.assign(orm.config.getHydrator(orm.getMetadata()), { safeKey })
}

/**
 * What MikroORM does not find out of pivot tables: the column of the order, for the classes that inherit a list; and it gives the other side of a list the
 * table of any list to the same entity whose property has the same name; and that members may be of a class below.
 */
function findPivots(orm: CoreMikroORM): void {
  const lists = [...orm.getMetadata()].flatMap(({ properties }) => Object.values(properties).filter(({ kind }) => kind === 'm:n'))
  for (const prop of lists.filter(({ fixedOrder, fixedOrderColumn }) => fixedOrder === true && fixedOrderColumn === undefined)) {
    const column = orm
      .getMetadata()
      .find(prop.pivotEntity)
      ?.props.find(({ autoincrement }) => autoincrement === true)?.name
    if (column !== undefined) prop.fixedOrderColumn = column
  }
  for (const prop of lists) {
    if (typeof prop.mappedBy !== 'string') continue
    const owner = prop.targetMeta?.properties[prop.mappedBy as never]
    if (owner === undefined) continue
    const { pivotEntity, pivotTable, fixedOrder, fixedOrderColumn } = owner
    Object.assign(prop, { pivotEntity, pivotTable, fixedOrder, fixedOrderColumn })
  }
  // Members of a list to a class of one table may be of a class below, which the join of the list would leave out: whom it links is right in any case.
  for (const prop of new Set(lists.flatMap(({ pivotEntity }) => orm.getMetadata().find(pivotEntity)?.relations ?? []))) {
    const { targetMeta } = prop
    if (targetMeta?.root.inheritanceType !== 'sti') continue
    prop.targetMeta = Object.create(targetMeta, { discriminatorValue: { value: undefined } }) as NonNullable<typeof targetMeta>
  }
}

/** Of classes with a table each, MikroORM would index an inherited composite foreign key in the tables that do not have it too. */
function leaveInherited(orm: CoreMikroORM): void {
  for (const meta of orm.getMetadata()) {
    if (meta.tptParent === undefined) continue
    const own = new Set([...meta.primaryKeys, ...(meta.ownProps ?? []).map(({ name }) => name)] as string[])
    const isOwn = ({ properties }: { properties?: unknown }): boolean => [properties ?? []].flat().every(name => own.has(name as string))
    meta.indexes = meta.indexes.filter(isOwn)
    meta.uniques = meta.uniques.filter(isOwn)
    // It would also look for the columns of an inherited formula in the wrong table. Loaded only when asked for, it is in no way of writing.
    for (const prop of meta.props) if (prop.formula !== undefined && !own.has(prop.name)) prop.lazy = true
  }
}
