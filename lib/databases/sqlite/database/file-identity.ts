/**
 * Checks that the open file is still the one at its path. SQLite keeps writing to a file that was removed or replaced, where the changes
 * are lost. With a write-ahead log it does not notice either that another program has overwritten the file.
 */
import { statSync, type Stats } from 'node:fs'
import { resolve } from 'node:path'
import Database from 'better-sqlite3'

export class FileIdentity {
  readonly #db: Database.Database
  readonly #path: string
  /** The file at the last successful check. */
  #known: Stats | undefined
  #usesLog: boolean | undefined

  /** @param path of the file that was just opened */
  constructor(db: Database.Database, path: string) {
    this.#db = db
    // Absolute, because the working directory may change.
    this.#path = resolve(path)
    this.#known = statSync(this.#path, { throwIfNoEntry: false })
  }

  /**
   * Checks the file before a transaction that `check` ends. With a write-ahead log the check at the end is enough, since nothing is written
   * at the path before. Without a log SQLite makes `app.sqlite-journal`, and whoever opens another file that has come to the path meanwhile
   * would roll the journal back into that file.
   */
  checkBefore(): void {
    if (!this.#hasLog) this.check()
  }

  get #hasLog(): boolean {
    return (this.#usesLog ??= this.#db.pragma('journal_mode', { simple: true }) === 'wal')
  }

  /** Returns what has happened to the file where a write has failed for it; otherwise the error of the write. */
  explain(error: unknown): unknown {
    try {
      this.check()
      return error
    } catch (gone) {
      return gone
    }
  }

  /** @throws Error with a code of SQLite when writes to the file would be lost. */
  check(): void {
    const known = this.#known
    const found = this.#look()
    if (known === undefined || found === undefined) throw this.#gone('was removed')
    if (found.ino !== known.ino || found.dev !== known.dev) throw this.#gone('was replaced by another file')
    if (found.size === known.size && found.mtimeMs === known.mtimeMs) return
    if (found.size === 0 && known.size > 0) throw this.#gone('was emptied')
    // Inside a transaction the schema may be half changed.
    if (this.#db.inTransaction) return
    // Without a log SQLite itself checks whether the file has changed. With one, checkpoints change the file.
    if (this.#hasLog && !this.#isSame(found.size < known.size)) return
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
   * Whether another handle finds the same database in the file; false when that cannot be determined now. It must be a handle of SQLite,
   * because closing the file in any other way would drop the locks of this process.
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
    const error = new Error(`${this.#path} ${what} while it was open: writes are refused.`, { cause })
    return Object.assign(error, { code: 'SQLITE_READONLY_DBMOVED' })
  }
}
