/** Takes and restores images of a SQLite database, and opens images as forks. */
import { scrub } from './scrub.ts'
import type {
  ContentBytes,
  KeptContent,
  OpenDatabase,
  StoredSecrets,
  Unavailable,
  WorldImage,
  WorldStore,
} from '../../records/database/world-store.ts'
import { AddedFilters } from '../../model/added-filters.ts'
import { forkOrm } from '../orm/fork-orm.ts'
import { SqliteConnection } from './connection.ts'
import { Content, SqliteImage } from './content.ts'
import { SqliteDatabase } from './database/sqlite-database.ts'

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
