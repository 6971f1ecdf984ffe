/** Row changes: runs the statement of the answer's row, and reads the answer, for flat-writer.ts and planned-writer.ts. */
import { notFound } from '../access/resolve-path.ts'
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { Reading, ReadingStep, Row, Statement } from '../database/dialect.ts'
import type { Connection, RowsWritten } from '../database/connection.ts'
import { keyFromCount, type KeyValues } from '../../model/key.ts'
import type { Resource } from '../../model/model.ts'
import type { StoredTable } from '../../model/stored-table.ts'
import type { Reader } from '../read/reader.ts'
import type { JsonRecord } from '../read/run-read.ts'
import { addTouched, bindDiffers, bindKey, bindScope, bindUpdate, type BoundColumns, type BoundStatement } from './bind-write.ts'
import { statementDropped, refuseNew } from '../validate/dropped-writes.ts'
import { findTaken, type RefusedBody } from './find-taken.ts'
import type { MadeValues } from './made-values.ts'
import type { RowPlan } from './plan-rows.ts'
import type { RowRules } from './row-rules.ts'
import { ScopedStatements } from '../validate/scoped-statements.ts'
import type { WriteRules } from '../validate/write-rules.ts'
import type { RecordAddress, Written } from '../validate/written.ts'
import { Unplanned } from './unplanned.ts'
import type { ChangeValidator } from '../validate/validate-change.ts'

export interface RowRequest extends RefusedBody {
  readonly values: MadeValues | undefined
  /** `undefined`: the caller may do everything. */
  readonly rules: RowRules | undefined
  /** Whether other rows are written, too: the see `PlannedWrite`. */
  readonly isWide: boolean
}

export interface PlannedRowChange {
  readonly row: RowPlan
  readonly columns: BoundColumns
  /** `undefined`: not compiled yet. */
  readonly statement?: Statement
  readonly address: RecordAddress
  /** The record shown by the answer. */
  readonly shown: RecordAddress
  /** Whether no look-up has found the record: the statement must see to visibility. */
  readonly isUnseen?: boolean
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

  *insert(
    bound: BoundStatement & { readonly key: KeyValues | undefined },
    stored: StoredTable,
    request: RowRequest,
  ): Coroutine<KeyValues | undefined> {
    const { rows, counted } = yield* this.#run(bound, stored, request)
    // A trigger has dropped or replaced the row.
    if (rows === 0) throw new Unplanned()
    return bound.key ?? keyFromCount(counted, request.resource)
  }

