/**
 * Reads and writes ended tokens, removed users and failed log-ins, outside of the caller's transaction. Throws RestError (database_busy)
 * where the server cannot be reached.
 */
import type { Reading, Row } from '../../records/database/dialect.ts'
import type { LogInAttempts, LogInOutcome, LogInStore, LogInWindow, StoredToken, TokenState } from '../../records/database/log-in-store.ts'
import { isLost, unreachable } from './server/errors.ts'
import type { WriteGate } from './server/gate.ts'
import { parseArray, type Sessions } from './server/sessions.ts'
import { removalOf, type LogInTables } from './log-in-tables.ts'

/** Failed log-ins between two removals of old rows. */
const PRUNE_EVERY = 100

interface LogInHost {
  readonly sessions: Sessions
  /** Log-ins wait while all data are replaced. */
  readonly gate: WriteGate
  readonly readOnly: boolean
}

export class LogIns implements LogInStore {
  readonly mayWrite: boolean
  readonly tables: LogInTables
  readonly #host: LogInHost
  #failed = 0

  constructor(tables: LogInTables, host: LogInHost) {
    this.tables = tables
    this.#host = host
    this.mayWrite = !host.readOnly
  }

  *read({ id, user, family = id }: StoredToken): Reading<TokenState> {
    const { ended, tokens } = this.tables
    const removal = removalOf(user)
    const sql =
      `select id, at::text from ${ended} where id in ($1::text, $2::text, $3::text) ` +
      `union all select null, mark from ${tokens} where id = $1::text`
    const [rows] = yield [{ statement: { sql, bindings: [] }, parameters: [id, removal, family] }]
    const find = (wanted: string | null): string | undefined => rows!.find(([found]) => found === wanted)?.[1] as string | undefined
    const removed = find(removal)
    return {
      hasEnded: (find(id) ?? find(family)) !== undefined,
      removed: removed === undefined ? undefined : Number(removed),
      mark: find(null),
    }
  }

  async end(id: string, expires: number, now: number): Promise<boolean> {
    const { ended } = this.tables
    // Expired tokens need no row. Rows of removed users stay.
    await this.#write(`delete from ${ended} where at <= $1 and id not like 'user %'`, [Math.floor(now)])
    const insert = `insert into ${ended} (id, at) values ($1, $2) on conflict (id) do nothing returning 1`
    return (await this.#write(insert, [id, Math.ceil(expires)])).length > 0
  }

  async keepMark(id: string, mark: string, expires: number, now: number): Promise<void> {
    const { tokens } = this.tables
    await this.#write(
      `with old as (delete from ${tokens} where expires <= $4) insert into ${tokens} (id, mark, expires) values ($1, $2, $3)`,
      [id, mark, Math.ceil(expires), Math.floor(now)],
    )
  }

  async begin(name: string, attempt: bigint, { after, before }: LogInWindow, most: number): Promise<LogInAttempts | undefined> {
    const { logins } = this.tables
    const counts = (column: string): string =>
      `(select coalesce(array_agg(a), '{}') from unnest(${column}) as a where a > $2::bigint and a < $3::bigint)`
    const begun = await this.#write(
      `insert into ${logins} as l (name, failed, pending) values ($1, '{}', array[$4::bigint]) on conflict (name) do update
         set failed = ${counts('l.failed')}, pending = ${counts('l.pending')} || $4::bigint
         where cardinality(${counts('l.failed')}) + cardinality(${counts('l.pending')}) < $5::int returning 1`,
      [name, after, before, attempt, most],
    )
    if (begun.length > 0) return undefined
    const [[failed, pending] = ['{}', '{}']] = await this.#write(
      `select ${counts('failed')}, ${counts('pending')} from ${logins} where name = $1`,
      [name, after, before],
    )
    return { failed: parseArray(failed as string).map(BigInt), pending: parseArray(pending as string).map(BigInt) }
  }

  async settle(name: string, attempt: bigint, outcome: LogInOutcome, { after }: LogInWindow): Promise<void> {
    const { logins } = this.tables
    const failed = { failed: 'failed || $2::bigint', succeeded: "'{}'", void: 'failed' }[outcome]
    await this.#write(`update ${logins} set failed = ${failed}, pending = array_remove(pending, $2::bigint) where name = $1`, [
      name,
      attempt,
    ])
    if (outcome === 'succeeded') await this.#write(`delete from ${logins} where name = $1 and failed = '{}' and pending = '{}'`, [name])
    if (outcome === 'failed' && ++this.#failed % PRUNE_EVERY === 0) await this.#prune(after)
  }

  async #prune(after: bigint): Promise<void> {
    const { logins } = this.tables
    await this.#write(
      `delete from ${logins} where name in (select name from ${logins}
         where not exists (select from unnest(failed || pending) a where a > $1) for update skip locked)`,
      [after],
    )
  }

  async #write(sql: string, parameters: readonly unknown[]): Promise<readonly Row[]> {
    const { sessions, gate } = this.#host
    await gate.enter()
    try {
      return await sessions.use(session => sessions.read(session, sql, parameters))
    } catch (error) {
      throw isLost(error) ? unreachable(error) : error
    } finally {
      gate.leave()
    }
  }
}
