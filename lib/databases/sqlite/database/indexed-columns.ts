/**
 * Indexed columns: of a unique index by an expression, as `lower(name)`, SQLite names the index alone where a row breaks it. Takes such an
 * error, gives it with the columns that the expressions of the index name, as it would say them of a plain index.
 */
import type Database from 'better-sqlite3'

const BY_INDEX = /UNIQUE constraint failed: index '(.+)'$/

/** Texts and comments, which name no column. */
const TEXTS = /'(?:[^']|'')*'|--[^\n]*|\/\*.*?\*\//gs
const NAMES = /"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[([^\]]*)\]|([\p{L}_$][\p{L}\p{N}_$]*)/gu

export function nameIndexed(error: unknown, db: Database.Database): unknown {
  const index = error instanceof Error ? BY_INDEX.exec(error.message)?.[1] : undefined
  const found = index === undefined ? undefined : findIndex(db, index)
  if (found === undefined) return error
  const [table, sql] = found
  const body = sql.slice(sql.indexOf('(', sql.search(/\bon\b/i))).replaceAll(TEXTS, ' ')
  const named = new Set(
    [...body.matchAll(NAMES)].map(([, quoted, ticked, bracketed, plain]) => (quoted ?? ticked ?? bracketed ?? plain)!.toLowerCase()),
  )
  const columns = db.prepare('select name from pragma_table_xinfo(?)').pluck().all(table) as string[]
  const broken = columns.filter(column => named.has(column.toLowerCase())).map(column => `${table}.${column}`)
  return broken.length === 0 ? error : Object.assign(error as Error, { message: `UNIQUE constraint failed: ${broken.join(', ')}` })
}

function findIndex(db: Database.Database, index: string): [table: string, sql: string] | undefined {
  return db.prepare("select tbl_name, sql from sqlite_schema where type = 'index' and name = ? and sql is not null").raw().get(index) as
    | [string, string]
    | undefined
}
