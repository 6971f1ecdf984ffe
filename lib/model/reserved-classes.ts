/** Class names no inferred entity may have, since MikroORM would take properties of such a type for relations. */
import { types } from '@mikro-orm/core'

export const RESERVED_CLASSES: ReadonlySet<string> = new Set([...Object.values(types).map(({ name }) => name), 'FileType'])
