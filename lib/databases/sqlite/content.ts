/**
 * The open handle of a database, and all that outlives a handle that `restore` replaces: image, baseline of `reset`, highest keys, clock.
 */
import { openRaw } from './driver/open-raw.ts'
import type { Clock } from '../../foundation/async/clock.ts'
import { restError } from '../../foundation/errors/errors.ts'
import type { WorldImage } from '../../records/database/world-store.ts'
import { SqliteDatabase } from './database/sqlite-database.ts'
import { Autoincrement, type KeyState } from './orm/autoincrement.ts'

/** Of a file, for `reset`. */
const MAX_BASELINE_BYTES = 64 * 1024 * 1024

export class SqliteImage implements WorldImage {
  readonly bytes: Uint8Array
  readonly keys: KeyState | undefined

  constructor(bytes: Uint8Array, keys: KeyState | undefined) {
    this.bytes = bytes
    this.keys = keys
  }

  get size(): number {
    return this.bytes.length
  }
}

export class Content {
  handle: SqliteDatabase
  /** Kept before the first write. */
  #baseline: SqliteImage | undefined
  /** Kept until a write; never of a file. */
  #image: SqliteImage | undefined
  /** Earlier writes are part of the baseline. */
  #started = false
  #isForeign = false
  #clock: Clock | undefined
  /** The clock has been set or moved, or the database replaced. Where `Date` is replaced, SQL may have an old time, too. */
  isBehind = false
  #keys = new Autoincrement(new Map())
  #written: (() => void) | undefined

  /** Other programs may have stored values of wrong types. */
  readonly hasOtherWriters: boolean

  constructor(handle: SqliteDatabase, hasOtherWriters: boolean) {
    this.handle = handle
    this.hasOtherWriters = hasOtherWriters
  }

  static fork(image: SqliteImage, parent: Content): Content {
    const content = new Content(new SqliteDatabase(image.bytes), parent.hasOtherWriters)
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

  follow(clock: Clock): void {
    this.#clock = clock
    this.isBehind = true
    clock.whenMoved(() => (this.isBehind = true))
  }

  /** Before a statement, where SQL may have an old time. Not for the system's clock: SQLite's own functions of time are faster. */
  followClock(): void {
    const clock = this.#clock
    if (clock?.isSystem === false) this.handle.followTime(() => clock.now())
    this.isBehind = false
  }

  readonly #now = (): Date => this.#clock?.now() ?? new Date()

  addForeignFunctions(): void {
    this.#isForeign = true
    this.handle.addForeignFunctions(this.#now)
  }

  /** @param counters tables with keys counted by the engine, each with the key's column */
  count(counters: ReadonlyMap<string, string>): void {
    this.#keys = new Autoincrement(counters)
  }

  /** Called before writes. */
  whenWritten(listener: () => void): void {
    this.#written = listener
  }

  /** Takes over kept content, before `start`. */
  continue(now: SqliteImage, baseline: SqliteImage): void {
    this.#baseline = baseline
    this.#keys.restore(now.keys)
    this.#open(now)
  }

  start(): void {
    this.#started = true
    // From now on `whenFree` waits, not SQLite.
    this.handle.db.pragma('busy_timeout = 0')
  }

  assertWritable(): void {
    if (this.handle.readOnly) throw restError('method_not_allowed', 'The database is open for reading only: nothing can be written to it.')
  }

  /**
   * Call before each write.
   *
   * @param sharesCheck set where the file is checked again before the commit: whether requests of one turn share the check
   */
  writing(sharesCheck?: boolean): void {
    const { place, db, isInMemory } = this.handle
    if (isInMemory) {
      // Inside of the transaction no answer is kept: a nested POST would ask for each list.
      if (this.handle.knownTriggers === undefined && !db.inTransaction) this.handle.hasTriggers()
    } else if (place !== undefined && !db.inTransaction) {
      if (sharesCheck === undefined) place.check()
      else place.checkBefore(sharesCheck)
    }
    if (this.#keys.counters.size > 0) this.#keys.prepare(db)
    if (!this.#started) return
    if (this.#baseline === undefined) this.#keepBaseline()
    this.#image = undefined
    this.#written?.()
  }

  /** At the last moment, before the first write: most engines are never reset. */
  #keepBaseline(): void {
    if (this.#size() <= MAX_BASELINE_BYTES) this.#baseline = this.#image ?? this.#copy()
  }

  #copy(): SqliteImage {
    return new SqliteImage(this.handle.image(), this.#keys.state)
  }

  #size(): number {
    return this.handle.isInMemory ? 0 : this.bytes
  }

  get canReset(): boolean {
    return this.#baseline !== undefined || this.#size() <= MAX_BASELINE_BYTES
  }

  get bytes(): number {
    const [[bytes] = [0]] = this.handle.all('select page_count * page_size from pragma_page_count, pragma_page_size', [])
    return bytes as number
  }

  image(): SqliteImage {
    // Before the start, no write outdates an image.
    if (!this.handle.isInMemory || !this.#started) return this.#copy()
    this.#image ??= this.#copy()
    this.#baseline ??= this.#image
    return this.#image
  }

  /** @throws Error when the content was too large to be kept. */
  baseline(): SqliteImage {
    if (this.#baseline === undefined && !this.canReset) throw new Error('the file is too large to keep its first state in memory (64 MiB)')
    return this.#baseline ?? this.image()
  }

  async replace(image: SqliteImage): Promise<void> {
    this.assertWritable()
    this.handle.place?.check()
    this.#keys.restore(image.keys)
    if (this.#baseline === undefined) this.#keepBaseline()
    const { db } = this.handle
    if (this.#image === image) return
    if (this.handle.isInMemory) this.#open(image)
    else {
      // Page by page under SQLite's own locks: other processes see a whole state at any time.
      const source = openRaw(image.bytes)
      try {
        await source.backup(db.name)
      } finally {
        source.close()
      }
    }
  }

  #open(image: SqliteImage): void {
    const handle = new SqliteDatabase(image.bytes)
    handle.addFunctions(this.handle.functions)
    if (this.#isForeign) handle.addForeignFunctions(this.#now)
    this.handle.close()
    this.handle = handle
    this.#image = image
    this.isBehind = true
  }

  /** @throws Error when the content was too large to be kept. */
  async reset(): Promise<void> {
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
