/**
 * Connection: the open SQLite database behind the dialect seam. One handle, lent to MikroORM; one lock, shared by its transactions and our reads.
 * Inside a transaction the AsyncLocalStorage knows it, so that a hook may call the engine in its own write without waiting for itself.
 * The whole content can be taken as an image, replaced by one, and copied into a connection of its own.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as immediate } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { TransactionContext } from '@mikro-orm/core'
import type { EntityManager, EntityName, MikroORM, Transaction } from '@mikro-orm/core'
import { SqlEntityManager } from '@mikro-orm/sqlite'
import { chain } from '../base/awaitable.ts'
import type { Awaitable } from '../base/awaitable.ts'
import type { ChangeSink, Watched } from '../journal/changes.ts'
import type { Clock } from '../base/clock.ts'
import type {
  CompiledRead,
  Connection,
  Dialect,
  Reading,
  Statement,
  StatementsExplained,
  TableRows,
  UnindexedLink,
} from '../database/dialect.ts'
import type { RequestAbort } from '../base/abort.ts'
import { restError } from '../base/errors.ts'
import type { KeyValues } from '../model/key.ts'
import type { Resource } from '../model/model.ts'
import { readRecords } from '../read/run-read.ts'
import { BUSY_TIMEOUT_MS, isBusy, whenFree } from './database/busy.ts'
import { compileRead } from './sql/compile-read.ts'
import {
  compileColumns,
  compileExists,
  compileReferrers,
  compileTaken,
  breaksConstraint,
  breaksReference,
  brokenCheck,
  failure,
  refusal,
  violation,
} from './sql/compile-checks.ts'
import { encode, encodePattern } from './sql/encode.ts'
import { explainStatements } from './explain/explain.ts'
import { findUnindexedLinks } from './explain/unindexed-keys.ts'
import { flush } from './orm/flush.ts'
import { hasSubscribers, runsForeignCode } from './orm/user-hooks.ts'
import { SqliteDatabase } from './database/sqlite-database.ts'
import { Autoincrement } from './orm/autoincrement.ts'
import type { KeyState } from './orm/autoincrement.ts'
import { SharedSqliteDialect } from './orm/shared-dialect.ts'
import type { Entered, ReusableTransaction } from './orm/shared-dialect.ts'
import { cascades, loadRecord, loadsAlone } from './orm/load-record.ts'
import { Lock } from './database/lock.ts'
import { retime } from './orm/model-time.ts'
import type { BoundSqliteDriver } from './orm/driver.ts'
import type { PreparedQuery } from './database/prepared.ts'
import { Recorder } from './recorder.ts'
import type { RunStatement, Trace, Traces } from '../base/trace.ts'
import { forkOrm } from './orm/fork-orm.ts'
import { rememberManager } from './orm/target-keys.ts'
import { name } from './sql/sql.ts'

/** The transaction that a piece of asynchronous work runs in. */
interface OpenTransaction {
  /** The one around it, if any. */
  readonly outer: OpenTransaction | undefined
  /** MikroORM's handle of it, set once it has begun. */
  trx?: Transaction
  /** Whether it has begun and not ended. */
  open: boolean
  /** Keeps the writes that are nested in it apart. */
  readonly nested: Lock
  /** What may end it. */
  readonly end?: RequestAbort | undefined
}

/** What a write at once works with: it is used for one after the other. */
interface ReusableUnitOfWork {
  readonly em: EntityManager
  readonly transaction: ReusableTransaction
}

const SQLITE: Dialect = {
  insertionOrder: 'rowid',
  compile: compileRead,
  exists: compileExists,
  columns: compileColumns,
  taken: compileTaken,
  referrers: compileReferrers,
  violation,
  brokenCheck,
  breaksReference,
  breaksConstraint,
  refusal,
  failure,
  encode,
  encodePattern,
}

/** From how many milliseconds on others wait for their turn after a reading. */
const LONG = 50

/** Turns of the event loop in which it is heard that a client has gone. */
const TURNS = 3

const NESTED: Entered = Object.freeze({ release: () => {}, nested: true })

/** Largest file, in bytes, whose first content is kept in memory for `reset`. */
const MAX_BASELINE = 64 * 1024 * 1024

