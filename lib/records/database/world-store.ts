/**
 * World store: the interface to the content of a database as a whole, which snapshots take, restoring replaces and forks copy; and to
 * opening a database.
 */
import type { EntityName, Options } from '@mikro-orm/core'
import type { Awaitable } from '../../foundation/base/awaitable.ts'
import type { Notes } from '../../foundation/base/notes.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'
import type { Connection } from './connection.ts'
import type { Evolving } from './evolving.ts'
import type { LogInStore } from './log-in-store.ts'

/** The whole content of a database at one moment. It never changes; what it consists of is known to its database alone. */
export interface WorldImage {
  /** In bytes. */
  readonly size: number
}

/** What of the values of rows is secret. */
export interface StoredSecrets {
  isSecretColumn(column: string): boolean
  /** Returns a text without the secrets in it. */
  maskStored(text: string): string
}

/** What may not be possible with a database, and why. */
export type Unavailable = Readonly<Partial<Record<'snapshot' | 'restore' | 'reset' | 'fork' | 'write', string>>>

/** The content of an open database. */
export interface WorldStore {
  /** From now on the content is what `reset` goes back to. */
  start(): Awaitable<void>
  /**
   * Takes an image of the content: the same one until something is written.
   *
   * @throws Error inside of a write.
   */
  image(): Promise<WorldImage>
  /**
   * Replaces the content.
   *
   * @param first is called when no transaction is open any more, before anything changes
   * @throws Error inside of a write; RestError when the database is open for reading only.
   */
  replace(image: WorldImage, first: () => void): Promise<void>
  /**
   * Goes back to the content at `start`.
   *
   * @param first is called when no transaction is open any more, before anything changes
   * @throws Error inside of a write, and when that content was too large to be kept.
   */
  reset(first: () => void): Promise<void>
  /** Opens an image as an independent database, which shares what has been compiled for the model. */
  fork(image: WorldImage): Awaitable<OpenDatabase>
  /** Returns the image that `reset` goes back to. */
  baseline(): Awaitable<WorldImage>
  /**
   * Returns an image as the bytes of a SQLite file without secrets; or why that is not possible, as a clause; undefined where it is no file
   * of SQLite.
   *
   * @param maxBytes how large it may be
   */
  write(image: WorldImage, secrets: StoredSecrets, maxBytes: number): Awaitable<Uint8Array | string | undefined>
  /** Returns how many bytes an image takes in this process. */
  imageBytes(): number
  /** Returns how many bytes the content takes. */
  size(): Awaitable<number>
  /** Returns what is not possible with this database, each with the reason as a clause: `{ reset: 'the file is larger than 64 MiB' }`. */
  unavailable(): Awaitable<Unavailable>
  /** Returns the names of the tables, indexes, views and triggers in which the database of an image differs from this one. */
  differing(image: WorldImage): Awaitable<readonly string[]>
}

/** An open database: what runs work on it, and its content as a whole. */
export interface OpenDatabase {
  readonly connection: Connection
  readonly worlds: WorldStore
  /** Keeps what processes must agree on of log-ins; undefined where one process has the database for itself, and where no log-in is on. */
  readonly logIns?: LogInStore | undefined
}

/** A PostgreSQL database. */
export interface ServerDatabase {
  /** `postgres://user:password@host:port/database` of a server; `pglite:` or `pglite:DIR` for PGlite in this process. */
  readonly url: string
  /**
   * The schema of its tables. Default: the first one of the user's search path, mostly `public`. A database that is served as it is may be
   * described by several schemas.
   */
  readonly schema?: string | readonly string[]
  /** Connections at most. Default: 10. */
  readonly poolSize?: number
  /** Milliseconds that one statement may take; 0: any number. Default: 30,000. */
  readonly statementTimeout?: number
  /**
   * Whether connections keep statements prepared, and settings. Default: true; `false` is for a pooler that lends connections for a
   * transaction, such as pgbouncer.
   */
  readonly prepare?: boolean
}

/** A value of SQLite: integers are numbers, or bigints where they are too large. */
type SqlValue = string | number | bigint | boolean | Uint8Array | null | undefined

/** Functions of JavaScript by the names that SQL calls them by. */
export type SqlFunctions = Readonly<Record<string, (...values: never[]) => SqlValue>>

/** The database to open, and how. */
export interface Opening<Database extends string | ServerDatabase = string | ServerDatabase> {
  /** Undefined: those that the database itself describes. */
  readonly entities?: NonNullable<Options['entities']>
  /** `:memory:`, the path of a file, or a database on a server. */
  readonly database: Database
  readonly schema: 'update' | 'keep' | 'evolve' | 'migrate'
  /** How the database is evolved, where `schema` says so. */
  readonly evolving?: Evolving | undefined
  /** The database is opened for reading only, and must be there. */
  readonly readOnly?: boolean
  readonly orm: Partial<Options>
  /** Functions that the SQL of a file calls. */
  readonly functions?: SqlFunctions | undefined
  /** The entity of those who log in; undefined without log-in. */
  readonly users?: EntityName | undefined
  /** Takes what is mapped, left out or guessed. */
  readonly notes: Notes
}

/** A database that is open and not completed yet. */
export interface Opened extends OpenDatabase {
  /** The definitions of resources that the database itself gives, where the model is read from it. */
  readonly definitions: readonly ResourceDefinition[]
  /**
   * Runs the application's migrations, before `complete`.
   *
   * @returns whether the database was empty before: the rows that are in it then are those of migrations
   * @throws Error in one line where there are none, and where one fails.
   */
  migrate(): Promise<boolean>
  /**
   * Adds the schema that the entities need, and builds what needs it. When that fails nothing has been added.
   *
   * @throws Error in one line for a database that does not fit the entities; what `build` throws.
   */
  complete<T>(build: () => Awaitable<T>): Awaitable<T>
  /** Closes what could not be completed, and takes away the file that was made for it. */
  abandon(): Promise<void>
}
