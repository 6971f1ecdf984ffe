/** Opens a PostgreSQL database with MikroORM. Makes or checks tables, change log and log-in tables in a single transaction. */
import { EntityManager, MikroORM } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { isRaw, raw, type EntityProperty, type MikroORM as CoreMikroORM } from '@mikro-orm/core'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { LruCache } from '../../foundation/base/lru-cache.ts'
import { describeDatabase, isPglite } from '../../records/database/describe-database.ts'
import type { Opened, Opening, ServerDatabase } from '../../records/database/world-store.ts'
import { markEndless } from '../../model/metadata/property-type.ts'
import type { DescribedModel } from '../introspect/entities.ts'
import { correctMetadata } from '../orm/correct-metadata.ts'
import { followClock } from '../orm/model-time.ts'
import { runMigrations } from '../orm/run-migrations.ts'
import { checkMembers } from '../orm/orm-members.ts'
import { PostgresConnection } from './connection.ts'
import { createLog, hasLog, isVacant, listSchemas, openLog } from './kit/change-log.ts'
import { openLogInTables, watchUsers } from './log-in-tables.ts'
import { OrmDriver } from './orm/driver.ts'
import { findPlaces } from './orm/places.ts'
import { LentDialect } from './orm/lent-dialect.ts'
import { addSchema, checkTables, mayRetry, noteMissing } from './schema/add-schema.ts'
import { openPglite } from './server/pglite.ts'
import { ask, command, Sessions } from './server/sessions.ts'
import { type CaseFolding, findCaseFolding, listCaseClasses } from './sql/case-folding.ts'
import { createFlavour } from './sql/flavour.ts'
import { listOwnTypes, OWN_TYPES_SQL, type OwnTypes } from './sql/parameters.ts'
import { Transactions } from './server/transactions.ts'
import { PostgresWorldStore } from './world-store.ts'
import { hasGlobs, optionsForEngine } from '../orm/orm-options.ts'
import type { Notes } from '../../foundation/errors/notes.ts'
import { type ColumnQuery, leaveMissingColumns, listQueries, noteBroken } from '../orm/query-columns.ts'
import { isLost } from './server/errors.ts'

/** @throws Error in one line where the server cannot be reached, or cannot serve the entities */
export async function openPostgres(opening: Opening<ServerDatabase>): Promise<Opened> {
  const { database, entities, readOnly = false } = opening
  if (entities !== undefined && typeof database.schema === 'object')
    throw new Error('RestEngine.create: "database.schema" must be one schema where "entities" are given, which may say their own.')
  const pglite = await openPglite(database.url, entities !== undefined && !readOnly)
  const sessions = new Sessions(database, readOnly, pglite)
  try {
    const { version, folding, ownTypes, model } = await readServer(sessions, opening)
    const connection = new PostgresConnection({
      sessions,
      transactions: new Transactions(),
      flavour: createFlavour(folding, ownTypes),
      readOnly,
    })
    const orm = await createOrm({ ...opening, entities: entities ?? [...model!.entities] }, connection)
    connection.attach(orm)
    prepare(orm, opening, version)
    let wasVacant = false
    return {
      connection,
      worlds: new PostgresWorldStore(connection, database),
      get logIns() {
        return connection.logIns
      },
      definitions: model?.definitions ?? [],
      migrate: async () => {
        wasVacant = await sessions.use(async session => isVacant(session, await listSchemas(session, orm)))
        await runMigrations(orm)
        return wasVacant
      },
      complete: build => complete(connection, { ...opening, wasVacant }, build),
      abandon: () => connection.close(),
    }
  } catch (error) {
    await sessions.close()
    throw error
  }
}

interface Server {
  readonly version: number
  readonly folding: CaseFolding
  readonly ownTypes: OwnTypes
  readonly model: DescribedModel | undefined
}

/** @throws Error in one line for a server out of reach or too old, and a database with neither tables nor entities */
async function readServer(sessions: Sessions, { database, entities, notes }: Opening<ServerDatabase>): Promise<Server> {
  const { url } = database
  let session: PoolClient
  try {
    session = await sessions.acquire()
  } catch (error) {
    const { cause } = error as Error
    const reason = cause instanceof AggregateError ? (cause.errors[0] as Error) : (cause as Error)
    throw new Error(`The PostgreSQL database ${describeDatabase(url)} cannot be opened: ${reason.message}.`, { cause: error })
  }
  try {
    const [[major] = []] = await ask(session, "select current_setting('server_version_num')::int / 10000")
    const version = Number(major)
    if (version < 15) throw new Error(`The server has PostgreSQL ${version}: version 15 or later is needed.`)
    const folding = await readCaseFolding(session)
    const ownTypes = listOwnTypes(await ask(session, OWN_TYPES_SQL))
    if (entities !== undefined) return { version, folding, ownTypes, model: undefined }
    const { describeServer } = await import('./introspect/entities.ts')
    const model = await describeServer(session, database)
    for (const note of model.notes) notes.add(note)
    return { version, folding, ownTypes, model }
  } finally {
    sessions.release(session)
  }
}

