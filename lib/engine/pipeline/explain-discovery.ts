/** Explain discovery: says in words of the option `entities` what MikroORM has found wrong with the list of them. */

/**
 * Returns the error to throw: a TypeError for a list in which MikroORM finds no entities, the given one for anything else.
 *
 * @param baseDir the folder from which patterns are taken
 */
export function explainDiscovery(error: unknown, entities: readonly unknown[] | undefined, baseDir = process.cwd()): unknown {
  if (!(error instanceof Error) || error.name !== 'MetadataError' || entities === undefined) return error
  const patterns = entities.filter(each => typeof each === 'string')
  if (error.message.startsWith('No entities were discovered') && patterns.length > 0) {
    const which = patterns.map(each => JSON.stringify(each)).join(', ')
    const text = `RestEngine.create: "entities": no file with an entity matches ${which}, taken from ${baseDir}; or list the entities themselves: [User].`
    return new TypeError(text, { cause: error })
  }
  const index = entities.findIndex(each => typeof each === 'function')
  if (!error.message.startsWith('Only abstract entities were discovered') || index < 0) return error
  const { name } = entities[index] as { readonly name: string }
  return new TypeError(
    `RestEngine.create: "entities[${index}]" is the class ${name}, which is not declared as an entity: it needs the decorator @Entity(), or write it by defineEntity({ name: '${name}', properties: { ... } }). Where it has the decorator, two copies of @mikro-orm/core are installed: "npm ls @mikro-orm/core" shows them.`,
    { cause: error },
  )
}
