/** Takes the secrets out of a copy for others: secret columns, tokens in texts, and SQLite's own further copies. */
import { isRawError, openRaw, toRawBytes } from './driver/open-raw.ts'
import type { RawDatabase } from './driver/raw-database.ts'
import type { StoredSecrets } from '../../records/database/world-store.ts'
import { name } from '../sql/sql.ts'

const TABLES = "select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'"
const TRIGGERS = "select name, sql from sqlite_schema where type = 'trigger'"

/** @returns the bytes, or the reason for no copy, as a clause */
export function scrub(bytes: Uint8Array, secrets: StoredSecrets): Uint8Array | string {
  const db = openRaw(bytes)
  try {
    db.pragma('foreign_keys = off')
    db.pragma('ignore_check_constraints = on')
    db.function('mikro_scrub', { directOnly: true }, (text: unknown) => secrets.maskStored(String(text)))
    let count = 0
    db.function('mikro_secret', { directOnly: true }, (value: unknown) => replaceValue(value, ++count))
    const tables = db.prepare(TABLES).all() as { name: string; sql: string | null }[]
    // The index of a full-text search holds words.
    const virtual = tables.find(({ sql }) => /^\s*create\s+virtual\b/i.test(sql ?? ''))
    if (virtual !== undefined) return `the table "${virtual.name}" is one of an extension, which may keep values elsewhere`
    const triggers = db.prepare(TRIGGERS).all() as { name: string; sql: string }[]
    for (const trigger of triggers) db.exec(`drop trigger ${name(trigger.name)}`)
    for (const table of tables) scrubTable(db, table.name, secrets)
    for (const { sql } of triggers) db.exec(sql)
    // `sqlite_stat4` holds samples of values.
    if (db.prepare("select 1 from sqlite_schema where name = 'sqlite_stat4'").get() !== undefined) db.exec('delete from sqlite_stat4')
    // Overwritten values are still in the pages.
    db.exec('vacuum')
    return db.serialize()
  } catch (error) {
    if (!isRawError(error)) throw error
    return `its secrets could not be taken out of the copy (${error.code})`
  } finally {
    db.close()
  }
}

function scrubTable(db: RawDatabase, table: string, secrets: StoredSecrets): void {
  const columns = db.pragma(`table_xinfo(${name(table)})`) as { name: string; hidden: number }[]
  for (const { name: column, hidden } of columns) {
    // A generated column follows the others.
    if (hidden !== 0) continue
    const quoted = name(column)
    db.exec(
      secrets.isSecretColumn(column)
        ? `update ${name(table)} set ${quoted} = mikro_secret(${quoted}) where ${quoted} is not null`
        : `update ${name(table)} set ${quoted} = mikro_scrub(${quoted}) ` +
            `where typeof(${quoted}) = 'text' and (${quoted} like '%eyJ%' or ltrim(${quoted}) glob '[[{]*')`,
    )
  }
}

/** Of the same type, and never twice: the column may be unique. */
function replaceValue(value: unknown, count: number): string | number | Uint8Array {
  if (typeof value === 'number' || typeof value === 'bigint') return count
  const text = `[secret ${count}]`
  return value instanceof Uint8Array ? toRawBytes(new TextEncoder().encode(text)) : text
}
