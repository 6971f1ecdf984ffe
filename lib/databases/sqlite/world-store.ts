/** Takes and restores images of a SQLite database, and opens images as forks. */
import { AddedFilters } from '../../model/added-filters.ts'
import type {
  ContentBytes,
  KeptContent,
  OpenDatabase,
  StoredSecrets,
  Unavailable,
  WorldImage,
  WorldStore,
} from '../../records/database/world-store.ts'
import { forkOrm } from '../orm/fork-orm.ts'
import { name } from '../sql/sql.ts'
import { SqliteConnection } from './connection.ts'
import { Content, SqliteImage } from './content.ts'
import { SqliteDatabase } from './database/sqlite-database.ts'
import { isRawError, openRaw, toRawBytes } from './driver/open-raw.ts'
import type { RawDatabase } from './driver/raw-database.ts'

export class SqliteWorldStore implements WorldStore {
  readonly #connection: SqliteConnection
  readonly #content: Content

  constructor(connection: SqliteConnection) {
    this.#connection = connection
    this.#content = connection.content
  }

  get kept(): KeptContent | undefined {
    const content = this.#content
    if (!content.handle.isInMemory) return undefined
    const toImage = ({ bytes, keys }: ContentBytes): SqliteImage => new SqliteImage(bytes, keys)
    return {
      continue: (now, baseline) => content.continue(toImage(now), toImage(baseline)),
      differing: kept => this.differing(toImage(kept)),
      toBytes: asSqliteImage,
      whenWritten: listener => content.whenWritten(listener),
    }
  }

  start(): void {
    this.#content.start()
  }

  image(): Promise<SqliteImage> {
    return this.#connection.transactions.exclusively('snapshot', () => this.#content.image())
  }

  replace(image: WorldImage, first: () => void): Promise<void> {
    return this.#connection.transactions.exclusively('restore', () => {
      first()
      return this.#content.replace(asSqliteImage(image))
    })
  }

  reset(first: () => void): Promise<void> {
    return this.#connection.transactions.exclusively('reset', () => {
      first()
      return this.#content.reset()
    })
  }

  fork(image: WorldImage): OpenDatabase {
    const connection = new SqliteConnection(
      Content.fork(asSqliteImage(image), this.#content),
      shared => forkOrm(this.#connection.orm, shared),
      new AddedFilters(this.#connection.filters),
    )
    return { connection, worlds: new SqliteWorldStore(connection) }
  }

  baseline(): SqliteImage {
    return this.#content.baseline()
  }

  write(image: WorldImage, secrets: StoredSecrets, maxBytes: number): Uint8Array | string {
    const { bytes } = asSqliteImage(image)
    return bytes.length > maxBytes ? `the data has ${bytes.length} bytes, and ${maxBytes} is the most` : scrub(bytes, secrets)
  }

  imageBytes(): number {
    return this.#content.bytes
  }

  size(): number {
    return this.#content.bytes
  }

  unavailable(): Unavailable {
    const { handle, canReset } = this.#content
    const readOnly = 'the database is open for reading only'
    if (handle.readOnly) return { write: readOnly, restore: readOnly }
    return canReset ? {} : { reset: 'the file is too large to keep its first state in memory (64 MiB): take a snapshot, and restore that' }
  }

  differing(image: WorldImage): string[] {
    const other = new SqliteDatabase(asSqliteImage(image).bytes)
    try {
      const [ours, others] = [readSchema(this.#content.handle), readSchema(other)]
      return [...new Set([...ours.keys(), ...others.keys()])].filter(called => ours.get(called) !== others.get(called)).toSorted()
    } finally {
      other.close()
    }
  }
}

/** @throws TypeError for the image of another kind of database. */
function asSqliteImage(image: WorldImage): SqliteImage {
  if (image instanceof SqliteImage) return image
  throw new TypeError('The snapshot is not one of a SQLite database.')
}

/** By name. */
function readSchema(handle: SqliteDatabase): Map<string, string> {
  // SQLite's own tables come and go.
  const rows = handle.all("select name, coalesce(sql, '') from sqlite_schema where name not like 'sqlite\\_%' escape '\\'", [])
  return new Map(rows as [string, string][])
}

const TABLES = "select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'"
const TRIGGERS = "select name, sql from sqlite_schema where type = 'trigger'"

/**
 * Takes out secret columns, tokens in texts, and SQLite's own further copies.
 *
 * @returns the bytes, or the reason for no copy, as a clause
 */
function scrub(bytes: Uint8Array, secrets: StoredSecrets): Uint8Array | string {
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
