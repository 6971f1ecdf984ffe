/**
 * Journal record: what a request leaves of itself while it runs, and what that weighs: references, of which an entry is made when the
 * journal is read, and a copy of its body.
 */
import type { ChangeSink, RawChange } from '../../records/database/changes.ts'
import type { Model, Resource } from '../../model/model.ts'
import type { Request } from '../../records/request/parse-request.ts'
import type { Pair } from '../../records/request/query-string.ts'
import type { Target } from '../../records/access/resolve-path.ts'
import { findText } from '../../foundation/base/json.ts'
import type { RunStatement, Trace } from '../../foundation/base/trace.ts'
import type { JournalEntry } from './journal-entry.ts'

/** Bytes of the bodies and changed rows that are kept, of all requests together. */
export const MAX_BYTES = 32 << 20

/** How many objects something holds, and about how many bytes. */
interface Weight {
  objects: number
  bytes: number
}

/** The body of a request as its text, which takes less memory and time than a copy where it is long. */
export class BodyText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A request in the journal. */
export class JournalRecord implements ChangeSink {
  readonly nested: boolean
  /** The generation of the journal in which it began. */
  readonly life: number
  /** Its number in the journal; 0 until it has been answered. */
  id = 0
  /** When it came, by the clock of the engine: milliseconds since 1970. */
  readonly at: number
  /** The test that has sent it, as its header `X-Test` says. */
  test: string | undefined = undefined
  /** The ID of the fault that it has met. */
  fault: string | undefined = undefined
  /** Whose token it has. */
  user: string | undefined = undefined
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
  /** Milliseconds at each stage, where they are measured. */
  timing: Readonly<Record<string, number>> | undefined = undefined
  /** What it has run, where that is kept. */
  trace: Trace | undefined = undefined
  /** The same as it is shown, where it comes from a recording. */
  ran: object | undefined = undefined
  /** Its entry, once it has been read. */
  shown: JournalEntry | undefined = undefined

  /**
   * @param life the generation of the journal in which it begins
   * @param at milliseconds since 1970
   */
  constructor(method: string, target: string, nested: boolean, life: number, at: number) {
    this.life = life
    this.at = at
    this.method = method
    this.path = target
    this.nested = nested
  }

  /** Records the body: as the text that it has just been parsed from, or else a copy. */
  keep(body: unknown): void {
    const text = findText(body)
    this.body = text === undefined ? copyBody(body) : new BodyText(text)
  }

  /** Records the parsed path and query. */
  parsed({ method, path, segments, query }: Request): void {
    this.method = method
    this.path = path
    this.depth = Math.max(0, segments.length - 1)
    this.pairs = query.pairs
  }

  /** The characters of the names and values of the query. */
  get queryLength(): number {
    let length = 0
    for (const { name, value } of this.pairs ?? []) length += name.length + value.length
    return length
  }

  /** Measures what is kept: objects and records, and about how many bytes what was sent takes. */
  measure(): Weight {
    const { body, response, trace } = this
    const weight = { objects: 0, bytes: 0 }
    if (this.pairs !== undefined && this.pairs.length > 0) weight.bytes += this.queryLength
    if (body !== undefined) weighBody(body, weight)
    if (trace?.statements !== undefined) weight.bytes += weighStatements(trace.statements)
    if (typeof response !== 'object' || response === null) return weight
    // The records that the database gave, or those of a list, which has a count; else one.
    const { count, resource } = response as { readonly count?: unknown; readonly resource?: string }
    const listed = count === undefined ? undefined : (response as Readonly<Record<string, unknown>>)[String(resource)]
    weight.objects += Math.max(Array.isArray(listed) ? listed.length : 1, this.records)
    return weight
  }

  /** Records the target of the request. It refers to the model only, so that the other parts of the request can be freed. */
  resolved(target: Target, model: Model): void {
    this.model = model
    if (target.kind === 'index' || target.kind === 'own') return
    this.resource = target.resource
    if (target.kind === 'member') this.resource = target.member.resource
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

/** Adds what a kept body weighs. */
function weighBody(body: unknown, sent: Weight): void {
  if (body instanceof BodyText) {
    sent.objects++
    sent.bytes += body.text.length
    return
  }
  if (typeof body === 'string') sent.bytes += body.length
  if (typeof body !== 'object' || body === null) return
  if (Array.isArray(body)) {
    sent.bytes += 16 * body.length
    for (let index = 0; index < body.length; index++) weighBody(body[index], sent)
    return
  }
  sent.objects++
  // `for in` spares the array of all values, which costs more than the loop. The body is a plain copy, which inherits nothing.
  for (const name in body) {
    sent.bytes += 16
    weighBody((body as Record<string, unknown>)[name], sent)
  }
}

/** Texts of statements are shared by the requests of one shape: what counts are the values. */
function weighStatements(statements: readonly RunStatement[]): number {
  let bytes = 0
  for (const { parameters } of statements) {
    bytes += 100
    for (const value of parameters) bytes += typeof value === 'string' ? value.length : value instanceof Uint8Array ? value.byteLength : 16
  }
  return bytes
}
