/** `engine.expect`: asserts which rows some work changes, by row counts or by the database's reports. */
import { makeAssertionError } from '../../foundation/runtime/assertion-error.ts'
import { computeNetChanges, type Change } from './changes.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { Connection } from '../../records/database/connection.ts'
import type { ChangeRecorder, ChangeSink, RawChange, WatchedTable } from '../../records/database/changes.ts'
import type { JournalEntry } from './journal-entry.ts'
import type { Journal } from './journal.ts'
import { checkNames, formatHint, findNearest } from '../../foundation/base/suggest.ts'
import type { ExpectedChange, ExpectedChanges } from './expected-changes.ts'

interface ExpectServices {
  readonly tables: readonly WatchedTable[]
  readonly connection: Pick<Connection, 'countRows'>
  readonly recorder: ChangeRecorder
  readonly journal: Journal | undefined
}

const COUNTS = ['inserted', 'updated', 'deleted'] as const
const REST = '*'

/** @throws TypeError for a wrong expectation; AssertionError when other rows have changed; errors of the work */
export async function expectChanges<T>(expected: ExpectedChanges, work: () => T | Promise<T>, services: ExpectServices): Promise<T> {
  if (!services.recorder.isRecording)
    throw new Error(
      'engine.expect: not possible for this PostgreSQL database, which held tables before an engine first opened it: ' +
        'the rows that change are not recorded.',
    )
  const checked = check(expected, services)
  if (typeof work !== 'function') throw new TypeError('expect: the second argument must be a function.')
  const raw: RawChange[] = []
  const watcher: ChangeSink = { add: change => raw.push(change) }
  const { tables, connection, recorder, journal } = services
  const { watchers } = recorder
  const count = (): Awaitable<readonly number[]> => connection.countRows(tables.map(({ resource }) => resource.table))
  const position = journal?.position ?? 0
  const before = await count()
  watchers.add(watcher)
  let result: T
  try {
    result = await work()
  } finally {
    watchers.delete(watcher)
  }
  const after = await count()
  const changes = computeNetChanges(raw)
  const lines = tables.map(({ name }, index) => judge(name, checked, after[index]! - before[index]!, countChanges(changes, name)))
  if (lines.some(line => !line.met)) throw failure(lines, journal?.since(position) ?? [], changes)
  return result
}

function check(expected: ExpectedChanges, { tables }: ExpectServices): Map<string, ExpectedChange> {
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected))
    throw new TypeError('expect: the first argument must be an object: { orders: 1, products: { updated: 1 } }.')
  const checked = new Map<string, ExpectedChange>()
  for (const [given, value] of Object.entries(expected)) {
    const name = given === REST ? REST : findTable(given, tables)?.name
    if (name === undefined) {
      const known = tables.map(table => table.name)
      throw new TypeError(
        `expect: there is no resource "${given}".${formatHint(findNearest(given, known))} Resources: ${known.join(', ')}.`,
      )
    }
    if (checked.has(name)) throw new TypeError(`expect: "${name}" is named twice.`)
    checkValue(value, `expect: "${given}"`)
    checked.set(name, value)
  }
  return checked
}

function findTable(name: string, tables: readonly WatchedTable[]): WatchedTable | undefined {
  return tables.find(({ resource, name: own }) => own === name || (resource.served && resource.accepted.includes(name)))
}

function checkValue(value: unknown, where: string): void {
  if (value === 'any' || (typeof value === 'number' && Number.isSafeInteger(value))) return
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError(`${where} must be an integer, { inserted, updated, deleted } or "any".`)
  checkNames(value, COUNTS, where)
  for (const [name, count] of Object.entries(value)) {
    if (count !== undefined && !(Number.isSafeInteger(count) && (count as number) >= 0))
      throw new TypeError(`${where}: "${name}" must be an integer of 0 or more.`)
  }
}

type Counts = Readonly<Record<(typeof COUNTS)[number], number>>

function countChanges(changes: readonly Change[], name: string): Counts {
  const counts = { inserted: 0, updated: 0, deleted: 0 }
  for (const { resource, type } of changes) if (resource === name) counts[`${type.replace(/e$/, '') as 'insert' | 'updat' | 'delet'}ed`]++
  return counts
}

interface ExpectationLine {
  readonly name: string
  readonly met: boolean
  readonly expected: number | Counts | 'any'
  readonly actual: number | Counts
  readonly rest: boolean
}

function judge(name: string, checked: ReadonlyMap<string, ExpectedChange>, difference: number, counts: Counts): ExpectationLine {
  const wanted = checked.get(name) ?? checked.get(REST) ?? 0
  const rest = !checked.has(name)
  if (typeof wanted === 'number') return { name, met: difference === wanted, expected: wanted, actual: difference, rest }
  if (wanted === 'any') return { name, met: true, expected: wanted, actual: difference, rest }
  const expected = { inserted: wanted.inserted ?? 0, updated: wanted.updated ?? 0, deleted: wanted.deleted ?? 0 }
  return { name, met: COUNTS.every(count => counts[count] === expected[count]), expected, actual: counts, rest }
}

function failure(lines: readonly ExpectationLine[], requests: readonly JournalEntry[], changes: readonly Change[]): Error {
  const listed = lines.filter(({ met, rest }) => !met || !rest)
  const rows = listed.map(({ name, expected, actual, met, rest }) => [
    met ? ' ' : '!',
    name,
    describe(expected),
    describe(actual),
    rest ? '(not named)' : '',
  ])
  const head = ['', 'resource', 'expected', 'actual', '']
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map(row => row[column]!.length)))
  const table = [head, ...rows].map(row => `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd())
  const asObject = (side: 'expected' | 'actual'): object =>
    Object.fromEntries(listed.filter(({ expected }) => expected !== 'any').map(line => [line.name, line[side]]))
  return makeAssertionError({
    message: ['Unexpected row changes:', '', ...table, '', ...findCauses(requests, changes)].join('\n'),
    expected: asObject('expected'),
    actual: asObject('actual'),
    operator: 'engine.expect',
    stackStartFn: expectChanges,
  })
}

function describe(value: number | Counts | 'any'): string {
  if (value === 'any') return 'any'
  if (typeof value === 'number') return value > 0 ? `+${value}` : String(value)
  const parts = COUNTS.filter(count => value[count] > 0).map(count => `${value[count]} ${count}`)
  return parts.length === 0 ? 'nothing' : parts.join(', ')
}

const MAX_REQUESTS = 20

function findCauses(requests: readonly JournalEntry[], changes: readonly Change[]): string[] {
  const shown = requests.slice(-MAX_REQUESTS)
  const lines = shown.map(
    ({ method, path, status, error, changes: own }) => `  ${method} ${path} ${status ?? error ?? ''}: ${summarize(own)}`,
  )
  if (requests.length === 0) lines.push('  (none in the journal)')
  if (shown.length < requests.length) lines.unshift(`  (${requests.length - shown.length} more before)`)
  return ['Requests:', ...lines, '', `Total: ${summarize(changes)}`]
}

function summarize(changes: readonly Change[] | undefined): string {
  if (changes === undefined) return 'changes that are no longer kept'
  const texts = [...Map.groupBy(changes, ({ resource }) => resource)].map(([name]) => `${name} ${describe(countChanges(changes, name))}`)
  return texts.length === 0 ? 'no changes' : texts.join('; ')
}
