/**
 * Keeps the requests that the engine has answered, the newest last, with the rows that each has changed. A request only leaves references
 * here. Entries are made, without secrets, when they are read.
 */
import { computeNetChanges } from './changes.ts'
import type { Change } from './changes.ts'
import type { ChangeSink, RawChange } from '../../records/database/changes.ts'
import { findText } from '../../foundation/base/json.ts'
import type { Model, Resource } from '../../model/model.ts'
import type { Request } from '../../records/request/parse-request.ts'
import type { Pair } from '../../records/request/query-string.ts'
import type { Target } from '../../records/access/resolve-path.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { TextStream } from '../../foundation/base/text-stream.ts'
import { summarizeTimes } from '../../foundation/base/trace.ts'
import type { Trace } from '../../foundation/base/trace.ts'
import { Surroundings } from '../../foundation/base/surroundings.ts'
import type { Masked, Secrets } from './redact.ts'

/** A request in the journal. It holds no token and no password: `[secret]` stands in their place. */
export interface JournalEntry {
  /** Upper case. */
  readonly method: string
  /** Without the query. */
  readonly path: string
  /**
   * The query, decoded: pairs of a name with its operator, and a value. Empty when it could not be read. A long one is dropped together
   * with the bodies.
   */
  readonly query: readonly (readonly [string, string])[]
  /**
   * The body of a POST, PUT or PATCH, as it was sent. Undefined when it could not be read, and when it is no longer kept: see `response`.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read bodies freely
  readonly body: any
  /** Undefined when `handle` rejected. */
  readonly status: number | undefined
  /**
   * The body of the answer. Undefined without a body, and when it is no longer kept: the newest requests keep theirs, up to 3,000
   * records, those in records included, and, with the rows that they have changed, 32 MiB together.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read bodies freely
  readonly response: any
  /** Milliseconds from the call of `handle` to its answer. */
  readonly duration: number
  /** The rows that it has changed in a committed transaction. Undefined when they are no longer kept, as `response`, and on PostgreSQL. */
  readonly changes: readonly Change[] | undefined
  /** Milliseconds at each stage, where the option `serverTiming` is on. */
  readonly timing?: Readonly<Record<string, number>>
  /** Whether a hook or handler made the request while it answered another one. */
  readonly nested: boolean
  /**
   * Why `handle` rejected, or the error behind an answer of 500 or above: the code of the error (`ECONNRESET`), else its name and
   * message.
   */
  readonly error?: string
}

/** Limits of the bodies that are kept: records of all levels, and bytes. Bodies that outlive a collection make the heap grow: 10,000 records double it. */
const MAX_RECORDS = 3000
const MAX_BYTES = 32 << 20
/** Characters of a query above which it is dropped together with the bodies. */
const LONG_QUERY = 1000

const NO_CHANGES: readonly RawChange[] = Object.freeze([])

/** A request in the journal. */
export class JournalRecord implements ChangeSink {
  readonly nested: boolean
  /** The generation of the journal in which it began. */
  readonly life: number
  /** When it began. After its end, how long it took. */
  time = performance.now()
  ended = false
  /** Method and path as they were sent. After parsing: upper case, and without the query. */
  method: string
  path: string
  /** The number of segments after the version. Undefined when the path could not be read. */
  depth: number | undefined = undefined
  /** Undefined when path or query could not be read. */
  pairs: readonly Pair[] | undefined = undefined
  model: Model | undefined = undefined
  /** The resource of the body and the query, and the attribute whose value the body is. */
  resource: Resource | undefined = undefined
  attribute: string | undefined = undefined
  body: unknown = undefined
  status: number | undefined = undefined
  response: unknown = undefined
  /** The approximate size of the answer. */
  bytes = 0
  records = 0
  failure: unknown = undefined
  changes: RawChange[] | undefined = undefined
  /** About how many bytes they hold. */
  changedBytes = 0
  /** The changes were too many to be kept, with those of others. */
  isForgotten = false
  trace: Trace | undefined = undefined
  /** Its entry, once it has been read. */
  shown: JournalEntry | undefined = undefined

  constructor(method: string, target: string, nested: boolean, life: number) {
    this.life = life
    this.method = method
    this.path = target
    this.nested = nested
  }

  /** Records the parsed path and query. */
  parsed({ method, path, segments, query }: Request): void {
    this.method = method
    this.path = path
    this.depth = Math.max(0, segments.length - 1)
    this.pairs = query.pairs
  }

  /** Records the target of the request. It refers to the model only, so that the other parts of the request can be freed. */
  resolved(target: Target, model: Model): void {
    this.model = model
    if (target.kind === 'index' || target.kind === 'own') return
    this.resource = target.resource
    if (target.kind !== 'attribute') return
    if (target.attribute.kind === 'toMany') this.resource = target.attribute.target
    else this.attribute = target.attribute.name
  }

