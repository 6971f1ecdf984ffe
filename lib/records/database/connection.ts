/**
 * Connection: runs work on an open database. SQLite's and PostgreSQL's are in lib/databases/sqlite/ and lib/databases/postgres/. One may
 * answer at once or with a promise.
 */
import type { Repeatable } from './repeatable.ts'
import type { TableRows } from '../../model/table-rows.ts'
import type { EntityManager, EntityName, MikroORM } from '@mikro-orm/core'
import type { Awaitable } from '../../foundation/base/awaitable.ts'
import type { RequestAbort } from '../../foundation/base/abort.ts'
import type { AddedFilters } from '../../model/added-filters.ts'
import type { Clock } from '../../foundation/base/clock.ts'
import type { Resource } from '../../model/model.ts'
import type { LinkColumn, StoredTable } from '../../model/stored-table.ts'
import type { RunStatement, Traces } from '../../foundation/base/trace.ts'
import type { ChangeOwner, ChangeRecorder, Watched } from './changes.ts'
import type { StatementsExplained, UnindexedLink } from './explained-statements.ts'
import type { Dialect, Reading, Statement } from './dialect.ts'

/**
 * What a request does in its transaction behind a statement that writes: it may write again, it reads what may be refused, or nothing that
 * could fail.
 */
export type BehindWrite = 'writes' | 'reads' | 'nothing'

/** What a write is about: a resource, and a record of it where the request names one. */
export interface WrittenPlace {
  readonly resource: string | undefined
  readonly id: string | undefined
}

/** What a statement has written. */
export interface RowsWritten {
  /** The number of rows. */
  readonly rows: number
  /** The key that the database has counted for the last inserted row. */
  readonly counted: bigint
  /** Those of several rows, in their order; undefined where it does not say them. */
  readonly keys?: () => readonly bigint[]
}

/** Reads by plans. */
export interface ReadingConnection {
  readonly dialect: Dialect
  /** Whether a column may hold a value that is not of its attribute's type, since others have written to the database. */
  readonly mayHoldMisfits: boolean
  /**
   * Runs reading work; waits while another request's transaction is open, so that its changes are not seen before they are committed.
   *
   * @param behind inside a transaction of a database that takes statements before it has answered those in front: is called as soon as the
   *   last ones of the reading have been sent, where they say that they are the last (`ReadingStep.isLast`)
   */
  read<T>(reading: () => Reading<T>, end?: RequestAbort, behind?: () => void): T | Promise<T>
}

/** Writes rows by statements, without MikroORM's unit of work. */
export interface RowConnection extends ReadingConnection {
  /** Whether the database is known to have the constraints of the model, so that it refuses what they forbid. */
  readonly keepsConstraints: boolean
  /**
   * Whether statements of the engine may write rows without the unit of work: nobody subscribes to it or logs what it runs, and MikroORM's
   * own classes are in place.
   */
  writesAlone(): boolean
  /** Who listens, or takes part, so that they may not, as the rest of "since …"; undefined where they may. */
  explainListeners(): string | undefined
  /**
   * Returns the key of a new row of a table whose keys the engine counts; undefined where the database does, and where the row brings its
   * own, `given`.
   */
  takeKey(table: StoredTable, given: unknown): number | bigint | undefined
  /** Whether the defaults that the database gives the columns of a table follow the clock of the engine. */
  keepsTime(table: StoredTable): boolean
  /**
   * Puts the engine's time where the constructor of a new entity has put the system's.
   *
   * @param given what the entity was made of, which stays as it is
   * @param from when the making began, in milliseconds of the system's clock
   */
  retime(entity: object, given: object, from: number): void
  /**
   * Whether statements may set and compare the links in these columns, as the records show them. In an existing database the columns may
   * hold more than keys.
   */
  havePlainLinks(columns: readonly LinkColumn[]): boolean
  /**
   * Whether the database refuses a statement at once that sets a link in this column to a row which is not there, and can be asked which
   * one afterwards, in the same transaction: so nothing need look for the row before.
   */
  refusesLinks(table: string, column: string): boolean
  /** Whether the engine counts the keys of a table. */
  countsKeys(table: string): boolean
  /**
   * Runs work in a transaction, one at a time, as `write` does, for work that writes by `run` alone. At once where nobody is to be waited
   * for.
   *
   * @param repeatable see `write`, also for `place`; such work waits for nothing of the application's
   */
  transact<T>(work: () => Awaitable<T>, end?: RequestAbort, repeatable?: boolean, place?: WrittenPlace): Awaitable<T>
  /**
   * Runs a statement that writes, inside a transaction. Errors are those that MikroORM would throw.
   *
   * @param behind what the request does behind it (default: it may write); behind the last one that writes a server is asked at once for
   *   what has changed, and one in memory that is the first one, too, with nothing behind it, needs no transaction
   */
  run(statement: Statement, parameters: readonly unknown[], behind?: BehindWrite): Awaitable<RowsWritten>
}

