/**
 * Open the database: the one place where the option `database` decides which kind of database serves an engine. Its implementation is loaded with the first
 * engine, MikroORM's driver included: importing the library alone costs little.
 */
import { formatInstall } from '../../records/database/install-line.ts'
import type { Opened, Opening, ServerDatabase } from '../../records/database/world-store.ts'

/** What the packages of PostgreSQL are missing by. */
const MISSING = /Cannot find (?:package|module) '(?<name>pg|@mikro-orm\/postgresql)'/

/** @throws Error in one line, when there are no entities and the database cannot be read and written; when packages for it are missing. */
export async function openDatabase(opening: Opening): Promise<Opened> {
  // `options.ts` refuses what is neither `:memory:`, the path of a file nor a URL of PostgreSQL.
  const { database } = opening
  if (typeof database === 'string') {
    const { openSqlite } = await import('../../databases/sqlite/open.ts')
    return openSqlite({ ...opening, database })
  }
  return (await loadPostgres())({ ...opening, database })
}

async function loadPostgres(): Promise<(opening: Opening<ServerDatabase>) => Promise<Opened>> {
  try {
    return (await import('../../databases/postgres/open.ts')).openPostgres
  } catch (error) {
    if (!MISSING.test((error as Error).message)) throw error
    throw new Error(`A PostgreSQL database needs two more packages: ${formatInstall('@mikro-orm/postgresql', 'pg')}`, { cause: error })
  }
}
