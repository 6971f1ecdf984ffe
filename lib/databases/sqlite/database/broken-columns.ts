/**
 * Adds columns to SQLite's error about a broken constraint. For a unique index by an expression, SQLite names the index alone; for a
 * foreign key nothing.
 */
import type { RawDatabase, RawStatement } from '../driver/raw-database.ts'
import { listNames, tokenize, word } from '../../sql/sql-tokens.ts'
import { name as quoted } from '../../sql/sql.ts'

const BY_INDEX = /UNIQUE constraint failed: index '(.+)'$/

const BY_KEY = 'FOREIGN KEY constraint failed'
const WRITES = /^(?:insert into "([^"]+)" \(([^)]*)\) values \(\?(?:, \?)*\)|update "([^"]+)" set (.*?) where )/
const SETS = /"([^"]+)"(?: = \?)?/g

function findLost(db: RawDatabase, sql: string, parameters: readonly unknown[]): string | undefined {
  const [, into, names, changed, sets] = WRITES.exec(sql) ?? []
  const table = into ?? changed
  if (table === undefined) return undefined
  const written = new Map([...(names ?? sets ?? '').matchAll(SETS)].map(([, column], index) => [column!.toLowerCase(), parameters[index]]))
  const keys = db.prepare('select id, "table", "from", "to" from pragma_foreign_key_list(?)').all(table) as ForeignColumn[]
  for (const parts of Map.groupBy(keys, ({ id }) => id).values()) {
    const values = parts.map(({ from }) => written.get(from.toLowerCase()))
    if (values.some(value => value === undefined || value === null) || parts.some(({ to }) => to === null)) continue
    const where = parts.map(({ to }) => `${quoted(to!)} = ?`).join(' and ')
    if (db.prepare(`select 1 from main.${quoted(parts[0]!.table)} where ${where}`).get(...values) === undefined)
      return parts.map(({ from }) => `${table}.${from}`).join(', ')
  }
  return undefined
}

interface ForeignColumn {
  readonly id: number
  readonly table: string
  readonly from: string
  readonly to: string | null
}

export function nameBroken(error: unknown, { database: db, source }: RawStatement, parameters: readonly unknown[]): unknown {
  if (!(error instanceof Error)) return error
  if (error.message === BY_KEY) {
    const columns = findLost(db, source, parameters)
    return columns === undefined ? error : Object.assign(error, { message: `${BY_KEY}: ${columns}` })
  }
  const index = BY_INDEX.exec(error.message)?.[1]
  const found = index === undefined ? undefined : findIndex(db, index)
  if (found === undefined) return error
  const [table, sql] = found
  const tokens = tokenize(sql, 'sqlite')
  const named = new Set(listNames(tokens.slice(tokens.findIndex(token => word(token) === '('))).map(each => each.toLowerCase()))
  const columns = db.prepare('select name from pragma_table_xinfo(?)').pluck().all(table) as string[]
  const broken = columns.filter(column => named.has(column.toLowerCase())).map(column => `${table}.${column}`)
  return broken.length === 0 ? error : Object.assign(error, { message: `UNIQUE constraint failed: ${broken.join(', ')}` })
}

function findIndex(db: RawDatabase, index: string): [table: string, sql: string] | undefined {
  return db.prepare("select tbl_name, sql from sqlite_schema where type = 'index' and name = ? and sql is not null").raw().get(index) as
    | [string, string]
    | undefined
}
