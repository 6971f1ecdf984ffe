/** An open SQLite database with MikroORM on the same handle. `Readings` and `UnitsOfWork` do the work. */
import { SqlEntityManager } from '@mikro-orm/sqlite'
import type { EntityManager, MikroORM } from '@mikro-orm/core'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { Clock } from '../../foundation/async/clock.ts'
import type { RunStatement, Traces } from '../../foundation/async/trace.ts'
import type { ChangeOwner, ChangeRecorder, Watched } from '../../records/database/changes.ts'
import { AddedFilters } from '../../model/added-filters.ts'
import type { Reading, Statement } from '../../records/database/dialect.ts'
import type { BehindWrite, Connection, RowsWritten } from '../../records/database/connection.ts'
import type { StatementsExplained, UnindexedLink } from '../../records/database/explained-statements.ts'
import type { Resource } from '../../model/model.ts'
import type { LinkColumn, StoredTable } from '../../model/stored-table.ts'
import { readListNow, type ListNow, type TouchedList } from '../sql/list-changes.ts'
import type { Content } from './content.ts'
import { havePlainLinks, isChecked } from './database/file-links.ts'
import { SQLITE } from './dialect.ts'
import { Observers } from './observers.ts'
import { OrmHost } from './orm-host.ts'
import { SharedSqliteDialect } from './orm/shared-dialect.ts'
import { Readings } from './readings.ts'
import { Recorder } from './recorder.ts'
import { name } from '../sql/sql.ts'
import { Transactions } from './transactions.ts'
import { UnitsOfWork } from './units-of-work.ts'
import { OrmConnection } from '../orm/orm-connection.ts'

const DROPPERS: Statement = {
  sql: `select name from sqlite_schema where type = 'trigger' and tbl_name = ? collate nocase and sql like '%raise%ignore%' order by name`,
  bindings: [],
}

export class SqliteConnection extends OrmConnection implements Connection {
  readonly dialect = SQLITE
  readonly content: Content
  readonly transactions: Transactions
  readonly filters: AddedFilters
  readonly keepsConstraints: boolean
  readonly mayHoldMisfits: boolean
  read: Connection['read']
  readonly #observers = new Observers()
  readonly #readings: Readings
  readonly #unitsOfWork: UnitsOfWork
  readonly #makeOrm: (shared: SharedSqliteDialect) => MikroORM
  #orm: MikroORM | undefined

  constructor(content: Content, makeOrm: (shared: SharedSqliteDialect) => MikroORM, filters = new AddedFilters()) {
    super(SqlEntityManager)
    this.content = content
    this.filters = filters
    this.keepsConstraints = !content.hasOtherWriters
    this.mayHoldMisfits = content.hasOtherWriters
    this.#makeOrm = makeOrm
    this.transactions = new Transactions(this.#observers)
    this.#readings = new Readings(content, this.transactions, this.#observers)
    this.read = this.#readings.read
    this.#unitsOfWork = new UnitsOfWork(content, this.transactions, this.#observers, this)
  }

  get orm(): MikroORM {
    return (this.#orm ??= this.#makeOrm(this.shareWithOrm()))
  }

  shareWithOrm(): SharedSqliteDialect {
    return new SharedSqliteDialect(new OrmHost(this.content, this.transactions, this.#observers), this.filters)
  }

  attach(orm: MikroORM): void {
    this.#orm = orm
  }

  readNow<T>(reading: () => Reading<T>): T {
    return this.#readings.readNow(reading)
  }

  countRows(tables: readonly string[]): Awaitable<readonly number[]> {
    const statement: Statement = { sql: `select ${tables.map(table => `(select count(*) from ${name(table)})`).join(', ')}`, bindings: [] }
    return this.read(function* () {
      const [rows] = yield [{ statement, parameters: [] }]
      return rows![0] as readonly number[]
    })
  }

  droppers(table: string): Awaitable<readonly string[]> {
    const { handle } = this.content
    if (handle.isInMemory && !handle.hasTriggers()) return []
    return this.read(function* () {
      const [rows] = yield [{ statement: DROPPERS, parameters: [table] }]
      return rows!.map(row => String(row[0]))
    })
  }

  check(statement: Statement): void {
    this.content.handle.db.prepare(statement.sql)
  }

  async explain(statements: readonly RunStatement[]): Promise<StatementsExplained> {
    const { explainStatements } = await import('./explain.ts')
    return explainStatements(this.content.handle.db, statements)
  }

  async unindexedLinks(resources: readonly Resource[], rows: number): Promise<UnindexedLink[]> {
    const { findUnindexedLinks } = await import('./explain.ts')
    return findUnindexedLinks(this.content.handle.db, resources, rows)
  }

  observe(traces: Traces): void {
    this.#observers.traces = traces
  }

  record(watched: Watched, owner: ChangeOwner): ChangeRecorder {
    const readList = (list: TouchedList): ListNow => this.#readings.run(readListNow(list, this.dialect))
    return (this.#observers.recorder = new Recorder(watched, this.content, readList, owner))
  }

  follow(clock: Clock): void {
    this.content.follow(clock)
  }

  protected get clock(): Clock | undefined {
    return this.content.clock
  }

  write<T>(work: (em: EntityManager) => Awaitable<T>, end?: RequestAbort): Promise<T> {
    return this.#unitsOfWork.write(work, end)
  }

  transact<T>(work: () => Awaitable<T>, end?: RequestAbort, repeatable = false): Awaitable<T> {
    return this.#unitsOfWork.transact(work, end, repeatable)
  }

  takeKey(table: StoredTable, given: unknown): number | bigint | undefined {
    return this.#unitsOfWork.takeKey(table, given)
  }

  keepsTime(): boolean {
    return true
  }

  havePlainLinks(columns: readonly LinkColumn[]): boolean {
    return !this.content.hasOtherWriters || havePlainLinks(this.content.handle.db, columns)
  }

  tellsKeys(): boolean {
    return !this.content.handle.hasTriggers()
  }

  refusesLinks(table: string, column: string): boolean {
    // A surrounding transaction may have deferred references.
    return this.keepsConstraints && this.transactions.current?.outer === undefined && isChecked(this.content.handle.db, table, column)
  }

  countsKeys(table: string): boolean {
    return this.content.keys.counts(table)
  }

  run(statement: Statement, parameters: readonly unknown[], behind: BehindWrite = 'writes'): RowsWritten {
    return this.#unitsOfWork.run(statement, parameters, behind)
  }

  deferReferences(): void {
    this.transactions.begin()
    this.content.handle.db.pragma('defer_foreign_keys = on')
  }

  async close(): Promise<void> {
    await this.#orm?.close(true)
    this.content.close()
  }
}
