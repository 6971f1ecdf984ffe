/**
 * Connection: an open PostgreSQL database behind the interface of lib/database/. It puts together what runs work on it: the sessions, readings, units of work, and
 * the MikroORM instance that has the sessions lent.
 */
import type { EntityManager, EntityName, MikroORM } from '@mikro-orm/core'
import type { RequestAbort } from '../base/abort.ts'
import type { Awaitable } from '../base/awaitable.ts'
import type { Clock } from '../base/clock.ts'
import type { RunStatement, Traces } from '../base/trace.ts'
import type { ChangeRecorder } from '../database/changes.ts'
import type { Connection, Dialect, Reading, Statement } from '../database/dialect.ts'
import type { StatementsExplained, UnindexedLink } from '../database/explained-statements.ts'
import type { Resource } from '../model/model.ts'
import { cascades, findRecord, loadsAlone } from '../orm/find-record.ts'
import { retime } from '../orm/model-time.ts'
import { runsForeignCode } from '../orm/user-hooks.ts'
import { name } from '../sql/sql.ts'
import { notPlanned } from './dialect.ts'
import { explainStatements } from './explain.ts'
import type { OrmHost } from './orm/lent-dialect.ts'
import { Readings } from './readings.ts'
import { command } from './server/sessions.ts'
import type { Sessions } from './server/sessions.ts'
import type { Transactions } from './server/transactions.ts'
import { findUnindexedLinks } from './unindexed-links.ts'
import { UnitsOfWork } from './units-of-work.ts'

/** What a connection is made of. */
export interface ConnectionParts {
  readonly sessions: Sessions
  readonly transactions: Transactions
  readonly dialect: Dialect
  readonly readOnly: boolean
}

export class PostgresConnection implements Connection {
  readonly dialect: Dialect
  readonly mayHoldMisfits = false
  readonly #parts: ConnectionParts
  readonly #readings: Readings
  readonly #unitsOfWork: UnitsOfWork
  #clock: Clock | undefined
  #orm: MikroORM | undefined

  constructor(parts: ConnectionParts) {
    const { sessions, transactions, dialect, readOnly } = parts
    this.#parts = parts
    this.dialect = dialect
    this.#readings = new Readings(sessions, transactions)
    this.#unitsOfWork = new UnitsOfWork(sessions, transactions, () => this.orm, readOnly)
  }

  /** What MikroORM is to be made with. */
  get host(): OrmHost {
    const { sessions, transactions } = this.#parts
    return { sessions, transactions, clock: () => this.#clock, trace: () => this.#readings.traces?.current }
  }

  get orm(): MikroORM {
    return this.#orm!
  }

  /** The MikroORM instance on the sessions. */
  attach(orm: MikroORM): void {
    this.#orm = orm
  }

  read<T>(reading: () => Reading<T>, end?: RequestAbort): T | Promise<T> {
    return this.#readings.read(reading, end)
  }

  readNow(): never {
    throw new Error('engine.token: not possible on PostgreSQL, which answers by promises only: log in instead (POST /v1/session).')
  }

  countRows(tables: readonly string[]): Awaitable<readonly number[]> {
    const statement: Statement = { sql: `select ${tables.map(table => `(select count(*) from ${name(table)})`).join(', ')}`, bindings: [] }
    return this.read(function* () {
      const [rows] = yield [{ statement, parameters: [], isLast: true }]
      return rows![0]!.map(Number)
    })
  }

  async check({ sql }: Statement): Promise<void> {
    await this.#withSession(async session => {
      await command(session, `prepare mikro_check as ${sql}`)
      await command(session, 'deallocate mikro_check')
    })
  }

  async explain(statements: readonly RunStatement[]): Promise<StatementsExplained> {
    return this.#withSession(session => explainStatements(session, statements))
  }

  async unindexedLinks(resources: readonly Resource[], rows: number): Promise<UnindexedLink[]> {
    return this.#withSession(session => findUnindexedLinks(session, resources, rows))
  }

  async #withSession<T>(work: (session: Awaited<ReturnType<Sessions['acquire']>>) => Promise<T>): Promise<T> {
    const { sessions, transactions } = this.#parts
    const inside = transactions.current?.session
    if (inside !== undefined) return work(inside)
    const session = await sessions.acquire()
    let failed: unknown
    try {
      return await work(session)
    } catch (error) {
      failed = error
      throw error
    } finally {
      sessions.release(session, failed)
    }
  }

  observe(traces: Traces): void {
    this.#readings.traces = traces
  }

  /** Nothing reports the rows that change: that takes triggers, and an existing database gets none. */
  record(): ChangeRecorder {
    return { watchers: new Set(), isRecording: false }
  }

  follow(clock: Clock): void {
    this.#clock = clock
  }

  retime(entity: object, given: object, from: number): void {
    if (this.#clock === undefined || this.#clock.isSystem) return
    retime(entity as Record<string, unknown>, given, this.orm.getMetadata(entity.constructor as never).props, from, this.#clock)
  }

  write<T>(work: (em: EntityManager) => Awaitable<T>, end?: RequestAbort, flushed = false): Promise<T> {
    return this.#unitsOfWork.write(work, end, flushed)
  }

  transact<T>(work: () => Awaitable<T>, end?: RequestAbort): Promise<T> {
    return this.write(work, end, true)
  }

  /** The unit of work writes all rows. */
  writesAlone(): false {
    return false
  }

  /** The server counts all keys. */
  takeKey(): undefined {
    return undefined
  }

  run(): never {
    return notPlanned()
  }

  async flush(em: EntityManager): Promise<void> {
    await em.flush()
  }

  insertRows(): boolean {
    return false
  }

  /** Only constraints that were made DEFERRABLE wait for the end of the transaction. */
  async deferReferences(): Promise<void> {
    const session = this.#parts.transactions.current?.session
    if (session !== undefined) await command(session, 'set constraints all deferred')
  }

  load(entity: EntityName, key: unknown, em: EntityManager): Promise<object | undefined> {
    return findRecord(entity, key, em)
  }

  loadsAlone(entity: EntityName): boolean {
    return loadsAlone(entity, this.orm.em)
  }

  removesAlone(entity: EntityName): boolean {
    const { em } = this.orm
    return loadsAlone(entity, em) && !cascades(em.getMetadata().get(entity)) && !runsForeignCode(em)
  }

  async close(): Promise<void> {
    await this.#orm?.close(true)
    await this.#parts.sessions.close()
  }
}
