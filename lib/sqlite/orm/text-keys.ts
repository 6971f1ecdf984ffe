/**
 * Text keys: keys that the code takes for a text and SQLite numbers, as `id: string` with `autoincrement`. MikroORM makes an integer column of such a key,
 * hands out numbers, and refuses these when the record is written again; its foreign keys are text columns. It is taken for a bigint in texts instead.
 */
import { BigIntType, StringType, TextType } from '@mikro-orm/core'
import type { EntityMetadata } from '@mikro-orm/core'

/** To be done while MikroORM discovers the entity, before the columns that refer to it are known. */
export function readTextKeys(meta: EntityMetadata): void {
  for (const prop of Object.values(meta.properties)) {
    if (prop.primary === true && prop.autoincrement === true && isText(prop.type)) {
      Object.assign(prop, { type: new BigIntType('string'), customType: undefined, columnTypes: undefined, runtimeType: 'string' })
    }
  }
}

/** Whether a type, as the model gives it, is MikroORM's for texts: by name, as a class, or as one of its kind. */
function isText(type: unknown): boolean {
  if (typeof type === 'string') return /^(?:string|text)$/i.test(type)
  return type === StringType || type === TextType || type instanceof StringType || type instanceof TextType
}