/** Reads and writes entities, by MikroORM. */
export interface EntityConnection extends ReadingConnection {
  /** The MikroORM instance on the database; made when it is first asked for. */
  readonly orm: MikroORM
  /** The filters that the application has added to its entity manager. */
  readonly filters: AddedFilters
  /**
   * Runs work in a transaction, one at a time; inside the work of another one it is nested in that. What the work leaves pending is
   * flushed.
   *
   * @param repeatable whether the work may run again in another transaction, where several run at a time and one gets in the way of another
   * @param place what it writes: there writes of one record take turns that have got in each other's way, or may not run again
   */
  write<T>(work: (em: EntityManager) => Awaitable<T>, end?: RequestAbort, repeatable?: Repeatable, place?: WrittenPlace): Promise<T>
  /**
   * The entity of a key as the entity manager takes it, loaded as `em.findOne` does, without MikroORM's filters; undefined when there is
   * none.
   */
  load(name: EntityName, key: unknown, em: EntityManager): Promise<object | undefined>
  /** Whether a record of the entity is one row of one table and no more, so that it exists when it can be loaded. */
  loadsAlone(name: EntityName): boolean
  /**
   * Whether such a record is removed without anybody having a look at what it holds: no hook, no subscriber, and nothing that goes with it.
   */
  removesAlone(name: EntityName): boolean
  /**
   * Inside a transaction: inserts rows as they are, where no code of the application's listens and the engine counts no keys; else it says
   * false.
   */
  insertRows(tables: readonly TableRows[], em: EntityManager): Awaitable<boolean>
  /** Inside a transaction: lets records refer to others that come later. */
  deferReferences(): Awaitable<void>
}

/** An open database: what reading, rows and entities need of it, and what an engine does with it as a whole. */
export interface Connection extends RowConnection, EntityConnection {
  /**
   * Runs reading work at once, also while another request's transaction is open, whose changes it sees then. A database that answers by
   * promises only begins at once: inside a transaction, before anything else that is asked of that.
   */
  readNow<T>(reading: () => Reading<T>): Awaitable<T>
  /** Counts the rows of each table, all at one time. */
  countRows(tables: readonly string[]): Awaitable<readonly number[]>
  /** What the database does for statements that have run. Runs none of them. */
  explain(statements: readonly RunStatement[]): Awaitable<StatementsExplained>
  /** Finds the links of relations, and foreign keys, that no index serves, in tables with more rows than that. */
  unindexedLinks(resources: readonly Resource[], rows: number): Awaitable<UnindexedLink[]>
  /** From now on the statements of requests that are traced are reported to their traces. */
  observe(traces: Traces): void
  /** From now on the rows that change are reported, to their owner beside the watchers. */
  record(watched: Watched, owner: ChangeOwner): ChangeRecorder
  /** From now on the time of the model's functions and of SQL is that of the clock. */
  follow(clock: Clock): void
  /** Refuses a statement that the database cannot run, without running it. */
  check(statement: Statement): Awaitable<void>
  /** Closes the database, and MikroORM on it. */
  close(): Promise<void>
}