/** The highest keys at the time when an image was taken, where something had been written. */
const KEYS = new WeakMap<Buffer, KeyState>()

export class SqliteConnection implements Connection {
  readonly dialect = SQLITE
  #handle: SqliteDatabase
  readonly #lock = new Lock(() => this.#inVain())
  /** When a transaction was begun by `em.begin()`, by performance.now(), while it is open: nothing tells what belongs to it. */
  #begunByHand: number | undefined
  readonly #current = new AsyncLocalStorage<OpenTransaction>()
  readonly #makeOrm: (lent: SharedSqliteDialect) => MikroORM
  #orm: MikroORM | undefined
  /** The content that `reset` goes back to, from the first write on. */
  #baseline: Buffer | undefined
  /** The content as it is now, as long as nothing is written. Never for a file, to which others may write. */
  #image: Buffer | undefined
  /** Whether the content is that of a complete engine: what is written before is part of the baseline. */
  #started = false
  #clock: Clock | undefined
  readonly #now = (): Date => this.#clock?.now() ?? new Date()
  #isForeign = false
  #recorder: Recorder | undefined
  #traces: Traces | undefined
  #keys = new Autoincrement(new Map())
  /** Whether a statement has taken long just now. */
  #isCrowded = false
  /** The last of those that wait for their turn. */
  #turn: Promise<void> = Promise.resolve()
  /** While it is not in use. */
  #workplace: ReusableUnitOfWork | undefined

  /** @param makeOrm makes the MikroORM instance on this connection, when it is first needed */
  constructor(handle: SqliteDatabase, makeOrm: (lent: SharedSqliteDialect) => MikroORM) {
    this.#handle = handle
    this.#makeOrm = makeOrm
  }

