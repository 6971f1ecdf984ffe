/**
 * A request as kept by the journal, with references to its parts and a copy of its body. create-entry.ts makes the entry when somebody
 * reads the journal.
 */
import type { ChangeSink, RawChange } from '../../records/database/changes.ts'
import type { Model, Resource } from '../../model/model.ts'
import type { Request } from '../../records/request/parse-request.ts'
import type { Pair } from '../../records/request/raw-filter.ts'
import type { Target } from '../../records/access/resolve-path.ts'
import { findText } from '../../foundation/json/json.ts'
import type { RunStatement, Trace } from '../../foundation/async/trace.ts'
import type { JournalEntry } from './journal-entry.ts'

/** For all kept bodies, statements and changed rows. */
export const MAX_BYTES = 32 << 20

interface Weight {
  objects: number
  bytes: number
}

/** A text takes less memory and time than a copy of a long body. */
export class BodyText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export class JournalRecord implements ChangeSink {
  /** Made inside another request, even an ended one. */
  readonly nested: boolean
  /** How many requests around still run. */
  level = 0
  readonly generation: number
  id = 0
  readonly at: number
  test: string | undefined = undefined
  fault: string | undefined = undefined
  user: string | undefined = undefined
  /** The start; after the end, the duration. */
  time = performance.now()
  ended = false
  /** After parsing: upper case, without the query. */
  method: string
  path: string
  /** Segments after the version. Undefined for an unreadable path. */
  depth: number | undefined = undefined
  pairs: readonly Pair[] | undefined = undefined
  /** In characters. */
  queryLength = 0
  model: Model | undefined = undefined
  /** Whose attributes body and query name; the body of an attribute's path is the value. */
  resource: Resource | undefined = undefined
  attribute: string | undefined = undefined
  body: unknown = undefined
  status: number | undefined = undefined
  response: unknown = undefined
  /** An estimate. */
  bytes = 0
  records = 0
  failure: unknown = undefined
  changes: RawChange[] | undefined = undefined
  /** An estimate. */
  changedBytes = 0
  /** Changes of too many bytes were dropped. */
  isForgotten = false
  /** Milliseconds by stage, if measured. */
  timing: Readonly<Record<string, number>> | undefined = undefined
  trace: Trace | undefined = undefined
  /** Set for an entry taken over from a recording (`adopt`). */
  ran: object | undefined = undefined
  shown: JournalEntry | undefined = undefined

  /**
   * @param generation of the journal
   * @param at milliseconds since 1970
   */
  constructor(method: string, target: string, nested: boolean, generation: number, at: number) {
    this.generation = generation
    this.at = at
    this.method = method
    this.path = target
    this.nested = nested
  }

  keep(body: unknown): void {
    const text = findText(body)
    this.body = text === undefined ? copyBody(body) : new BodyText(text)
  }

  parsed({ method, path, segments, query }: Request): void {
    this.method = method
    this.path = path
    this.depth = Math.max(0, segments.length - 1)
    this.pairs = query.pairs
    this.queryLength = query.length
  }

  measure(): Weight {
    const { body, response, trace } = this
    const weight = { objects: 0, bytes: this.queryLength }
    if (body !== undefined) weighBody(body, weight)
    if (trace?.statements !== undefined) weight.bytes += weighStatements(trace.statements)
    if (typeof response !== 'object' || response === null) return weight
    const { count, resource } = response as { readonly count?: unknown; readonly resource?: string }
    const listed = count === undefined ? undefined : (response as Readonly<Record<string, unknown>>)[String(resource)]
    weight.objects += Math.max(Array.isArray(listed) ? listed.length : 1, this.records)
    return weight
  }

  /** Keeps parts of the model alone: the target can be freed. */
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
    // The journal has weighed the record already.
    if (this.ended && this.changedBytes > MAX_BYTES) this.forgetChanges()
  }

  forgetChanges(): void {
    this.isForgotten ||= this.changes !== undefined
    this.changes = undefined
  }
}

/** Later changes of the body must not reach the journal. */
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
  // `Object.values` would make an array for each object. A body inherits nothing.
  for (const name in body) {
    sent.bytes += 16
    weighBody((body as Record<string, unknown>)[name], sent)
  }
}

/** Texts do not count: requests of one shape share them. */
function weighStatements(statements: readonly RunStatement[]): number {
  let bytes = 0
  for (const { parameters } of statements) {
    bytes += 100
    for (const value of parameters) bytes += typeof value === 'string' ? value.length : value instanceof Uint8Array ? value.byteLength : 16
  }
  return bytes
}
