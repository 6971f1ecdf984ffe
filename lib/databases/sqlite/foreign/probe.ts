/**
 * Probe: asks SQLite whether it runs statements, on an empty database in memory, with its own functions or with those of other databases
 * too.
 */
import Database from 'better-sqlite3'
import { addForeignFunctions } from '../database/foreign-functions.ts'

export class TypeProbe {
  /** Without the functions of other databases, which a schema should not need where it can do without. */
  #own: Database.Database | undefined
  #speaking: Database.Database | undefined

  /** @param speaking with the functions of other databases */
  runs(sql: string, speaking = true): boolean {
    return this.findProblem(sql, speaking) === undefined
  }

  /** Returns the error of SQLite for statements; undefined when it runs them. */
  findProblem(sql: string, speaking = true): string | undefined {
    const db = this.#open(speaking)
    db.exec('begin')
    try {
      db.exec(sql)
      return undefined
    } catch (error) {
      return (error as Error).message
    } finally {
      db.exec('rollback')
    }
  }

  /** Returns the first value of a query; undefined when SQLite does not run it. */
  evaluate(sql: string, speaking = true): unknown {
    try {
      return this.#open(speaking).prepare(sql).pluck().get()
    } catch {
      // The text is of another dialect.
      return undefined
    }
  }

  close(): void {
    this.#own?.close()
    this.#speaking?.close()
    this.#own = this.#speaking = undefined
  }

  #open(speaking: boolean): Database.Database {
    const known = speaking ? this.#speaking : this.#own
    if (known !== undefined) return known
    const db = new Database(':memory:')
    if (speaking) {
      addForeignFunctions(db, () => new Date())
      this.#speaking = db
    } else this.#own = db
    return db
  }
}