  /** The MikroORM instance on this connection. */
  get orm(): MikroORM {
    return (this.#orm ??= this.#makeOrm(this.lend()))
  }

  /** The dialect to give MikroORM as `driverOptions`. */
  lend(): SharedSqliteDialect {
    const observer = (): Recorder | undefined => this.#recorder
    const trace = (): Trace | undefined => this.#traces?.current
    const isReadOnly = (): boolean => this.#handle.readOnly
    const inTransaction = (): boolean => this.#handle.db.inTransaction
    const counts = (): boolean => this.#keys.counters.size > 0
    return new SharedSqliteDialect({
      get counts() {
        return counts()
      },
      get readOnly() {
        return isReadOnly()
      },
      get trace() {
        return trace()
      },
      get inTransaction() {
        return inTransaction()
      },
      get observer() {
        return observer()
      },
      checkTime: () => this.#current.getStore()?.end?.checkTime(),
      prepare: (sql: string): PreparedQuery => {
        this.#followClock()
        return this.#handle.prepare(sql)
      },
      begun: () => {
        const transaction = this.#current.getStore()
        // One that has begun already is over: what was left running in it has begun this one.
        if (transaction === undefined || transaction.trx !== undefined) this.#begunByHand = performance.now()
      },
      writing: () => this.#writing(),
      committing: () => this.#handle.checkPlace(),
      nextKey: table => {
        const key = this.#keys.next(this.#handle.db, table)
        return key !== undefined && Number.isSafeInteger(Number(key)) ? Number(key) : key
      },
      giveKey: (table, key) => this.#keys.give(table, BigInt(key)),
      clock: () => this.#clock,
      nextNumber: (table, column) => this.#handle.nextNumber(table, column),
      enter: signal => {
        if (this.#transaction() !== undefined) return NESTED
        const transaction = this.#current.getStore()
        const entered = (release: () => void): Entered => ({
          nested: false,
          release: () => {
            // The transaction ends here: a subscriber that is told of the commit stands outside of it.
            if (transaction !== undefined) transaction.open = false
            this.#begunByHand = undefined
            release()
          },
        })
        return chain(this.#waited(this.#lock.acquire(signal)), entered)
      },
      transactional: async begin => {
        const transaction: OpenTransaction = { outer: this.#transaction(), open: false, nested: new Lock() }
        const entered = (trx: Transaction): void => {
          transaction.trx = trx
          transaction.open = true
        }
        try {
          return await this.#current.run(transaction, () => begin(entered))
        } finally {
          transaction.open = false
        }
      },
    })
  }

  /** Whoever waits for a transaction of `em.begin()` may be who is to end it. */
  #inVain(): Error | undefined {
    if (this.#begunByHand === undefined || performance.now() - this.#begunByHand < BUSY_TIMEOUT_MS) return undefined
    const detail =
      `A transaction of em.begin() has been open for ${BUSY_TIMEOUT_MS / 1000} seconds. Commit it or roll it back before the engine is asked, ` +
      'or use em.transactional(), which the engine takes part in.'
    return restError('database_busy', detail, { headers: { 'retry-after': '1' } })
  }

  /** The MikroORM instance that was given the dialect, where it could not be made at once. */
  attach(orm: MikroORM): void {
    this.#orm = orm
  }

  /** The model was written for another database: its SQL may use the functions of that. */
  speakForeign(): void {
    this.#isForeign = true
    this.#handle.speakForeign(this.#now)
  }

  /** @param counters tables whose keys the engine counts from now on, with the column */
  count(counters: ReadonlyMap<string, string>): void {
    this.#keys = new Autoincrement(counters)
  }

  /** From now on the content is what `reset` goes back to. */
  start(): void {
    this.#started = true
    // From now on it is whenFree that waits.
    this.#handle.db.pragma('busy_timeout = 0')
  }

  #writing(): void {
    if (!this.#handle.db.inTransaction) this.#handle.checkPlace()
    this.#keys.prepare(this.#handle.db)
    if (!this.#started) return
    this.#keepBaseline()
    this.#image = undefined
  }

  /** Takes the baseline, at the last moment: most engines are never reset, and many never written to. */
  #keepBaseline(): void {
    if (this.#baseline === undefined && this.#size() <= MAX_BASELINE) this.#baseline = this.#image ?? this.#taken()
  }

  /** The content as bytes, which the highest keys go with. */
  #taken(): Buffer {
    const image = this.#handle.image()
    const { state } = this.#keys
    if (state !== undefined) KEYS.set(image, state)
    return image
  }

  #size(): number {
    const { memory } = this.#handle.db
    if (memory) return 0
    const [[bytes] = [0]] = this.#handle.all('select page_count * page_size from pragma_page_count, pragma_page_size', [])
    return bytes as number
  }

  /** The whole content as bytes: the same ones until something is written. */
  image(): Promise<Buffer> {
    return this.#exclusively('snapshot', () => {
      if (!this.#handle.db.memory) return this.#taken()
      this.#image ??= this.#taken()
      // Nothing has been written yet, so this is the baseline, too.
      this.#baseline ??= this.#image
      return this.#image
    })
  }

  /**
   * Replaces the whole content.
   *
   * @param first is called when no transaction is open any more, before anything changes
   */
  replace(image: Buffer, first: () => void): Promise<void> {
    return this.#exclusively('restore', () => {
      first()
      return this.#replace(image)
    })
  }

  #openImage(image: Buffer): SqliteDatabase {
    const handle = new SqliteDatabase(image)
    if (this.#isForeign) handle.speakForeign(this.#now)
    return handle
  }

