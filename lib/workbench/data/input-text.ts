/** Turns the text of a field into a JSON value, and back. Invalid text is sent unchanged: the API reports the error. */
import type { OutlinedResource, OutlinedAttribute } from '../../description/outline/outline-parts.ts'
import { textOf } from '../state/records.ts'

/** For a link the ID. Undefined: untouched. */
export type FieldDraft = string | null | undefined

/** Longer texts get several lines. */
const LONG = 80

const NUMBERS = /^(?:integer|float)$/
const TEXTS = /^(?:text|any|value|enum)$/
/** Values of several types: `value` takes booleans, too. */
const OPEN = /^(?:any|value)$/

export function isJson({ kind, type }: OutlinedAttribute): boolean {
  return kind === 'embedded' || kind === 'toOneOf' || type === 'json' || type === 'list' || OPEN.test(type)
}

/** Needs several lines, and so the record panel. */
export function isLarge(attribute: OutlinedAttribute, value: unknown): boolean {
  if (attribute.kind === 'toOne') return false
  if (attribute.kind === 'scalar' && OPEN.test(attribute.type)) return typeof value === 'object' && value !== null
  if (isJson(attribute)) return true
  return typeof value === 'string' && (value.length > LONG || value.includes('\n'))
}

/** @param id the ID of the linked record */
export function writeDraft(attribute: OutlinedAttribute, value: unknown, id?: string): FieldDraft {
  if (value === null || value === undefined) return null
  if (attribute.kind === 'toOne') return id ?? null
  if (OPEN.test(attribute.type) && typeof value === 'string') return value
  return isJson(attribute) ? JSON.stringify(value, null, 2) : textOf(value)
}

export function choicesOf({ kind, type, items }: OutlinedAttribute): readonly string[] | undefined {
  if (kind !== 'scalar') return undefined
  return type === 'boolean' ? ['true', 'false'] : items?.map(String)
}

/**
 * @param target of a linked record
 * @throws SyntaxError for invalid JSON
 */
export function readDraft(draft: string | null, attribute: OutlinedAttribute, target?: OutlinedResource): unknown {
  if (draft === null) return null
  if (attribute.kind === 'toOne') return draft === '' ? null : readId(draft, target)
  const { type, items } = attribute
  if (items !== undefined) return items.find(item => String(item) === draft) ?? draft
  if (draft === '' && !TEXTS.test(type)) return null
  if (type === 'boolean') return draft === 'true' || (draft === 'false' ? false : draft)
  if (NUMBERS.test(type)) return isNumeric(draft) ? Number(draft) : draft
  if (OPEN.test(type)) return readAny(draft, type)
  return isJson(attribute) ? (JSON.parse(draft) as unknown) : draft
}

/** A number if the key is an integer. */
export function readId(id: string, target: OutlinedResource | undefined): string | number {
  const [name, ...others] = target?.key ?? []
  const type = others.length > 0 ? undefined : target?.attributes.find(attribute => attribute.name === name)?.type
  return type === 'integer' && /^-?\d{1,15}$/.test(id) ? Number(id) : id
}

/** A column without a type also takes numbers and JSON. */
function readAny(text: string, type: string): unknown {
  if (isNumeric(text) && String(Number(text)) === text) return Number(text)
  if (type === 'value' && (text === 'true' || text === 'false')) return text === 'true'
  return /^[[{]/.test(text) ? (JSON.parse(text) as unknown) : text
}

function isNumeric(text: string): boolean {
  return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text.trim()) && Number.isFinite(Number(text))
}
