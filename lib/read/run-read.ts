/**
 * Render: runs the statements of a compiled plan and puts their rows together as JSON records.
 * Runs one statement for the rows, at most one for the count, and one for each relation that is shown. All generator functions are at the top level: creating
 * one for each request would cost more than reading a record.
 */
import type { Awaitable } from '../base/awaitable.ts'
import { bindParameters } from '../database/bind.ts'
import type { Arguments, PendingRender } from '../database/bind.ts'
import type { HookContext } from '../request/hook-context.ts'
import { isPlain, toJson, putInside } from '../base/json.ts'
import type {
  CompiledChild,
  CompiledNode,
  CompiledRead,
  Dialect,
  Reading,
  ReadingStep,
  Row,
  RowBound,
  Statement,
} from '../database/dialect.ts'

/** A record as an answer shows it. */
export type JsonRecord = Record<string, unknown>

/** A page of records. */
export interface Page {
  readonly records: readonly JsonRecord[]
  /** The number of records that match, whatever the page. */
  readonly count: number
}

/** The offset from which it is faster to find the keys of a page first. See docs/benchmarks.md. */
const DEEP = 1000

/** Records that are built between two checks of the deadline. */
const MANY = 1000

/** Reads the page of the limit and offset in the arguments. */
export function* readPage(read: CompiledRead, given: Arguments, dialect: Dialect): Reading<Page> {
  const statement = given.offset >= DEEP && read.deep !== undefined ? read.deep() : read.rows
  const rows = given.limit === 0 ? [] : yield requestRows(statement, read.node, given, dialect)
  const records = build(rows, read.node, given)
  weigh(rows, read.node, undefined, undefined, given)
  if (rows.length > 0 && read.node.children.length > 0) yield* attachAll({ rows, records, times: undefined }, read.node, given, dialect)
  const { limit, offset } = given
  // A page that is not full, and not past the end, shows the count itself.
  const known = rows.length < limit && (rows.length > 0 || offset === 0)
  if (known) return { records, count: offset + rows.length }
  const [counted] = yield requestRows(read.count!, read.node, given, dialect)
  return { records, count: Number(counted![0]) }
}

/** Reads all records of a plan that is not paged. */
export function* readRecords(read: CompiledRead, given: Arguments, dialect: Dialect): Reading<readonly JsonRecord[]> {
  const rows = yield requestRows(read.rows, read.node, given, dialect)
  const records = build(rows, read.node, given)
  weigh(rows, read.node, undefined, undefined, given)
  if (rows.length > 0 && read.node.children.length > 0) yield* attachAll({ rows, records, times: undefined }, read.node, given, dialect)
  return records
}

/** Reads the first record of a plan, if there is one. */
export function* readFirst(read: CompiledRead, given: Arguments, dialect: Dialect): Reading<JsonRecord | undefined> {
  const rows = yield requestRows(read.rows, read.node, given, dialect)
  const records = build(rows, read.node, given)
  weigh(rows, read.node, undefined, undefined, given)
  if (rows.length > 0 && read.node.children.length > 0) yield* attachAll({ rows, records, times: undefined }, read.node, given, dialect)
  return records[0]
}

/** Reads the record that a to-one links; null when it is empty. */
export function* readLinked(read: CompiledRead, given: Arguments, dialect: Dialect): Reading<JsonRecord | null> {
  return (yield* readFirst(read, given, dialect)) ?? null
}

/** A relation to one of several entities, while one of its branches is looked for. */
export interface BranchReads<Branch> {
  readonly branch: Branch
  /** Reads the key of the linked record. */
  readonly keys: CompiledRead
  /** Reads the linked record; undefined while that is not planned. */
  readonly record: { readonly read: CompiledRead; readonly given: Arguments } | undefined
}

/** The branch that links a record, with the record. */
export interface LinkedRecord<Branch> {
  readonly branch: Branch
  /** Is undefined when it was not read, since its plan was not there. */
  readonly record: JsonRecord | null | undefined
}

