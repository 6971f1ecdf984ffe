/**
 * Refuses writes where the path has another file than the open file. SQLite keeps writing to a removed or replaced file, and with a
 * write-ahead log misses an overwritten file.
 */
import { statSync, type Stats } from 'node:fs'
import { resolve } from 'node:path'
import { openRaw } from '../driver/open-raw.ts'
import type { RawDatabase } from '../driver/raw-database.ts'

const MAX_AGE_MS = 5

export class FileIdentity {
  readonly #db: RawDatabase
  readonly #path: string
  #known: Stats | undefined
  #usesLog: boolean | undefined
  /** By performance.now(). */
  #checkedAt: number | undefined

  /** @param path of the file that was just opened */
  constructor(db: RawDatabase, path: string) {
    this.#db = db
    // Absolute, because the working directory may change.
    this.#path = resolve(path)
    this.#known = statSync(this.#path, { throwIfNoEntry: false })
  }

  /**
   * A file without a write-ahead log is checked before the transaction, too: SQLite makes `app.sqlite-journal` beside the path, and the
   * next opening would roll the journal back into another file.
   */
  checkBefore(sharesCheck: boolean): void {
    if (!this.#hasLog) this.checkWrite(sharesCheck)
  }

  /**
   * Checks once in a turn of the event loop, and again after 5 ms: a check takes a tenth of the time of an update over HTTP.
   *
   * @param sharesCheck false where the application may have replaced the file in this turn
   */
  checkWrite(sharesCheck: boolean): void {
    if (!sharesCheck) return this.check()
    const now = performance.now()
    if (this.#checkedAt !== undefined && now - this.#checkedAt < MAX_AGE_MS) return
    this.check()
    if (this.#checkedAt === undefined) setImmediate(() => (this.#checkedAt = undefined))
    this.#checkedAt = now
  }

  get #hasLog(): boolean {
    return (this.#usesLog ??= this.#db.pragma('journal_mode', { simple: true }) === 'wal')
  }

  /** @returns what has happened to the file; else the error */
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
    // Without a log SQLite itself checks. With a log, checkpoints change the file.
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

  /** False while locked. Reads by SQLite: closing the file otherwise would drop the locks of the process. */
  #isSame(hasShrunk: boolean): boolean {
    let other: RawDatabase | undefined
    try {
      other = openRaw(this.#path, { readonly: true, fileMustExist: true, timeout: 0 })
      const pragmas = ['schema_version', 'page_size']
      const isSame = pragmas.every(pragma => other!.pragma(pragma, { simple: true }) === this.#db.pragma(pragma, { simple: true }))
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