  *answerNew(key: KeyValues, { resource, view }: RefusedBody, writing: WriteRules | undefined): Coroutine<Written> {
    const record = yield* wait(this.#reader.record(resource, key, view))
    if (record === undefined) return yield* refuseNew(resource, key, { connection: this.#connection, reader: this.#reader })
    writing?.addNew(resource, key)
    if (writing !== undefined) yield* writing.confirm()
    return { resource, key, record }
  }

  /** Returns undefined where a value has no parameter, or `isTried` and no row changed. */
  *update(change: PlannedRowChange, request: RowRequest): Coroutine<Written | undefined> {
    const { address, shown } = change
    const { view, rules } = request
    const { resource, key, id } = shown
    let answer: Promise<JsonRecord | undefined> | undefined
    const startReading = (): void => {
      const reading = this.#reader.record(resource, key, view)
      answer = reading instanceof Promise ? reading : undefined
      // If the change fails, the reading fails, too.
      answer?.catch(() => {})
    }
    // Stages of a trace follow each other.
    const rows = yield* this.#set(change, request, request.isWide || view.trace !== undefined ? undefined : startReading)
    if (rows === undefined || (rows === 0 && change.isTried === true)) return undefined
    if (rules !== undefined) {
      yield* rules.confirm()
      if (shown !== address) yield* rules.requireStays(address.resource, address.key)
    }
    const record = yield* wait(answer ?? this.#reader.record(resource, key, view))
    if (record !== undefined) {
      if (rows === 0) yield* this.#requireSet(change, request.resource)
      if (rules?.writing !== undefined) yield* rules.writing.confirm()
      return { resource, key, record }
    }
    if (rules?.asksOf(resource) !== true || (change.isUnseen === true && rows === 0)) throw notFound(resource, id)
    return yield* rules.refuseLeft(shown)
  }

  /** Refuses a change without effect, though a column differs. */
  *#requireSet({ row: { stored }, columns, address }: PlannedRowChange, resource: Resource): Coroutine<void> {
    if (columns.columns.length === 0) return
    const connection = this.#connection
    const differs = bindDiffers(columns, stored, bindKey(address.key, resource, stored, connection), connection)
    if ((yield* wait(connection.read(() => readOne(differs)))).length > 0) throw yield* statementDropped(resource, 'changed', connection)
  }

  /** Returns undefined where a value has no parameter, and nothing is written. */
  *#set(change: PlannedRowChange, request: RowRequest, sendNext: (() => void) | undefined): Coroutine<number | undefined> {
    const { row, columns, statement, address, isUnseen } = change
    const { stored, touched } = row
    if (columns.columns.length === 0) return 0
    const connection = this.#connection
    const self = bindKey(address.key, request.resource, stored, connection)
    if (touched.length === 0) {
      const { parameters } = columns
      const all = [...parameters, ...self, ...parameters]
      if (isUnseen === true) {
        const scopedStatement = yield* this.#findSeen(change, request)
        all.push(...bindScope(scopedStatement, all.length, request.view.visibility, connection.dialect))
        return (yield* this.#run({ statement: scopedStatement, parameters: all }, stored, request, sendNext)).rows
      }
      const known = statement && { statement, parameters: all }
      return (yield* this.#run(known ?? bindUpdate(columns, stored, self, connection, true), stored, request, sendNext)).rows
    }
    // Calls functions of the model for real changes only.
    const differs = bindDiffers(columns, stored, self, connection)
    if ((yield* wait(connection.read(() => readOne(differs)))).length === 0) return 0
    const all = addTouched(columns, touched, connection, request.values!)
    if (all === undefined) return undefined
    return (yield* this.#run(bindUpdate(all, stored, self, connection, false), stored, request, sendNext)).rows
  }

  #findSeen(
    { row, columns: { columns }, statement }: PlannedRowChange,
    { resource, view }: RowRequest,
  ): Iterable<Promise<unknown>, Statement> {
    const { writing } = this.#connection.dialect
    let known = visibleStatements.get(statement!)
    if (known === undefined) visibleStatements.set(statement!, (known = new ScopedStatements()))
    return wait(known.find(resource, view.visibility, ({ scopeOf }) => writing.update(row.stored, columns, true, { resource, scopeOf })))
  }

  /**
   * If the database refuses a taken value, throws the check's error.
   *
   * @param sendNext sends the next statement, where the database takes statements before answering earlier ones
   */
  *#run(
    { statement, parameters }: BoundStatement,
    { keepsUnique }: StoredTable,
    request: RowRequest,
    sendNext?: () => void,
  ): Coroutine<RowsWritten> {
    const connection = this.#connection
    const { dialect } = connection
    try {
      const running = connection.run(statement, parameters, request.isWide ? 'writes' : 'reads')
      if (running instanceof Promise) sendNext?.()
      return yield* wait(running)
    } catch (error) {
      // An existing database may lack the model's constraints.
      const isTaken = keepsUnique && connection.keepsConstraints && !request.isWide && dialect.breaksConstraint(error)
      if (isTaken) yield* findTaken(error, request, dialect, this.#validator)
      throw error
    }
  }
}

const visibleStatements = new WeakMap<Statement, ScopedStatements<Statement>>()

function* readOne(step: ReadingStep): Reading<readonly Row[]> {
  const [rows] = yield [step]
  return rows!
}
