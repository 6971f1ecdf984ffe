/**
 * Reads the relations of records, level by level: the posts of all users on a page, then the tags of all posts. `weigh` counts against the
 * answer's limits (`room`).
 */
import { bindParameters, type Arguments } from '../database/bind.ts'
import { putInside } from '../../foundation/json/json.ts'
import type {
  CompiledChild,
  CompiledNode,
  Dialect,
  EncodedLinks,
  Reading,
  ReadingStep,
  Row,
  RowBound,
  Statement,
} from '../database/dialect.ts'
import { withinList } from '../request/expanded-lists.ts'
import type { ExpandedList } from '../request/query-string.ts'
import { build, weigh, weighIds, type JsonRecord } from './build-records.ts'

interface Owners {
  readonly rows: readonly Row[]
  readonly records: readonly JsonRecord[]
  /** How often each record is shown; undefined: once. */
  readonly times: readonly number[] | undefined
}

interface RelationLevel {
  readonly owners: Owners
  readonly node: CompiledNode
  readonly given: Arguments
}

interface LevelContext {
  readonly given: Arguments
  readonly dialect: Dialect
  readonly isLast: boolean
  readonly steps: ReadingStep[]
  /** Receives the records of the next level. */
  readonly next: RelationLevel[]
}

const NO_ROWS: readonly Row[] = Object.freeze([])

/** A level is one batch of independent statements. */
export function* attachAll(owners: Owners, node: CompiledNode, given: Arguments, dialect: Dialect): Reading<void> {
  let level: RelationLevel[] = [{ owners, node, given }]
  while (level.length > 0) {
    const steps: ReadingStep[] = []
    const next: RelationLevel[] = []
    const isLast = level.every(({ node }) => node.children.every(child => child.node.children.length === 0))
    for (const { owners, node, given: ofLevel } of level)
      for (const child of node.children)
        addSteps(child, owners, {
          given: child.list === undefined ? ofLevel : argumentsOf(child.list, ofLevel),
          dialect,
          isLast,
          steps,
          next,
        })
    if (steps.length > 0) yield steps
    level = next
  }
}

/** A list with parameters in the query has filters and a page of its own. */
function argumentsOf(at: number, given: Arguments): Arguments {
  const { filters, limit = Number.MAX_SAFE_INTEGER, offset = 0 } = given.lists![at]!.parameters
  return { ...given, filters, limit, offset, misfits: undefined }
}

/** In a hierarchy, some classes lack the relation. */
function addSteps(child: CompiledChild, owners: Owners, context: LevelContext): void {
  const { only } = child
  const { rows, records, times } = owners
  if (rows.length === 1) {
    if (only?.(rows[0]!) !== false) addStepOfOne(child, owners, context)
    return
  }
  if (only === undefined) {
    addStepOfMany(child, owners, context)
    return
  }
  const has = (_: unknown, index: number): boolean => only(rows[index]!)
  const having = rows.filter(only)
  if (having.length > 0) addStepOfMany(child, { rows: having, records: records.filter(has), times: times?.filter(has) }, context)
}

/** For one owner: rows need no order by owner. */
function addStepOfOne(child: CompiledChild, owners: Owners, context: LevelContext): void {
  const take = child.single.isBare === true ? takeIds(child, owners, context) : takeRows(child, owners, context)
  const link = linkAt(owners.rows[0]!, child.from)
  if (link === undefined) take([])
  else context.steps.push(stepOfOne(child, link, take, context))
}

function takeRows(child: CompiledChild, { records, times }: Owners, { given, next }: LevelContext): Take {
  return found => {
    const related = build(found, child.node, given)
    const shown = times === undefined || times[0] === 1 ? undefined : found.map(() => times[0]!)
    weigh(found, child.node, shown, child.name, given)
    if (found.length > 0 && child.node.children.length > 0)
      next.push({ owners: { rows: found, records: related, times: shown }, node: child.node, given })
    put(records[0]!, child, child.cardinality === 'one' ? (related[0] ?? child.none ?? null) : related)
  }
}