  add(change: RawChange): void {
    this.shown = undefined
    if (this.isForgotten) return
    ;(this.changes ??= []).push(change)
    this.changedBytes += change.bytes
    // Changes after the answer are counted only here.
    if (this.ended && this.changedBytes > MAX_BYTES) this.forgetChanges()
  }

  forgetChanges(): void {
    this.isForgotten ||= this.changes !== undefined
    this.changes = undefined
  }
}

export class Journal {
  readonly #capacity: number
  readonly #secrets: Secrets
  readonly #first: Model
  readonly #running = new Surroundings<JournalRecord>()
  /** A ring: when it is full, the oldest record is at `#start`. */
  #records: JournalRecord[] = []
  /** The weights of the records, in arrays of their own: so a record that leaves is not read again, which would cost a cache miss. */
  #weights: number[] = []
  #sizes: number[] = []
  #start = 0
  /** Number of all requests so far. */
  #count = 0
  #weight = 0
  #size = 0
  #life = 0
  /** The number of the oldest request whose bodies are kept. */
  #oldestKept = 0

  readonly #isRecording: boolean

  /**
   * @param capacity number of requests to keep; at least 1
   * @param isRecording whether the database reports the rows that change
   */
  constructor(capacity: number, secrets: Secrets, first: Model, isRecording: boolean) {
    this.#capacity = capacity
    this.#isRecording = isRecording
    this.#secrets = secrets
    this.#first = first
  }

