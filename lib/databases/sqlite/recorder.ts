/**
 * Reports every changed row at the commit. The unit of work, SQL of a hook, or SQLite (`on delete cascade`) may change a row.
 * Triggers hand over the rows.
 */
import type { Discriminator } from '../../model/model.ts'
import type { ChangeOwner, ChangeRecorder, ChangeSink, RowChange, RowImage, Watched, WatchedTable } from '../../records/database/changes.ts'
import { discriminatorCondition, type Recall } from '../sql/from-clause.ts'
import {
  findTouched,
  gatherLists,
  readLink,
  type ListNow,
  type PendingChange,
  type TouchedList,
  compileList,
  linkColumns,
  type CompiledList,
} from '../sql/list-changes.ts'
import { compileImage, recalledKeys, recalledMembers, type CompiledImage, type RecalledKey } from '../sql/row-image.ts'
import { literal, name, sql } from '../sql/sql.ts'
import type { Content } from './content.ts'
import type { RawDatabase } from './driver/raw-database.ts'
import type { WriteObserver } from './orm/connection-host.ts'
import { SQLITE_FLAVOUR } from './sql/flavour.ts'

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

const OLD = '"old"'
const NEW = '"new"'

/** For `mikro_changed`. */
const INSERT = 0
const UPDATE = 1
const DELETE = 2

/** A function takes 1,000 arguments (SQLITE_MAX_FUNCTION_ARG); an update hands over two rows. */
const MAX_COLUMNS = 490

/** Asks the recorder for the key of a deleted linked record. */
const recall: Recall = (found, referred, part, column) =>
  sql`ifnull(${found}, mikro_gone(${literal(referred)}, ${String(part)}, ${column}))`

interface CompiledTable {
  readonly table: WatchedTable
  readonly image: CompiledImage
}

interface TableTriggers {
  readonly table: string
  readonly columns: readonly string[]
  readonly sql: readonly string[]
}

interface CompiledWatch {
  readonly tables: readonly CompiledTable[]
  readonly lists: readonly CompiledList[]
  readonly triggers: readonly TableTriggers[]
}

const compiledWatches = new WeakMap<Watched, CompiledWatch>()

function compileWatch(watched: Watched): CompiledWatch {
  let compiled = compiledWatches.get(watched)
  if (compiled !== undefined) return compiled
  const keys = [...watched.tables.flatMap(recalledKeys), ...watched.lists.flatMap(recalledMembers)]
  const recalled = new Map(keys.map(key => [key.name, key]))
  compiled = {
    tables: watched.tables.map(table => ({
      table,
      image: compileImage({ resource: table.resource, fields: table.fields }, NEW, SQLITE_FLAVOUR, recall),
    })),
    lists: watched.lists.map(list => compileList(list, SQLITE_FLAVOUR, NEW, recall)),
    triggers: [
      ...watched.tables.map(({ resource, fields }, index) => {
        const columns = (alias: string): readonly string[] => compileImage({ resource, fields }, alias, SQLITE_FLAVOUR, recall).columns
        return compileTriggers(resource.table, index, { old: columns(OLD), new: columns(NEW) })
      }),
      ...watched.lists.map((list, index) =>
        compileTriggers(
          list.attribute.via.table,
          watched.tables.length + index,
          { old: linkColumns(list, OLD, SQLITE_FLAVOUR, recall), new: linkColumns(list, NEW, SQLITE_FLAVOUR, recall) },
          list.attribute.via.discriminator,
        ),
      ),
      ...[...recalled.values()].map(compileRecall),
    ],
  }
  compiledWatches.set(watched, compiled)
  return compiled
}

/** Triggers of the last database: forks have the same schema. */
const lastStatements = new WeakMap<CompiledWatch, { readonly schema: string; readonly sql: string }>()

function triggerStatements(watch: CompiledWatch, db: RawDatabase): string {
  const schema = readSchema(db)
  const last = lastStatements.get(watch)
  if (last?.schema === schema) return last.sql
  const sql = watch.triggers.flatMap(each => (fits(db, each) ? each.sql : [])).join('\n')
  lastStatements.set(watch, { schema, sql })
  return sql
}

function readSchema(db: RawDatabase): string {
  const rows = db.prepare('select sql from sqlite_master order by rowid').pluck().all()
  return JSON.stringify(rows)
}

function dropTriggers(db: RawDatabase): void {
  const rows = db.prepare("select name from sqlite_temp_master where type = 'trigger' and name like 'mikro_changed_%'").pluck().all()
  for (const trigger of rows as string[]) db.exec(`drop trigger temp.${name(trigger)}`)
}

function compileTriggers(
  table: string,
  index: number,
  columns: { readonly old: readonly string[]; readonly new: readonly string[] },
  discriminator?: Discriminator,
): TableTriggers {
  const isMeant = (event: string): string =>
    discriminatorCondition(discriminator, column => `${event === 'insert' ? NEW : OLD}.${name(column)}`)?.text ?? ''
  const when = (event: string): string => (discriminator === undefined ? '' : `when ${isMeant(event)} `)
  const trigger = (event: string, what: number, values: readonly string[]): string =>
    `create temp trigger if not exists ${name(`mikro_changed_${index}_${event}`)} after ${event} on main.${name(table)} ` +
    `${when(event)}begin select mikro_changed(${[String(index), String(what), ...values].join(', ')}); end;`
  return {
    table,
    columns: columns.new,
    sql: [
      trigger('insert', INSERT, columns.new),
      trigger('update', UPDATE, [...columns.old, ...columns.new]),
      trigger('delete', DELETE, columns.old),
    ],
  }
}

/** Remembers a key before the record is deleted or gets another key: SQLite then changes the linking rows. */
function compileRecall({ name: keyName, table, column, key }: RecalledKey, index: number): TableTriggers {
  const columns = [column, ...key].map(each => `${OLD}.${name(each)}`)
  const trigger = (event: string, of: string, when: string): string =>
    `create temp trigger if not exists ${name(`mikro_changed_key_${index}_${event}`)} before ${event}${of} on main.${name(table)} ` +
    `${when}begin select mikro_going(${[literal(keyName), ...columns].join(', ')}); end;`
  const differs = `when ${OLD}.${name(column)} is not ${NEW}.${name(column)} `
  return {
    table,
    columns: [column, ...key].map(each => `${NEW}.${name(each)}`),
    sql: [trigger('update', ` of ${name(column)}`, differs), trigger('delete', '', '')],
  }
}

/** A trigger on a missing column would make every write fail. */
function fits(db: RawDatabase, { table, columns }: TableTriggers): boolean {
  const found = db
    .prepare(
      `select 1 from sqlite_master where type = 'table' and name = ${literal(table)} collate nocase and sql not like 'create virtual%'`,
    )
    .get()
  if (found === undefined || columns.length > MAX_COLUMNS) return false
  try {
    db.prepare(`select ${columns.join(', ')} from ${name(table)} as ${NEW}`)
    return true
  } catch (error) {
    // Readings report the missing column.
    if ((error as Error).message.startsWith('no such column')) return false
    throw error
  }
}
