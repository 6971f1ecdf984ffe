/**
 * Reads changed rows from the log before a commit, and reports after the commit: changes by the unit of work, SQL of hooks, or the server
 * itself (`on delete cascade`, triggers).
 */
import type { PoolClient } from 'pg'
import type { ChangeOwner, ChangeRecorder, ChangeSink, RowChange, RowImage, WatchedTable } from '../../../records/database/changes.ts'
import type { Row } from '../../../records/database/dialect.ts'
import { findTouched, gatherLists, readLink, type ListNow, type PendingChange, type TouchedList } from '../../sql/list-changes.ts'
import type { CompiledImage } from '../../sql/row-image.ts'
import type { Sessions } from '../server/sessions.ts'
import type { Answered } from '../server/statement-batch.ts'
import type { WriteObserver } from '../server/commit.ts'
import { measureLog, trimLog, type ChangeLog } from './change-log.ts'
import type { CompiledWatch, WatchedRows } from './watch.ts'

const TRIM_EVERY = 1_000

/** From then on, the server should use the index. */
const MANY_ENTRIES = 1_000

/** Entries of other tables have an OID instead. */
const KINDS: ReadonlySet<unknown> = new Set(['I', 'U', 'D'])

/** Estimated bytes of a change, without texts. */
const ROW_BYTES = 100
const VALUE_BYTES = 16

interface LogRecorderParts {
  readonly log: ChangeLog
  readonly compiled: CompiledWatch
  readonly sessions: Sessions
  readonly readList: (session: PoolClient, list: TouchedList) => Promise<ListNow>
  readonly owner: ChangeOwner
}

interface OpenChanges {
  /** Before the first entry. */
  readonly start: number
  /** The last entry read. */
  read: number
  pending: PendingChange[]
  asked: AskedEntries | undefined
  /** By savepoint; first the transaction. */
  readonly owners: { readonly savepoint: string | undefined; readonly sink: ChangeSink | undefined; readonly from: number }[]
}

interface AskedEntries {
  /** Positions to read from. */
  readonly limits: readonly number[]
  /** Recently changed tables. */
  readonly guessed: readonly WatchedRows[]
  readonly answer: Promise<FoundEntries>
}

interface FoundEntries {
  readonly tables: ReadonlySet<number>
  readonly last: number
  readonly entries: Answered['rows']
}

interface LogEntry {
  readonly at: number
  readonly change: PendingChange['change']
}

class LoggedRow implements RowChange {
  readonly kind = 'row'
  readonly table: WatchedTable
  readonly #image: CompiledImage
  readonly #before: Row | undefined
  readonly #after: Row | undefined

  constructor(table: WatchedTable, image: CompiledImage, row: Row) {
    const width = image.columns.length
    this.table = table
    this.#image = image
    this.#before = row[1] === 'I' ? undefined : row.slice(2, 2 + width)
    this.#after = row[1] === 'D' ? undefined : row.slice(2 + width)
  }

