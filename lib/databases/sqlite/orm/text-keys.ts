/**
 * Reads keys that are texts in code and numbers in SQLite, such as `id: string` with `autoincrement`, as bigints in texts. MikroORM
 * creates an integer column for such a key and returns numbers, but refuses these when the record is written again. Its foreign keys
 * would be text columns.
 */
import { BigIntType, StringType, TextType, type EntityMetadata } from '@mikro-orm/core'

/** Applies the change while MikroORM discovers the entity, before the columns that refer to it are known. */
export function readTextKeys(meta: EntityMetadata): void {
  for (const prop of Object.values(meta.properties)) {
    if (prop.primary === true && prop.autoincrement === true && isText(prop.type)) {
      Object.assign(prop, { type: new BigIntType('string'), customType: undefined, columnTypes: undefined, runtimeType: 'string' })
    }
  }
}

/** Whether a type of the model is MikroORM's text type: by name, as a class, or as an instance. */
function isText(type: unknown): boolean {
  if (typeof type === 'string') return /^(?:string|text)$/i.test(type)
  return type === StringType || type === TextType || type instanceof StringType || type instanceof TextType
}
