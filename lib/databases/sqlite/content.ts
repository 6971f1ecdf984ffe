/**
 * Content: what the database holds at present: the open handle, the image of it, the baseline that `reset` goes back to, and the highest
 * keys and the clock, which go with the data and not with the handle.
 */
import Database from 'better-sqlite3'
import { isDateReplaced, type Clock } from '../../foundation/work/clock.ts'
import { restError } from '../../foundation/errors/errors.ts'
import type { WorldImage } from '../../records/database/world-store.ts'
import { SqliteDatabase } from './database/sqlite-database.ts'
import { Autoincrement, type KeyState } from './orm/autoincrement.ts'

/** Largest file, in bytes, whose first content is kept in memory for `reset`. */
const MAX_BASELINE_BYTES = 64 * 1024 * 1024

/** A whole database as bytes. It never changes. */
export class SqliteImage implements WorldImage {
  readonly bytes: Buffer
  /** The highest keys at that time; undefined where the bytes say which they are. */
  readonly keys: KeyState | undefined

  constructor(bytes: Buffer, keys: KeyState | undefined) {
    this.bytes = bytes
    this.keys = keys
  }

  get size(): number {
    return this.bytes.length
  }
}

export class Content {
  /** The open handle: another one after the content has been replaced. */
  handle: SqliteDatabase
  /** The image that `reset` goes back to, from the first write on. */
  #baseline: SqliteImage | undefined
  /** The content as it is now, as long as nothing is written. Never kept for a file, to which others may write. */
  #image: SqliteImage | undefined
  /** Whether the content is that of a complete engine: what is written before is part of the baseline. */
  #started = false
  #isForeign = false
  #clock: Clock | undefined
  #isBehind = false
  #keys = new Autoincrement(new Map())

  /** Whether others than the engine have written to it, who may have stored values that do not fit their column. */
  readonly isOfOthers: boolean

  constructor(handle: SqliteDatabase, isOfOthers: boolean) {
    this.handle = handle
    this.isOfOthers = isOfOthers
  }

