/** Row writer: runs the statements by which the engine writes rows without MikroORM's unit of work, with all that goes with those of MikroORM. */
import { SqlEntityManager } from '@mikro-orm/sqlite'
import type { EntityManager, MikroORM } from '@mikro-orm/core'
import type { BehindWrite, Statement, RowsWritten } from '../../records/database/dialect.ts'
import type { StoredTable } from '../../model/stored-table.ts'
import type { Content } from './content.ts'
import type { BoundSqliteDriver } from './orm/driver.ts'
import { SharedConnection } from './orm/shared-connection.ts'
import { ManagerCheck } from '../orm/plain-manager.ts'
import type { OrmHost } from './orm-host.ts'
import type { Transactions } from './transactions.ts'

export class RowWriter {
  readonly #content: Content
  readonly #transactions: Transactions
  readonly #orm: () => MikroORM
  readonly #connection: SharedConnection
  readonly #managers = new ManagerCheck(SqlEntityManager)

  constructor(content: Content, transactions: Transactions, host: OrmHost, orm: () => MikroORM) {
    this.#content = content
    this.#transactions = transactions
    this.#orm = orm
    this.#connection = new SharedConnection(host, { release: () => {}, nested: true }, 0, true)
  }

  /** See `Connection.writesAlone`. */
  writesAlone(): boolean {
    return this.#managers.isPlain(this.#orm().em)
  }

  /** See `Connection.explainListeners`. */
  explainListeners(): string | undefined {
    return this.#managers.explain(this.#orm().em)
  }

  /** See `Connection.takeKey`. */
  takeKey({ table }: StoredTable, given: unknown): number | bigint | undefined {
    const { keys, handle } = this.#content
    if (!keys.counts(table)) return undefined
    this.#transactions.begin()
    if (given === undefined) return keys.next(handle.db, table)
    if (typeof given === 'bigint' || Number.isSafeInteger(given)) keys.give(table, BigInt(given as number))
    return undefined
  }

  /** See `Connection.run`. */
  run({ sql }: Statement, parameters: readonly unknown[], behind: BehindWrite): RowsWritten {
    const { em } = this.#orm()
    this.#transactions.begin(behind === 'nothing')
    try {
      const text = em.config.get('onQuery')(sql, parameters)
      const { changes, lastInsertRowid } = this.#connection.write(text, parameters)
      const counted = BigInt(lastInsertRowid)
      return changes < 2 ? { rows: changes, counted } : { rows: changes, counted, keys: () => countBack(counted, changes) }
    } catch (error) {
      throw driverOf(em).convertException(error as Error)
    }
  }
}

/** SQLite counts the keys of the rows of one statement one after the other, unless a trigger inserts others between them. */
function countBack(last: bigint, rows: number): readonly bigint[] {
  return Array.from({ length: rows }, (_, index) => last - BigInt(rows - 1 - index))
}

function driverOf(em: EntityManager): BoundSqliteDriver {
  return em.getDriver() as unknown as BoundSqliteDriver
}
