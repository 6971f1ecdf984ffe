/** Open the database: the one place where the option `database` decides which kind of database serves an engine. */
import type { Opened, Opening } from '../database/world-store.ts'
import { openSqlite } from '../sqlite/open.ts'

/** @throws Error in one line, when there are no entities and the database cannot be read and written. */
export function openDatabase(opening: Opening): Promise<Opened> {
  // `options.ts` refuses what is neither `:memory:` nor the path of a file.
  return openSqlite(opening)
}
