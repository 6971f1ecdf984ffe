/**
 * Object IDs: MongoDB makes the keys of its documents itself. Elsewhere the engine makes them, as strings of the same form, in the order in
 * which they are made.
 */
import { randomBytes } from 'node:crypto'
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'

/** Five bytes of this process. */
const OWN = randomBytes(5).toString('hex')
let count = 0

/** 24 hexadecimal digits: the seconds of a time, this process, a number. */
function nextObjectId(): string {
  const seconds = Math.floor(Date.now() / 1000)
  count = (count + 1) % 0x1_00_00_00
  return `${seconds.toString(16).padStart(8, '0')}${OWN}${count.toString(16).padStart(6, '0')}`
}

/** Gives the keys of an entity a value where they are object IDs. The application's own metadata stays as it is. */
export function makeObjectIds(meta: EntityMetadata): void {
  for (const [name, prop] of Object.entries(meta.properties))
    if (prop.primary === true && isObjectId(prop)) meta.properties[name] = { ...prop, type: 'string', onCreate: nextObjectId }
}

function isObjectId({ type, customType, kind, onCreate }: EntityProperty): boolean {
  return kind === 'scalar' && onCreate === undefined && customType === undefined && /^ObjectId$/i.test(type)
}
