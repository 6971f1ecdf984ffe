/**
 * Text keys: reads `id: string` with `autoincrement` as a bigint in a text, `'7'`. MikroORM would read 7, which a write refuses, and make
 * foreign keys texts.
 */
import { BigIntType, StringType, TextType, type EntityMetadata } from '@mikro-orm/core'

/** Runs before MikroORM makes the columns of foreign keys. */
export function readTextKeys(meta: EntityMetadata): void {
  for (const prop of Object.values(meta.properties)) {
    if (prop.primary === true && prop.autoincrement === true && isText(prop.type)) {
      Object.assign(prop, { type: new BigIntType('string'), customType: undefined, columnTypes: undefined, runtimeType: 'string' })
    }
  }
}

function isText(type: unknown): boolean {
  if (typeof type === 'string') return /^(?:string|text)$/i.test(type)
  return type === StringType || type === TextType || type instanceof StringType || type instanceof TextType
}
