/** Row writer: runs the statements by which the engine writes rows without MikroORM's unit of work, on the session of the transaction that the caller runs in. */
import { EntityManager } from '@mikro-orm/postgresql'
import type { MikroORM } from '@mikro-orm/core'
import type { RowsWritten, Statement } from '../database/dialect.ts'
import { ManagerCheck } from '../orm/plain-manager.ts'
import type { Trace } from '../base/trace.ts'
import type { Sessions } from './server/sessions.ts'
import type { Transactions } from './server/transactions.ts'

export class RowWriter {
  readonly #sessions: Sessions
  readonly #transactions: Transactions
  readonly #orm: () => MikroORM
  readonly #trace: () => Trace | undefined
  readonly #managers = new ManagerCheck(EntityManager)

  constructor(sessions: Sessions, transactions: Transactions, orm: () => MikroORM, trace: () => Trace | undefined) {
    this.#sessions = sessions
    this.#transactions = transactions
    this.#orm = orm
    this.#trace = trace
  }

  /** See `Connection.writesAlone`. */
  writesAlone(): boolean {
    return this.#managers.isPlain(this.#orm().em)
  }

  /** See `Connection.run`. */
  async run({ sql }: Statement, parameters: readonly unknown[]): Promise<RowsWritten> {
    const { em } = this.#orm()
    const text = em.config.get('onQuery')(sql, parameters)
    this.#transactions.checkTime()
    const trace = this.#trace()
    const before = trace?.enter('sql')
    const begun = performance.now()
    let written: number | undefined
    try {
      const { rows, tags } = await this.#sessions.readAll(this.#transactions.current!.session!, [{ sql: text, parameters }])
      written = Number(tags[0]!.slice(tags[0]!.lastIndexOf(' ')))
      const [[counted = 0] = []] = rows[0]!
      return { rows: written, counted: BigInt(counted as string) }
    } catch (error) {
      throw em.getDriver().convertException(error as Error)
    } finally {
      trace?.streamed({ sql: text, parameters, duration: performance.now() - begun, rows: written })
      if (before !== undefined) trace!.enter(before)
    }
  }
}
