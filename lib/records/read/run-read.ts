/**
 * Runs the statements of a compiled plan, and builds JSON records. Generator functions are at the top level: making one costs more than
 * reading a record.
 */
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { thresholds } from '../../foundation/base/thresholds.ts'
import { bindParameters, type Arguments, type PendingRender } from '../database/bind.ts'
import type { HookContext } from '../../model/hook-context.ts'
import { isPlain, toJson } from '../../foundation/json/json.ts'
import type { CompiledNode, CompiledRead, CountedPage, Dialect, Reading, ReadingStep, Row, Statement } from '../database/dialect.ts'
import type { Resource } from '../../model/model.ts'
import { formatStart, refuseStart, type KeyStart } from '../request/key-start.ts'
import { attachAll } from './attach-relations.ts'
import { build, weigh, type JsonRecord } from './build-records.ts'

export type { JsonRecord }

export interface RecordPage {
  readonly records: readonly JsonRecord[]
  /** On all pages. */
  readonly count: number
  /** Where the next page by keys begins; undefined: no more. */
  readonly last?: readonly unknown[] | undefined
}

export type OrderedPage = Omit<RecordPage, 'last'> & { readonly sort: string; readonly after?: string }

export function checkStart(start: KeyStart, { plural }: Resource, sort: string): void {
  if (start.after !== undefined && start.after.of !== `${plural} ${sort}`) throw refuseStart(start, 'is a cursor of another list or order')
}

export function finishPage({ records, count, last = [] }: RecordPage, { plural }: Resource, sort: string): OrderedPage {
  return { records, count, sort, after: formatStart(`${plural} ${sort}`, last) }
}

/** Refuses a wrong type, unless some record holds such a value. */
export function checkFound(count: number, { misfits }: Arguments): void {
  if (count === 0 && misfits?.refusal !== undefined) throw misfits.refusal
}

export function* readPage(read: CompiledRead, given: Arguments, dialect: Dialect): Reading<RecordPage> {
  if (read.cursor !== undefined && given.limit > 0) return yield* readKeyedPage(read, read.cursor, given, dialect)
  const statement = given.offset >= thresholds.deepOffset && read.deep !== undefined ? read.deep() : read.rows
  const { limit, offset } = given
  if (limit === 0) {
    const [[counted]] = (yield [requestRows(read.count!(), read.node, given, dialect, true)]) as [readonly Row[]]
    return { records: [], count: Number(counted![0]) }
  }
  let records: JsonRecord[] = []
  const isLast = read.node.children.length === 0
  const page = requestRows(statement, read.node, given, dialect, isLast)
  const take = (found: readonly Row[]): void => {
    records = build(found, read.node, given)
    weigh(found, read.node, undefined, undefined, given)
  }
  // A page not full shows the count, except past the end.
  const isNeeded = ({ length }: readonly Row[]): boolean => length === limit || (length === 0 && offset > 0)
  const { counted: compile } = read
  const countedPage: CountedPage | undefined = compile && {
    limit,
    offset,
    statement: compile,
    bind: most => bindParameters(compile(), { ...given, most }, dialect),
  }
  const [rows, counted] = (yield [
    { ...page, take, counted: countedPage },
    new CountStep(read.count!, given, dialect, { isLast, isNeeded }),
  ]) as [readonly Row[], readonly Row[]]
  if (rows.length > 0 && read.node.children.length > 0) yield* attachAll({ rows, records, times: undefined }, read.node, given, dialect)
  return { records, count: isNeeded(rows) ? Number(counted[0]![0]) : offset + rows.length }
}

/** One row more tells of a next page. */
function* readKeyedPage(read: CompiledRead, cursor: readonly number[], given: Arguments, dialect: Dialect): Reading<RecordPage> {
  const { rows: statement, node, count } = read
  const [found, counted] = (yield [
    requestRows(statement, node, { ...given, limit: given.limit + 1, offset: 0 }, dialect),
    { statement: count!(), parameters: bindParameters(count!(), given, dialect) },
  ]) as [readonly Row[], readonly Row[]]
  const rows = found.slice(0, given.limit)
  const records = build(rows, node, given)
  weigh(rows, node, undefined, undefined, given)
  if (rows.length > 0 && node.children.length > 0) yield* attachAll({ rows, records, times: undefined }, node, given, dialect)
  const last = found.length > rows.length ? cursor.map(place => rows.at(-1)![place]) : undefined
  return { records, count: Number(counted[0]![0]), last }
}

export function* readRecords(read: CompiledRead, given: Arguments, dialect: Dialect): Reading<readonly JsonRecord[]> {
  const [rows] = (yield [requestRows(read.rows, read.node, given, dialect)]) as [readonly Row[]]
  const records = build(rows, read.node, given)
  weigh(rows, read.node, undefined, undefined, given)
  if (rows.length > 0 && read.node.children.length > 0) yield* attachAll({ rows, records, times: undefined }, read.node, given, dialect)
  return records
}

export function* readFirst(read: CompiledRead, given: Arguments, dialect: Dialect): Reading<JsonRecord | undefined> {
  const [rows] = (yield [requestFirst(read, given, dialect)]) as [readonly Row[]]
  const records = build(rows, read.node, given)
  weigh(rows, read.node, undefined, undefined, given)
  if (rows.length > 0 && read.node.children.length > 0) yield* attachAll({ rows, records, times: undefined }, read.node, given, dialect)
  return records[0]
}

