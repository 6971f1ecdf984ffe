/** The interfaces of an open database, for readings, statements and MikroORM. SQLite answers at once, PostgreSQL with a promise. */
import type { EntityManager, EntityName, MikroORM } from '@mikro-orm/core'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import type { AddedFilters } from '../../model/added-filters.ts'
import type { Clock } from '../../foundation/async/clock.ts'
import type { Resource } from '../../model/model.ts'
import type { LinkColumn, StoredTable } from '../../model/stored-table.ts'
import type { RunStatement, Traces } from '../../foundation/async/trace.ts'
import type { ChangeOwner, ChangeRecorder, Watched } from './changes.ts'
import type { StatementsExplained, UnindexedLink } from './explained-statements.ts'
import type { Dialect, Reading, Statement } from './dialect.ts'

/** Whether a write may run again after a conflict. `declared`: as the application's code declares. */
export type Repeatable = boolean | 'declared'

/** After a write, the transaction may have: more writes, refusable readings, nothing to fail. */
export type BehindWrite = 'writes' | 'reads' | 'nothing'

export interface WrittenPlace {
  readonly resource: string | undefined
  readonly id: string | undefined
}

export interface RowsWritten {
  readonly rows: number
  /** The generated key: of several rows, SQLite gives the last, PostgreSQL the first. */
  readonly counted: bigint
  /** Keys of several rows, in order. */
  readonly keys?: () => readonly bigint[]
}

export interface ReadingConnection {
  readonly dialect: Dialect
  /** Whether other programs may have written wrong types. */
  readonly mayHoldMisfits: boolean
  /** Names triggers and rules able to drop a statement: `raise(ignore)`, `return null`, `do instead nothing`. */
  droppers(table: string): Awaitable<readonly string[]>
  /**
   * On SQLite, waits for another request's transaction: uncommitted changes must not show.
   *
   * @param behind called in a transaction on PostgreSQL when the last statements (`ReadingStep.isLast`) are sent: further statements need
   * not wait for the answers
   */
  read<T>(reading: () => Reading<T>, end?: RequestAbort, behind?: () => void): T | Promise<T>
}

export interface RowConnection extends ReadingConnection {
  /** Whether the database has all constraints of the model. */
  readonly keepsConstraints: boolean
  /**
   * Whether the engine's own statements may write: nobody subscribes to the unit of work or logs queries, and MikroORM's classes are not
   * replaced.
   */
  writesAlone(): boolean
  /** Why not, to follow "since …". */
  explainListeners(): string | undefined
  /** The next key, where the engine counts keys and none is given. */
  takeKey(table: StoredTable, given: unknown): number | bigint | undefined
  /** Whether column defaults follow the engine's clock. */
  keepsTime(table: StoredTable): boolean
  /**
   * Sets times by the system, from the constructor of a new entity, to the engine's time.
   *
   * @param given the constructor's data, which stay
   * @param from start of the construction, in milliseconds of the system's clock
   */
  retime(entity: object, given: object, from: number): void
  /** Whether columns hold only keys: statements then compare and set links. */
  havePlainLinks(columns: readonly LinkColumn[]): boolean
  /** Whether the database at once refuses links to missing rows, by name: nobody looks for the row before. */
  refusesLinks(table: string, column: string): boolean
  countsKeys(table: string): boolean
  /** Whether counted keys are told: no trigger inserts rows between. */
  tellsKeys(): boolean
  /**
   * For work writing only by `run`. Synchronous on SQLite, if no transaction is open.
   *
   * @param repeatable see `write`, also for `place`; such work must not wait for the application
   */
  transact<T>(work: () => Awaitable<T>, end?: RequestAbort, repeatable?: boolean, place?: WrittenPlace): Awaitable<T>
  /**
   * Writes in a transaction. Errors are MikroORM's.
   *
   * @param behind (default: 'writes') behind the last write, PostgreSQL is asked for the changes at once; a single statement with nothing
   * behind needs no transaction on SQLite in memory
   */
  run(statement: Statement, parameters: readonly unknown[], behind?: BehindWrite): Awaitable<RowsWritten>
}

export interface EntityConnection extends ReadingConnection {
  /** Made on first use. */
  readonly orm: MikroORM
  readonly filters: AddedFilters
  /**
   * Runs work in a transaction, and flushes. Nested work takes turns; on SQLite, all work.
   *
   * @param repeatable if the work may run again after a conflict
   * @param place writes of one place run one by one after a conflict, or if they may not run again
   */
  write<T>(work: (em: EntityManager) => Awaitable<T>, end?: RequestAbort, repeatable?: Repeatable, place?: WrittenPlace): Promise<T>
  /** Loads without MikroORM's filters. */
  load(name: EntityName, key: unknown, em: EntityManager): Promise<object | undefined>
  /** Whether a loaded record surely exists, as one row of one table. */
  loadsAlone(name: EntityName): boolean
  /** Whether records may be removed unread: no hook, subscriber, cascade. */
  removesAlone(name: EntityName): boolean
  /** Records may refer to later ones, until the transaction ends. */
  deferReferences(): Awaitable<void>
}

export interface Connection extends RowConnection, EntityConnection {
  /** Never waits. On SQLite, changes of another request's transaction show. */
  readNow<T>(reading: () => Reading<T>): Awaitable<T>
  /** Counts at one moment. */
  countRows(tables: readonly string[]): Awaitable<readonly number[]>
  explain(statements: readonly RunStatement[]): Promise<StatementsExplained>
  /** Finds links and foreign keys without index, in tables above so many rows. */
  unindexedLinks(resources: readonly Resource[], rows: number): Promise<UnindexedLink[]>
  observe(traces: Traces): void
  record(watched: Watched, owner: ChangeOwner): ChangeRecorder
  /** For functions and SQL of the model. */
  follow(clock: Clock): void
  check(statement: Statement): Awaitable<void>
  close(): Promise<void>
}