  get bytes(): number {
    let bytes = ROW_BYTES
    for (const row of [this.#before, this.#after])
      for (const value of row ?? []) bytes += VALUE_BYTES + ((value as string | null)?.length ?? 0)
    return bytes
  }

  before(): RowImage | undefined {
    return this.#show(this.#before)
  }

  after(): RowImage | undefined {
    return this.#show(this.#after)
  }

  #show(row: Row | undefined): RowImage | undefined {
    if (row === undefined) return undefined
    return { id: this.#image.id(row) as string | number, record: this.#image.record(row) as Record<string, unknown> }
  }
}

export class Recorder implements ChangeRecorder, WriteObserver {
  readonly watchers = new Set<ChangeSink>()
  readonly isRecording = true
  readonly #parts: LogRecorderParts
  readonly #open = new WeakMap<PoolClient, OpenChanges>()
  #highest = 0
  #committed = 0
  /** For `measureLog`. */
  #measureAt = MANY_ENTRIES
  /** Tables of the last transaction: the next often changes the same tables. */
  #lately: readonly WatchedRows[] = []

  constructor(parts: LogRecorderParts) {
    this.#parts = parts
  }

  get isAsked(): boolean {
    return this.watchers.size > 0 || this.#parts.owner.current !== undefined
  }

  begin(session: PoolClient): void {
    const owner = { savepoint: undefined, sink: this.#parts.owner.current, from: 0 }
    this.#open.set(session, { start: this.#highest, read: this.#highest, pending: [], asked: undefined, owners: [owner] })
  }

  writes(session: PoolClient, isLast: boolean): void {
    const open = this.#open.get(session)
    if (open === undefined) return
    open.asked = isLast && this.#isHeard(open) ? this.#askEntries(session, open) : undefined
    // The error of the previous statement is reported.
    open.asked?.answer.catch(() => {})
  }

  async savepoint(session: PoolClient, name: string): Promise<void> {
    await this.collect(session)
    const open = this.#open.get(session)
    open?.owners.push({ savepoint: name, sink: this.#parts.owner.current, from: open.pending.length })
  }

  async release(session: PoolClient, name: string): Promise<void> {
    await this.collect(session)
    this.#end(session, name)
  }

  rollbackTo(session: PoolClient, name: string): void {
    this.writes(session, false)
    const from = this.#end(session, name)
    if (from !== undefined) this.#open.get(session)!.pending.length = from
  }

  /**
   * @returns the number of changes before the savepoint
   */
  #end(session: PoolClient, name: string): number | undefined {
    const owners = this.#open.get(session)?.owners ?? []
    const at = owners.findLastIndex(({ savepoint }) => savepoint === name)
    return at < 0 ? undefined : owners.splice(at)[0]!.from
  }

  rollback(session: PoolClient): void {
    this.#open.delete(session)
  }

  async collect(session: PoolClient): Promise<void> {
    const open = this.#open.get(session)
    if (open === undefined || !this.#isHeard(open)) return
    const { limits, guessed, answer } = open.asked ?? this.#askEntries(session, open)
    open.asked = undefined
    const { tables, last, entries: likely } = await answer
    if (tables.size === 0) return
    const changed = [...tables].flatMap(oid => this.#parts.compiled.byTable.get(oid) ?? [])
    this.#lately = changed
    const others = changed.filter(each => this.#isWanted(each, open) && !guessed.includes(each))
    const rest = others.length === 0 ? [] : await this.#ask(session, others, limits)
    const entries = [...likely, ...rest]
    const found = [...guessed, ...others].flatMap((each, index) => entries[index]!.flatMap(row => readEntry(each, row)))
    const { sink } = open.owners.at(-1)!
    for (const { change } of found.toSorted((a, b) => a.at - b.at)) open.pending.push({ sink, change })
    open.read = last
    if (open.read > this.#highest) this.#highest = open.read
  }

  #isHeard({ owners }: OpenChanges): boolean {
    return this.watchers.size > 0 || owners.some(({ sink }) => sink !== undefined)
  }

  #isWanted({ table }: WatchedRows, { owners }: OpenChanges): boolean {
    return owners.at(-1)!.sink !== undefined || this.#isWatched(table)
  }

  #askEntries(session: PoolClient, open: OpenChanges): AskedEntries {
    const limits = [open.read, open.start]
    const guessed = this.#lately.filter(each => this.#isWanted(each, open))
    return {
      limits,
      guessed,
      answer: guessed.length === 1 ? this.#askOne(session, guessed[0]!, limits) : this.#askAll(session, guessed, limits),
    }
  }

  async #askAll(session: PoolClient, guessed: readonly WatchedRows[], limits: readonly number[]): Promise<FoundEntries> {
    const [touched = [], ...entries] = await this.#ask(session, [{ sql: this.#parts.compiled.touched }, ...guessed], limits)
    return { tables: new Set(touched.map(([oid]) => Number(oid))), last: lastOf(touched, 1), entries }
  }

  /** Most requests change a single table: if guessed, a single statement reads tables and entries. */
  async #askOne(session: PoolClient, { oid, withOthers }: WatchedRows, limits: readonly number[]): Promise<FoundEntries> {
    const [rows = []] = await this.#ask(session, [{ sql: withOthers }], limits)
    const tables = new Set<number>()
    const ofTable = rows.filter(([, kind]) => {
      const other = KINDS.has(kind) ? undefined : Number(kind)
      tables.add(other ?? oid)
      return other === undefined
    })
    return { tables, last: lastOf(rows, 0), entries: [ofTable] }
  }

  async #ask(session: PoolClient, statements: readonly { readonly sql: string }[], limits: readonly number[]): Promise<Answered['rows']> {
    try {
      const asked = statements.map(({ sql }) => ({ sql, parameters: limits }))
      return (await this.#parts.sessions.readAll(session, asked)).rows.slice(0, asked.length)
    } catch (error) {
      // A guessed table may be gone.
      this.#lately = []
      throw error
    }
  }

  #isWatched(table: string | undefined): boolean {
    for (const watcher of this.watchers) if (watcher.table === undefined || watcher.table === table) return true
    return false
  }

  async beforeCommit(session: PoolClient): Promise<void> {
    await this.collect(session)
    const open = this.#open.get(session)
    if (open === undefined) return
    const touched = findTouched(open.pending)
    if (touched.size === 0) return
    const lists = new Map<TouchedList, ListNow>()
    for (const owners of touched.values()) for (const list of owners.values()) lists.set(list, await this.#parts.readList(session, list))
    open.pending = gatherLists(open.pending, touched, list => lists.get(list)!)
  }

  async afterCommit(session: PoolClient): Promise<void> {
    const open = this.#open.get(session)
    this.#open.delete(session)
    for (const { sink, change } of open?.pending ?? []) {
      if (change.kind === 'link') continue
      sink?.add(change)
      for (const watcher of this.watchers) watcher.add(change)
    }
    if (++this.#committed % TRIM_EVERY === 0) await trimLog(session, this.#parts.log)
    // Statements planned for a short log would read the whole log.
    if (this.#highest < this.#measureAt) return
    this.#measureAt = this.#highest * 2
    await measureLog(session, this.#parts.log)
  }
}

function lastOf(rows: readonly Row[], column: number): number {
  return rows.reduce((last, row) => Math.max(last, Number(row[column])), 0)
}

function readEntry(watched: WatchedRows, row: Row): LogEntry[] {
  const at = Number(row[0])
  if (watched.kind === 'table') return [{ at, change: new LoggedRow(watched.watched, watched.image, row) }]
  const { list, width } = watched
  const changes = [
    row[1] === 'I' ? undefined : readLink(list, row.slice(2, 2 + width), false),
    row[1] === 'D' ? undefined : readLink(list, row.slice(2 + width), true),
  ]
  return changes.flatMap(change => (change === undefined ? [] : [{ at, change }]))
}
