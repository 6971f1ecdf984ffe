/**
 * Finds the SQLite file or PostgreSQL server of a MikroORM config. Other drivers are served in memory, with a note. Throws TypeError for a
 * connection that a URL cannot express.
 */
import { isPglite } from '../../records/database/describe-database.ts'
import type { ServerDatabase } from '../../records/database/world-store.ts'
import type { OrmConfig } from './choose-config.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'

const IN_MEMORY = ':memory:'

interface FoundDatabase {
  readonly database: string | ServerDatabase
  readonly notes: readonly string[]
}

/** MikroORM reads these options from the environment, too. */
const VARIABLES = ['clientUrl', 'host', 'port', 'user', 'password', 'dbName', 'schema'] as const

/** Adds `MIKRO_ORM_DB_NAME` and so on. The config counts first, unless `preferEnvVars` is true. */
export function withEnvironment(config: OrmConfig): OrmConfig {
  const found = VARIABLES.flatMap(name => {
    const value = runtime.environment[`MIKRO_ORM_${name.replaceAll(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`]
    return value === undefined ? [] : [[name, name === 'port' ? Number(value) : value] as const]
  })
  if (found.length === 0) return config
  const variables = Object.fromEntries(found)
  return config.preferEnvVars === true ? { ...config, ...variables } : { ...variables, ...withoutUndefined(config) }
}

function withoutUndefined(config: OrmConfig): OrmConfig {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)) as OrmConfig
}

export async function findDatabase(config: OrmConfig): Promise<FoundDatabase> {
  const kind = findDriverKind(config)
  if (kind === 'postgres') return findServer(config)
  if (kind === 'pglite') return { database: readPglite(config.dbName), notes: [] }
  const { dbName } = config
  if (kind === 'other') return inMemory(`${nameDriver(config)} is no driver of a SQLite file or a PostgreSQL server`)
  if (kind === 'sqlite') return findFile(config)
  if (dbName === undefined || dbName === IN_MEMORY) return { database: IN_MEMORY, notes: [] }
  // A config for `new MikroORM()` of a driver package names no driver. A name with a dot or slash is a file.
  return /[./\\]/.test(dbName) ? findFile(config) : inMemory('it names no driver')
}

function inMemory(reason: string): FoundDatabase {
  return {
    database: IN_MEMORY,
    notes: [
      `config: it is served from SQLite in memory, since ${reason}. The option "database" says where else: a file, or a PostgreSQL server.`,
    ],
  }
}

/** As for MikroORM, the path begins at the working directory, not at `baseDir`. */
function findFile({ dbName, clientUrl }: OrmConfig): FoundDatabase {
  const path = dbName ?? clientUrl?.replace(/^(?:sqlite:\/\/|file:(?:\/\/)?)/i, '') ?? IN_MEMORY
  if (path === '' || path === IN_MEMORY) return { database: IN_MEMORY, notes: [] }
  return /^(?!file:)[a-z][a-z0-9+.-]+:\/\//i.test(path) ? inMemory('its database is on a server of libSQL') : { database: path, notes: [] }
}

/** PGlite takes a folder or `memory://`. */
function readPglite(dbName: string | undefined): string {
  if (dbName === undefined || dbName.startsWith('memory://')) return 'pglite:'
  return isPglite(dbName) ? dbName : `pglite:${dbName.replace(/^file:(?:\/\/)?/, '')}`
}

