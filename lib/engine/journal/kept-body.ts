/** Kept body: the body of a request as the journal keeps it, and what a request weighs there. */
import { findText } from '../../foundation/base/json.ts'
import type { Pair } from '../../records/request/query-string.ts'
import type { RunStatement } from '../../foundation/base/trace.ts'

/** What is weighed of a request. */
interface Weighed {
  readonly body: unknown
  readonly pairs: readonly Pair[] | undefined
  readonly trace: { readonly statements: readonly RunStatement[] | undefined } | undefined
  readonly response: unknown
  readonly records: number
}

/** The body of a request as its text, which takes less memory and time than a copy where it is long. */
export class BodyText {
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

/** Measures what was sent: the objects in the body, and the approximate bytes of body and query. */
export function measureSent({ body, pairs, trace }: Weighed): { objects: number; bytes: number } {
  const sent = { objects: 0, bytes: countPairCharacters(pairs) + weighStatements(trace?.statements) }
  if (body instanceof BodyText) return { objects: 1, bytes: sent.bytes + body.text.length }
  if (body !== undefined) weigh(body, sent)
  return sent
}

export function countPairCharacters(pairs: readonly Pair[] | undefined): number {
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
export function countRecords({ response, records }: Weighed): number {
  if (typeof response !== 'object' || response === null) return 0
  const { count, resource } = response as { readonly count?: unknown; readonly resource?: string }
  if (count === undefined) return Math.max(1, records)
  const listed = (response as Readonly<Record<string, unknown>>)[String(resource)]
  return Math.max(Array.isArray(listed) ? listed.length : 1, records)
}

/** Texts of statements are shared by the requests of one shape: what counts are the values. */
function weighStatements(statements: readonly RunStatement[] | undefined): number {
  let bytes = 0
  for (const { parameters } of statements ?? []) {
    bytes += 100
    for (const value of parameters) bytes += typeof value === 'string' ? value.length : value instanceof Uint8Array ? value.byteLength : 16
  }
  return bytes
}
