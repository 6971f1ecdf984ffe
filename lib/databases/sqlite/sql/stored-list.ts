/** Splits lists in the stored form of MikroORM, such as `c,"a,b"`. */
import { Platform } from '@mikro-orm/core'

/** @returns undefined for broken quotes */
export function splitList(stored: string): readonly string[] | undefined {
  if (stored === '') return []
  if (!stored.includes('"')) return stored.split(',')
  try {
    return Platform.prototype.unmarshallArray(stored)
  } catch {
    return undefined
  }
}
