/** Runs the statement of a changed row, and reads the answer, for change-record.ts. */
import { notFound } from '../access/resolve-path.ts'
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { Reading, ReadingStep, Row, Statement } from '../database/dialect.ts'
import type { Connection } from '../database/connection.ts'
import { restError } from '../../foundation/errors/errors.ts'
import type { Reader, View } from '../read/reader.ts'
import type { JsonRecord } from '../read/run-read.ts'
import { addTouched, bindDiffers, bindKey, bindScope, bindUpdate, type BoundColumns, type BoundStatement } from './bind-write.ts'
import { statementDropped } from '../validate/dropped-writes.ts'
import type { RowPlan } from './plan-rows.ts'
import type { RowRules } from './row-rules.ts'
import { ScopedStatements } from '../validate/scoped-statements.ts'
import type { RecordAddress, Written } from '../validate/written.ts'

export interface PlannedRowChange {
  readonly row: RowPlan
  readonly columns: BoundColumns
  /** `undefined`: not compiled yet. */
  readonly statement?: Statement
  readonly address: RecordAddress
  readonly shown: RecordAddress
  /** The record before, if a fixed filter may hide the record afterwards. */
  readonly before?: JsonRecord | undefined
  /** Nothing has looked for the record: the statement must see to visibility. */
  readonly isUnseen?: boolean
  readonly isTried?: boolean
  /** Other rows are written, too. */
  readonly isWide?: boolean
}

export class RowChanges {
  readonly #connection: Connection
  readonly #reader: Reader

  constructor(connection: Connection, reader: Reader) {
    this.#connection = connection
    this.#reader = reader
  }

  /** Undefined: no row changed, with `isTried`. */
  *update(change: PlannedRowChange, view: View, rules: RowRules | undefined): Coroutine<Written | undefined> {
    const { address, shown } = change
    const { resource, key, id } = shown
    let answer: Promise<JsonRecord | undefined> | undefined
    const startReading = (): void => {
      const reading = this.#reader.record(resource, key, view)
      answer = reading instanceof Promise ? reading : undefined
      // A failed change fails the reading, too.
      answer?.catch(() => {})
    }
    // Stages of a trace follow each other.
    const rows = yield* this.#set(change, view, change.isWide === true || view.trace !== undefined ? undefined : startReading)
    if (rows === 0 && change.isTried === true) return undefined
    if (rules !== undefined) {
      yield* rules.confirm()
      if (shown !== address) yield* rules.requireStays(address.resource, address.key)
    }
    const record = yield* wait(answer ?? this.#reader.record(resource, key, view))
    if (record !== undefined) {
      if (rows === 0) yield* this.#requireSet(change)
      if (rules?.writing !== undefined) yield* rules.writing.confirm()
      return { resource, key, record }
    }
    if (rules?.asksOf(resource) !== true || (change.isUnseen === true && rows === 0)) throw notFound(resource, id)
    yield* rules.refuseLeft(resource, key)
    if (change.before === undefined)
      throw restError('record_not_found', `The ${resource.singular} has been removed by its own change, which was undone.`)
    if (rules.writing !== undefined) yield* rules.writing.confirm()
    return { resource, key, record: change.before, removed: true }
  }

  /** A column still differs: the change had no effect. */
  *#requireSet({ row: { stored }, columns, address: { resource, key } }: PlannedRowChange): Coroutine<void> {
    if (columns.columns.length === 0) return
    const connection = this.#connection
    const differs = bindDiffers(columns, stored, bindKey(key, resource, stored, connection), connection)
    if ((yield* wait(connection.read(() => readOne(differs)))).length > 0) throw yield* statementDropped(resource, 'changed', connection)
  }

  /**
   * Counts changed rows.
   *
   * @param sendNext sends the next statement, where the database takes statements before answering earlier ones
   */
  *#set(change: PlannedRowChange, view: View, sendNext: (() => void) | undefined): Coroutine<number> {
    const { row, columns, statement, address, isUnseen } = change
    const { stored, touched } = row
    if (columns.columns.length === 0) return 0
    const connection = this.#connection
    const self = bindKey(address.key, address.resource, stored, connection)
    let bound: BoundStatement
    if (touched.length === 0) {
      const { parameters } = columns
      const all = [...parameters, ...self, ...parameters]
      if (isUnseen === true) {
        const scopedStatement = yield* this.#findSeen(change, view)
        all.push(...bindScope(scopedStatement, all.length, view.visibility, connection.dialect))
        bound = { statement: scopedStatement, parameters: all }
      } else bound = statement === undefined ? bindUpdate(columns, stored, self, connection, true) : { statement, parameters: all }
    } else {
      // Functions of the model run only for real changes.
      const differs = bindDiffers(columns, stored, self, connection)
      if ((yield* wait(connection.read(() => readOne(differs)))).length === 0) return 0
      bound = bindUpdate(addTouched(columns, touched, connection), stored, self, connection, false)
    }
    const running = connection.run(bound.statement, bound.parameters, change.isWide === true ? 'writes' : 'reads')
    if (running instanceof Promise) sendNext?.()
    return (yield* wait(running)).rows
  }

  #findSeen(
    { row, columns: { columns }, statement, address: { resource } }: PlannedRowChange,
    view: View,
  ): Iterable<Promise<unknown>, Statement> {
    const { writing } = this.#connection.dialect
    let known = visibleStatements.get(statement!)
    if (known === undefined) visibleStatements.set(statement!, (known = new ScopedStatements()))
    return wait(known.find(resource, view.visibility, ({ scopeOf }) => writing.update(row.stored, columns, true, { resource, scopeOf })))
  }
}

const visibleStatements = new WeakMap<Statement, ScopedStatements<Statement>>()

function* readOne(step: ReadingStep): Reading<readonly Row[]> {
  const [rows] = yield [step]
  return rows!
}
