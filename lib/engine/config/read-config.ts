/**
 * Turns a MikroORM config into options of an engine with connections of its own. Throws TypeError for an invalid config. Leaves config and
 * classes unchanged.
 */
import { Utils, type Options, type EntityMetadata, type EntityProperty } from '@mikro-orm/core'
import { isInMemory } from '../../records/database/describe-database.ts'
import type { ServerDatabase } from '../../records/database/world-store.ts'
import { chooseConfig, type OrmConfig } from './choose-config.ts'
import { findDatabase, findDriverKind, nameDriver, withEnvironment } from './own-connection.ts'
import { takeOptions } from './taken-options.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'
import { secrets } from '../../foundation/runtime/secrets.ts'

type Entities = NonNullable<Options['entities']>
type Database = string | URL | ServerDatabase

interface GivenConfig {
  readonly config?: unknown
  readonly entities?: Entities
  readonly database?: Database
  readonly schema?: string
  readonly orm?: Partial<Options>
  readonly notes?: readonly string[]
}

interface Decided {
  readonly entities: Entities
  readonly database: Database
  readonly orm: Partial<Options>
  readonly notes: readonly string[]
}

export async function readConfig<T extends GivenConfig>(options: T): Promise<Omit<T, 'config'> & Decided> {
  const { config: given, ...others } = options
  const { orm: ormOptions = {}, notes: givenNotes = [] } = options
  const config = withEnvironment(await chooseConfig(given, ormOptions.contextName))
  const found = options.database === undefined ? await findDatabase(config) : { database: options.database, notes: [] }
  const database = withSchema(found.database, config)
  const isSqlite = !isServer(database)
  if (options.schema === 'migrate') checkMigrations(config, isSqlite)
  const { orm, notes } = takeOptions(config, { isSqlite, isInMemory: isInMemory(database instanceof URL ? database.href : database) })
  return {
    ...others,
    entities: options.entities ?? findEntities(config, ormOptions.preferTs),
    database,
    orm: { ...orm, ...withKeys(config), entitiesTs: [], ...ormOptions },
    notes: [...givenNotes, ...found.notes, ...notes],
  }
}

/** Only MongoDB generates keys. */
function withKeys(config: OrmConfig): Partial<Options> {
  if (nameDriver(config) !== 'MongoDriver') return {}
  const { discovery } = config
  return {
    discovery: {
      ...discovery,
      onMetadata: (meta, platform) => {
        makeObjectIds(meta)
        return discovery?.onMetadata?.(meta, platform)
      },
    },
  }
}

function isServer(database: Database): boolean {
  if (typeof database === 'object' && !(database instanceof URL)) return true
  return /^(?:postgres(?:ql)?:\/\/|pglite:)/i.test(String(database))
}

/** A schema in `database` counts before the config's. */
function withSchema(database: Database, { schema }: OrmConfig): Database {
  if (schema === undefined || schema === 'public' || !isServer(database)) return database
  if (typeof database === 'object' && !(database instanceof URL)) return { schema, ...database }
  const url = String(database)
  return /[?&]schema=/.test(url) ? database : { url, schema }
}

/** `entitiesTs` where TypeScript runs, as for MikroORM. */
function findEntities({ entities = [], entitiesTs = [], preferTs, autoLoadEntities }: OrmConfig, ownPreference?: boolean): Entities {
  const isTypeScript = ownPreference ?? preferTs ?? Utils.detectTypeScriptSupport()
  const [first, second] = isTypeScript ? [entitiesTs, entities] : [entities, entitiesTs]
  const found = first.length > 0 ? first : second
  if (found.length > 0) return found
  const why = autoLoadEntities === true ? ', since modules of NestJS register them' : ''
  throw new TypeError(
    `RestEngine.create: "config" has no entities${why}: give them by the option "entities": { config, entities: [User] }.`,
  )
}

/** Migrations contain SQL for a single kind of database. */
function checkMigrations(config: OrmConfig, isSqlite: boolean): void {
  const kind = findDriverKind(config)
  if (kind === 'unknown' || (kind === 'sqlite') === isSqlite) return
  throw new TypeError(
    `RestEngine.create: "schema" is "migrate", and the migrations of the config are for ${nameDriver(config)}, ` +
      `not for ${isSqlite ? 'SQLite' : 'PostgreSQL'}. Say schema: 'update' (the default), by which the engine makes the tables ` +
      `of the entities itself${kind === 'postgres' ? ', or name a PostgreSQL server in "database"' : ''}.`,
  )
}

/** Stands for the process in keys as of MongoDB. */
const OWN = runtime.formatBytes(secrets.randomBytes(5), 'hex')
let count = 0

/** 24 hexadecimal digits: seconds, process, counter. */
function nextObjectId(): string {
  const seconds = Math.floor(Date.now() / 1000)
  count = (count + 1) % 0x1_00_00_00
  return `${seconds.toString(16).padStart(8, '0')}${OWN}${count.toString(16).padStart(6, '0')}`
}

/** Copies properties: the metadata are the application's. */
function makeObjectIds(meta: EntityMetadata): void {
  for (const [name, prop] of Object.entries(meta.properties))
    if (prop.primary === true && isObjectId(prop)) meta.properties[name] = { ...prop, type: 'string', onCreate: nextObjectId }
}

function isObjectId({ type, customType, kind, onCreate }: EntityProperty): boolean {
  return kind === 'scalar' && onCreate === undefined && customType === undefined && /^ObjectId$/i.test(type)
}
