/**
 * The oracle's database: resources described by hand and rows as plain objects that point at each other. It knows nothing of MikroORM,
 * SQL or the engine; it is slow and literal on purpose, so that it can be checked by reading it beside the contract.
 */
export type PlainType = 'integer' | 'bigint' | 'double' | 'decimal' | 'text' | 'boolean' | 'datetime' | 'date' | 'time' | 'uuid' | 'enum'

export interface PlainAttribute {
  readonly kind: 'plain'
  readonly type: PlainType
  readonly nullable: boolean
  /** Digits after the point of a decimal. */
  readonly scale?: number
  /** What an enum may hold. */
  readonly items?: readonly string[]
}

export interface EmbeddedAttribute {
  readonly kind: 'embedded'
  readonly nullable: boolean
  readonly attributes: Readonly<Record<string, PlainAttribute>>
}

/** A relation. The target is a function because resources point at each other. */
export interface RelationAttribute {
  readonly kind: 'one' | 'many'
  readonly target: () => Resource
  readonly nullable: boolean
  /** The model's own order of a list. */
  readonly orderBy?: readonly (readonly [attribute: string, direction: Direction])[]
}

export type Attribute = PlainAttribute | EmbeddedAttribute | RelationAttribute
export type Direction = 'asc' | 'desc'

export interface Resource {
  readonly name: string
  readonly singular: string
  /** The attributes of the primary key, in declaration order. */
  readonly key: readonly string[]
  /** In declaration order, without the hidden ones: those do not exist for a reader. */
  readonly attributes: Readonly<Record<string, Attribute>>
}

/** An integer or double is a number, a bigint a bigint, a decimal its digits, a datetime milliseconds, the rest text. */
export type Scalar = string | number | bigint | boolean | null
export type EmbeddedValue = Readonly<Record<string, Scalar>>
export type Value = Scalar | EmbeddedValue | Row | Row[]

export interface Row {
  readonly of: Resource
  readonly values: Record<string, Value>
}

/** A request that the contract answers with 400. */
export class Refused extends Error {}

export function attributeOf(resource: Resource, name: string): Attribute {
  const attribute = Object.hasOwn(resource.attributes, name) ? resource.attributes[name] : undefined
  if (!attribute) throw new Refused(`${resource.name} has no attribute ${name}`)
  return attribute
}

/**
 * "**ID**: the primary key whatever its property is called: integer, string, uuid; composite keys are joined by `~` in declaration order
 * (`3~5`), each part percent-encoded; the same string is its ID in records."
 */
export function idOf(row: Row): string | number {
  const parts = row.of.key.map(name => {
    const value = row.values[name] as Scalar | Row
    return isRow(value) ? idOf(value) : (value as string | number)
  })
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : parts.map(part => encodeURIComponent(part).replaceAll('~', '%7E')).join('~')
}

export function isRow(value: Value | undefined): value is Row {
  return typeof value === 'object' && value !== null && 'of' in value
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
  const target = attribute.target()
  if (attribute.kind === 'one') {
    const next = value as Row | null
    return rest.length === 0 ? [{ kind: 'related', rows: next ? [next] : [] }] : reach(target, next, rest)
  }
  const rows = (value ?? []) as Row[]
  return rest.length === 0 ? [{ kind: 'related', rows }] : rows.flatMap(next => reach(target, next, rest))
}

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
  return rest.length === 0 ? attribute : endOf(attribute.target(), rest)
}
