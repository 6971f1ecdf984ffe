/** Reads inside a JSON document by SQLite's functions. */
import { literal } from '../../sql/sql.ts'

export function jsonKey(key: string): string {
  return `.${JSON.stringify(key)}`
}

export function inDocument(column: string, keys: readonly string[]): string {
  return `json_extract(${column}, ${literal(`$${keys.map(jsonKey).join('')}`)})`
}
