/** Reads the option `database` (memory, a file, PostgreSQL or PGlite). Throws TypeError and RangeError for other values. */
import { fileURLToPath } from 'node:url'
import { checkNames } from '../../foundation/base/suggest.ts'
import { isPglite } from '../../records/database/describe-database.ts'
import type { ServerDatabase } from '../../records/database/world-store.ts'

export const SERVERS: Readonly<Record<string, string>> = {
  mysql: 'MySQL',
  mariadb: 'MariaDB',
  mssql: 'SQL Server',
  sqlserver: 'SQL Server',
  mongodb: 'MongoDB',
  'mongodb+srv': 'MongoDB',
}

const MEMBERS = ['url', 'schema', 'poolSize', 'statementTimeout', 'prepare'] as const satisfies readonly (keyof ServerDatabase)[]

/** A URL of PostgreSQL or PGlite becomes an object. */
export function readDatabase(database: unknown): string | ServerDatabase {
  if (database instanceof URL) return readDatabase(database.href)
  if (typeof database === 'string' && /^file:/i.test(database)) return readFileUrl(database)
  if (typeof database === 'object' && database !== null && !Array.isArray(database)) return readServer(database as ServerDatabase)
  if (typeof database !== 'string' || database === '')
    throw new TypeError('RestEngine.create: "database" must be ":memory:", the path of a file, or a URL of PostgreSQL ("postgres://...").')
  if (isPglite(database)) return { url: database }
  // A misspelt name would make a file.
  if (database !== ':memory:' && /^(?:sqlite3?:)?:?memory:?$/i.test(database))
    throw new TypeError(`RestEngine.create: "database" is ${JSON.stringify(database)}. Did you mean ":memory:"?`)
  const scheme = findScheme(database)
  if (scheme === undefined) return database
  if (isPostgres(scheme)) return readUrl(database)
  const what = scheme.startsWith('sqlite')
    ? 'is a URL: give the path of the file alone.'
    : `is not a SQLite file: ${SERVERS[scheme] ?? `"${scheme}://"`} is not supported yet. ` +
      'Leave "database" out for a database in memory, or give the path of a SQLite file or a URL of PostgreSQL; ' +
      'entities written for PostgreSQL or MySQL run in SQLite as they are.'
  // The rest may hold a password.
  throw new TypeError(`RestEngine.create: "database" ("${scheme}://...") ${what}`)
}

/** A URL without a slash is relative: `file:data.sqlite`. */
function readFileUrl(url: string): string {
  const rest = url.slice('file:'.length)
  if (rest === '' || /[?#]/.test(rest))
    throw new TypeError('RestEngine.create: "database" is a file: URL, which may name a path and nothing else: "file:///data/shop.sqlite".')
  return rest.startsWith('/') ? fileURLToPath(url) : decodeURIComponent(rest)
}

/** Knows `mysql:` without slashes, too; not `pglite:`. */
export function findScheme(database: string): string | undefined {
  return /^(?:jdbc:)?(?:([a-z][a-z0-9+.-]+):\/\/|(postgres(?:ql)?|mysql|mariadb|mongodb|mssql|sqlserver|sqlite3?|libsql):)/i
    .exec(database)
    ?.slice(1)
    .find(scheme => scheme !== undefined)
    ?.toLowerCase()
}

function isPostgres(scheme: string): boolean {
  return scheme === 'postgres' || scheme === 'postgresql'
}

function readServer(database: ServerDatabase): ServerDatabase {
  checkNames(database, MEMBERS, 'RestEngine.create: database')
  const { url, schema } = database
  const isLocal = typeof url === 'string' && isPglite(url)
  if (typeof url !== 'string' || !(isLocal || isPostgres(findScheme(url) ?? '')))
    throw new TypeError('RestEngine.create: "database.url" must be a URL of PostgreSQL: "postgres://user@host/database".')
  const names: readonly unknown[] = schema === undefined ? [] : Array.isArray(schema) ? (schema as unknown[]) : [schema]
  if (names.some(each => typeof each !== 'string' || each === '') || (schema !== undefined && names.length === 0))
    throw new TypeError('RestEngine.create: "database.schema" must be the name of a schema, or a list of such names.')
  checkNumber(database, 'poolSize', 1)
  checkNumber(database, 'statementTimeout', 0)
  if (database.prepare !== undefined && typeof database.prepare !== 'boolean')
    throw new TypeError('RestEngine.create: "database.prepare" must be true or false.')
  if (isLocal) return checkPglite(database)
  return Object.freeze({ ...readUrl(url), ...database, url: readUrl(url).url })
}

/** @throws TypeError for options of servers */
function checkPglite(database: ServerDatabase): ServerDatabase {
  if (database.poolSize !== undefined)
    throw new TypeError('RestEngine.create: "database.poolSize" is for servers: PGlite has one connection.')
  if (database.statementTimeout !== undefined)
    throw new TypeError('RestEngine.create: "database.statementTimeout" is for servers: PGlite ends no statement before its end.')
  return Object.freeze({ ...database })
}

function checkNumber(database: ServerDatabase, name: 'poolSize' | 'statementTimeout', least: number): void {
  const value: unknown = database[name]
  if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= least))
    throw new RangeError(`RestEngine.create: "database.${name}" must be an integer of ${least} or more, got ${JSON.stringify(value)}.`)
}

/** A URL may name schemas and a pooler: `?schema=sales,people&prepare=false`. The server knows no such parameters. */
function readUrl(given: string): ServerDatabase {
  // A list of hosts is for libpq; the driver `pg` takes none.
  if (/^[a-z]+:\/\/(?:[^/?#]*@)?[^@/?#]*,/i.test(given))
    throw new TypeError(
      'RestEngine.create: "database" is a URL with several hosts: give one, or an address that leads to the server that takes writes.',
    )
  const parsed = new URL(checkUrl(given))
  const { searchParams } = parsed
  const [schema, prepare] = [searchParams.get('schema'), searchParams.get('prepare')]
  if (schema === null && prepare === null) return { url: given }
  if (prepare !== null && !['true', 'false'].includes(prepare))
    throw new TypeError('RestEngine.create: "prepare" in the URL of "database" must be true or false.')
  for (const name of ['schema', 'prepare']) searchParams.delete(name)
  const names = schema?.split(',').filter(name => name !== '') ?? []
  return {
    url: parsed.href,
    ...(names.length === 0 ? {} : { schema: names.length === 1 ? names[0]! : names }),
    ...(prepare === null ? {} : { prepare: prepare === 'true' }),
  }
}

function checkUrl(url: string): string {
  if (!URL.canParse(url) || !/^[a-z]+:\/\//i.test(url))
    throw new TypeError('RestEngine.create: "database" is a URL that cannot be read: "postgres://user:password@host:5432/database".')
  return url
}
