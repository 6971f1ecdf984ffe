/**
 * Opens the database of the option `database`. Loads the code, MikroORM's driver included, with the first engine: importing the library
 * costs little.
 */
import { PGLITE, isPglite } from '../../records/database/describe-database.ts'
import { formatInstall } from '../../records/database/install-line.ts'
import type { Opened, Opening, ServerDatabase } from '../../records/database/world-store.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'

const MISSING = /Cannot find (?:package|module) '(?:pg|@mikro-orm\/(?:postgresql|sqlite))'/

function isMissing(error: unknown): boolean {
  return error instanceof Error && MISSING.test(error.message)
}

/** @throws Error in one line for missing packages, and without entities for a file that cannot be read and written */
export async function openDatabase(opening: Opening): Promise<Opened> {
  try {
    return await openAny(opening)
  } catch (error) {
    throw explainDiscovery(error, opening.entities, opening.orm.baseDir)
  }
}

async function openAny(opening: Opening): Promise<Opened> {
  const { database } = opening
  if (!runtime.hasFiles && database !== ':memory:')
    throw new TypeError('RestEngine.create: "database" must be ":memory:" in a page, which has no files and no servers.')
  if (typeof database === 'string') {
    return (await loadSqlite())({ ...opening, database })
  }
  return (await loadPostgres(database))({ ...opening, database })
}

async function loadSqlite(): Promise<(opening: Opening<string>) => Promise<Opened>> {
  try {
    return (await import('../../databases/sqlite/open.ts')).openSqlite
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new Error(`A SQLite database needs the driver of MikroORM: ${formatInstall('@mikro-orm/sqlite')}`, { cause: error })
  }
}

async function loadPostgres({ url }: ServerDatabase): Promise<(opening: Opening<ServerDatabase>) => Promise<Opened>> {
  try {
    return (await import('../../databases/postgres/open.ts')).openPostgres
  } catch (error) {
    if (!isMissing(error)) throw error
    const packages = ['@mikro-orm/postgresql', 'pg']
    // PGlite in an empty folder lacks all packages: one line names all.
    const [what, needed] = isPglite(url) ? ['PGlite', [PGLITE, ...packages]] : ['PostgreSQL', packages]
    throw new Error(
      `A ${what} database needs ${isPglite(url) ? 'three' : 'two'} packages beside those of SQLite: ${formatInstall(...needed)}`,
      {
        cause: error,
      },
    )
  }
}

export async function copyForTrial(path: string): Promise<{ readonly path: string; readonly remove: () => void }> {
  return (await import('../../databases/sqlite/evolve/copy-file.ts')).copyForTrial(path)
}

/** Copies a database, perhaps in use, into a temporary folder. */
export async function copyPglite(url: string): Promise<{ readonly url: string; readonly remove: () => void }> {
  return (await import('../../databases/postgres/server/pglite.ts')).copyPglite(url)
}

/**
 * Explains MikroORM's error for a list without entities, as a TypeError.
 *
 * @param baseDir the folder of patterns
 */
function explainDiscovery(error: unknown, entities: readonly unknown[] | undefined, baseDir = runtime.folder()): unknown {
  if (!(error instanceof Error) || error.name !== 'MetadataError' || entities === undefined) return error
  const patterns = entities.filter(each => typeof each === 'string')
  if (error.message.startsWith('No entities were discovered') && patterns.length > 0) {
    const which = patterns.map(each => JSON.stringify(each)).join(', ')
    const text =
      `RestEngine.create: "entities": no file with an entity matches ${which}, taken from ${baseDir}; ` +
      'or list the entities themselves: [User].'
    return new TypeError(text, { cause: error })
  }
  const index = entities.findIndex(each => typeof each === 'function')
  if (!error.message.startsWith('Only abstract entities were discovered') || index < 0) return error
  const { name } = entities[index] as { readonly name: string }
  return new TypeError(
    `RestEngine.create: "entities[${index}]" is the class ${name}, which is not declared as an entity: ` +
      `it needs the decorator @Entity(), or write it by defineEntity({ name: '${name}', properties: { ... } }). ` +
      'Where it has the decorator, two copies of @mikro-orm/core are installed: "npm ls @mikro-orm/core" shows them.',
    { cause: error },
  )
}
