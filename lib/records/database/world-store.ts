/** The interface of a database's whole content, for snapshots, restore and forks; opening a database. */
import type { EntityName, Options } from '@mikro-orm/core'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { Notes } from '../../foundation/errors/notes.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'
import type { Connection } from './connection.ts'
import type { Evolving } from './evolving.ts'
import type { LogInStore } from './log-in-store.ts'

/** The content at one moment, immutable. */
export interface WorldImage {
  /** In bytes. */
  readonly size: number
}

export interface StoredSecrets {
  isSecretColumn(column: string): boolean
  maskStored(text: string): string
}

/** Reasons, as clauses: `{ reset: 'the file is larger than 64 MiB' }`. */
export type Unavailable = Readonly<Partial<Record<'snapshot' | 'restore' | 'reset' | 'fork' | 'write', string>>>

/** The content of a SQLite database. */
export interface ContentBytes {
  readonly bytes: Uint8Array
  /** Highest keys by table, if missing in the bytes. */
  readonly keys: ReadonlyMap<string, bigint> | undefined
}

/** Keeps content where it outlives a database in memory. */
export interface KeptContent {
  /** Replaces a new database's content, before `start`. */
  continue(now: ContentBytes, baseline: ContentBytes): void
  /** Tables, indexes, views and triggers unlike the content's. */
  differing(content: ContentBytes): readonly string[]
  toBytes(image: WorldImage): ContentBytes
  /** Called before each statement able to write. */
  whenWritten(listener: () => void): void
}

export interface WorldStore {
  /** Undefined: the database itself keeps content. */
  readonly kept?: KeptContent | undefined
  start(): Awaitable<void>
  /**
   * The same image, until a write.
   *
   * @throws Error inside of a write.
   */
  image(): Promise<WorldImage>
  /**
   * Replaces the content.
   *
   * @param first called without open transactions, before any change
   * @throws Error inside of a write; RestError when the database is open for reading only.
   */
  replace(image: WorldImage, first: () => void): Promise<void>
  /**
   * Returns to the content at `start`.
   *
   * @param first called without open transactions, before any change
   * @throws Error inside of a write, and when that content was too large to be kept.
   */
  reset(first: () => void): Promise<void>
  /** A copy, with the compiled statements. */
  fork(image: WorldImage): Awaitable<OpenDatabase>
  baseline(): Awaitable<WorldImage>
  /**
   * A SQLite file without secrets, or why not, as a clause; undefined if the database is not SQLite.
   *
   * @param maxBytes of the file
   */
  write(image: WorldImage, secrets: StoredSecrets, maxBytes: number): Awaitable<Uint8Array | string | undefined>
  imageBytes(): number
  size(): Awaitable<number>
  unavailable(): Awaitable<Unavailable>
  /** Tables, indexes, views and triggers unlike the image's. */
  differing(image: WorldImage): Awaitable<readonly string[]>
}

export interface OpenDatabase {
  readonly connection: Connection
  readonly worlds: WorldStore
  /** Undefined for a single process, or without log-in. */
  readonly logIns?: LogInStore | undefined
}

export interface ServerDatabase {
  /** `postgres://user:password@host:port/database`, or `pglite:` or `pglite:DIR` for PGlite in this process. */
  readonly url: string
  /**
   * The schema of the tables. Default: the first of the user's search path, mostly `public`. Several only for a database served as found.
   */
  readonly schema?: string | readonly string[]
  /** Maximum number of connections. Default: 10. */
  readonly poolSize?: number
  /** Milliseconds for one statement; 0: no limit. Default: 30,000. */
  readonly statementTimeout?: number
  /**
   * Whether connections keep prepared statements and settings. Default: true; `false` for a pooler in transaction mode, such as pgbouncer.
   */
  readonly prepare?: boolean
}

/** Large integers are bigints. */
type SqlValue = string | number | bigint | boolean | Uint8Array | null | undefined

/** JavaScript functions by their names in SQL. */
export type SqlFunctions = Readonly<Record<string, (...values: never[]) => SqlValue>>

export interface Opening<Database extends string | ServerDatabase = string | ServerDatabase> {
  /** Undefined: as described by the database. */
  readonly entities?: NonNullable<Options['entities']>
  /** `:memory:`, a file's path, or a server's database. */
  readonly database: Database
  readonly schema: 'update' | 'keep' | 'evolve' | 'migrate'
  /** For `schema: 'evolve'`. */
  readonly evolving?: Evolving | undefined
  /** The database must exist. */
  readonly readOnly?: boolean
  readonly orm: Partial<Options>
  readonly functions?: SqlFunctions | undefined
  /** Of users; undefined without log-in. */
  readonly users?: EntityName | undefined
  readonly notes: Notes
}

/** An open database before `complete`. */
export interface Opened extends OpenDatabase {
  /** For a model read from the database. */
  readonly definitions: readonly ResourceDefinition[]
  /**
   * Runs migrations, before `complete`.
   *
   * @returns whether the database was empty before: all rows come from migrations
   * @throws Error in one line if there are no migrations, and if one fails.
   */
  migrate(): Promise<boolean>
  /**
   * Adds the schema and runs `build`; a failure adds nothing.
   *
   * @throws Error in one line for a database that does not fit the entities; errors of `build`.
   */
  complete<T>(build: () => Awaitable<T>): Awaitable<T>
  /** Closes an incomplete database, and deletes a new file. */
  abandon(): Promise<void>
}
