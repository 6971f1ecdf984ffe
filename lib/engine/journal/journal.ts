/** Keeps the newest answered requests, for `engine.requests`, and the bodies of fewer. */
import type { Clock } from '../../foundation/async/clock.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import type { Surroundings } from '../../foundation/async/surroundings.ts'
import { TextStream } from '../../foundation/http/text-stream.ts'
import { createEntry, type EntryParts } from './create-entry.ts'
import type { JournalEntry } from './journal-entry.ts'
import { JournalRecord, MAX_BYTES } from './journal-record.ts'

/** Nested records count. Bodies that outlive garbage collections make the heap grow: 10,000 records double the heap. */
const MAX_RECORDS = 3000
/** In characters: longer queries go, too. */
const LONG_QUERY = 1000

interface JournalParts extends EntryParts {
  /** At least 1. */
  readonly capacity: number
  readonly clock: Pick<Clock, 'time'>
  /** The request to which changed rows belong. */
  readonly running: Surroundings<JournalRecord>
}

export class Journal {
  readonly #parts: JournalParts
  readonly #running: Surroundings<JournalRecord>
  /** A ring: when full, the oldest record is at `#start`. */
  #records: JournalRecord[] = []
  /** In arrays: reading a record about to leave would cost a cache miss. */
  #weights: number[] = []
  #sizes: number[] = []
  #start = 0
  #count = 0
  #weight = 0
  #size = 0
  #generation = 0
  #oldestKept = 0
  keepsStatements = false
  #answered: ((record: JournalRecord) => void) | undefined

  constructor(parts: JournalParts) {
    this.#parts = parts
    this.#running = parts.running
  }

  begin(method: string, target: string): JournalRecord {
    const outer = this.#running.current
    const record = new JournalRecord(method, target, outer !== undefined, this.#generation, this.#parts.clock.time())
    if (outer?.ended === false) record.level = outer.level + 1
    return record
  }

  end(record: JournalRecord, response: RestResponse): void {
    if (record.ended || record.generation !== this.#generation) return
    record.ended = true
    record.time = performance.now() - record.time
    record.status = response.status
    record.response = response.body instanceof TextStream ? undefined : response.body
    const { objects, bytes } = record.measure()
    this.#push(record, objects, record.bytes + bytes + record.changedBytes)
  }

  fail(record: JournalRecord, error: unknown): void {
    if (record.ended || record.generation !== this.#generation) return
    record.ended = true
    record.time = performance.now() - record.time
    record.failure = error ?? 'undefined'
    const { objects, bytes } = record.measure()
    this.#push(record, objects, bytes + record.changedBytes)
  }

  #push(record: JournalRecord, weight: number, size: number): void {
    const { capacity } = this.#parts
    if (this.#records.length < capacity) {
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
      this.#start = at + 1 === capacity ? 0 : at + 1
    }
    record.id = ++this.#count
    this.#weight += weight
    this.#size += size
    while ((this.#weight > MAX_RECORDS || this.#size > MAX_BYTES) && this.#oldestKept < this.#count - 1) {
      const oldest = this.#count - this.#records.length
      if (this.#oldestKept >= oldest) this.#dropBodies(this.#findIndex(this.#oldestKept - oldest))
      this.#oldestKept++
    }
    this.#answered?.(record)
  }

  tell(answered: ((record: JournalRecord) => void) | undefined): void {
    this.#answered = answered
  }

  #dropBodies(place: number): void {
    this.#weight -= this.#weights[place]!
    this.#weights[place] = 0
    this.#size -= this.#sizes[place]!
    this.#sizes[place] = 0
    const record = this.#records[place]!
    record.body = undefined
    record.response = undefined
    record.trace = undefined
    record.forgetChanges()
    if (record.queryLength > LONG_QUERY) record.pairs = undefined
    record.shown = undefined
  }

  /** @param age 0 for the oldest */
  #findIndex(age: number): number {
    return (this.#start + age) % this.#records.length
  }

  /** The last ID. */
  get position(): number {
    return this.#count
  }

  since(position: number): JournalEntry[] {
    return this.recordsSince(position).map(record => this.show(record))
  }

  recordsSince(position: number): JournalRecord[] {
    const oldest = this.#count - this.#records.length
    const records: JournalRecord[] = []
    for (let index = Math.max(0, position - oldest); index < this.#records.length; index++)
      records.push(this.#records[this.#findIndex(index)]!)
    return records
  }

  find(id: number): JournalRecord | undefined {
    const oldest = this.#count - this.#records.length
    return id > oldest && id <= this.#count ? this.#records[this.#findIndex(id - oldest - 1)] : undefined
  }

  show(record: JournalRecord): JournalEntry {
    return (record.shown ??= createEntry(record, this.#parts))
  }

  /**
   * Takes over a recording, with consecutive IDs.
   *
   * @param requests the entries, each with its statements
   */
  adopt(requests: readonly { readonly entry: JournalEntry; readonly ran: object }[]): void {
    const { capacity } = this.#parts
    this.clear()
    for (const { entry, ran } of requests.slice(-capacity)) {
      const record = new JournalRecord(entry.method, entry.path, entry.nested, this.#generation, Date.parse(entry.at))
      record.ended = true
      record.id = entry.id
      record.shown = entry
      record.ran = ran
      this.#records.push(record)
      this.#weights.push(0)
      this.#sizes.push(0)
      this.#count = entry.id
    }
    this.#oldestKept = this.#count
  }

  /** Requests that still run leave no entry. */
  reset(): void {
    this.#generation++
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
}
