/** Indexes: a statement of another database that makes an index, as SQLite says it. */
import { toSqlite } from './translate-sql.ts'

/** The methods of indexes that find something else than a value or a range. */
const OTHER_METHODS = /^(?:gin|gist|spgist|brin|ivfflat|hnsw|bloom|rum|fulltext|spatial|vector)$/i

/** Whether an index of such a method could be any of SQLite's. */
export function isOrdinaryMethod(method: string | undefined): boolean {
  return method === undefined || !OTHER_METHODS.test(method)
}

/** A statement that makes an index, as SQLite says it; undefined when SQLite has no such index. */
export function toSqliteIndex(sql: string, schemas: Iterable<string>): string | undefined {
  const using = /\busing\s+"?(\w+)"?/i.exec(sql)
  if (!isOrdinaryMethod(using?.[1])) return undefined
  const altered =
    /^\s*alter\s+table\s+(\S+)\s+add\s+(unique\s+)?(fulltext\s+|spatial\s+)?(?:index|key|constraint)\s+(\S+)\s*(?:unique\s*)?(\(.*\))\s*;?\s*$/is.exec(
      sql,
    )
  if (altered !== null) {
    const [, table = '', unique, other, name = '', columns = ''] = altered
    if (other !== undefined) return undefined
    return toSqlite(
      `create ${unique !== undefined || /constraint\s+\S+\s+unique/i.test(sql) ? 'unique ' : ''}index ${name} on ${table} ${columns}`,
      schemas,
    )
  }
  if (/\bcreate\s+(?:fulltext|spatial)\b/i.test(sql)) return undefined
  const plain = sql
    .replace(/\bconcurrently\b/i, '')
    .replace(/\busing\s+"?\w+"?/i, '')
    .replace(/\bon\s+only\b/i, 'on')
    .replaceAll(/\binclude\s*\([^)]*\)/gi, '')
    .replaceAll(/\s+nulls\s+(?:not\s+)?(?:first|last|distinct)\b/gi, '')
    .replaceAll(/\s+\w+_ops\b/gi, '')
    .replace(/\bwith\s*\(\s*\w+\s*=[^)]*\)/i, '')
    .replace(/;\s*$/, '')
  return toSqlite(plain, schemas)
}
