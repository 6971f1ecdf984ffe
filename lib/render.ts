/**
 * Render: runs the statements of a compiled plan and puts their rows together as JSON records.
 * Written as Reading work (dialect.ts): one statement for the rows, at most one for the count, one for each relation that is shown. All generator functions
 * stand on their own: one that is made anew for each request costs more than the reading of a record.
 */
import { bindParameters } from './bind.ts'
import type { Arguments, PendingRender } from './bind.ts'
import type { HookContext } from './context.ts'
import { isPlain, jsonOf, putInside } from './json.ts'
import type { CompiledChild, CompiledNode, CompiledRead, Dialect, Reading, Row, Statement } from './dialect.ts'

/** A JSON object as an answer shows it. */
export type JsonRecord = Record<string, unknown>

/** A page of records. */
export interface Page {
  readonly records: readonly JsonRecord[]
  /** The number of records that match, whatever the page. */
  readonly count: number
}

/** Rows to pass over from which it is faster to find the keys of a page first. See docs/benchmarks.md. */
const DEEP = 1000

/** The page that the limit and offset of the arguments cut out. */
export function* readPage(read: CompiledRead, given: Arguments, dialect: Dialect): Reading<Page> {
  const statement = given.offset >= DEEP && read.deep !== undefined ? read.deep() : read.rows
  const rows = given.limit === 0 ? [] : yield request(statement, given, dialect)
  const records = build(rows, read.node, given)
  if (rows.length > 0 && read.node.children.length > 0) yield* attachAll(rows, records, read.node, given, dialect)
  const { limit, offset } = given
  // A page that is not full, and not past the end, tells the count itself.
  const known = rows.length < limit && (rows.length > 0 || offset === 0)
  if (known) return { records, count: offset + rows.length }
  const [counted] = yield request(read.count!, given, dialect)
  return { records, count: Number(counted![0]) }
}

/** All records of a plan that is not paged. */
export function* readRecords(read: CompiledRead, given: Arguments, dialect: Dialect): Reading<readonly JsonRecord[]> {
  const rows = yield request(read.rows, given, dialect)
  const records = build(rows, read.node, given)
  if (rows.length > 0 && read.node.children.length > 0) yield* attachAll(rows, records, read.node, given, dialect)
  return records
}

/** The first record of a plan, if there is one. */
export function* readFirst(read: CompiledRead, given: Arguments, dialect: Dialect): Reading<JsonRecord | undefined> {
  const rows = yield request(read.rows, given, dialect)
  const records = build(rows, read.node, given)
  if (rows.length > 0 && read.node.children.length > 0) yield* attachAll(rows, records, read.node, given, dialect)
  return records[0]
}

/** The record that a to-one links; null when it is empty. */
export function* readLinked(read: CompiledRead, given: Arguments, dialect: Dialect): Reading<JsonRecord | null> {
  return (yield* readFirst(read, given, dialect)) ?? null
}

/** What is read of a record that exists; undefined when it does not. */
export function* readWithin<T>(exists: Statement, given: Arguments, dialect: Dialect, reading: Reading<T>): Reading<T | undefined> {
  if ((yield request(exists, given, dialect)).length === 0) return undefined
  return yield* reading
}

/** Whether the record of the key exists. */
export function* readExists(statement: Statement, given: Arguments, dialect: Dialect): Reading<boolean> {
  return (yield request(statement, given, dialect)).length > 0
}

/** The bare rows of a statement. */
export function* readRows(statement: Statement, given: Arguments, dialect: Dialect): Reading<readonly Row[]> {
  return yield request(statement, given, dialect)
}

function request(statement: Statement, given: Arguments, dialect: Dialect) {
  return { statement, parameters: bindParameters(statement, given, dialect) }
}

function requestLinked(statement: Statement, link: readonly unknown[], given: Arguments, dialect: Dialect) {
  // Mostly the link is all that there is to bind.
  const isAll = statement.bindings.length === link.length
  return { statement, parameters: isAll ? link : bindParameters(statement, { ...given, link }, dialect) }
}

/** The records of rows, without their relations. */
function build(rows: readonly Row[], node: CompiledNode, given: Arguments): JsonRecord[] {
  const records: JsonRecord[] = []
  for (const row of rows) records.push(node.build(row) as JsonRecord)
  if (node.source !== undefined) collectRenders(rows, records, node, given)
  return records
}