/** By server and collation. */
const foldings = new LruCache<CaseFolding>(16)

/** Finds letters that `lower` leaves to the engine. Prefers rules of ICU, then of the server, then of the system. */
async function readCaseFolding(session: PoolClient): Promise<CaseFolding> {
  const names = ['und-x-icu', 'pg_c_utf8', 'C.utf8', 'C.UTF-8']
  // The key: an address may have several servers, and each database a default.
  const [[collation, server] = []] = await ask(
    session,
    `select n, concat_ws(' ', version(), pg_postmaster_start_time(), inet_server_addr(), inet_server_port(), n,
       case n when 'default' then current_database() end)
    from unnest($1::text[]) with ordinality as u(n, i)
    where n = 'default' or exists (select from pg_collation where collname = n and collencoding in (-1, 6)) order by i limit 1`,
    [[...names, 'default']],
  )
  const known = foldings.get(server as string)
  if (known !== undefined) return known
  const quoted = `"${collation as string}"`
  const lowered = await ask(session, `select lower(c collate ${quoted}) from unnest($1::text[]) with ordinality as u(c, i) order by i`, [
    [...listCaseClasses().keys()],
  ])
  const folding = findCaseFolding(
    lowered.map(([text]) => text as string),
    quoted,
  )
  foldings.set(server as string, folding)
  return folding
}

async function createOrm(opening: Opening<ServerDatabase>, connection: PostgresConnection): Promise<CoreMikroORM> {
  const { url, schema } = opening.database
  const options = {
    entityManager: EntityManager,
    ...optionsForEngine(opening),
    forceUtcTimezone: true,
    dbName: readDatabaseName(url),
    ...(typeof schema === 'string' ? { schema } : {}),
    driver: OrmDriver,
    driverOptions: new LentDialect(connection.host, connection.filters),
  } as never
  // Only globs need asynchronous discovery.
  return hasGlobs(opening) ? MikroORM.init(options) : new MikroORM(options)
}

function readDatabaseName(url: string): string {
  return isPglite(url) ? 'postgres' : decodeURIComponent(new URL(url).pathname.slice(1)) || 'postgres'
}

/** @throws Error for an entity of all schemas */
function prepare(orm: CoreMikroORM, { notes }: Opening<ServerDatabase>, version: number): void {
  const everySchema = [...orm.getMetadata()].find(({ schema, pivotTable }) => schema === '*' && pivotTable !== true)
  if (everySchema !== undefined)
    throw new Error(`${everySchema.className} is an entity of every schema ("*"): an engine needs to know the one schema of its table.`)
  checkMembers(orm)
  storeGenerated(orm, version, notes)
  correctMetadata(orm, true, notes)
  for (const { props } of orm.getMetadata()) markEndless(props)
  followClock(orm)
}

interface Begun extends Opening<ServerDatabase> {
  /** The database was empty before migrations. */
  readonly wasVacant: boolean
}

/** While others drop or lock tables. */
const ATTEMPTS = 4

async function complete<T>(connection: PostgresConnection, opening: Begun, build: () => Awaitable<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await connection.host.sessions.use(session => completeOnce(connection, session, opening, build))
    } catch (error) {
      if (!mayRetry(error) || attempt === ATTEMPTS) throw error
    }
  }
}

/**
 * Loads code that changes tables only when needed.
 *
 * @param found the entities' schemas, and whether all lack tables
 */
async function fitSchema(
  orm: CoreMikroORM,
  session: PoolClient,
  { entities, schema, evolving, readOnly, notes }: Opening<ServerDatabase>,
  found: { readonly schemas: readonly string[]; readonly isVacant: boolean },
): Promise<void> {
  if (schema === 'keep' || schema === 'migrate') {
    if (entities !== undefined) await noteMissing(orm, session, schema, notes)
    return
  }
  if (readOnly === true) return checkTables(orm, session)
  if (evolving !== undefined && !found.isVacant) {
    if (evolving.begins !== true) return (await import('./evolve/evolve-database.ts')).evolveDatabase(orm, session, evolving, notes)
    await (await import('./evolve/begin-anew.ts')).dropOwnTables(orm, session, notes)
  }
  await addSchema(orm, session, found.schemas, notes)
}

