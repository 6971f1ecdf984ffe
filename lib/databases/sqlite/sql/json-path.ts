/** JSON path: what stands inside a JSON document, by SQLite's functions. */
import { literal } from '../../sql/sql.ts'

/** A key as a step of a JSON path. */
export function jsonKey(key: string): string {
  return `.${JSON.stringify(key)}`
}

/** What stands at the keys of a JSON document. */
export function inDocument(column: string, keys: readonly string[]): string {
  return `json_extract(${column}, ${literal(`$${keys.map(jsonKey).join('')}`)})`
}
