/**
 * Reads keys that are texts in code and numbers in SQLite, such as `id: string` with `autoincrement`, as bigints in texts. MikroORM would
 * return numbers, but refuse them in a write, and make text columns of foreign keys.
 */
import { BigIntType, StringType, TextType, type EntityMetadata } from '@mikro-orm/core'

/** Runs during discovery, before the columns that refer to a key are known. */
export function readTextKeys(meta: EntityMetadata): void {
  for (const prop of Object.values(meta.properties)) {
    if (prop.primary === true && prop.autoincrement === true && isText(prop.type)) {
      Object.assign(prop, { type: new BigIntType('string'), customType: undefined, columnTypes: undefined, runtimeType: 'string' })
    }
  }
}

/** Given by name, as a class, or as an instance. */
function isText(type: unknown): boolean {
  if (typeof type === 'string') return /^(?:string|text)$/i.test(type)
  return type === StringType || type === TextType || type instanceof StringType || type instanceof TextType
}
