/**
 * Open the database: the one place where the option `database` decides which kind of database serves an engine. Its implementation is loaded with the first
 * engine, MikroORM's driver included: importing the library alone costs little.
 */
import type { Opened, Opening } from '../database/world-store.ts'

/** @throws Error in one line, when there are no entities and the database cannot be read and written. */
export async function openDatabase(opening: Opening): Promise<Opened> {
  // `options.ts` refuses what is neither `:memory:` nor the path of a file.
  const { openSqlite } = await import('../sqlite/open.ts')
  return openSqlite(opening)
}