/** Reads the first branch that links a record, with the record, in one reading; null when none does. */
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

/** Runs a reading when a record exists; returns undefined when it does not. */
export function* readWithin<T>(exists: Statement, given: Arguments, dialect: Dialect, reading: Reading<T>): Reading<T | undefined> {
  if ((yield request(exists, given, dialect)).length === 0) return undefined
  return yield* reading
}

/** Reads whether the record of the key exists. */
export function* readExists(statement: Statement, given: Arguments, dialect: Dialect): Reading<boolean> {
  return (yield request(statement, given, dialect)).length > 0
}

/** Reads the bare rows of a statement. */
export function* readRows(statement: Statement, given: Arguments, dialect: Dialect): Reading<readonly Row[]> {
  return yield request(statement, given, dialect)
}

/** A record as it is stored, with the bare values of some columns. */
export interface Stored {
  readonly record: JsonRecord
  readonly row: Row
}

/** Reads a record as it is stored, with the row of some of its columns; undefined when there is no such record. */
export function* readStored(read: CompiledRead, beside: Statement, given: Arguments, dialect: Dialect): Reading<Stored | undefined> {
  const [row] = yield* readRows(beside, given, dialect)
  if (row === undefined) return undefined
  const record = yield* readFirst(read, given, dialect)
  return record && { record, row }
}

function request(statement: Statement, given: Arguments, dialect: Dialect) {
  return { statement, parameters: bindParameters(statement, given, dialect) }
}

function requestRows(statement: Statement, { areIds }: CompiledNode, given: Arguments, dialect: Dialect): ReadingStep {
  const { room } = given
  const bound = room === undefined ? undefined : { room, areIds, times: 1, at: undefined }
  return { statement, parameters: bindParameters(statement, given, dialect), bound }
}

function requestLinked(child: CompiledChild, link: readonly unknown[], given: Arguments, dialect: Dialect): ReadingStep {
  const { single } = child
  // In most statements the link is the only parameter.
  const isAll = single.bindings.length === link.length
  const parameters = isAll ? link : bindParameters(single, { ...given, link }, dialect)
  return { statement: single, parameters, bound: findBound(child, 1, given) }
}

function requestLists(child: CompiledChild, links: string, owners: number, given: Arguments, dialect: Dialect): ReadingStep {
  const { statement } = child
  return { statement, parameters: bindParameters(statement, { ...given, links }, dialect), bound: findBound(child, owners, given) }
}

function findBound({ name, isPivoted, node }: CompiledChild, owners: number, { room }: Arguments): RowBound | undefined {
  return room === undefined ? undefined : { room, areIds: node.areIds, times: isPivoted ? owners : 1, at: name }
}

/**
 * Takes the room that rows need from the answer's budget.
 *
 * @param times how often each is shown; undefined: all once
 */
function weigh(
  rows: readonly Row[],
  { bytes: each, long, areIds }: CompiledNode,
  times: readonly number[] | undefined,
  at: string | undefined,
  { room }: Arguments,
): void {
  if (room === undefined) return
  let count = 0
  let bytes = 0
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index]!
    let size = each
    for (const place of long) {
      const value = row[place]
      if (typeof value === 'string') size += value.length
      else if (value instanceof Uint8Array) size += Math.ceil(value.length / 3) * 4
    }
    const shown = times === undefined ? 1 : times[index]!
    count += shown
    bytes += shown * size
  }
  room.take(count, bytes, areIds, at)
}

/** Builds the records of rows, without their relations. */
function build(rows: readonly Row[], node: CompiledNode, given: Arguments): JsonRecord[] {
  const records: JsonRecord[] = []
  if (rows.length < MANY || given.end === undefined) for (const row of rows) records.push(node.build(row) as JsonRecord)
  else
    for (const [index, row] of rows.entries()) {
      if (index % MANY === 0) given.end.checkTime()
      records.push(node.build(row) as JsonRecord)
    }
  if (node.source !== undefined) collectRenders(rows, records, node, given)
  return records
}