export function* readLinked(read: CompiledRead, given: Arguments, dialect: Dialect): Reading<JsonRecord | null> {
  return (yield* readFirst(read, given, dialect)) ?? null
}

interface BranchReads<Branch> {
  readonly branch: Branch
  readonly keys: CompiledRead
  /** Undefined until planned. */
  readonly record: { readonly read: CompiledRead; readonly given: Arguments } | undefined
}

export interface LinkedRecord<Branch> {
  readonly branch: Branch
  /** Undefined: no plan yet. */
  readonly record: JsonRecord | null | undefined
}

export function* readBranch<Branch>(
  branches: readonly BranchReads<Branch>[],
  given: Arguments,
  dialect: Dialect,
): Reading<LinkedRecord<Branch> | null> {
  for (const { branch, keys, record } of branches) {
    if ((yield* readRecords(keys, given, dialect)).length === 0) continue
    return { branch, record: record === undefined ? undefined : yield* readLinked(record.read, record.given, dialect) }
  }
  return null
}

/** Runs `reading` if the record exists; else undefined. */
export function* readWithin<T>(exists: Statement, given: Arguments, dialect: Dialect, reading: Reading<T>): Reading<T | undefined> {
  if (!(yield* readExists(exists, given, dialect))) return undefined
  return yield* reading
}

export function* readExists(statement: Statement, given: Arguments, dialect: Dialect): Reading<boolean> {
  const [rows] = (yield [request(statement, given, dialect)]) as [readonly Row[]]
  return rows.length > 0
}

export function* readRows(statement: Statement, given: Arguments, dialect: Dialect): Reading<readonly Row[]> {
  const [rows] = (yield [request(statement, given, dialect)]) as [readonly Row[]]
  return rows
}

export interface Stored {
  readonly record: JsonRecord
  readonly row: Row
}

export function* readStored(read: CompiledRead, given: Arguments, dialect: Dialect): Reading<Stored | undefined> {
  const [rows] = (yield [requestFirst(read, given, dialect)]) as [readonly Row[]]
  const [row] = rows
  if (row === undefined) return undefined
  const records = build(rows, read.node, given)
  if (read.node.children.length > 0) yield* attachAll({ rows, records, times: undefined }, read.node, given, dialect)
  return { record: records[0]!, row: read.barePlaces.map(at => row[at]) }
}

/** Runs a reading before other statements. */
export function* readBefore<T>(reading: Reading<T>): Reading<T> {
  let next = reading.next()
  while (next.done !== true) next = reading.next(yield next.value.map(step => ({ ...step, isLast: false })))
  return next.value
}

/** Runs two readings side by side, in common batches. */
export function* readTogether<T, U>(one: Reading<T>, other: Reading<U>): Reading<[T, U]> {
  let [first, second] = [one.next(), other.next()]
  while (first.done !== true || second.done !== true) {
    const steps = first.done === true ? [] : first.value
    const rows: readonly (readonly Row[])[] = yield [...steps, ...(second.done === true ? [] : second.value)]
    if (first.done !== true) first = one.next(rows.slice(0, steps.length))
    if (second.done !== true) second = other.next(rows.slice(steps.length))
  }
  return [first.value, second.value]
}

function request(statement: Statement, given: Arguments, dialect: Dialect) {
  return { statement, parameters: bindParameters(statement, given, dialect) }
}

/** Compiled and bound only if run: most filtered pages need no count. */
class CountStep implements ReadingStep {
  readonly isLast: boolean
  readonly isNeeded: (before: readonly Row[]) => boolean
  readonly #compile: () => Statement
  readonly #given: Arguments
  readonly #dialect: Dialect

  constructor(compile: () => Statement, given: Arguments, dialect: Dialect, { isLast, isNeeded }: Pick<CountStep, 'isLast' | 'isNeeded'>) {
    this.#compile = compile
    this.#given = given
    this.#dialect = dialect
    this.isLast = isLast
    this.isNeeded = isNeeded
  }

  get statement(): Statement {
    return this.#compile()
  }

  get parameters(): readonly unknown[] {
    return bindParameters(this.statement, this.#given, this.#dialect)
  }
}

function requestRows(statement: Statement, { areIds }: CompiledNode, given: Arguments, dialect: Dialect, isLast = false): ReadingStep {
  const { room } = given
  const bound = room && { room, areIds, times: 1, at: undefined }
  return { statement, parameters: bindParameters(statement, given, dialect), bound, isLast }
}

function requestFirst({ rows, node: { areIds, children } }: CompiledRead, given: Arguments, dialect: Dialect): ReadingStep {
  const { room } = given
  const bound = room && { room, areIds, times: 1, at: undefined }
  return { statement: rows, parameters: bindParameters(rows, given, dialect), bound, isLast: children.length === 0, isOne: true }
}

/** An attribute rendered as undefined is left out. */
export async function finishRender<T>(result: Awaitable<T>, pending: readonly PendingRender[], ctx: HookContext): Promise<T> {
  const finished = await result
  for (const { record, name, render, stored } of pending) {
    const given = render(record[name], stored, ctx)
    const value: unknown = given instanceof Promise ? await given : given
    if (value === undefined) delete record[name]
    else record[name] = isPlain(value) ? value : toJson(value, `render of "${name}"`)
  }
  return finished
}
