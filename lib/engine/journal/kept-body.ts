/** Kept body: the body of a request as the journal keeps it, and what a request weighs there. */
import { findText } from '../../foundation/base/json.ts'
import type { RunStatement } from '../../foundation/base/trace.ts'

/** How many objects something holds, and about how many bytes. */
export interface Weight {
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

/** Adds what a kept body weighs. */
export function weighBody(body: unknown, sent: Weight): void {
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
export function weighStatements(statements: readonly RunStatement[]): number {
  let bytes = 0
  for (const { parameters } of statements) {
    bytes += 100
    for (const value of parameters) bytes += typeof value === 'string' ? value.length : value instanceof Uint8Array ? value.byteLength : 16
  }
  return bytes
}
