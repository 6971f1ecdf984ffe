/** Object IDs: generates keys as MongoDB does, in ascending order. */
import { randomBytes } from 'node:crypto'
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'

const OWN = randomBytes(5).toString('hex')
let count = 0

/** Returns 24 hexadecimal digits: seconds, process, counter. */
function nextObjectId(): string {
  const seconds = Math.floor(Date.now() / 1000)
  count = (count + 1) % 0x1_00_00_00
  return `${seconds.toString(16).padStart(8, '0')}${OWN}${count.toString(16).padStart(6, '0')}`
}

/** Copies properties, because the application's metadata must stay unchanged. */
export function makeObjectIds(meta: EntityMetadata): void {
  for (const [name, prop] of Object.entries(meta.properties))
    if (prop.primary === true && isObjectId(prop)) meta.properties[name] = { ...prop, type: 'string', onCreate: nextObjectId }
}

function isObjectId({ type, customType, kind, onCreate }: EntityProperty): boolean {
  return kind === 'scalar' && onCreate === undefined && customType === undefined && /^ObjectId$/i.test(type)
}
