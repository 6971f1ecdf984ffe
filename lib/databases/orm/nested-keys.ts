/** Nested keys: resolves and flattens keys within keys, where MikroORM goes only one level deep. */
import { EntityIdentifier, Utils, type Dictionary, type EntityProperty } from '@mikro-orm/core'

/** Inserts generated keys of earlier records into keys of any depth. */
export function resolveKeys(row: Dictionary): void {
  for (const name in row) {
    const value: unknown = row[name]
    if (Array.isArray(value) && hasOpenKey(value)) row[name] = resolvedKey(value)
  }
}

/** MikroORM would compare a key in a key in a key with rows of rows. */
export function flattenKeys(holder: Dictionary, isKey: (name: string) => boolean = () => true): void {
  for (const name in holder) {
    const value: unknown = holder[name]
    if (Array.isArray(value) && isKey(name) && value.some(isKeyOfSeveral)) holder[name] = value.flatMap(flattenParts)
  }
}

/** MikroORM splits off the discriminator of a polymorphic key itself. */
export function isLink(prop: EntityProperty | undefined): boolean {
  return prop?.joinColumns !== undefined && prop.polymorphic !== true
}

/** An array, or an object of the properties. */
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
