/**
 * Finds foreign keys to a missing table, a view, or columns that are missing or not unique. By default SQLite checks no foreign keys
 * (https://sqlite.org/foreignkeys.html).
 */
import type { RawDatabase } from '../driver/raw-database.ts'
import { name } from '../../sql/sql.ts'

const BROKEN = /^(?:no such table: main\.|foreign key mismatch - )/

export function isBrokenKey(error: unknown): boolean {
  return BROKEN.test((error as Error).message)
}

/** @returns SQLite's message about the first broken key */
export function findBrokenKey(db: RawDatabase, table: string): string | undefined {
  if (db.pragma('foreign_keys', { simple: true }) !== 1) return undefined
  try {
    db.prepare(`delete from main.${name(table)}`)
    return undefined
  } catch (error) {
    return isBrokenKey(error) ? (error as Error).message : undefined
  }
}
