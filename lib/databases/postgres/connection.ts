/** An open PostgreSQL database with MikroORM on its sessions. `Readings`, `UnitsOfWork` and `RowWriter` do the work. */
import type { EntityManager, MikroORM } from '@mikro-orm/core'
import type { RequestAbort } from '../../foundation/async/abort.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { Clock } from '../../foundation/async/clock.ts'
import type { RunStatement, Traces } from '../../foundation/async/trace.ts'
import type { PoolClient } from 'pg'
import type { ChangeOwner, ChangeRecorder, Watched } from '../../records/database/changes.ts'
import type { Dialect, Reading, Statement } from '../../records/database/dialect.ts'
import type { BehindWrite, Connection, Repeatable, RowsWritten, WrittenPlace } from '../../records/database/connection.ts'
import type { StatementsExplained, UnindexedLink } from '../../records/database/explained-statements.ts'
import { AddedFilters } from '../../model/added-filters.ts'
import type { Resource } from '../../model/model.ts'
import type { StoredTable } from '../../model/stored-table.ts'
import type { Flavour } from '../sql/flavour.ts'
import { readListNow, type ListNow, type TouchedList } from '../sql/list-changes.ts'
import { tableName, name } from '../sql/sql.ts'
import { createDialect } from './dialect.ts'
import { explainStatements } from './explain.ts'
import type { ChangeLog } from './kit/change-log.ts'
import { Recorder } from './kit/recorder.ts'
import { compileWatch } from './kit/watch.ts'
import { LogIns } from './log-ins.ts'
import type { LogInTables } from './log-in-tables.ts'
import type { OrmHost } from './orm/lent-dialect.ts'
import { withTime } from './orm/server-time.ts'
import { Readings } from './readings.ts'
import { WriteGate } from './server/gate.ts'
import { isLent } from './server/lent-settings.ts'
import { command, type Sessions, ask } from './server/sessions.ts'
import type { Transactions } from './server/transactions.ts'
import { UnitsOfWork } from './units-of-work.ts'
import { OrmConnection } from '../orm/orm-connection.ts'
import { writeUnbound } from '../sql/write-unbound.ts'
import { UnboundValue } from '../../records/database/unbound-value.ts'
import { EntityManager as SqlEntityManager } from '@mikro-orm/postgresql'

interface ConnectionParts {
  readonly sessions: Sessions
  readonly transactions: Transactions
  readonly flavour: Flavour
  readonly readOnly: boolean
  /** Added before a fork. */
  readonly filters?: AddedFilters
}

interface Closing {
  before(): Promise<void>
  after(): Promise<void>
}

/** Triggers and rules that may drop a written row. Bits of `tgtype`: 1 each row, 2 before. */
const DROPPERS: Statement = {
  sql: `select tgname::text from pg_trigger where tgrelid = to_regclass($1::text) and not tgisinternal and tgtype & 3 = 3
    union all select rulename::text from pg_rewrite where ev_class = to_regclass($1::text) and rulename <> '_RETURN' order by 1`,
  bindings: [],
}

export class PostgresConnection extends OrmConnection implements Connection {
  readonly dialect: Dialect
  readonly mayHoldMisfits = false
  keepsConstraints = false
  readonly filters: AddedFilters
  readonly parts: ConnectionParts
  readonly #readings: Readings
  readonly #unitsOfWork: UnitsOfWork
  readonly #rows: RowWriter
  readonly gate = new WriteGate()
  log: ChangeLog | undefined
  logIns: LogIns | undefined
  closing: Closing | undefined
  #recorder: Recorder | undefined
  #clock: Clock | undefined
  #orm: MikroORM | undefined
  #makeOrm: (() => MikroORM) | undefined

  constructor(parts: ConnectionParts) {
    super(SqlEntityManager)
    const { sessions, transactions, flavour, readOnly } = parts
    this.parts = parts
    this.filters = new AddedFilters(parts.filters)
    this.dialect = createDialect(flavour)
    this.#readings = new Readings(sessions, transactions)
    this.#unitsOfWork = new UnitsOfWork(this.host, () => this.orm, readOnly)
    this.#rows = new RowWriter(this.host, () => this.orm)
  }