  /** Opens an image in memory, as a copy of the parent with a life of its own. */
  static fork(image: SqliteImage, parent: Content): Content {
    const content = new Content(new SqliteDatabase(image.bytes), parent.isOfOthers)
    content.handle.addFunctions(parent.handle.functions)
    if (parent.#isForeign) content.addForeignFunctions()
    content.count(parent.#keys.counters)
    content.#keys.restore(image.keys)
    content.#baseline = image
    content.#image = image
    content.#started = true
    return content
  }

  get keys(): Autoincrement {
    return this.#keys
  }

  get clock(): Clock | undefined {
    return this.#clock
  }

  /** From now on the time of the model's functions and of SQL is that of this clock. */
  follow(clock: Clock): void {
    this.#clock = clock
    this.#isBehind = true
    clock.whenMoved(() => (this.#isBehind = true))
  }

  /** Whether the clock has been set or moved, or the database or `Date` replaced, since SQL was last given its time. */
  get mayLag(): boolean {
    return this.#isBehind || (isDateReplaced() && !this.handle.followsTime)
  }

  /**
   * Gives SQL the time of the clock, before a statement, where it may lag. Not before that differs from the system's: SQLite's own
   * functions are faster.
   */
  followClock(): void {
    const clock = this.#clock
    if (clock?.isSystem === false) this.handle.followTime(() => clock.now())
    this.#isBehind = false
  }

  readonly #now = (): Date => this.#clock?.now() ?? new Date()

  /** The model was written for another database: its SQL may use the functions of that. */
  addForeignFunctions(): void {
    this.#isForeign = true
    this.handle.addForeignFunctions(this.#now)
  }

  /** @param counters tables whose keys the engine counts from now on, with the column */
  count(counters: ReadonlyMap<string, string>): void {
    this.#keys = new Autoincrement(counters)
  }

  /** From now on the content is what `reset` goes back to. */
  start(): void {
    this.#started = true
    // From now on it is whenFree that waits.
    this.handle.db.pragma('busy_timeout = 0')
  }

  /** @throws RestError when the database is open for reading only. */
  assertWritable(): void {
    if (this.handle.readOnly) throw restError('method_not_allowed', 'The database is open for reading only: nothing can be written to it.')
  }

  /**
   * Must be called before anything is written.
   *
   * @param isChecked whether the place of the file is checked before the commit
   */
  writing(isChecked = false): void {
    const { place, db } = this.handle
    if (place !== undefined && !db.inTransaction) {
      if (isChecked) place.checkBefore()
      else place.check()
    }
    // Inside of a transaction no answer would be kept: a nested POST would look at the schema once for each list.
    if (db.memory && !db.inTransaction) this.handle.hasTriggers()
    if (this.#keys.counters.size > 0) this.#keys.prepare(db)
    if (!this.#started) return
    if (this.#baseline === undefined) this.#keepBaseline()
    this.#image = undefined
  }

  /** Takes the baseline, at the last moment: most engines are never reset, and many never written to. */
  #keepBaseline(): void {
    if (this.#size() <= MAX_BASELINE_BYTES) this.#baseline = this.#image ?? this.#copy()
  }

  #copy(): SqliteImage {
    return new SqliteImage(this.handle.image(), this.#keys.state)
  }

  /** The bytes of a file; 0 in memory, where nothing is too large to be kept. */
  #size(): number {
    return this.handle.db.memory ? 0 : this.bytes
  }

  /** Whether `reset` has a state to go back to, or still can have one. */
  get canReset(): boolean {
    return this.#baseline !== undefined || this.#size() <= MAX_BASELINE_BYTES
  }

  /** How many bytes the content takes. */
  get bytes(): number {
    const [[bytes] = [0]] = this.handle.all('select page_count * page_size from pragma_page_count, pragma_page_size', [])
    return bytes as number
  }

  /** Returns the whole content as bytes: the same ones until something is written. */
  image(): SqliteImage {
    // Writes before the start do not outdate an image that is kept.
    if (!this.handle.db.memory || !this.#started) return this.#copy()
    this.#image ??= this.#copy()
    // Nothing has been written yet, so this is the baseline, too.
    this.#baseline ??= this.#image
    return this.#image
  }

  /**
   * Returns the image that `reset` goes back to.
   *
   * @throws Error when the content was too large to be kept.
   */
  baseline(): SqliteImage {
    if (this.#baseline === undefined && !this.canReset) throw new Error('the file is too large to keep its first state in memory (64 MiB)')
    return this.#baseline ?? this.image()
  }

  /** Replaces the whole content. */
  async replace(image: SqliteImage): Promise<void> {
    this.assertWritable()
    this.handle.place?.check()
    this.#keys.restore(image.keys)
    if (this.#baseline === undefined) this.#keepBaseline()
    const { db } = this.handle
    // Nothing has been written since: what is open is the image, with the statements that are prepared for it.
    if (this.#image === image) return
    if (db.memory) {
      const handle = new SqliteDatabase(image.bytes)
      handle.addFunctions(this.handle.functions)
      if (this.#isForeign) handle.addForeignFunctions(this.#now)
      this.handle.close()
      this.handle = handle
      this.#image = image
      this.#isBehind = true
    } else {
      // Page by page and under SQLite's own locks, so that other processes which have the file open see a whole state at any time.
      const source = new Database(image.bytes)
      try {
        await source.backup(db.name)
      } finally {
        source.close()
      }
    }
  }

  /**
   * Goes back to the baseline.
   *
   * @throws Error when the content was too large to be kept.
   */
  async reset(): Promise<void> {
    // Nothing can have been written.
    if (this.handle.readOnly) return
    if (this.#baseline === undefined) {
      if (this.#size() > MAX_BASELINE_BYTES) {
        throw new Error('engine.reset: the file is too large to keep its first state in memory (64 MiB): use snapshot() and restore().')
      }
      return
    }
    if (this.#image !== this.#baseline) await this.replace(this.#baseline)
  }

  close(): void {
    this.handle.close()
  }
}