/** Reads the relations of one or more records. */
function* attachAll(owners: Owners, node: CompiledNode, given: Arguments, dialect: Dialect): Reading<void> {
  const { rows, records, times } = owners
  for (const child of node.children) {
    const { only } = child
    if (rows.length > 1) {
      if (only === undefined) {
        yield* attach(child, owners, given, dialect)
        continue
      }
      const having = rows.filter(only)
      if (having.length > 0) {
        const has = (_: unknown, index: number): boolean => only(rows[index]!)
        yield* attach(child, { rows: having, records: records.filter(has), times: times?.filter(has) }, given, dialect)
      }
      continue
    }
    if (only?.(rows[0]!) === false) continue
    // One record: its related rows need not be sorted by owner.
    const link = linkAt(rows[0]!, child.from)
    const found = link === undefined ? [] : yield requestLinked(child, link, given, dialect)
    const related = build(found, child.node, given)
    const shown = times === undefined || times[0] === 1 ? undefined : found.map(() => times[0]!)
    weigh(found, child.node, shown, child.name, given)
    if (found.length > 0 && child.node.children.length > 0)
      yield* attachAll({ rows: found, records: related, times: shown }, child.node, given, dialect)
    put(records[0]!, child, child.cardinality === 'one' ? (related[0] ?? null) : related)
  }
}

function put(record: JsonRecord, { within, name }: CompiledChild, value: unknown): void {
  if (within === undefined) record[name] = value
  else putInside(record, within, name, value)
}

/** Returns the linking values, or undefined when the link is empty. */
function linkAt(row: Row, at: readonly number[]): readonly unknown[] | undefined {
  const link: unknown[] = []
  for (const position of at) {
    const part = row[position]
    if (part === null) return undefined
    link.push(part)
  }
  return link
}

function collectRenders(rows: readonly Row[], records: readonly JsonRecord[], node: CompiledNode, given: Arguments): void {
  for (const [index, row] of rows.entries()) {
    const stored = node.source!(row) as JsonRecord
    for (const { name, within, render, only } of node.renders) {
      if (only?.(row) === false) continue
      if (within === undefined) given.pending?.push({ record: records[index]!, name, render, stored })
      else
        for (const found of inside(records[index]!, stored, within))
          if (name in found.record) given.pending?.push({ ...found, name, render })
    }
  }
}

/** Finds the embedded objects at a path, all members of lists, each with its stored values. */
function inside(shown: unknown, stored: unknown, within: readonly string[]): Pick<PendingRender, 'record' | 'stored'>[] {
  if (typeof shown !== 'object' || shown === null) return []
  if (Array.isArray(shown)) return shown.flatMap((member, index) => inside(member, (stored as unknown[])[index], within))
  const [name, ...rest] = within
  const [record, values] = [shown as JsonRecord, stored as JsonRecord]
  return name === undefined ? [{ record, stored: values }] : inside(record[name], values[name], rest)
}

/** Waits for a reading, then for the functions of the application that render its values. */
export async function finishRender<T>(result: Awaitable<T>, pending: readonly PendingRender[], ctx: HookContext): Promise<T> {
  const finished = await result
  await renderPending(pending, ctx)
  return finished
}

/** Calls the application's render functions, and puts their values into the records. Undefined leaves the attribute out. */
async function renderPending(pending: readonly PendingRender[], ctx: HookContext): Promise<void> {
  for (const { record, name, render, stored } of pending) {
    const given = render(record[name], stored, ctx)
    const value: unknown = given instanceof Promise ? await given : given
    if (value === undefined) delete record[name]
    else record[name] = isPlain(value) ? value : toJson(value, `render of "${name}"`)
  }
}