  async #replace(image: Buffer): Promise<void> {
    this.#assertWritable()
    this.#handle.checkPlace()
    this.#keys.restore(KEYS.get(image))
    this.#keepBaseline()
    const { db } = this.#handle
    if (db.memory) {
      const handle = this.#openImage(image)
      this.#handle.close()
      this.#handle = handle
      this.#image = image
    } else {
      // Page by page and under SQLite's own locks, so that other processes which have the file open see a whole state at any time.
      const source = new Database(image)
      try {
        await source.backup(db.name)
      } finally {
        source.close()
      }
    }
  }

  /**
   * Goes back to the baseline.
   *
   * @param first is called when no transaction is open any more, before anything changes
   * @throws Error when the content was too large to be kept.
   */
  reset(first: () => void): Promise<void> {
    return this.#exclusively('reset', async () => {
      first()
      // Nothing can have been written.
      if (this.#handle.readOnly) return
      if (this.#baseline === undefined) {
        if (this.#size() > MAX_BASELINE) {
          throw new Error('engine.reset: the file is too large to keep its first state in memory (64 MiB): use snapshot() and restore().')
        }
        return
      }
      if (this.#image !== this.#baseline) await this.#replace(this.#baseline)
    })
  }

  /** A connection of its own, in memory, with this content; what is compiled for the model is shared. */
  static from(image: Buffer, parent: SqliteConnection): SqliteConnection {
    const connection = new SqliteConnection(new SqliteDatabase(image), lent => forkOrm(parent.orm, lent))
    if (parent.#isForeign) connection.speakForeign()
    connection.count(parent.#keys.counters)
    connection.#keys.restore(KEYS.get(image))
    connection.#baseline = image
    connection.#image = image
    connection.#started = true
    return connection
  }

  /** The tables, indexes, views and triggers in which the database of an image differs from this one, by name. */
  differing(image: Buffer): string[] {
    const other = new SqliteDatabase(image)
    try {
      const [own, others] = [schemaOf(this.#handle), schemaOf(other)]
      return [...new Set([...own.keys(), ...others.keys()])].filter(name => own.get(name) !== others.get(name)).toSorted()
    } finally {
      other.close()
    }
  }

  /** Runs work while no transaction is open. */
  async #exclusively<T>(what: string, work: () => T | Promise<T>): Promise<T> {
    if (this.#transaction() !== undefined) throw new Error(`engine.${what}: not possible inside a write, whose outcome is not known yet.`)
    const release = await this.#lock.acquire()
    try {
      return await whenFree(work, performance.now())
    } finally {
      release()
    }
  }

  /** Tells from now on of the rows that change: `current` says whom. */
  record(watched: Watched, current: () => ChangeSink | undefined): Recorder {
    const readList = (read: CompiledRead, key: KeyValues): readonly unknown[] => {
      const [record] = this.#run(readRecords(read, { filters: [], key, limit: 1, offset: 0 }, this.dialect))
      return (Object.values(record ?? {})[0] ?? []) as readonly unknown[]
    }
    this.#recorder = new Recorder(watched, () => this.#handle.db, readList, current)
    return this.#recorder
  }

  /** The number of rows of each table, all at one time. */
  countRows(tables: readonly string[]): readonly number[] | Promise<readonly number[]> {
    const statement: Statement = { sql: `select ${tables.map(table => `(select count(*) from ${name(table)})`).join(', ')}`, bindings: [] }
    return this.read(function* () {
      const [row] = yield { statement, parameters: [] }
      return row as readonly number[]
    })
  }

  read<T>(reading: () => Reading<T>, asked?: RequestAbort): T | Promise<T> {
    const transaction = this.#transaction()
    const lock = transaction?.nested ?? this.#lock
    // What is read within a write has the time that the write has.
    const end = asked ?? transaction?.end
    if (this.#isCrowded && end?.deadline !== undefined && transaction === undefined && this.#beginsCostly(reading, end.deadline))
      return this.#readInTurn(reading, end)
    // Nothing is awaited between the statements of a reading, so an idle connection needs no lock.
    if (!lock.held || (lock === this.#lock && !this.#handle.db.inTransaction)) {
      try {
        return this.#run(reading(), end)
      } catch (error) {
        if (!isBusy(error)) throw error
      }
      return this.#readWhenFree(reading, end)
    }
    return this.#readLater(lock, reading, end)
  }

  #beginsCostly<T>(reading: () => Reading<T>, deadline: number): boolean {
    const { done, value } = reading().next()
    return (
      done !== true &&
      value.statement.costs !== undefined &&
      this.#handle.lookOut.isCostly(value.statement.costs, deadline, performance.now())
    )
  }

  /**
   * After a statement that took long, other costly ones wait until the requests that have come meanwhile are there, and it is known which clients have gone: so quick
   * ones are answered in between, and those of clients that have gone are not done.
   */
  async #readInTurn<T>(reading: () => Reading<T>, end: RequestAbort): Promise<T> {
    const before = this.#turn
    let leave = (): void => {}
    this.#turn = new Promise(resolve => (leave = resolve))
    try {
      await before
      for (let turn = 0; turn < TURNS; turn++) await immediate()
      end.checkTime()
      this.#isCrowded = false
      return await this.read(reading, end)
    } finally {
      leave()
    }
  }

  readNow<T>(reading: () => Reading<T>): T {
    try {
      return this.#run(reading())
    } catch (error) {
      if (!isBusy(error)) throw error
    }
    // Who cannot wait lets SQLite do it.
    const { db } = this.#handle
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    try {
      return this.#run(reading())
    } finally {
      db.pragma('busy_timeout = 0')
    }
  }

  /** Another process has locked the file. */
  async #readWhenFree<T>(reading: () => Reading<T>, end: RequestAbort | undefined): Promise<T> {
    return whenFree(() => {
      end?.throwIfReached()
      if (this.#handle.db.inTransaction) return this.#readLater(this.#lock, reading, end)
      return this.#run(reading(), end)
    }, performance.now())
  }

  async #readLater<T>(lock: Lock, reading: () => Reading<T>, end: RequestAbort | undefined): Promise<T> {
    const release = await this.#waited(lock.acquire(end?.signal))
    try {
      return this.#run(reading(), end)
    } finally {
      release()
    }
  }

  /** Waiting for the lock is a stage of its own. */
  #waited<T>(acquired: Awaitable<T>): Awaitable<T> {
    const trace = acquired instanceof Promise ? this.#traces?.current : undefined
    const before = trace?.enter('lock')
    if (before === undefined) return acquired
    return chain(acquired, got => {
      trace!.enter(before)
      return got
    })
  }

  #run<T>(reading: Reading<T>, end?: RequestAbort): T {
    this.#followClock()
    const handle = this.#handle
    const trace = this.#traces?.current
    if (end?.deadline !== undefined) return this.#runInTime(reading, end, end.deadline, trace)
    let step = reading.next()
    if (trace !== undefined) {
      while (step.done !== true) {
        const { statement, parameters, bound } = step.value
        const { sql } = statement
        step = reading.next(
          trace.statement(
            sql,
            parameters,
            rows => rows.length,
            () => handle.all(sql, parameters, bound),
          ),
        )
      }
      return step.value
    }
    while (step.done !== true) step = reading.next(handle.all(step.value.statement.sql, step.value.parameters, step.value.bound))
    return step.value
  }

  /** Statements that may take long are run with looks at the clock. */
  #runInTime<T>(reading: Reading<T>, end: RequestAbort, deadline: number, trace: Trace | undefined): T {
    const { lookOut } = this.#handle
    end.throwIfReached()
    const before = lookOut.end
    lookOut.end = end
    // One look at the clock for each statement: a record is read in little more than it takes to look often.
    const begun = performance.now()
    let now = begun
    try {
      let step = reading.next()
      while (step.done !== true) {
        const { statement, parameters, bound } = step.value
        const { costs } = statement
        end.about = costs?.about
        if (now >= deadline) end.checkTime()
        const sql = costs !== undefined && lookOut.isCostly(costs, deadline, now) ? costs.watched : statement.sql
        const rows =
          trace === undefined
            ? this.#handle.all(sql, parameters, bound)
            : trace.statement(
                statement.sql,
                parameters,
                ({ length }) => length,
                () => this.#handle.all(sql, parameters, bound),
              )
        step = reading.next(rows)
        now = performance.now()
      }
      return step.value
    } catch (error) {
      now = performance.now()
      throw error
    } finally {
      lookOut.end = before
      if (now - begun >= LONG) this.#makeCrowded()
    }
  }

  /** What comes now waits for its turn, until nothing has come for a while. */
  #makeCrowded(): void {
    this.#isCrowded = true
    void immediate()
      .then(() => immediate())
      .then(() => this.#turn)
      .then(() => (this.#isCrowded = false))
  }

  /** The statements of requests that are traced are told to their traces. */
  observe(traces: Traces): void {
    this.#traces = traces
  }

  /** The time of the model's functions and of SQL is that of this clock. */
  follow(clock: Clock): void {
    this.#clock = clock
  }

  /** Not before the clock differs from the system's: SQLite's own functions are faster. */
  #followClock(): void {
    const clock = this.#clock
    if (clock !== undefined && !this.#handle.followsTime && !clock.isSystem) this.#handle.followTime(() => clock.now())
  }

  retime(entity: object, given: object, from: number): void {
    if (this.#clock === undefined || this.#clock.isSystem) return
    retime(entity as Record<string, unknown>, given, this.orm.getMetadata(entity.constructor as never).props, from, this.#clock)
  }

  explain(statements: readonly RunStatement[]): StatementsExplained {
    return explainStatements(this.#handle.db, statements)
  }

  /** The links of relations, and foreign keys, that no index serves, in tables with more rows than that. */
  unindexedLinks(resources: readonly Resource[], rows: number): UnindexedLink[] {
    return findUnindexedLinks(this.#handle.db, resources, rows)
  }

  check(statement: Statement): void {
    this.#handle.db.prepare(statement.sql)
  }

  /** @throws RestError when the database is open for reading only. */
  #assertWritable(): void {
    if (this.#handle.readOnly) throw restError('method_not_allowed', 'The database is open for reading only: nothing can be written to it.')
  }

  write<T>(work: (em: EntityManager) => Awaitable<T>, end?: RequestAbort, flushed = false): Awaitable<T> {
    this.#assertWritable()
    const workplace = flushed ? this.#takeWorkplace() : undefined
    return workplace === undefined
      ? this.#writeLater(work, end, flushed)
      : this.#writeAtOnce(work, workplace, end, () => this.#writeLater(work, end, flushed))
  }

  flush(em: EntityManager): Awaitable<void> {
    return flush(em)
  }

  /**
   * What a write at once works with; undefined when there is something to wait for, or somebody who looks on: then it is done by an entity manager of its
   * own, as MikroORM's `transactional` does it.
   */
  #takeWorkplace(): ReusableUnitOfWork | undefined {
    if (this.#lock.held || this.#handle.db.inTransaction || this.#transaction() !== undefined) return undefined
    const { em } = this.orm
    if (runsForeignCode(em) || em.schema !== undefined) return undefined
    const known = this.#workplace
    this.#workplace = undefined
    return known ?? this.#makeWorkplace(em)
  }

  #makeWorkplace(global: EntityManager): ReusableUnitOfWork | undefined {
    const isOrdinary = (global as object).constructor === SqlEntityManager && global.config.get('disableTransactions') !== true
    if (!isOrdinary) return undefined
    const transaction = (global.getDriver() as unknown as BoundSqliteDriver).getConnection('write').standing()
    return transaction && { em: global.fork({ cloneEventManager: true }), transaction }
  }

  /** Work that waits for nothing is done when this returns. It begins and ends as any other one does, should it wait after all. */
  #writeAtOnce<T>(
    work: (em: EntityManager) => Awaitable<T>,
    workplace: ReusableUnitOfWork,
    limit: RequestAbort | undefined,
    later: () => Promise<T>,
  ): Awaitable<T> {
    const { em, transaction } = workplace
    // It is free.
    const release = this.#lock.acquire() as () => void
    const open: OpenTransaction = { outer: undefined, trx: transaction.handle, open: true, nested: new Lock(), end: limit }
    const leave = (): void => {
      open.open = false
      release()
    }
    try {
      transaction.begin()
    } catch (error) {
      leave()
      this.#workplace = workplace
      // Another process has locked the file, which is waited for.
      if (isBusy(error)) return later()
      throw error
    }
    // It is ours, and known as such to all that runs in it.
    this.#begunByHand = undefined
    rememberManager(em, transaction.handle)
    const fail = (error: unknown): never => {
      try {
        transaction.rollback()
      } catch (failure) {
        this.#warnOfRollback(failure as Error)
      }
      leave()
      throw error
    }
    const finish = (result: T): Awaitable<T> => {
      const end = (): T => {
        em.clear()
        leave()
        this.#workplace = workplace
        return result
      }
      let committed: Awaitable<void>
      try {
        limit?.checkTime()
        committed = transaction.commit()
      } catch (error) {
        return fail(error)
      }
      return committed instanceof Promise ? committed.then(end, fail) : end()
    }
    let result: Awaitable<T>
    try {
      em.setTransactionContext(transaction.handle)
      result = this.#current.run(open, work, em)
    } catch (error) {
      return fail(error)
    }
    return result instanceof Promise ? result.then(finish, fail) : finish(result)
  }

  #warnOfRollback({ message }: Error): void {
    // It must not hide why it was needed.
    this.orm.config.getLogger().warn('query', `Failed to roll back transaction: ${message}`)
  }

  async #writeLater<T>(work: (em: EntityManager) => Awaitable<T>, end: RequestAbort | undefined, flushed: boolean): Promise<T> {
    const outer = this.#transaction()
    const release = outer === undefined ? undefined : await this.#waited(outer.nested.acquire(end?.signal))
    const transaction: OpenTransaction = { outer, open: false, nested: new Lock(), end: end ?? outer?.end }
    try {
      // Subscribers that a hook adds are gone with the request, as in MikroORM's own `transactional`.
      const em = this.orm.em.fork({ cloneEventManager: true })
      // The context tells MikroORM, as `transactional` would, which entity manager the code inside means.
      return await this.#current.run(transaction, () =>
        TransactionContext.create(em as never, () => this.#transact(em, transaction, work, flushed)),
      )
    } finally {
      transaction.open = false
      release?.()
    }
  }

  insertRows(tables: readonly TableRows[], em: EntityManager): boolean {
    if (runsForeignCode(em) || tables.some(({ table }) => this.#keys.counts(table))) return false
    this.#writing()
    this.#recorder?.prepare()
    for (const { table, columns, rows } of tables) {
      const into = `insert into ${name(table)} (${columns.map(name).join(', ')})`
      const statement = this.#handle.db.prepare(`${into} values (${columns.map(() => '?').join(', ')})`)
      for (const row of rows) statement.run(...row)
    }
    return true
  }

  deferReferences(): void {
    this.#handle.db.pragma('defer_foreign_keys = on')
  }

  /** What `em.transactional` does, but for the second entity manager that it makes, and the merging of that into the first one. */
  async #transact<T>(
    em: EntityManager,
    transaction: OpenTransaction,
    work: (em: EntityManager) => Awaitable<T>,
    flushed: boolean,
  ): Promise<T> {
    const ctx = transaction.outer?.trx
    // Where nobody listens there is nobody to tell of the transaction.
    const isSilent = !hasSubscribers(em) && em.config.get('disableTransactions') !== true
    const connection = em.getDriver().getConnection('write')
    if (isSilent) em.setTransactionContext(await connection.begin(ctx === undefined ? {} : { ctx }))
    else await em.begin(ctx === undefined ? {} : { ctx })
    const trx = em.getTransactionContext()
    if (trx !== undefined) transaction.trx = trx
    rememberManager(em, trx)
    transaction.open = true
    try {
      const result = await work(em)
      transaction.end?.checkTime()
      if (isSilent && flushed && !runsForeignCode(em)) {
        await connection.commit(trx)
        em.resetTransactionContext()
      } else await em.commit()
      return result
    } catch (error) {
      try {
        await em.rollback()
      } catch (failure) {
        this.#warnOfRollback(failure as Error)
      }
      throw error
    }
  }

  load(name: EntityName, key: unknown, em: EntityManager): Awaitable<object | undefined> {
    return loadRecord(name, key, em)
  }

  loadsAlone(name: EntityName): boolean {
    return loadsAlone(name, this.orm.em)
  }

  removesAlone(name: EntityName): boolean {
    const { em } = this.orm
    return loadsAlone(name, em) && !cascades(em.getMetadata().get(name)) && !runsForeignCode(em)
  }

  /** The innermost transaction that has begun and not ended. */
  #transaction(): OpenTransaction | undefined {
    let transaction = this.#current.getStore()
    while (transaction?.open === false) transaction = transaction.outer
    return transaction
  }

  async close(): Promise<void> {
    await this.#orm?.close(true)
    this.#handle.close()
  }
}

function schemaOf(handle: SqliteDatabase): Map<string, string> {
  // SQLite's own tables (of counters and statistics) come and go.
  const rows = handle.all("select name, coalesce(sql, '') from sqlite_schema where name not like 'sqlite\\_%' escape '\\'", [])
  return new Map(rows as [string, string][])
}
