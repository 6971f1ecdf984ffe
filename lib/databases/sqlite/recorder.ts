/**
 * Reports every changed row at the commit, whoever makes the change: the unit of work, SQL of a hook, SQLite itself (`on delete cascade`).
 * Triggers hand over the rows.
 */
import type { RawDatabase } from './driver/raw-database.ts'
import type { ChangeOwner, ChangeRecorder, ChangeSink, RowChange, RowImage, Watched, WatchedTable } from '../../records/database/changes.ts'
import { findTouched, gatherLists, readLink, type ListNow, type PendingChange, type TouchedList } from '../sql/list-changes.ts'
import { DELETE, INSERT, UPDATE, compileWatch, dropTriggers, triggerStatements } from './change-triggers.ts'
import type { CompiledTable, CompiledWatch } from './change-triggers.ts'
import type { Content } from './content.ts'
import type { WriteObserver } from './orm/connection-host.ts'

type ReadList = (list: TouchedList) => ListNow

/** Estimated bytes of a change, and of each value. */
const ROW_BYTES = 100
const VALUE_BYTES = 16

class RecordedRow implements RowChange {
  // Fields without `declare` would cost an initialiser for each row.
  declare readonly kind: 'row'
  declare readonly table: WatchedTable
  declare readonly image: CompiledTable['image']
  declare readonly values: readonly unknown[]
  declare readonly bytes: number

  /** @param values table, kind of the change, old columns, new columns */
  constructor({ table, image }: CompiledTable, values: readonly unknown[]) {
    this.kind = 'row'
    this.table = table
    this.image = image
    this.values = values
    let bytes = ROW_BYTES
    for (const value of values) {
      bytes += VALUE_BYTES
      if (typeof value === 'string') bytes += value.length
      else if (value instanceof Uint8Array) bytes += value.byteLength
    }
    this.bytes = bytes
  }

  before(): RowImage | undefined {
    return this.values[1] === INSERT ? undefined : this.#image(2)
  }

  after(): RowImage | undefined {
    const { columns } = this.image
    return this.values[1] === DELETE ? undefined : this.#image(this.values[1] === UPDATE ? 2 + columns.length : 2)
  }

  #image(start: number): RowImage {
    const { columns, record, id } = this.image
    const row = this.values.slice(start, start + columns.length)
    return { id: id(row) as string | number, record: record(row) as Record<string, unknown> }
  }
}

export class Recorder implements ChangeRecorder, WriteObserver {
  readonly #watched: Watched
  #compiled: CompiledWatch | undefined
  readonly #content: Content
  readonly #readList: ReadList
  readonly #owner: ChangeOwner
  readonly watchers = new Set<ChangeSink>()
  readonly isRecording = true
  #pending: PendingChange[] = []
  #hasLinks = false
  readonly #savepoints = new Map<string, number>()
  /** Keys of deleted records, by name of the key and linking value. */
  readonly #gone = new Map<string, readonly unknown[]>()
  #installed: RawDatabase | undefined
  /** A rollback drops the triggers. */
  #installedInside = false
  readonly #extended = new WeakSet<RawDatabase>()
  #triggerSql: string | undefined

  /**
   * @param content has another open database after a reset or restore
   * @param owner knows who hears of a row, beside the watchers
   */
  constructor(watched: Watched, content: Content, readList: ReadList, owner: ChangeOwner) {
    this.#content = content
    this.#readList = readList
    this.#owner = owner
    this.#watched = watched
  }

  /**
   * Makes the triggers, if anybody listens. Call before each write, best outside of a transaction.
   *
   * @returns the position to roll back to
   */
  prepare(): number {
    const db = this.#content.handle.db
    if (this.#installed !== db && (this.watchers.size > 0 || this.#owner.current !== undefined)) this.#install(db)
    return this.#pending.length
  }

  #install(db: RawDatabase): void {
    if (!this.#extended.has(db)) {
      db.function('mikro_changed', { varargs: true, directOnly: false }, this.#changed)
      db.function('mikro_going', { varargs: true, directOnly: false }, (keyName: unknown, value: unknown, ...key: unknown[]) => {
        this.#gone.set(`${String(keyName)}\0${String(value)}`, key)
        return null
      })
      db.function(
        'mikro_gone',
        { directOnly: false },
        (keyName: unknown, part: unknown, value: unknown) =>
          this.#gone.get(`${String(keyName)}\0${String(value)}`)?.[part as number] ?? null,
      )
      this.#extended.add(db)
    }
    this.#compiled ??= compileWatch(this.#watched)
    this.#triggerSql ??= triggerStatements(this.#compiled, db)
    db.exec(this.#triggerSql)
    this.#installed = db
    this.#installedInside = db.inTransaction
  }

  /** Triggers might prevent the change. */
  beforeSchemaChange(): number {
    const db = this.#content.handle.db
    if (this.#extended.has(db)) dropTriggers(db)
    this.#installed = undefined
    this.#triggerSql = undefined
    return this.#pending.length
  }

  readonly #changed = (...values: unknown[]): null => {
    const sink = this.#owner.current
    const index = values[0] as number
    const { tables, lists } = this.#compiled!
    const compiled = tables[index]
    if (sink === undefined && !this.#isWatched(compiled?.table.resource.table)) return null
    if (compiled !== undefined) {
      this.#pending.push({ sink, change: new RecordedRow(compiled, values) })
      return null
    }
    const link = lists[index - tables.length]!
    const width = (values.length - 2) / (values[1] === UPDATE ? 2 : 1)
    const changes = values[1] === UPDATE ? [false, true] : [values[1] === INSERT]
    for (const [position, inserted] of changes.entries()) {
      const change = readLink(link, values.slice(2 + position * width, 2 + (position + 1) * width), inserted)
      if (change === undefined) continue
      this.#hasLinks = true
      this.#pending.push({ sink, change })
    }
    return null
  }

  #isWatched(table: string | undefined): boolean {
    for (const watcher of this.watchers) if (watcher.table === undefined || watcher.table === table) return true
    return false
  }

  begin(): void {
    this.#forget()
    this.prepare()
  }

  /** Clearing an empty map costs more than asking for its size. */
  #forget(): void {
    if (this.#pending.length > 0) this.#pending = []
    this.#hasLinks = false
    if (this.#gone.size > 0) this.#gone.clear()
    if (this.#savepoints.size > 0) this.#savepoints.clear()
  }

  savepoint(savepoint: string): void {
    this.#savepoints.set(savepoint, this.#pending.length)
  }

  rollbackTo(to: string | number): void {
    const length = typeof to === 'number' ? to : (this.#savepoints.get(to) ?? 0)
    this.#pending.length = Math.min(this.#pending.length, length)
    if (typeof to === 'string') this.#forgetTriggers()
  }

  rollback(): void {
    this.#forget()
    this.#forgetTriggers()
  }

  #forgetTriggers(): void {
    if (this.#installedInside) this.#installed = undefined
  }

  beforeCommit(): void {
    if (this.#hasLinks) this.#pending = gatherLists(this.#pending, findTouched(this.#pending), this.#readList)
  }

  afterCommit(): void {
    this.#installedInside = false
    const pending = this.#pending
    this.#forget()
    for (const { sink, change } of pending) {
      if (change.kind === 'link') continue
      sink?.add(change)
      for (const watcher of this.watchers) watcher.add(change)
    }
  }

  afterStatement(): void {
    if (this.#pending.length === 0 || this.#content.handle.db.inTransaction) return
    this.beforeCommit()
    this.afterCommit()
  }
}