function takeIds(child: CompiledChild, { records, times }: Owners, { given }: LevelContext): Take {
  return ids => {
    const { room } = given
    if (room !== undefined) {
      const shown = times === undefined ? 1 : times[0]!
      room.take(ids.length * shown, weighIds(ids, child.node) * shown, true, child.name)
    }
    put(records[0]!, child, ids)
  }
}

function addStepOfMany(child: CompiledChild, owners: Owners, context: LevelContext): void {
  const { given, next } = context
  const { count, parameter } = context.dialect.encodeLinks(owners.rows, child)
  const take = (found: readonly Row[]): void => {
    const related = build(found, child.node, given)
    // A record linked by several records is one object, shown several times.
    const isShared = owners.times !== undefined || count < owners.rows.length
    const times = child.cardinality === 'one' ? putOnes(child, owners, found, related) : putLists(child, owners, found, related, isShared)
    const shown = isShared ? times : undefined
    weigh(found, child.node, shown, child.name, given)
    if (found.length > 0 && child.node.children.length > 0)
      next.push({ owners: { rows: found, records: related, times: shown }, node: child.node, given })
  }
  if (count === 0) take(NO_ROWS)
  else context.steps.push(stepOfMany(child, { parameter, count }, take, context))
}

type Take = (rows: readonly Row[]) => void

function stepOfOne(child: CompiledChild, link: readonly unknown[], take: Take, { given, dialect, isLast }: LevelContext): ReadingStep {
  const { single } = child
  const isAll = single.bindings.length === link.length
  const list = child.list === undefined ? undefined : given.lists![child.list]!
  const linked = { ...given, link }
  const parameters = isAll ? link : list === undefined ? bindParameters(single, linked, dialect) : bindWithin(list, single, linked, dialect)
  return { statement: single, parameters, bound: findBound(child, 1, given), take, isLast, list }
}

function bindWithin(list: ExpandedList, statement: Statement, given: Arguments, dialect: Dialect): readonly unknown[] {
  return withinList(list, () => bindParameters(statement, given, dialect))
}

function stepOfMany(
  child: CompiledChild,
  { parameter, count }: EncodedLinks,
  take: Take,
  { given, dialect, isLast }: LevelContext,
): ReadingStep {
  const { statement } = child
  const list = child.list === undefined ? undefined : given.lists![child.list]!
  const linked = { ...given, links: parameter }
  const parameters = list === undefined ? bindParameters(statement, linked, dialect) : bindWithin(list, statement, linked, dialect)
  return { statement, parameters, bound: findBound(child, count, given), take, isLast, list }
}

function findBound({ name, isPivoted, node }: CompiledChild, owners: number, { room }: Arguments): RowBound | undefined {
  return room === undefined ? undefined : { room, areIds: node.areIds, times: isPivoted ? owners : 1, at: name }
}

function put(record: JsonRecord, { within, name }: CompiledChild, value: unknown): void {
  if (within === undefined) record[name] = value
  else putInside(record, within, name, value)
}

/** Undefined for an empty link. */
function linkAt(row: Row, at: readonly number[]): readonly unknown[] | undefined {
  const link: unknown[] = []
  for (const position of at) {
    const part = row[position]
    if (part === null) return undefined
    link.push(part)
  }
  return link
}

/** Gives how often records are shown. */
function putOnes(child: CompiledChild, { rows, records, times }: Owners, found: readonly Row[], related: readonly unknown[]): number[] {
  const shown: number[] = []
  const byLink = new Map<unknown, number>()
  for (const [index, row] of found.entries()) {
    byLink.set(readLink(row, child.to), index)
    shown.push(0)
  }
  for (const [index, row] of rows.entries()) {
    const at = byLink.get(readLink(row, child.from))
    put(records[index]!, child, at === undefined ? (child.none ?? null) : related[at])
    if (at !== undefined) shown[at]! += times === undefined ? 1 : times[index]!
  }
  return shown
}

/** Gives how often members are shown; undefined: once. */
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

/** The link as a key of a Map; undefined for an empty link. */
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
