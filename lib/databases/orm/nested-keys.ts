/** Nested keys: makes of keys that lie in other keys what one statement takes, where MikroORM goes one level deep. */
import { EntityIdentifier, Utils, type Dictionary, type EntityProperty } from '@mikro-orm/core'

/**
 * Puts the keys in place that the database has made for records which were inserted before. MikroORM does so in a key, and in a key of
 * which another one is a part, but no deeper.
 */
export function resolveKeys(row: Dictionary): void {
  for (const name in row) {
    const value: unknown = row[name]
    if (Array.isArray(value) && hasOpenKey(value)) row[name] = resolvedKey(value)
  }
}

/** A key that lies in a key that lies in another one is compared column by column: MikroORM would compare it with a row of rows. */
export function flattenKeys(holder: Dictionary, isKey: (name: string) => boolean = () => true): void {
  for (const name in holder) {
    const value: unknown = holder[name]
    if (Array.isArray(value) && isKey(name) && value.some(isKeyOfSeveral)) holder[name] = value.flatMap(flattenParts)
  }
}

/**
 * Whether the property holds the key of another record; that of one of several entities has its discriminator before it, as MikroORM splits
 * it.
 */
export function isLink(prop: EntityProperty | undefined): boolean {
  return prop?.joinColumns !== undefined && prop.polymorphic !== true
}

/** Whether a part is itself a key of several parts. MikroORM represents such a key as an array, or as an object of the properties. */
function isKeyOfSeveral(part: unknown): part is object {
  return Array.isArray(part) || Utils.isPlainObject(part)
}

function flattenParts(part: unknown): unknown[] {
  return isKeyOfSeveral(part) ? Object.values(part).flatMap(flattenParts) : [part]
}

function hasOpenKey(value: unknown): boolean {
  return value instanceof EntityIdentifier || (Array.isArray(value) && value.some(hasOpenKey))
}

function resolvedKey(value: unknown): unknown {
  if (value instanceof EntityIdentifier) return resolvedKey(value.getValue())
  return Array.isArray(value) ? value.map(resolvedKey) : value
}
