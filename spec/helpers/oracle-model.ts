/**
 * The oracle's database: resources described by hand and rows as plain objects that point at each other. It knows nothing of MikroORM,
 * SQL or the engine; it is slow and literal on purpose, so that it can be checked by reading it beside the contract.
 */
export type PlainType =
  | 'integer'
  | 'bigint'
  | 'double'
  | 'decimal'
  | 'text'
  | 'boolean'
  | 'datetime'
  | 'date'
  | 'time'
  | 'uuid'
  | 'enum'
  | 'custom'
  | 'inside'

export interface PlainAttribute {
  readonly kind: 'plain'
  readonly type: PlainType
  readonly nullable: boolean
  /** Digits after the point of a decimal. */
  readonly scale?: number
  /** What an enum may hold. */
  readonly items?: readonly (string | number)[]
  /** Of a custom type, whose values here are the stored ones, by which it is ordered. */
  readonly codec?: Codec
  /** Shown as a number, though it is compared as something longer. */
  readonly asNumber?: boolean
}

/** What a custom type makes of a stored value, and of the text of a filter (`null`: nothing). */
export interface Codec {
  readonly show: (stored: Exclude<Scalar, null>) => Json
  readonly parse: (text: string) => Scalar
  readonly spell: (stored: Exclude<Scalar, null>) => string
}

export interface EmbeddedAttribute {
  readonly kind: 'embedded'
  readonly nullable: boolean
  readonly attributes: Readonly<Record<string, PlainAttribute>>
  /** Of one of several classes: the attribute that tells the class, and the attributes of each. */
  readonly variants?: { readonly by: string; readonly of: Readonly<Record<string, readonly string[]>> }
}

/** What is shown as it is: arrays, blobs, lists of objects, and JSON values, which alone are filtered by `null` and by paths into them. */
export interface OpaqueAttribute {
  readonly kind: 'opaque'
  readonly nullable: boolean
  readonly json: boolean
  /** Of a JSON value: the paths that queries are made of. */
  readonly paths?: readonly string[]
}

/** A relation. The target is a function because resources point at each other. */
export interface RelationAttribute {
  readonly kind: 'one' | 'many'
  readonly target: () => Resource
  readonly nullable: boolean
  /** The model's own order of a list. */
  readonly orderBy?: readonly (readonly [attribute: string, direction: Direction])[]
  /** The rows are in the order of the list, as it was given. */
  readonly fixed?: boolean
}

export type Attribute = PlainAttribute | EmbeddedAttribute | OpaqueAttribute | RelationAttribute
export type Direction = 'asc' | 'desc'

