/**
 * Broken keys: foreign keys that SQLite cannot apply, since their table is gone, or a view, or has other columns, or these are not unique.
 * Whoever made them had checks of foreign keys off, as they are unless a program says otherwise (https://sqlite.org/foreignkeys.html).
 */
import type Database from 'better-sqlite3'
import { name } from '../../sql/sql.ts'

const BROKEN = /^(?:no such table: main\.|foreign key mismatch - )/

/** Whether SQLite refuses a statement for such a key. */
export function isBrokenKey(error: unknown): boolean {
  return BROKEN.test((error as Error).message)
}

/** Returns what SQLite says of the first such key that it meets where rows of a table are deleted; undefined where there is none. */
export function findBrokenKey(db: Database.Database, table: string): string | undefined {
  if (db.pragma('foreign_keys', { simple: true }) !== 1) return undefined
  try {
    db.prepare(`delete from main.${name(table)}`)
    return undefined
  } catch (error) {
    return isBrokenKey(error) ? (error as Error).message : undefined
  }
}
