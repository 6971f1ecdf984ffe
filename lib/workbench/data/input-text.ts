/**
 * Input text: what a reader writes into a field, as the JSON value of an attribute, and the other way round. What cannot be of the type is
 * sent as it is: the API says what is wrong.
 */
import type { OutlinedResource, OutlinedAttribute } from '../../description/outline/outline-parts.ts'
import { textOf } from '../state/records.ts'

/** What stands in a field: a text, null, or undefined for a field that nobody has filled in. Of a link the text is the ID. */
export type FieldDraft = string | null | undefined

/** Characters from which a text gets a field of several lines. */
const LONG = 80

const NUMBERS = /^(?:integer|float)$/
const TEXTS = /^(?:text|any|enum)$/

/** Whether values are written as JSON: objects, lists, and links to one of several resources. */
export function isJson({ kind, type }: OutlinedAttribute): boolean {
  return kind === 'embedded' || kind === 'toOneOf' || type === 'json' || type === 'list' || type === 'any'
}

/** Whether a value needs a field of several lines, which stands in the panel of the record. */
export function isLarge(attribute: OutlinedAttribute, value: unknown): boolean {
  if (attribute.kind === 'toOne') return false
  if (attribute.kind === 'scalar' && attribute.type === 'any') return typeof value === 'object' && value !== null
  if (isJson(attribute)) return true
  return typeof value === 'string' && (value.length > LONG || value.includes('\n'))
}

/** The text of a value in its field; `id` is that of a linked record. */
export function writeDraft(attribute: OutlinedAttribute, value: unknown, id?: string): FieldDraft {
  if (value === null || value === undefined) return null
  if (attribute.kind === 'toOne') return id ?? null
  if (attribute.type === 'any' && typeof value === 'string') return value
  return isJson(attribute) ? JSON.stringify(value, null, 2) : textOf(value)
}

/** The choices of an attribute that has a few; undefined for others. */
export function choicesOf({ kind, type, items }: OutlinedAttribute): readonly string[] | undefined {
  if (kind !== 'scalar') return undefined
  return type === 'boolean' ? ['true', 'false'] : items?.map(String)
}

/**
 * Reads the value that a field holds.
 *
 * @param target the resource that a link leads to
 * @throws SyntaxError for JSON that is none
 */
export function readDraft(draft: string | null, attribute: OutlinedAttribute, target?: OutlinedResource): unknown {
  if (draft === null) return null
  if (attribute.kind === 'toOne') return draft === '' ? null : readId(draft, target)
  const { type, items } = attribute
  if (items !== undefined) return items.find(item => String(item) === draft) ?? draft
  if (draft === '' && !TEXTS.test(type)) return null
  if (type === 'boolean') return draft === 'true' || (draft === 'false' ? false : draft)
  if (NUMBERS.test(type)) return isNumeric(draft) ? Number(draft) : draft
  if (type === 'any') return readAny(draft)
  return isJson(attribute) ? (JSON.parse(draft) as unknown) : draft
}

/** The ID of a record in JSON: a number where the key is an integer. */
export function readId(id: string, target: OutlinedResource | undefined): string | number {
  const [name, ...others] = target?.key ?? []
  const type = others.length > 0 ? undefined : target?.attributes.find(attribute => attribute.name === name)?.type
  return type === 'integer' && /^-?\d{1,15}$/.test(id) ? Number(id) : id
}

/** A column without a type takes numbers, too. */
function readAny(text: string): unknown {
  if (isNumeric(text) && String(Number(text)) === text) return Number(text)
  return /^[[{]/.test(text) ? (JSON.parse(text) as unknown) : text
}

function isNumeric(text: string): boolean {
  return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text.trim()) && Number.isFinite(Number(text))
}