  begin(method: string, target: string): JournalRecord {
    return new JournalRecord(method, target, this.#running.current !== undefined, this.#life)
  }

  /** Runs the work of a request, so that its changed rows are attributed to it. */
  within<T>(record: JournalRecord, work: () => T): T {
    return this.#running.run(record, work)
  }

  /** The request that this code runs in. */
  current(): JournalRecord | undefined {
    return this.#running.current
  }

  /** Records the answer of a request. */
  end(record: JournalRecord, response: RestResponse): void {
    if (record.ended || record.life !== this.#life) return
    record.ended = true
    record.time = performance.now() - record.time
    record.status = response.status
    // A body that is made while it is sent is not kept.
    record.response = response.body instanceof TextStream ? undefined : response.body
    const sent = measureSent(record)
    this.#push(record, countRecords(record) + sent.objects, record.bytes + sent.bytes + record.changedBytes)
  }

  /** Records that `handle` rejects. */
  fail(record: JournalRecord, error: unknown): void {
    if (record.ended || record.life !== this.#life) return
    record.ended = true
    record.time = performance.now() - record.time
    record.failure = error ?? 'undefined'
    const sent = measureSent(record)
    this.#push(record, sent.objects, sent.bytes + record.changedBytes)
  }

  #push(record: JournalRecord, weight: number, size: number): void {
    if (this.#records.length < this.#capacity) {
      this.#records.push(record)
      this.#weights.push(weight)
      this.#sizes.push(size)
    } else {
      const at = this.#start
      this.#weight -= this.#weights[at]!
      this.#size -= this.#sizes[at]!
      this.#records[at] = record
      this.#weights[at] = weight
      this.#sizes[at] = size
      this.#start = at + 1 === this.#capacity ? 0 : at + 1
    }
    this.#count++
    this.#weight += weight
    this.#size += size
    while ((this.#weight > MAX_RECORDS || this.#size > MAX_BYTES) && this.#oldestKept < this.#count - 1) {
      const oldest = this.#count - this.#records.length
      if (this.#oldestKept >= oldest) this.#dropBodies(this.#findIndex(this.#oldestKept - oldest))
      this.#oldestKept++
    }
  }

  #dropBodies(place: number): void {
    this.#weight -= this.#weights[place]!
    this.#weights[place] = 0
    this.#size -= this.#sizes[place]!
    this.#sizes[place] = 0
    const record = this.#records[place]!
    record.body = undefined
    record.response = undefined
    record.forgetChanges()
    if (countPairCharacters(record.pairs) > LONG_QUERY) record.pairs = undefined
    record.shown = undefined
  }

  /** Finds the index of a record by its age, where the oldest is 0. */
  #findIndex(age: number): number {
    return (this.#start + age) % this.#records.length
  }

  /** The number of requests so far, as a starting point for `since`. */
  get position(): number {
    return this.#count
  }

  /** Returns the requests since a position, as far as they are still kept. */
  since(position: number): JournalEntry[] {
    const oldest = this.#count - this.#records.length
    const entries: JournalEntry[] = []
    for (let index = Math.max(0, position - oldest); index < this.#records.length; index++)
      entries.push(this.#show(this.#records[this.#findIndex(index)]!))
    return entries
  }

  /** Begins a new generation. Requests that still run belong to the one before, and are not recorded. */
  reset(): void {
    this.#life++
    this.clear()
  }

  clear(): void {
    this.#records = []
    this.#weights = []
    this.#start = 0
    this.#weight = 0
    this.#sizes = []
    this.#size = 0
    this.#oldestKept = this.#count
  }

  #show(record: JournalRecord): JournalEntry {
    return (record.shown ??= this.#createEntry(record))
  }

  #createEntry(record: JournalRecord): JournalEntry {
    const method = record.method.toUpperCase()
    const masked = maskRecord(record, this.#secrets, this.#first)
    return Object.freeze({
      method,
      path: masked.path,
      query: Object.freeze(masked.query),
      body: masked.body,
      status: record.status,
      response: masked.response,
      duration: Math.round(record.time * 1000) / 1000,
      changes: record.isForgotten || !this.#isRecording ? undefined : listChanges(record, masked),
      nested: record.nested,
      ...(record.trace === undefined ? {} : { timing: Object.freeze(summarizeTimes(record.trace)) }),
      ...(masked.error === undefined ? {} : { error: masked.error }),
    })
  }
}

function listChanges({ changes }: JournalRecord, masked: Masked): readonly Change[] {
  return Object.freeze(computeNetChanges(changes ?? NO_CHANGES).map(change => masked.copy(change) as Change))
}

/** Returns the parts of a request without its secrets. */
export function maskRecord(record: JournalRecord, secrets: Secrets, first: Model): Masked {
  const { method, depth, pairs, body, resource, attribute, model = first, response, failure } = record
  return secrets.mask({
    method: method.toUpperCase(),
    path: pairs === undefined ? record.path.split('?', 1)[0]! : record.path,
    depth,
    pairs: pairs ?? [],
    body: body instanceof BodyText ? JSON.parse(body.text) : body,
    resource,
    attribute,
    model,
    response,
    error: failure === undefined ? undefined : formatError(failure),
  })
}

/** Measures what was sent: the objects in the body, and the approximate bytes of body and query. */
function measureSent({ body, pairs }: JournalRecord): { objects: number; bytes: number } {
  const sent = { objects: 0, bytes: countPairCharacters(pairs) }
  if (body instanceof BodyText) return { objects: 1, bytes: sent.bytes + body.text.length }
  if (body !== undefined) weigh(body, sent)
  return sent
}

function countPairCharacters(pairs: readonly Pair[] | undefined): number {
  let length = 0
  if (pairs !== undefined) for (const { name, value } of pairs) length += name.length + value.length
  return length
}

function weigh(body: unknown, sent: { objects: number; bytes: number }): void {
  if (typeof body === 'string') sent.bytes += body.length
  if (typeof body !== 'object' || body === null) return
  if (Array.isArray(body)) {
    sent.bytes += 16 * body.length
    for (let index = 0; index < body.length; index++) weigh(body[index], sent)
    return
  }
  sent.objects++
  // `for in` spares the array of all values, which costs more than the loop. The body is a plain copy, which inherits nothing.
  for (const name in body) {
    sent.bytes += 16
    weigh((body as Record<string, unknown>)[name], sent)
  }
}

/** Counts the records in the body of an answer: those that the database gave, or those of a list, which has a count; else one. */
function countRecords({ response, records }: JournalRecord): number {
  if (typeof response !== 'object' || response === null) return 0
  const { count, resource } = response as { readonly count?: unknown; readonly resource?: string }
  if (count === undefined) return Math.max(1, records)
  const listed = (response as Readonly<Record<string, unknown>>)[String(resource)]
  return Math.max(Array.isArray(listed) ? listed.length : 1, records)
}

/** Formats an error for the journal. */
function formatError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? error.code : `${error.name}: ${error.message}`
}

/** The body of a request as its text, which takes less memory and time than a copy where it is long. */
class BodyText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Keeps a body for the journal: as the text that it has just been parsed from, or else a copy. */
export function keepBody(body: unknown): unknown {
  const text = findText(body)
  return text === undefined ? copyBody(body) : new BodyText(text)
}

/** Copies a body that is known to be JSON, so that later changes of the body do not reach the journal. */
function copyBody(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  if (Array.isArray(body)) return body.map(copyBody)
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(body)) {
    const item = copyBody((body as Record<string, unknown>)[name])
    // An assignment would set the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { value: item, writable: true, enumerable: true, configurable: true })
    else copy[name] = item
  }
  return copy
}