export interface Resource {
  readonly name: string
  readonly singular: string
  /** The attributes of the primary key, in declaration order. */
  readonly key: readonly string[]
  /** In declaration order, without the hidden ones: those do not exist for a reader. */
  readonly attributes: Readonly<Record<string, Attribute>>
  /** Those that classes below have: a path may begin with one of them too. */
  readonly below?: () => Readonly<Record<string, Attribute>>
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** An integer or double is a number, a bigint a bigint, a decimal its digits, a datetime milliseconds, the rest text. */
export type Scalar = string | number | bigint | boolean | null
export type EmbeddedValue = Readonly<Record<string, Scalar>>
/** A value that is JSON already. */
export class Opaque {
  readonly json: Json
  constructor(json: Json) {
    this.json = json
  }
}
export type Value = Scalar | EmbeddedValue | Opaque | Row | Row[]

export interface Row {
  readonly of: Resource
  readonly values: Record<string, Value>
}

/** A request that the contract answers with 400. */
export class Refused extends Error {}

export function attributeOf(resource: Resource, name: string): Attribute {
  const below = resource.below?.() ?? {}
  const attribute = Object.hasOwn(resource.attributes, name)
    ? resource.attributes[name]
    : Object.hasOwn(below, name)
      ? below[name]
      : undefined
  if (!attribute) throw new Refused(`${resource.name} has no attribute ${name}`)
  return attribute
}

/**
 * "**ID**: the primary key whatever its property is called: integer, string, uuid; composite keys are joined by `~` in declaration order
 * (`3~5`), each part percent-encoded; the same string is its ID in records."
 */
export function idOf(row: Row): string | number {
  const parts = keyParts(row)
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : parts.map(part => encodeURIComponent(part).replaceAll('~', '%7E')).join('~')
}

/** A part that is a relation is the parts of that record's key. */
export function keyParts(row: Row): (string | number)[] {
  return row.of.key.flatMap(name => {
    const value = row.values[name]
    if (isRow(value)) return keyParts(value)
    const attribute = row.of.attributes[name]
    return attribute?.kind === 'plain' ? [toJson(attribute, value as Scalar) as string | number] : []
  })
}

/**
 * "Date-times are ISO 8601 in UTC with milliseconds and `Z`, dates `YYYY-MM-DD`, times `HH:MM:SS`; a property has one JSON type: bigints
 * and decimals are strings (numbers in MikroORM's number mode), decimals with their scale; [...] an SQL NULL is `null`, never absent."
 */
export function toJson(attribute: PlainAttribute, value: Scalar): Json {
  if (value === null) return null
  if (attribute.codec) return attribute.codec.show(value)
  if (attribute.asNumber === true) return Number(value)
  if (typeof value === 'bigint') return value.toString()
  if (attribute.type === 'datetime') return new Date(value as number).toISOString()
  return value
}

export function isRow(value: Value | undefined): value is Row {
  return typeof value === 'object' && value !== null && 'of' in value && 'values' in value
}

/** What a path ends at, once for every way there: a plain value, or the related rows (of an empty to-one: none). */
export type Ending = { readonly kind: 'plain'; readonly value: Scalar } | { readonly kind: 'related'; readonly rows: readonly Row[] }

/**
 * Follows a dotted path from a row (`null`: an empty to-one on the way) and gives every ending.
 *
 * "What lies behind an empty to-one is NULL (`publisher.name=null` finds the records without a publisher too); an empty list, or one
 * behind an empty to-one, has no record that could match." So a to-one always leads to one ending, a list to as many as it has records.
 */
export function reach(resource: Resource, row: Row | null, path: readonly string[]): Ending[] {
  const [name = '', ...rest] = path
  const attribute = attributeOf(resource, name)
  const value = row === null ? null : (row.values[name] ?? null)

  if (attribute.kind === 'plain') return [{ kind: 'plain', value: value as Scalar }]
  if (attribute.kind === 'embedded') return [{ kind: 'plain', value: (value as EmbeddedValue | null)?.[rest[0] ?? ''] ?? null }]
  if (attribute.kind === 'opaque') return [{ kind: 'plain', value: inside((value as Opaque | null)?.json ?? null, rest) }]
  const target = attribute.target()
  if (attribute.kind === 'one') {
    const next = value as Row | null
    return rest.length === 0 ? [{ kind: 'related', rows: next ? [next] : [] }] : reach(target, next, rest)
  }
  const rows = (value ?? []) as Row[]
  return rest.length === 0 ? [{ kind: 'related', rows }] : rows.flatMap(next => reach(target, next, rest))
}

/** What is in a JSON value; of an object or array that it is there, which equals nothing. */
function inside(json: Json, path: readonly string[]): Scalar {
  let value: Json | undefined = json
  for (const name of path) {
    value = typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, Json>)[name] : undefined
  }
  return typeof value === 'object' && value !== null ? SOMETHING : (value ?? null)
}

/** Stands for an object or an array inside of a JSON value: not NULL, and equal to no text that a client can send. */
export const SOMETHING = '\0an object or array'

/** What a path ends at by the model alone, whatever the data. */
export function endOf(resource: Resource, path: readonly string[]): PlainAttribute | RelationAttribute {
  const [name = '', ...rest] = path
  const attribute = attributeOf(resource, name)
  if (attribute.kind === 'plain') {
    if (rest.length > 0) throw new Refused(`${name} has no attributes`)
    return attribute
  }
  if (attribute.kind === 'embedded') {
    const [inner = '', ...beyond] = rest
    const plain = Object.hasOwn(attribute.attributes, inner) ? attribute.attributes[inner] : undefined
    if (!plain || beyond.length > 0) throw new Refused(`${name} has no attribute ${rest.join('.')}`)
    return plain
  }
  if (attribute.kind === 'opaque') {
    if (!attribute.json) throw new Refused(`${name} cannot be filtered or sorted by`)
    return { kind: 'plain', type: 'inside', nullable: true }
  }
  return rest.length === 0 ? attribute : endOf(attribute.target(), rest)
}
