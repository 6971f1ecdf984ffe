/** Builds JSON Schema draft 2020-12, as in OpenAPI 3.1. */

export interface Schema {
  readonly [keyword: string]: unknown
}

export const ANY: Schema = Object.freeze({})

export const NULL: Schema = Object.freeze({ type: 'null' })

export function orNull(schema: Schema): Schema {
  const { type, enum: items } = schema
  if (acceptsAnything(schema)) return schema
  if (typeof type === 'string' || Array.isArray(type)) {
    const types = [type].flat() as readonly string[]
    return { ...schema, type: [...types, 'null'], ...(Array.isArray(items) ? { enum: [...(items as unknown[]), null] } : {}) }
  }
  return anyOf([schema, NULL])
}

/** Excludes null from a schema that allows any value. */
export function exceptNull(schema: Schema): Schema {
  return acceptsAnything(schema) ? { ...schema, not: NULL } : schema
}

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

export interface ObjectMembers {
  readonly properties: Readonly<Record<string, Schema>>
  readonly required: readonly string[]
  /** Default: false. */
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
