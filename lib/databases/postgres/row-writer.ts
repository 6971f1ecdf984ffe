/** Row writer: runs statements without MikroORM's unit of work, in the caller's transaction. */
import type { MikroORM } from '@mikro-orm/core'
import type { Statement } from '../../records/database/dialect.ts'
import type { BehindWrite, RowsWritten } from '../../records/database/connection.ts'
import type { OrmHost } from './orm/lent-dialect.ts'

/** Keys are drawn row by row: sorting restores the order of the rows. */
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

  /** See `Connection.run`. */
  async run({ sql }: Statement, parameters: readonly unknown[], behind: BehindWrite): Promise<RowsWritten> {
    const { sessions, transactions, observer } = this.#host
    const { em } = this.#orm()
    const text = em.config.get('onQuery')(sql, parameters)
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
