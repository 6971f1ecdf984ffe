/** Reserved classes: MikroORM would take a property of a type with an entity's name for a relation. */
import { types } from '@mikro-orm/core'

/** Types of MikroORM, and of a file's columns. */
export const RESERVED_CLASSES: ReadonlySet<string> = new Set([...Object.values(types).map(({ name }) => name), 'FileType'])
