/**
 * Reserved classes: names that the entity of a table or collection cannot have, since MikroORM takes a property of such a type for a
 * relation to that entity.
 */
import { types } from '@mikro-orm/core'

/** The names of the classes of MikroORM's types, and of the type that columns of a file have. */
export const RESERVED_CLASSES: ReadonlySet<string> = new Set([...Object.values(types).map(({ name }) => name), 'FileType'])