async function findServer(config: OrmConfig): Promise<FoundDatabase> {
  const { clientUrl, pool, replicas = [], driverOptions } = config
  const notes: string[] = []
  const url = new URL(clientUrl ?? 'postgresql://localhost:5432')
  url.protocol = 'postgres:'
  const { host, port, dbName } = config
  if (host?.startsWith('/') === true) url.searchParams.set('host', host)
  else if (host !== undefined) url.hostname = host.includes(':') ? `[${host}]` : host
  if (port !== undefined) url.port = String(port)
  const user = config.user ?? (url.username === '' ? 'postgres' : undefined)
  if (user !== undefined) url.username = encodeURIComponent(user)
  const password = await readPassword(config.password, notes)
  if (password !== undefined) url.password = encodeURIComponent(password)
  if (dbName !== undefined) url.pathname = `/${encodeURIComponent(dbName)}`
  const mode = readTls(driverOptions, notes)
  if (mode !== undefined) url.searchParams.set('sslmode', mode)
  const schema = config.schema ?? url.searchParams.get('schema') ?? undefined
  url.searchParams.delete('schema')
  if (replicas.length > 0) notes.push('config.replicas: not used, an engine has one server, for reading and writing.')
  return {
    database: {
      url: url.href,
      ...(schema === undefined || schema === 'public' ? {} : { schema }),
      ...(pool?.max === undefined ? {} : { poolSize: Math.max(1, pool.max) }),
    },
    notes,
  }
}

async function readPassword(password: OrmConfig['password'], notes: string[]): Promise<string | undefined> {
  if (typeof password !== 'function') return password
  notes.push('config.password is a function: it is asked once, at the start.')
  return password()
}

function readTls(driverOptions: unknown, notes: string[]): string | undefined {
  if (driverOptions === undefined) return undefined
  if (typeof driverOptions !== 'object' || driverOptions === null || Object.getPrototypeOf(driverOptions) !== Object.prototype) {
    notes.push('config.driverOptions: not used, the connections are those of the engine.')
    return undefined
  }
  const { connection, ...plain } = driverOptions as { readonly connection?: object; readonly ssl?: unknown }
  const { ssl, ...others } = { ...plain, ...connection } as Readonly<Record<string, unknown>>
  const names = Object.keys(others)
  if (names.length > 0)
    notes.push(`config.driverOptions: not used but for "ssl", the connections are those of the engine (${names.join(', ')}).`)
  if (ssl === undefined || ssl === false) return undefined
  if (ssl === true) return 'verify-full'
  const { rejectUnauthorized, ...files } = ssl as Readonly<Record<string, unknown>>
  if (Object.keys(files).length > 0)
    throw new TypeError(
      `RestEngine.create: "config.driverOptions.ssl" has ${Object.keys(files).join(', ')}: ` +
        "give the server as a URL with the paths of the files, database: 'postgres://...?sslmode=verify-full&sslrootcert=ca.pem'.",
    )
  return rejectUnauthorized === false ? 'no-verify' : 'verify-full'
}

/** `other`: the engine cannot open the database. `unknown`: no driver. */
type DriverKind = 'sqlite' | 'postgres' | 'pglite' | 'other' | 'unknown'

/** Class names are the same in all copies of a package, unlike classes. */
const KINDS: Readonly<Record<string, DriverKind>> = {
  SqliteDriver: 'sqlite',
  BetterSqliteDriver: 'sqlite',
  LibSqlDriver: 'sqlite',
  PostgreSqlDriver: 'postgres',
  PgliteDriver: 'pglite',
}

/** By the scheme of `clientUrl`. */
const SCHEMES: Readonly<Record<string, DriverKind>> = { file: 'sqlite', sqlite: 'sqlite', postgres: 'postgres', postgresql: 'postgres' }

export function findDriverKind(config: OrmConfig): DriverKind {
  const names = listClasses(config.driver)
  const known = names.map(name => KINDS[name]).find(kind => kind !== undefined)
  if (known !== undefined) return known
  if (names.length > 0) return 'other'
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(config.clientUrl ?? '')?.[1]?.toLowerCase()
  return scheme === undefined ? 'unknown' : (SCHEMES[scheme] ?? 'other')
}

export function nameDriver({ driver, clientUrl }: OrmConfig): string {
  return listClasses(driver)[0] ?? /^[a-z0-9+.-]+/i.exec(clientUrl ?? '')?.[0] ?? 'no driver'
}

/** An application may extend a driver. */
function listClasses(driver: unknown): string[] {
  const names: string[] = []
  for (let each = driver; typeof each === 'function' && each !== Function.prototype; each = Object.getPrototypeOf(each))
    names.push(each.name)
  return names
}
