/** Asks an empty SQLite database in memory whether a statement runs. */
import { openRaw } from '../driver/open-raw.ts'
import type { RawDatabase } from '../driver/raw-database.ts'
import { addForeignFunctions } from '../database/foreign-functions.ts'

export class TypeProbe {
  #plain: RawDatabase | undefined
  #foreign: RawDatabase | undefined

  /** @param withForeign functions of other databases may be called */
  runs(sql: string, withForeign = true): boolean {
    return this.findProblem(sql, withForeign) === undefined
  }

  findProblem(sql: string, withForeign = true): string | undefined {
    const db = this.#open(withForeign)
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

  /** @returns undefined where SQLite does not run the query */
  evaluate(sql: string, withForeign = true): unknown {
    try {
      return this.#open(withForeign).prepare(sql).pluck().get()
    } catch {
      // The text is of another dialect.
      return undefined
    }
  }

  close(): void {
    this.#plain?.close()
    this.#foreign?.close()
    this.#plain = this.#foreign = undefined
  }

  #open(withForeign: boolean): RawDatabase {
    const known = withForeign ? this.#foreign : this.#plain
    if (known !== undefined) return known
    const db = openRaw(':memory:')
    if (withForeign) {
      addForeignFunctions(db, () => new Date())
      this.#foreign = db
    } else this.#plain = db
    return db
  }
}
