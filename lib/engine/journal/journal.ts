/**
 * Keeps the requests that the engine has answered, the newest last, with the rows that each has changed. A request only leaves references
 * here. Entries are made, without secrets, when they are read.
 */
import type { Clock } from '../../foundation/base/clock.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import type { Surroundings } from '../../foundation/base/surroundings.ts'
import { TextStream } from '../../foundation/base/text-stream.ts'
import { createEntry, type EntryParts } from './create-entry.ts'
import type { JournalEntry } from './journal-entry.ts'
import { JournalRecord, MAX_BYTES } from './journal-record.ts'

/**
 * Limit of the bodies that are kept: records of all levels. Bodies that outlive a collection make the heap grow: 10,000 records double it.
 */
const MAX_RECORDS = 3000
/** Characters of a query above which it is dropped together with the bodies. */
const LONG_QUERY = 1000

/** What a journal is made of. */
interface JournalParts extends EntryParts {
  /** Number of requests to keep; at least 1. */
  readonly capacity: number
  readonly clock: Pick<Clock, 'time'>
  /** The request that code runs in, so that changed rows are attributed to it. */
  readonly running: Surroundings<JournalRecord>
}

export class Journal {
  readonly #parts: JournalParts
  readonly #running: Surroundings<JournalRecord>
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
  /** Whether requests keep what they have run. */
  keepsStatements = false
  #answered: ((record: JournalRecord) => void) | undefined

  constructor(parts: JournalParts) {
    this.#parts = parts
    this.#running = parts.running
  }

  begin(method: string, target: string): JournalRecord {
    return new JournalRecord(method, target, this.#running.current !== undefined, this.#life, this.#parts.clock.time())
  }

  /** Records the answer of a request. */
  end(record: JournalRecord, response: RestResponse): void {
    if (record.ended || record.life !== this.#life) return
    record.ended = true
    record.time = performance.now() - record.time
    record.status = response.status
    // A body that is made while it is sent is not kept.
    record.response = response.body instanceof TextStream ? undefined : response.body
    const { objects, bytes } = record.measure()
    this.#push(record, objects, record.bytes + bytes + record.changedBytes)
  }

  /** Records that `handle` rejects. */
  fail(record: JournalRecord, error: unknown): void {
    if (record.ended || record.life !== this.#life) return
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

  /** From now on this function hears of each request that has been answered. */
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

  /** Finds the index of a record by its age, where the oldest is 0. */
  #findIndex(age: number): number {
    return (this.#start + age) % this.#records.length
  }

  /** The number of requests so far, as a starting point for `since`: the ID of the last one. */
  get position(): number {
    return this.#count
  }

  /** Returns the requests since a position, as far as they are still kept: with an ID above it. */
  since(position: number): JournalEntry[] {
    return this.recordsSince(position).map(record => this.show(record))
  }

  /** Returns the same, without entries being made of them. */
  recordsSince(position: number): JournalRecord[] {
    const oldest = this.#count - this.#records.length
    const records: JournalRecord[] = []
    for (let index = Math.max(0, position - oldest); index < this.#records.length; index++)
      records.push(this.#records[this.#findIndex(index)]!)
    return records
  }

  /** Finds a request by its ID, as long as it is kept. */
  find(id: number): JournalRecord | undefined {
    const oldest = this.#count - this.#records.length
    return id > oldest && id <= this.#count ? this.#records[this.#findIndex(id - oldest - 1)] : undefined
  }

  /** Returns the entry of a request, which is made when it is first asked for. */
  show(record: JournalRecord): JournalEntry {
    return (record.shown ??= createEntry(record, this.#parts))
  }

  /**
   * Begins with requests of a recording, whose IDs follow each other.
   *
   * @param requests the entries, each with what the request has run
   */
  adopt(requests: readonly { readonly entry: JournalEntry; readonly ran: object }[]): void {
    const { capacity } = this.#parts
    this.clear()
    for (const { entry, ran } of requests.slice(-capacity)) {
      const record = new JournalRecord(entry.method, entry.path, entry.nested, this.#life, Date.parse(entry.at))
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
}
