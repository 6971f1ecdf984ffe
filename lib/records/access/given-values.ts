/** Converts values and keys in conditions of code, such as `{ owner: user, since: new Date() }`, to values of their attributes. */
import { Reference } from '@mikro-orm/core'
import { keyOfEntity } from '../../model/entity-key.ts'
import type { Resource } from '../../model/model.ts'
import { readScalar, type ScalarType } from '../../foundation/values/scalar-type.ts'

export function isEntity(value: object): boolean {
  return Reference.isReference(value) || Object.getPrototypeOf(value) !== Object.prototype
}

/** Takes a value of the property, or in JSON form. */
export function typedValue(value: unknown, type: ScalarType): unknown {
  if (value instanceof Date)
    return type.kind === 'datetime' ? value.getTime() : type.kind === 'date' ? value.toISOString().slice(0, 10) : undefined
  if (typeof value === 'bigint') return type.kind === 'bigint' ? value : type.kind === 'integer' ? Number(value) : undefined
  if (value === null || value === undefined) return undefined
  if (type.kind === 'jsonValue') return typeof value === 'string' ? value : typeof value === 'object' ? undefined : JSON.stringify(value)
  // A value unfit for the column, such as a too long text, finds nothing.
  return readScalar(value, { kind: type.kind })
}

export function keyValues(value: unknown, target: Resource): readonly unknown[] | undefined {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && isEntity(value)) {
    return keyOfEntity(target, Reference.unwrapReference(value) as Record<string, unknown>)
  }
  const parts = (Array.isArray(value) ? value : [value]).flat(5) as unknown[]
  const key = parts.map((part, index) => (target.key[index] === undefined ? undefined : typedValue(part, target.key[index].type)))
  return key.length !== target.key.length || key.includes(undefined) ? undefined : key
}
