/**
 * Writes and reads the file of a recording, a line with the version, a line with both lengths, then the compressed parts (facts as JSON,
 * data as SQLite). A file may come from anybody: reading has limits.
 */
import { gunzipSync, gzipSync } from 'node:zlib'
import { isObject } from '../../foundation/json/json.ts'
import type { ClockSetting } from '../../foundation/async/clock.ts'
import type { JournalEntry } from '../journal/journal-entry.ts'
import type { FaultState } from '../testing/fault-handle.ts'
import type { Mark } from '../testing/events.ts'
import type { RanStatements } from '../pipeline/record-request.ts'
import type { RecordedEntity } from './recorded-model.ts'

const VERSION = 1
const HEAD = 'mikro-rest recording '
/** Bytes at most, before compression. */
const MAX_FACTS = 64 << 20
export const MAX_DATA = 64 << 20

export type RecordedRequest = JournalEntry & Partial<RanStatements>

/** The changes by a definition. */
export interface RecordedResource {
  /** The entity; if the model comes from the data, the table. */
  readonly entity: string
  readonly plural: string
  readonly singular: string
  readonly hidden: readonly string[]
  readonly readOnly: readonly string[]
  /** Pairs of property and name. */
  readonly ids: readonly (readonly [string, string])[]
  /** The attribute in the place of the ID. */
  readonly key?: string
}

export interface RecordedFacts {
  /** Time of writing, by the system clock. */
  readonly at: string
  readonly test?: string
  readonly failure?: string
  readonly options: Readonly<Record<string, unknown>>
  /** Undefined: the model comes from the data. */
  readonly entities: readonly RecordedEntity[] | undefined
  readonly resources: readonly RecordedResource[]
  readonly requests: readonly RecordedRequest[]
  readonly marks: readonly Mark[]
  readonly faults: readonly FaultState[]
  readonly clock: ClockSetting
  /** ID of the last request before the test. */
  readonly begun: number
  /** Omissions, a sentence each. */
  readonly notes: readonly string[]
}

export interface Recording {
  readonly facts: RecordedFacts
  /** SQLite. Undefined: the data could not be recorded. */
  readonly data: Uint8Array | undefined
}

/** Drops the oldest requests where the facts are too large. */
export function writeRecording(facts: RecordedFacts, data: Uint8Array | undefined): Buffer {
  const text = formatFacts(facts)
  const parts = [gzipSync(text), data === undefined ? Buffer.alloc(0) : gzipSync(data)]
  const lengths = { facts: parts[0]!.length, data: parts[1]!.length }
  return Buffer.concat([Buffer.from(`${HEAD}${VERSION}\n${JSON.stringify(lengths)}\n`), ...parts])
}

function formatFacts(facts: RecordedFacts): string {
  let { requests } = facts
  for (;;) {
    const text = JSON.stringify({ ...facts, requests })
    if (Buffer.byteLength(text) <= MAX_FACTS || requests.length === 0) return text
    requests = requests.slice(Math.ceil(requests.length / 2))
  }
}

/** @throws TypeError with a clause for an invalid file or another version */
export function readRecording(file: Buffer): Recording {
  const first = file.subarray(0, 40).toString('latin1')
  if (!first.startsWith(HEAD)) throw new TypeError('it does not begin as a recording does')
  const [, version = ''] = /^mikro-rest recording (\d{1,6})\n/.exec(first) ?? []
  if (version === '') throw new TypeError('its version cannot be read')
  if (Number(version) !== VERSION)
    throw new TypeError(`it has version ${version} of the form, and this mikro-rest reads version ${VERSION}`)
  const start = file.indexOf('\n') + 1
  const end = file.indexOf('\n', start)
  const lengths = end < 0 || end - start > 200 ? undefined : parse(file.subarray(start, end).toString('latin1'))
  const { facts, data } = isObject(lengths) ? lengths : {}
  const isLength = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
  if (!isLength(facts) || !isLength(data) || end + 1 + facts + data !== file.length) throw new TypeError('it is cut short, or damaged')
  const body = file.subarray(end + 1)
  const read = parse(unpack(body.subarray(0, facts), MAX_FACTS).toString())
  return { facts: checkFacts(read), data: data === 0 ? undefined : unpack(body.subarray(facts), MAX_DATA + (1 << 20)) }
}

function unpack(bytes: Buffer, maxOutputLength: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new TypeError(code === 'ERR_BUFFER_TOO_LARGE' ? 'it unpacks to more than a recording may have' : 'it is damaged', {
      cause: error,
    })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new TypeError('it is damaged', { cause: error })
  }
}

function checkFacts(facts: unknown): RecordedFacts {
  if (!isObject(facts)) throw new TypeError('it says nothing')
  // The checks follow.
  const { at, options, resources, requests, marks, faults, clock, begun, notes } = facts as unknown as RecordedFacts
  const isList = (value: unknown, most: number): boolean => Array.isArray(value) && value.length <= most
  const texts = (value: unknown): boolean => Array.isArray(value) && value.every(each => typeof each === 'string')
  const faultsOf: readonly (readonly [string, boolean])[] = [
    ['at', typeof at === 'string' && !Number.isNaN(Date.parse(at))],
    ['options', isObject(options)],
    ['resources', isList(resources, 5000) && resources.every(checkResource)],
    ['requests', isList(requests, 1_000_000) && requests.every(checkRequest) && areInOrder(requests)],
    ['marks', isList(marks, 1000) && marks.every(mark => isObject(mark) && Number.isSafeInteger(mark.last))],
    ['faults', isList(faults, 2000) && faults.every(isObject)],
    ['clock', isObject(clock) && Number.isFinite(clock.ahead) && (clock.frozen === undefined || Number.isFinite(clock.frozen))],
    ['begun', Number.isSafeInteger(begun) && begun >= 0],
    ['notes', texts(notes) && notes.length <= 10_000],
  ]
  const wrong = faultsOf.find(([, isGood]) => !isGood)
  if (wrong !== undefined) throw new TypeError(`its "${wrong[0]}" are not of their form`)
  return facts as unknown as RecordedFacts
}

function checkResource(resource: unknown): boolean {
  if (!isObject(resource)) return false
  const { entity, plural, singular, hidden, readOnly, ids, key } = resource
  const isName = (value: unknown): boolean => typeof value === 'string' && value.length <= 300
  return (
    [entity, plural, singular].every(isName) &&
    [hidden, readOnly].every(list => Array.isArray(list) && list.every(isName)) &&
    Array.isArray(ids) &&
    ids.every(pair => Array.isArray(pair) && pair.length === 2 && pair.every(isName)) &&
    (key === undefined || isName(key))
  )
}

function checkRequest(request: unknown): boolean {
  if (!isObject(request)) return false
  const { id, at, method, path, query, status, duration, nested, changes } = request
  return (
    Number.isSafeInteger(id) &&
    (id as number) > 0 &&
    [at, method, path].every(text => typeof text === 'string') &&
    Array.isArray(query) &&
    query.every(pair => Array.isArray(pair) && pair.length === 2 && pair.every(part => typeof part === 'string')) &&
    (status === undefined || Number.isSafeInteger(status)) &&
    typeof duration === 'number' &&
    typeof nested === 'boolean' &&
    (changes === undefined || (Array.isArray(changes) && changes.every(isObject)))
  )
}

function areInOrder(requests: readonly RecordedRequest[]): boolean {
  return requests.every(({ id }, index) => index === 0 || id === requests[index - 1]!.id + 1)
}