async function completeOnce<T>(connection: PostgresConnection, session: PoolClient, opening: Begun, build: () => Awaitable<T>): Promise<T> {
  const { entities, schema, readOnly, users, notes, wasVacant } = opening
  const { sessions, transactions } = connection.host
  const transaction = transactions.create()
  try {
    await command(session, 'begin')
    // Changes of a schema have no time limit.
    await command(session, 'set local statement_timeout = 0')
    transaction.session = session
    transaction.open = true
    const built = await transactions.run(transaction, async () => {
      const schemas = await listSchemas(session, connection.orm)
      const makesTables = schema === 'update' || schema === 'evolve'
      const places = (await findPlaces(connection.orm, session)).map(([, schema]) => schema)
      const isOurs = wasVacant || (makesTables && readOnly !== true && (await isVacant(session, [...schemas, ...places])))
      await fitSchema(connection.orm, session, opening, { schemas, isVacant: isOurs })
      const [first] = schemas as [string, ...string[]]
      // Another engine may have made the log meanwhile.
      if (isOurs && !(await hasLog(session, first))) await createLog(session, first, sessions.pglite !== undefined)
      // Only one process uses PGlite.
      const keepsLogIns = users !== undefined && sessions.pglite === undefined
      const logIns = keepsLogIns ? await openLogInTables(session, first, readOnly === true) : undefined
      if (await hasLog(session, first)) connection.log = await openLog(session, connection.orm, schemas, readOnly === true)
      if (logIns !== undefined) {
        connection.keepLogIns(logIns)
        const { log, orm } = connection
        if (log !== undefined && readOnly !== true) await watchUsers(session, logIns, { log, orm, users: users!, schema: first })
      }
      // A model of the database has all columns.
      if (entities !== undefined) await leaveMissing(connection.orm, session, notes)
      connection.keepsConstraints = entities === undefined || connection.log !== undefined
      return build()
    })
    await command(session, 'commit')
    return built
  } catch (error) {
    await command(session, 'rollback').catch(() => {})
    throw error
  } finally {
    transaction.open = false
  }
}

const VIRTUAL = /\bvirtual\s*$/i

const VIRTUAL_SINCE = 18

/** Stores `virtual` columns before version 18. Readers see no difference. */
function storeGenerated(orm: CoreMikroORM, version: number, notes: Notes): void {
  if (version >= VIRTUAL_SINCE) return
  for (const meta of orm.getMetadata()) {
    for (const prop of meta.props) {
      const { generated } = prop as { readonly generated?: unknown }
      if (isRaw(generated) && VIRTUAL.test(generated.sql)) prop.generated = raw(generated.sql.replace(VIRTUAL, 'stored'), generated.params)
      else if (typeof generated === 'string' && VIRTUAL.test(generated)) prop.generated = generated.replace(VIRTUAL, 'stored')
      else continue
      notes.add(
        `${meta.className}.${prop.name}: the virtual column is a stored one here, since PostgreSQL ${version} has no virtual columns.`,
      )
    }
  }
}

/** Leaves out missing columns of views and virtual entities. */
async function leaveMissing(orm: CoreMikroORM, session: PoolClient, notes: Notes): Promise<void> {
  for (const query of listQueries(orm)) {
    const columns = await (query.meta.virtual === true ? describeQuery(query, session, notes) : listColumns(query, session))
    if (columns === undefined) continue
    const types = await findTypes(session, query.meta.props)
    // NULL alone would be a text, comparable with no number.
    leaveMissingColumns(query, columns, notes, prop => `null::${types.get(prop.columnTypes?.[0] ?? '') ?? 'text'}`)
  }
}

/** @returns `undefined` for a missing view */
async function listColumns({ from }: ColumnQuery, session: PoolClient): Promise<string[] | undefined> {
  const rows = await ask(session, 'select attname from pg_attribute where attrelid = to_regclass($1) and attnum > 0', [from])
  return rows.length === 0 ? undefined : rows.map(([column]) => column as string)
}

/** @returns `undefined`, with a note, for an expression that fails */
async function describeQuery(query: ColumnQuery, session: PoolClient, notes: Notes): Promise<string[] | undefined> {
  await command(session, 'savepoint mikro_columns')
  try {
    const { fields } = await session.query(`select * from ${query.from} as q limit 0`)
    await command(session, 'release savepoint mikro_columns')
    return fields.map(field => field.name)
  } catch (error) {
    if (isLost(error)) throw error
    await command(session, 'rollback to savepoint mikro_columns')
    noteBroken(query, 'PostgreSQL', error, notes)
    return undefined
  }
}

/** Omits types unknown to the server. */
async function findTypes(session: PoolClient, props: readonly EntityProperty[]): Promise<ReadonlyMap<string, string>> {
  const declared = [...new Set(props.flatMap(prop => prop.columnTypes ?? []))]
  const found = await ask(session, 'select t, to_regtype(t)::text from unnest($1::text[]) as u(t) where to_regtype(t) is not null', [
    declared,
  ])
  return new Map(found as readonly (readonly [string, string])[])
}
