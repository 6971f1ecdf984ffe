/**
 * Row changes: runs the statement by which a planned write inserts or changes the row that its answer shows, and reads the answer behind
 * it. The one way of bodies of one row (flat-writer.ts), and of those that say more (planned-writer.ts).
 */
import { notFound } from '../access/resolve-path.ts'
import { wait, type Coroutine } from '../../foundation/work/awaitable.ts'
import type { Reading, ReadingStep, Row, Statement } from '../database/dialect.ts'
import type { Connection, RowsWritten } from '../database/connection.ts'
import { keyFromCount, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { StoredTable } from '../../model/stored-table.ts'
import type { Reader } from '../read/reader.ts'
import type { JsonRecord } from '../read/run-read.ts'
import { addTouched, bindDiffers, bindKey, bindScope, bindUpdate, type BoundColumns, type BoundStatement } from './bind-write.ts'
import { refuseNew } from '../unit-of-work/check-outcome.ts'
import { dropped } from '../validate/dropped-writes.ts'
import { findTaken, type RefusedBody } from './find-taken.ts'
import type { MadeValues } from './made-values.ts'
import type { RowPlan } from './plan-rows.ts'
import type { RowRules } from './row-rules.ts'
import { ScopedStatements } from '../validate/scoped-statements.ts'
import { Unplanned } from '../unit-of-work/unplanned.ts'
import type { ChangeValidator } from '../unit-of-work/validate-change.ts'
import type { WriteRules } from '../validate/write-rules.ts'
import type { RecordAddress, Written } from '../validate/written.ts'

/** What a request asks of one row. */
export interface RowAsked extends RefusedBody {
  /** What functions of the model give; undefined: none is asked. */
  readonly values: MadeValues | undefined
  /** What the caller may do, where that is not everything. */
  readonly rules: RowRules | undefined
  /** Whether rows of other records are written in the same transaction: the unit of work then does what the database refuses. */
  readonly isWide: boolean
}

export interface PlannedRowChange {
  readonly row: RowPlan
  readonly columns: BoundColumns
  /** What sets them where one of them differs; undefined: it is not compiled yet. */
  readonly statement?: Statement
  readonly address: RecordAddress
  /** The record that the answer shows. */
  readonly shown: RecordAddress
  /** Whether nobody has looked if the record exists for the caller: the statement sets one alone that does. */
  readonly isUnseen?: boolean
  /** Whether another way follows where the statement has changed no row. */
  readonly isTried?: boolean
}

export class RowChanges {
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #validator: ChangeValidator

  constructor(connection: Connection, reader: Reader, validator: ChangeValidator) {
    this.#connection = connection
    this.#reader = reader
    this.#validator = validator
  }

  /** Inserts a row; returns its key, undefined where nothing has been written. */
  *insert(
    bound: BoundStatement & { readonly key: KeyValues | undefined },
    stored: StoredTable,
    asked: RowAsked,
  ): Coroutine<KeyValues | undefined> {
    const { rows, counted } = yield* this.#run(bound, stored, asked)
    // A trigger has dropped it, or inserts in its place: the unit of work finds out.
    if (rows === 0) throw new Unplanned()
    return bound.key ?? keyFromCount(counted, asked.resource)
  }

  /** Reads a record that has been made, and holds it against the rules for writing. */
  *answerNew(key: KeyValues, { resource, view }: RefusedBody, writing: WriteRules | undefined): Coroutine<Written> {
    const record = yield* wait(this.#reader.record(resource, key, view))
    if (record === undefined) return yield* refuseNew(resource, key, { connection: this.#connection, reader: this.#reader })
    writing?.made(resource, key)
    if (writing !== undefined) yield* writing.confirm()
    return { resource, key, record }
  }

  /** Sets columns of a row where one differs, and reads the record for the answer. Undefined: a value cannot be bound. */
  *update(change: PlannedRowChange, asked: RowAsked): Coroutine<Written | undefined> {
    const { address, shown } = change
    const { view, rules } = asked
    const { resource, key, id } = shown
    let answer: Promise<JsonRecord | undefined> | undefined
    const ask = (): void => {
      const reading = this.#reader.record(resource, key, view)
      answer = reading instanceof Promise ? reading : undefined
      // Where the change fails, the reading behind it does so, too.
      answer?.catch(() => {})
    }
    // Stages of a trace follow each other.
    const rows = yield* this.#set(change, asked, asked.isWide || view.trace !== undefined ? undefined : ask)
    if (rows === undefined || (rows === 0 && change.isTried === true)) return undefined
    if (rules !== undefined) {
      yield* rules.confirm()
      if (shown !== address) yield* rules.requireStays(address.resource, address.key)
    }
    const record = yield* wait(answer ?? this.#reader.record(resource, key, view))
    if (record !== undefined) {
      if (rows === 0) yield* this.#requireSet(change, asked.resource)
      if (rules?.writing !== undefined) yield* rules.writing.confirm()
      return { resource, key, record }
    }
    if (rules?.asksOf(resource) !== true || (change.isUnseen === true && rows === 0)) throw notFound(resource, id)
    return yield* rules.refuseLeft(shown)
  }

  /** Refuses a change of which nothing has come, though a column differs. */
  *#requireSet({ row: { stored }, columns, address }: PlannedRowChange, resource: Resource): Coroutine<void> {
    if (columns.columns.length === 0) return
    const connection = this.#connection
    const differs = bindDiffers(columns, stored, bindKey(address.key, resource, stored, connection), connection)
    if ((yield* wait(connection.read(() => readOne(differs)))).length > 0) throw yield* dropped(resource, 'changed', connection)
  }

  /** Returns the number of rows that have changed; undefined where nothing has been done, since a value cannot be bound. */
  *#set(change: PlannedRowChange, asked: RowAsked, behind: (() => void) | undefined): Coroutine<number | undefined> {
    const { row, columns, statement, address, isUnseen } = change
    const { stored, touched } = row
    if (columns.columns.length === 0) return 0
    const connection = this.#connection
    const self = bindKey(address.key, asked.resource, stored, connection)
    if (touched.length === 0) {
      const { parameters } = columns
      const all = [...parameters, ...self, ...parameters]
      if (isUnseen === true) {
        const own = yield* this.#findSeen(change, asked)
        all.push(...bindScope(own, all.length, asked.view.visibility, connection.dialect))
        return (yield* this.#run({ statement: own, parameters: all }, stored, asked, behind)).rows
      }
      const known = statement && { statement, parameters: all }
      return (yield* this.#run(known ?? bindUpdate(columns, stored, self, connection, true), stored, asked, behind)).rows
    }
    // The functions of the model are called for what changes alone.
    const differs = bindDiffers(columns, stored, self, connection)
    if ((yield* wait(connection.read(() => readOne(differs)))).length === 0) return 0
    const all = addTouched(columns, touched, connection, asked.values!)
    if (all === undefined) return undefined
    return (yield* this.#run(bindUpdate(all, stored, self, connection, false), stored, asked, behind)).rows
  }

  /** Finds the statement that sets the columns where one of them differs, of a row that exists for the caller. */
  #findSeen(
    { row, columns: { columns }, statement }: PlannedRowChange,
    { resource, view }: RowAsked,
  ): Iterable<Promise<unknown>, Statement> {
    const { writing } = this.#connection.dialect
    let known = seen.get(statement!)
    if (known === undefined) seen.set(statement!, (known = new ScopedStatements()))
    return wait(known.find(resource, view.visibility, ({ scopeOf }) => writing.update(row.stored, columns, true, { resource, scopeOf })))
  }

  /**
   * Runs a statement. Where the database refuses a value that nothing has looked for before, the error is that of the check.
   *
   * @param behind asks for what comes next, where the database takes a statement before it has answered the one in front
   */
  *#run(
    { statement, parameters }: BoundStatement,
    { keepsUnique }: StoredTable,
    asked: RowAsked,
    behind?: () => void,
  ): Coroutine<RowsWritten> {
    const connection = this.#connection
    const { dialect } = connection
    try {
      const running = connection.run(statement, parameters, asked.isWide ? 'writes' : 'reads')
      if (running instanceof Promise) behind?.()
      return yield* wait(running)
    } catch (error) {
      if (!dialect.breaksConstraint(error)) throw error
      if (asked.isWide) throw new Unplanned('', { cause: error })
      // An existing database may lack the model's constraints.
      if (keepsUnique && connection.keepsConstraints) yield* findTaken(error, asked, dialect, this.#validator)
      throw error
    }
  }
}

/** Statements that set what another one does, in rows that exist for the caller. */
const seen = new WeakMap<Statement, ScopedStatements<Statement>>()

function* readOne(step: ReadingStep): Reading<readonly Row[]> {
  const [rows] = yield [step]
  return rows!
}
