/**
 * Place: whether the file that is open is still the one at its path. SQLite goes on with a file that was removed, or replaced by another one, and so would
 * write what nobody finds again; with a write-ahead log it does not notice either that another program has written over the file.
 */
import { statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { resolve } from 'node:path'
import Database from 'better-sqlite3'

export class FileIdentity {
  readonly #db: Database.Database
  readonly #path: string
  /** The file as it was when it was last found in order. */
  #known: Stats | undefined
  #usesLog: boolean | undefined

  /** @param path of the file that has been opened just now */
  constructor(db: Database.Database, path: string) {
    this.#db = db
    // Whatever folder the process goes to.
    this.#path = resolve(path)
    this.#known = statSync(this.#path, { throwIfNoEntry: false })
  }

  /** @throws Error with a code of SQLite when nothing must be written to the file. */
  check(): void {
    const known = this.#known
    const found = this.#look()
    if (known === undefined || found === undefined) throw this.#gone('was removed')
    if (found.ino !== known.ino || found.dev !== known.dev) throw this.#gone('was replaced by another file')
    if (found.size === known.size && found.mtimeMs === known.mtimeMs) return
    if (found.size === 0 && known.size > 0) throw this.#gone('was emptied')
    // Inside of a transaction the schema may be half changed.
    if (this.#db.inTransaction) return
    this.#usesLog ??= this.#db.pragma('journal_mode', { simple: true }) === 'wal'
    // Without a log SQLite looks for itself whether the file has changed. With one, the file changes when the log is written back, now and then.
    if (this.#usesLog && !this.#isSame(found.size < known.size)) return
    this.#known = found
  }

  #look(): Stats | undefined {
    try {
      return statSync(this.#path, { throwIfNoEntry: false })
    } catch (error) {
      throw this.#gone('cannot be reached', error)
    }
  }

  /**
   * Whether another handle finds the same database in the file; false when that cannot be told now. SQLite's own handle, for to open and close the file in
   * another way would end the locks that this process has on it.
   */
  #isSame(hasShrunk: boolean): boolean {
    let other: Database.Database | undefined
    try {
      other = new Database(this.#path, { readonly: true, fileMustExist: true, timeout: 0 })
      const asked = ['schema_version', 'page_size']
      const isSame = asked.every(what => other!.pragma(what, { simple: true }) === this.#db.pragma(what, { simple: true }))
      if (!isSame || (hasShrunk && other.pragma('quick_check(1)', { simple: true }) !== 'ok')) throw this.#gone('was written over')
      return true
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (/^SQLITE_(?:BUSY|LOCKED)/.test(code)) return false
      if (/^SQLITE_(?:NOTADB|CORRUPT)/.test(code)) throw this.#gone('was written over', error)
      throw error
    } finally {
      other?.close()
    }
  }

  #gone(what: string, cause?: unknown): Error {
    const error = new Error(`${this.#path} ${what} while it was open: nothing is written any more.`, { cause })
    return Object.assign(error, { code: 'SQLITE_READONLY_DBMOVED' })
  }
}
