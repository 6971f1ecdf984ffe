/**
 * Recorder: reports every row that changes, whoever changes it: the unit of work, a native query, SQL of a hook, or SQLite itself (on
 * delete cascade, set null). Triggers hand the rows over. Nothing is reported before its transaction has committed, and nothing at all of
 * what is rolled back.
 */
import type Database from 'better-sqlite3'
import type { ChangeOwner, ChangeRecorder, ChangeSink, RowChange, RowImage, Watched, WatchedTable } from '../../records/database/changes.ts'
import { findTouched, gatherLists, readLink, type ListNow, type PendingChange, type TouchedList } from '../sql/list-changes.ts'
import { DELETE, INSERT, UPDATE, compileWatch, dropTriggers, triggerStatements } from './change-triggers.ts'
import type { CompiledTable, CompiledWatch } from './change-triggers.ts'
import type { Content } from './content.ts'
import type { WriteObserver } from './orm/connection-host.ts'

/** Reads what has become of a list of a record. */
export type ReadList = (list: TouchedList) => ListNow

/** The bytes of a change beside the texts and bytes of its row. */
const ROW_BYTES = 100
const VALUE_BYTES = 16

/** A changed row, as the trigger has handed it over. */
class RecordedRow implements RowChange {
  readonly kind = 'row'
  readonly #compiled: CompiledTable
  readonly #values: readonly unknown[]

  /** @param values position of the table, what has happened, and the columns: the old ones, the new ones */
  constructor(compiled: CompiledTable, values: readonly unknown[]) {
    this.#compiled = compiled
    this.#values = values
  }

  get table(): WatchedTable {
    return this.#compiled.table
  }

  get bytes(): number {
    let bytes = ROW_BYTES
    for (const value of this.#values)
      bytes +=
        typeof value === 'string' ? VALUE_BYTES + value.length : value instanceof Uint8Array ? VALUE_BYTES + value.byteLength : VALUE_BYTES
    return bytes
  }

  before(): RowImage | undefined {
    return this.#values[1] === INSERT ? undefined : this.#image(2)
  }

  after(): RowImage | undefined {
    const { columns } = this.#compiled.image
    return this.#values[1] === DELETE ? undefined : this.#image(this.#values[1] === UPDATE ? 2 + columns.length : 2)
  }

  #image(start: number): RowImage {
    const { columns, record, id } = this.#compiled.image
    const row = this.#values.slice(start, start + columns.length)
    return { id: id(row) as string | number, record: record(row) as Record<string, unknown> }
  }
}

export class Recorder implements ChangeRecorder, WriteObserver {
  readonly #watched: Watched
  #compiled: CompiledWatch | undefined
  readonly #content: Content
  readonly #readList: ReadList
  readonly #owner: ChangeOwner
  /** Receive every change of a row, also those outside of requests. */
  readonly watchers = new Set<ChangeSink>()
  readonly isRecording = true
  /** Changes of the open transaction. */
  #pending: PendingChange[] = []
  /** Whether links of a list are among them. */
  #hasLinks = false
  readonly #marks = new Map<string, number>()
  /** The keys of records that have gone in the open transaction, by what others link them by. */
  readonly #gone = new Map<string, readonly unknown[]>()
  /** The database that has the triggers. */
  #installed: Database.Database | undefined
  /** Whether they came in a transaction: its rollback takes them away. */
  #installedInside = false
  readonly #known = new WeakSet<Database.Database>()
  #text: string | undefined

  /**
   * @param content has the database that is open; another one may be put in its place
   * @param owner who hears of a row, beside the watchers
   */
  constructor(watched: Watched, content: Content, readList: ReadList, owner: ChangeOwner) {
    this.#content = content
    this.#readList = readList
    this.#owner = owner
    this.#watched = watched
  }

  /**
   * Makes the triggers, if anybody wants to know of changes. Must be called before a statement that may write, best outside of a
   * transaction.
   */
  prepare(): void {
    const db = this.#content.handle.db
    if (this.#installed === db || (this.watchers.size === 0 && this.#owner.current === undefined)) return
    if (!this.#known.has(db)) {
      db.function('mikro_changed', { varargs: true, directOnly: false }, this.#changed)
      db.function('mikro_going', { varargs: true, directOnly: false }, (called: unknown, value: unknown, ...key: unknown[]) => {
        this.#gone.set(`${String(called)}\0${String(value)}`, key)
        return null
      })
      db.function(
        'mikro_gone',
        { directOnly: false },
        (called: unknown, part: unknown, value: unknown) => this.#gone.get(`${String(called)}\0${String(value)}`)?.[part as number] ?? null,
      )
      this.#known.add(db)
    }
    // Not before something is written.
    this.#compiled ??= compileWatch(this.#watched)
    this.#text ??= triggerStatements(this.#compiled, db)
    db.exec(this.#text)
    this.#installed = db
    this.#installedInside = db.inTransaction
  }

  /**
   * Takes the triggers away before a statement that changes the schema, which they might stand in the way of; they come back with the next
   * write.
   */
  beforeSchemaChange(): void {
    const db = this.#content.handle.db
    if (this.#known.has(db)) dropTriggers(db)
    this.#installed = undefined
    this.#text = undefined
  }

  /** A trigger has fired. */
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

  /** Before an outermost transaction. */
  begin(): void {
    this.#forget()
    this.prepare()
  }

  /** Forgets what belongs to a transaction. To clear a map that is empty costs more than to ask whether it is. */
  #forget(): void {
    if (this.#pending.length > 0) this.#pending = []
    this.#hasLinks = false
    if (this.#gone.size > 0) this.#gone.clear()
    if (this.#marks.size > 0) this.#marks.clear()
  }

  /** A point to go back to: a savepoint, by name, or the beginning of a statement. */
  get position(): number {
    return this.#pending.length
  }

  savepoint(savepoint: string): void {
    this.#marks.set(savepoint, this.#pending.length)
  }

  /** Drops the changes after a savepoint, which are undone. */
  rollbackTo(to: string | number): void {
    const length = typeof to === 'number' ? to : (this.#marks.get(to) ?? 0)
    this.#pending.length = Math.min(this.#pending.length, length)
    if (typeof to === 'string') this.#forgetTriggers()
  }

  /** The transaction is undone. */
  rollback(): void {
    this.#forget()
    this.#forgetTriggers()
  }

  #forgetTriggers(): void {
    if (this.#installedInside) this.#installed = undefined
  }

  /** Reads what has become of the lists, while the transaction still stands. */
  beforeCommit(): void {
    if (this.#hasLinks) this.#pending = gatherLists(this.#pending, findTouched(this.#pending), this.#readList)
  }

  /** The transaction has committed: reports its changes. */
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

  /** A statement outside of any transaction has been run. */
  afterStatement(): void {
    if (this.#pending.length === 0 || this.#content.handle.db.inTransaction) return
    this.beforeCommit()
    this.afterCommit()
  }
}
