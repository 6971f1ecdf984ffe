/** Entities option: checks the option `entities`. Throws TypeError that names the first that is none. */

export function checkEntities(entities: unknown): void {
  if (!Array.isArray(entities) || entities.length === 0) {
    const meant = typeof entities === 'function' ? ' Write [User] for one entity.' : ''
    throw new TypeError(
      `RestEngine.create: "entities" must be an array of at least one entity; without it the model is read from the file of "database".${meant}`,
    )
  }
  // MikroORM takes any text for a pattern, and says nothing of one that finds no file beside others that do.
  const named = entities.findIndex(entity => typeof entity === 'string' && !/[/\\*.]/.test(entity))
  if (named >= 0) {
    const name = JSON.stringify(entities[named])
    throw new TypeError(
      `RestEngine.create: "entities[${named}]" is the text ${name}: give the entity itself (import it, without quotes), or a pattern of files such as "./entities/*.js".`,
    )
  }
  const wrong = entities.findIndex(entity => !['function', 'string'].includes(typeof entity) && !isSchema(entity))
  if (wrong < 0) return
  const given: unknown = entities[wrong]
  const before = wrong === 0 ? '' : `, after ${nameOfEntity(entities[wrong - 1])},`
  if (given === undefined) {
    throw new TypeError(
      `RestEngine.create: "entities[${wrong}]"${before} is undefined: its file does not export this name, or imports are circular (the file is still running when the list is made). List the entities in a file that none of them imports.`,
    )
  }
  throw new TypeError(
    `RestEngine.create: "entities[${wrong}]"${before} must be an entity (a class, defineEntity or EntitySchema) or a glob pattern, got ${describe(given)}.`,
  )
}

/**
 * Whether a value is made by defineEntity or EntitySchema, maybe of another copy of MikroORM. MikroORM takes other objects for abstract
 * entities.
 */
function isSchema(entity: unknown): boolean {
  return typeof entity === 'object' && entity !== null && 'meta' in entity && typeof entity.meta === 'object'
}

function nameOfEntity(entity: unknown): string {
  const { name, meta } = entity as { readonly name?: unknown; readonly meta?: { readonly className?: unknown } }
  return String(meta?.className ?? name ?? entity)
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) {
    if ('then' in value) return 'a promise (await it)'
    const names = Object.keys(value)
    return names.length === 0
      ? 'an empty object'
      : `an object with ${names
          .slice(0, 3)
          .map(name => JSON.stringify(name))
          .join(', ')}`
  }
  return JSON.stringify(value)
}