/** Records that relations are read for. */
interface Owners {
  readonly rows: readonly Row[]
  readonly records: readonly JsonRecord[]
  /** How often each is shown; undefined: all once. */
  readonly times: readonly number[] | undefined
}

/** Reads one relation of several records, and puts the related records into them. */
function* attach(child: CompiledChild, owners: Owners, given: Arguments, dialect: Dialect): Reading<void> {
  const links = readLinks(child, owners.rows)
  const found = links.size === 0 ? [] : yield requestLists(child, `[${[...links].join()}]`, links.size, given, dialect)
  const related = build(found, child.node, given)
  // A record that several records link is one object, shown with each of them.
  const isShared = owners.times !== undefined || links.size < owners.rows.length
  const times = child.cardinality === 'one' ? putOnes(child, owners, found, related) : putLists(child, owners, found, related, isShared)
  const shown = isShared ? times : undefined
  weigh(found, child.node, shown, child.name, given)
  if (found.length > 0 && child.node.children.length > 0)
    yield* attachAll({ rows: found, records: related, times: shown }, child.node, given, dialect)
}

/** Puts the records of a to-one into their owners; returns how often each is shown. */
function putOnes(child: CompiledChild, { rows, records, times }: Owners, found: readonly Row[], related: readonly unknown[]): number[] {
  const shown: number[] = []
  const byLink = new Map<unknown, number>()
  for (const [index, row] of found.entries()) {
    byLink.set(readLink(row, child.to), index)
    shown.push(0)
  }
  for (const [index, row] of rows.entries()) {
    const at = byLink.get(readLink(row, child.from))
    put(records[index]!, child, at === undefined ? null : related[at])
    if (at !== undefined) shown[at]! += times === undefined ? 1 : times[index]!
  }
  return shown
}

/** Puts lists into their owners; returns how often each member is shown, where that is not once. */
function putLists(
  child: CompiledChild,
  { rows, records, times }: Owners,
  found: readonly Row[],
  related: readonly unknown[],
  isShared: boolean,
): number[] | undefined {
  const { from, to } = child
  const lists = new Map<unknown, unknown[]>()
  let last: unknown
  let list: unknown[] | undefined
  for (let index = 0; index < found.length; index++) {
    const link = readLink(found[index]!, to)
    // The rows of one list come one after another.
    if (list === undefined || link !== last) {
      list = lists.get(link)
      if (list === undefined) lists.set(link, (list = []))
      last = link
    }
    list.push(related[index])
  }
  for (let index = 0; index < rows.length; index++) put(records[index]!, child, lists.get(readLink(rows[index]!, from)) ?? [])
  if (!isShared) return undefined
  const shown = new Map<unknown, number>()
  for (const [index, row] of rows.entries()) {
    const link = readLink(row, from)
    shown.set(link, (shown.get(link) ?? 0) + (times === undefined ? 1 : times[index]!))
  }
  return found.map(row => shown.get(readLink(row, to)) ?? 0)
}

/** Returns the linking value, or undefined when the link is empty. */
function readLink(row: Row, at: readonly number[]): unknown {
  if (at.length === 1) return row[at[0]!] ?? undefined
  let text = ''
  for (const position of at) {
    const part = row[position]
    if (part === null) return undefined
    text += `${JSON.stringify(part)},`
  }
  return text
}

/** Returns the links of all rows as JSON texts, each once. */
function readLinks(child: CompiledChild, rows: readonly Row[]): ReadonlySet<string> {
  const { from, numericLinks } = child
  const part = (row: Row, index: number): string =>
    numericLinks[index] === true ? String(row[from[index]!]) : JSON.stringify(row[from[index]!])
  const seen = new Set<string>()
  for (const row of rows) {
    if (readLink(row, from) === undefined) continue
    seen.add(from.length === 1 ? part(row, 0) : `[${from.map((_, index) => part(row, index)).join()}]`)
  }
  return seen
}