  get host(): OrmHost {
    const { sessions, transactions } = this.parts
    return {
      sessions,
      transactions,
      gate: this.gate,
      observer: () => this.#recorder,
      clock: () => this.#clock,
      trace: () => this.#readings.traces?.current,
    }
  }

  keepLogIns(tables: LogInTables): void {
    const { sessions, readOnly } = this.parts
    this.logIns = new LogIns(tables, { sessions, gate: this.gate, readOnly })
  }

  get orm(): MikroORM {
    return (this.#orm ??= this.#makeOrm!())
  }

  attach(orm: MikroORM): void {
    this.#orm = orm
  }

  attachLater(make: () => MikroORM): void {
    this.#makeOrm = make
  }

  read<T>(reading: () => Reading<T>, end?: RequestAbort, behind?: () => void): T | Promise<T> {
    return this.#readings.read(reading, end, behind)
  }

  readNow<T>(reading: () => Reading<T>): Awaitable<T> {
    return this.read(reading)
  }

  countRows(tables: readonly string[]): Awaitable<readonly number[]> {
    const statement: Statement = {
      sql: `select ${tables.map(table => `(select count(*) from ${tableName(table)})`).join(', ')}`,
      bindings: [],
    }
    return this.read(function* () {
      const [rows] = yield [{ statement, parameters: [], isLast: true }]
      return rows![0]!.map(Number)
    })
  }

  droppers(table: string): Awaitable<readonly string[]> {
    return this.read(function* () {
      const [rows] = yield [{ statement: DROPPERS, parameters: [tableName(table)] }]
      return rows!.map(row => String(row[0]))
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

  async #withSession<T>(work: (session: PoolClient) => Promise<T>): Promise<T> {
    const { sessions, transactions } = this.parts
    const inside = transactions.current?.session
    if (inside !== undefined) return work(inside)
    return sessions.use(async session => {
      if (!isLent(session)) return work(session)
      // Behind a pooler, only a transaction keeps a connection.
      await command(session, 'begin')
      try {
        return await work(session)
      } finally {
        await command(session, 'rollback')
      }
    })
  }

  observe(traces: Traces): void {
    this.#readings.traces = traces
  }

  record(watched: Watched, owner: ChangeOwner): ChangeRecorder {
    const { log } = this
    if (log === undefined) return { watchers: new Set(), isRecording: false }
    const { sessions, flavour } = this.parts
    const readList = (session: PoolClient, list: TouchedList): Promise<ListNow> =>
      this.#readings.readOn(session, readListNow(list, this.dialect))
    return (this.#recorder = new Recorder({ log, compiled: compileWatch(watched, log, flavour), sessions, readList, owner }))
  }

  follow(clock: Clock): void {
    this.#clock = clock
  }

  protected get clock(): Clock | undefined {
    return this.#clock
  }

  write<T>(
    work: (em: EntityManager) => Awaitable<T>,
    end?: RequestAbort,
    repeatable: Repeatable = false,
    place?: WrittenPlace,
  ): Promise<T> {
    return this.#unitsOfWork.write(work, end, repeatable, place)
  }

  transact<T>(work: () => Awaitable<T>, end?: RequestAbort, repeatable = false, place?: WrittenPlace): Promise<T> {
    return this.#unitsOfWork.transact(work, end, repeatable, place)
  }

  /** The server counts all keys. */
  takeKey(): undefined {
    return undefined
  }

  /** `now()` reads the server's clock. */
  keepsTime({ rawDefaults }: StoredTable): boolean {
    return this.#clock === undefined || this.#clock.isSystem || rawDefaults.every(sql => withTime(sql, 0) === undefined)
  }

  havePlainLinks(): boolean {
    return true
  }

  tellsKeys(): boolean {
    return true
  }

  /** An error ends the transaction. */
  refusesLinks(): boolean {
    return false
  }

  countsKeys(): boolean {
    return false
  }

  run(statement: Statement, parameters: readonly unknown[], behind: BehindWrite = 'writes'): Promise<RowsWritten> {
    return this.#rows.run(statement, parameters, behind)
  }

  /** Only DEFERRABLE constraints wait for the commit. */
  async deferReferences(): Promise<void> {
    const session = this.parts.transactions.current?.session
    if (session !== undefined) await command(session, 'set constraints all deferred')
  }

  async close(): Promise<void> {
    try {
      await this.closing?.before()
    } finally {
      await this.#orm?.close(true)
      await this.parts.sessions.close()
      await this.closing?.after()
    }
  }
}

/** An index serves a foreign key by beginning with the key's columns, in any order. */
const FIND = `
  select u.place, array_to_json(array(select a.attname from unnest(k.conkey) with ordinality as o(n, i)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = o.n order by o.i)), greatest(c.reltuples, 0)::bigint
  from unnest($1::text[]) with ordinality as u(t, place)
    join pg_class c on c.oid = to_regclass(u.t) join pg_constraint k on c.oid = k.conrelid
  where k.contype = 'f' and c.reltuples > $2::bigint
    and not exists (select from pg_index x where x.indrelid = c.oid and x.indpred is null
      and (x.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey)
  order by 1, 2::text`

async function findUnindexedLinks(session: PoolClient, resources: readonly Resource[], rows: number): Promise<UnindexedLink[]> {
  const tables = [...new Set(resources.map(({ table }) => table))]
  const found = await ask(session, FIND, [tables.map(tableName), rows])
  return found.map(([place, columns, count]) => {
    const table = tables[Number(place) - 1]!
    const names = JSON.parse(columns as string) as string[]
    return {
      table,
      columns: names,
      rows: Math.min(Number(count), rows + 1),
      sql: `create index on ${tableName(table)} (${names.map(name).join(', ')})`,
    }
  })
}

/** Keys are drawn row by row: sorting restores the order. */
function toKeys(rows: readonly (readonly unknown[])[]): readonly bigint[] {
  return rows.map(([key]) => BigInt(key as string)).toSorted((a, b) => (a < b ? -1 : 1))
}

export class RowWriter {
  readonly #host: OrmHost
  readonly #orm: () => MikroORM

  constructor(host: OrmHost, orm: () => MikroORM) {
    this.#host = host
    this.#orm = orm
  }

  async run({ sql }: Statement, given: readonly unknown[], behind: BehindWrite): Promise<RowsWritten> {
    const { sessions, transactions, observer } = this.#host
    const { em } = this.#orm()
    const bound = UnboundValue.areMade ? writeUnbound(sql, given, em.getPlatform()) : { sql, parameters: given }
    const { parameters } = bound
    const text = em.config.get('onQuery')(bound.sql, parameters)
    transactions.checkTime()
    const trace = this.#host.trace()
    const before = trace?.enter('sql')
    const begun = performance.now()
    let written: number | undefined
    try {
      const session = transactions.current!.session!
      const running = sessions.readAll(session, [{ sql: text, parameters }])
      observer()?.writes(session, behind !== 'writes')
      const { rows, tags } = await running
      written = Number(tags[0]!.slice(tags[0]!.lastIndexOf(' ')))
      const [returned] = rows as [readonly (readonly unknown[])[]]
      const [[counted = 0] = []] = returned
      const first = BigInt(counted as string)
      return returned.length < 2 ? { rows: written, counted: first } : { rows: written, counted: first, keys: () => toKeys(returned) }
    } catch (error) {
      throw em.getDriver().convertException(error as Error)
    } finally {
      trace?.streamed({ sql: text, parameters, duration: performance.now() - begun, rows: written })
      if (before !== undefined) trace!.enter(before)
    }
  }
}
