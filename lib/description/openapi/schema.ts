/** Schema: JSON Schema (draft 2020-12, which OpenAPI 3.1 uses) as plain data, and functions that combine schemas. */

/** A schema, or any other object of an OpenAPI document. */
export interface Schema {
  readonly [keyword: string]: unknown
}

/** Any JSON value. */
export const ANY: Schema = Object.freeze({})

export const NULL: Schema = Object.freeze({ type: 'null' })

/** Returns the schema of the same values and of null. */
export function orNull(schema: Schema): Schema {
  const { type, enum: items } = schema
  if (acceptsAnything(schema)) return schema
  if (typeof type === 'string' || Array.isArray(type)) {
    const types = [type].flat() as readonly string[]
    return { ...schema, type: [...types, 'null'], ...(Array.isArray(items) ? { enum: [...(items as unknown[]), null] } : {}) }
  }
  return anyOf([schema, NULL])
}

/** Returns the schema without null, of one that may take any value. */
export function exceptNull(schema: Schema): Schema {
  return acceptsAnything(schema) ? { ...schema, not: NULL } : schema
}

/** Returns the schema of values that one of the given schemas takes, at least. */
export function anyOf(schemas: readonly Schema[]): Schema {
  if (schemas.some(acceptsAnything)) return ANY
  const flat = schemas.flatMap(schema => (Object.keys(schema).join() === 'anyOf' ? (schema['anyOf'] as readonly Schema[]) : [schema]))
  const different = [...new Map(flat.map(schema => [JSON.stringify(schema), schema])).values()]
  return different.length === 1 ? different[0]! : { anyOf: different }
}

const ANNOTATIONS = new Set(['description', 'title', 'examples', 'writeOnly', 'readOnly'])

function acceptsAnything(schema: Schema): boolean {
  return Object.keys(schema).every(keyword => ANNOTATIONS.has(keyword))
}

/** What an object schema is made of. */
export interface ObjectMembers {
  readonly properties: Readonly<Record<string, Schema>>
  readonly required: readonly string[]
  /** Whether there may be properties beside those; default: not. */
  readonly isOpen?: boolean
}

export function describeObject({ properties, required, isOpen = false }: ObjectMembers): Schema {
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties,
    ...(isOpen ? {} : { additionalProperties: false }),
  }
}