/** Reads the relations of records, of which there are some. */
function* attachAll(
  rows: readonly Row[],
  records: readonly JsonRecord[],
  node: CompiledNode,
  given: Arguments,
  dialect: Dialect,
): Reading<void> {
  for (const child of node.children) {
    const { only } = child
    if (rows.length > 1) {
      if (only === undefined) {
        yield* attach(child, rows, records, given, dialect)
        continue
      }
      const having = rows.filter(only)
      if (having.length > 0) {
        yield* attach(
          child,
          having,
          records.filter((_, index) => only(rows[index]!)),
          given,
          dialect,
        )
      }
      continue
    }
    if (only?.(rows[0]!) === false) continue
    // One record: nothing to sort out by owner.
    const link = linkAt(rows[0]!, child.from)
    const found = link === undefined ? [] : yield requestLinked(child.single, link, given, dialect)
    const related = build(found, child.node, given)
    if (found.length > 0 && child.node.children.length > 0) yield* attachAll(found, related, child.node, given, dialect)
    put(records[0]!, child, child.cardinality === 'one' ? (related[0] ?? null) : related)
  }
}

function put(record: JsonRecord, { within, name }: CompiledChild, value: unknown): void {
  if (within === undefined) record[name] = value
  else putInside(record, within, name, value)
}

/** The values that link, or undefined when the link is empty. */
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

/** The embedded objects at a place, of a list all, each with its stored values. */
function inside(shown: unknown, stored: unknown, within: readonly string[]): Pick<PendingRender, 'record' | 'stored'>[] {
  if (typeof shown !== 'object' || shown === null) return []
  if (Array.isArray(shown)) return shown.flatMap((member, index) => inside(member, (stored as unknown[])[index], within))
  const [name, ...rest] = within
  const [record, values] = [shown as JsonRecord, stored as JsonRecord]
  return name === undefined ? [{ record, stored: values }] : inside(record[name], values[name], rest)
}

/** Lets the deployer's functions give their values, and puts them into the records. Undefined leaves the attribute out. */
export async function renderPending(pending: readonly PendingRender[], ctx: HookContext): Promise<void> {
  for (const { record, name, render, stored } of pending) {
    const given = render(record[name], stored, ctx)
    const value: unknown = given instanceof Promise ? await given : given
    if (value === undefined) delete record[name]
    else record[name] = isPlain(value) ? value : jsonOf(value, `render of "${name}"`)
  }
}

/** Reads one relation of several records, and puts what it finds into them. */
function* attach(
  child: CompiledChild,
  rows: readonly Row[],
  records: readonly JsonRecord[],
  given: Arguments,
  dialect: Dialect,
): Reading<void> {
  const { cardinality, from, to } = child
  const links = linksOf(child, rows)
  const found = links === '[]' ? [] : yield request(child.statement, { ...given, links }, dialect)
  const related = build(found, child.node, given)
  if (found.length > 0 && child.node.children.length > 0) yield* attachAll(found, related, child.node, given, dialect)
  if (cardinality === 'one') {
    const byLink = new Map<unknown, unknown>()
    for (const [index, row] of found.entries()) byLink.set(linkOf(row, to), related[index])
    for (const [index, row] of rows.entries()) put(records[index]!, child, byLink.get(linkOf(row, from)) ?? null)
    return
  }
  const lists = new Map<unknown, unknown[]>()
  let last: unknown
  let list: unknown[] | undefined
  for (let index = 0; index < found.length; index++) {
    const link = linkOf(found[index]!, to)
    // The rows of one list come one after another.
    if (list === undefined || link !== last) {
      list = lists.get(link)
      if (list === undefined) lists.set(link, (list = []))
      last = link
    }
    list.push(related[index])
  }
  for (let index = 0; index < rows.length; index++) put(records[index]!, child, lists.get(linkOf(rows[index]!, from)) ?? [])
}

/** The value that links, or undefined when the link is empty. */
function linkOf(row: Row, at: readonly number[]): unknown {
  if (at.length === 1) return row[at[0]!] ?? undefined
  let text = ''
  for (const position of at) {
    const part = row[position]
    if (part === null) return undefined
    text += `${JSON.stringify(part)},`
  }
  return text
}

/** The links of all rows as one JSON text, each once. */
function linksOf(child: CompiledChild, rows: readonly Row[]): string {
  const { from, numericLinks } = child
  const part = (row: Row, index: number): string =>
    numericLinks[index] === true ? String(row[from[index]!]) : JSON.stringify(row[from[index]!])
  const seen = new Set<string>()
  for (const row of rows) {
    if (linkOf(row, from) === undefined) continue
    seen.add(from.length === 1 ? part(row, 0) : `[${from.map((_, index) => part(row, index)).join()}]`)
  }
  return `[${[...seen].join()}]`
}
