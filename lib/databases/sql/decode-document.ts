/**
 * Turns stored values, also inside JSON documents, into values of answers: bytes into base64, big integers into texts. A value of a wrong
 * type is shown unchanged.
 */
import { parseExact } from '../../foundation/json/json-numbers.ts'
import { formatIso, parseLenientDatetime } from '../../foundation/values/iso-time.ts'
import { isValue, type EmbeddedAttribute, type InnerAttribute, type ScalarAttribute } from '../../model/model.ts'
import type { Field } from '../../records/plan/read-plan.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'

/** Takes milliseconds, or a text, such as of current_timestamp; UTC without an offset. */
export function decodeDatetime(value: unknown): unknown {
  if (typeof value === 'number') return formatIso(value)
  const time = typeof value === 'string' ? parseLenientDatetime(value) : undefined
  return time === undefined ? decodeOdd(value) : formatIso(time)
}

/** Null for infinity and NaN; 0 for -0. */
export function decodeNumber(value: unknown): unknown {
  if (typeof value !== 'number') return decodeOdd(value)
  return Number.isFinite(value) ? value + 0 : null
}

/** `12.50` for 12.5 with scale 2; never with an exponent. */
export function formatDecimal(value: unknown, scale: number | undefined): unknown {
  if (typeof value === 'string' && scale !== undefined && /^-?\d+(\.\d+)?$/.test(value)) {
    const [whole = '', fraction = ''] = value.split('.')
    return scale === 0 && fraction === '' ? whole : `${whole}.${fraction.padEnd(scale, '0')}`.replace(/\.$/, '')
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) return decodeOdd(value)
  if (Math.abs(value) >= 1e21) return BigInt(value).toString() + (scale === undefined || scale === 0 ? '' : `.${'0'.repeat(scale)}`)
  if (scale !== undefined) return withoutZeroSign(value.toFixed(scale))
  const text = String(value + 0)
  return text.includes('e') ? value.toFixed(20).replace(/0+$/, '').replace(/\.$/, '') : text
}

function withoutZeroSign(text: string): string {
  return text.startsWith('-') && Number(text) === 0 ? text.slice(1) : text
}

export function decodeJson(value: unknown): unknown {
  if (typeof value !== 'string') return decodeOdd(value)
  try {
    return parseExact(value)
  } catch {
    // A bad text must not fail the whole page.
    return value
  }
}

/** Parses a JSON text once for all members, if read in a row. */
export class MemberReader {
  #text: unknown = undefined
  #object: unknown = undefined

  readonly read = (text: unknown, name: string): unknown => this.find(text, name) ?? null

  readonly find = (text: unknown, name: string): unknown => {
    if (text === null) return undefined
    if (text !== this.#text) {
      this.#object = decodeJson(text)
      this.#text = text
    }
    const object = this.#object
    if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined
    const value = (object as Record<string, unknown>)[name]
    // The caller may change the value.
    return typeof value === 'object' && value !== null ? structuredClone(value) : value
  }
}

/** Shows a value of another type than declared. */
export function decodeOdd(value: unknown): unknown {
  if (value instanceof Uint8Array) return runtime.formatBytes(value, 'base64')
  if (typeof value === 'bigint') return value.toString()
  return typeof value === 'number' ? (Number.isFinite(value) ? value + 0 : null) : value
}

/** In a document, MikroORM writes dates as texts, and big numbers as texts or numbers. */
function decodeInDocument(attribute: ScalarAttribute, value: unknown): unknown {
  const { type } = attribute
  if (value === undefined || value === null) return null
  switch (type.kind) {
    case 'datetime':
      return decodeDatetime(value)
    case 'bigint':
      return type.asNumber === true ? Number(value) : typeof value === 'string' ? value : JSON.stringify(value)
    case 'decimal':
      return type.asNumber === true ? Number(value) : formatDecimal(value, type.scale)
    case 'blob':
      return decodeBuffer(value)
    case 'array':
    case 'custom':
      return type.codec!.toJson(value)
    default:
      return value
  }
}

/** A Buffer in JSON is `{ type: 'Buffer', data: [...] }`. */
function decodeBuffer(value: unknown): unknown {
  const { data } = value as { data?: unknown }
  return Array.isArray(data) ? runtime.formatBytes(Uint8Array.from(data as number[]), 'base64') : value
}

export function decodeDocument(embedded: EmbeddedAttribute, fields: readonly Field[], holder: unknown): unknown {
  if (embedded.array) return Array.isArray(holder) ? holder.map(member => decodeObject(embedded, fields, member)) : null
  return decodeObject(embedded, fields, holder)
}

function decodeObject({ variants, byName }: EmbeddedAttribute, fields: readonly Field[], holder: unknown): unknown {
  if (holder === null || typeof holder !== 'object') return null
  const given = holder as Record<string, unknown>
  const ofVariant = variants?.byValue.get(String(given[keyInDocument(byName.get(variants.discriminator) as ScalarAttribute)]))
  const object: Record<string, unknown> = {}
  const shown = ofVariant === undefined ? fields : ofVariant.flatMap(({ name }) => fields.filter(field => field.attribute.name === name))
  for (const field of shown) {
    const { attribute } = field
    // Links are set later: only the database knows which records exist for the caller.
    if (!isValue(attribute)) {
      object[attribute.name] = null
      continue
    }
    const value = given[keyInDocument(attribute)]
    object[attribute.name] =
      attribute.kind === 'embedded'
        ? decodeDocument(attribute, narrowFields((field as Field & { kind: 'embedded' }).fields, ofVariant, attribute.name), value ?? null)
        : decodeInDocument(attribute, value)
  }
  return object
}

function narrowFields(fields: readonly Field[], ofVariant: readonly InnerAttribute[] | undefined, name: string): readonly Field[] {
  const narrow = ofVariant?.find(attribute => attribute.name === name)
  return narrow?.kind === 'embedded' ? fields.filter(({ attribute }) => narrow.byName.has(attribute.name)) : fields
}

function keyInDocument(attribute: ScalarAttribute | EmbeddedAttribute): string {
  if (attribute.kind === 'embedded') return attribute.document!.keys.at(-1)!
  return attribute.source.kind === 'document' ? attribute.source.keys.at(-1)! : ''
}

export function documentAt(column: unknown, keys: readonly string[]): unknown {
  let value: unknown = decodeJson(column)
  for (const key of keys) value = value === null || typeof value !== 'object' ? null : (value as Record<string, unknown>)[key]
  return value ?? null
}
