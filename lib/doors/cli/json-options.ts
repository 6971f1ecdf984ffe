/** Adds the options of `--config` to the inferred model of a JSON file. Refuses options in the place of the file's model or records. */
import type { EngineOptions } from '../../engine/options/options.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import type { JsonModel } from '../../model/json-model/from-json.ts'
import { CommandError } from './command-error.ts'
import type { JsonFile } from './json-file.ts'
import { importModule } from './modules.ts'
import { checkReadable } from './readable.ts'

export type InferredFile = Pick<JsonFile, 'name' | 'collections'>

const OF_FILE = ['entities', 'database', 'schema', 'config', 'seed', 'fill', 'renamed', 'drop', 'copies', 'notes'] as const

/** @param config a module with options as default export */
export async function addOptions(model: JsonModel, file: InferredFile, config: string): Promise<EngineOptions> {
  const { default: main } = await importModule(await checkReadable(config))
  const given: unknown = await main
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new CommandError(
      `${config} exports no options: beside ${file.name} its default export must be options of the engine, such as { deletedStatus: 204 }.`,
    )
  const misfit = OF_FILE.find(name => (given as EngineOptions)[name] !== undefined)
  if (misfit !== undefined)
    throw new CommandError(
      `${config} has the option "${misfit}", and ${file.name} itself says the model and the records: leave it out, ` +
        'or serve the module alone (--eject DIR writes the model of the file as code).',
    )
  const { resources = [], auth, ...others } = given as EngineOptions
  return {
    ...model,
    ...others,
    ...(auth === undefined ? {} : { auth: nameUsers(auth, file) }),
    resources: mergeRules(model, resources, file, config),
  }
}

/** `auth({ entity: 'users' })` names the collection. */
function nameUsers(auth: NonNullable<EngineOptions['auth']>, { collections }: InferredFile): NonNullable<EngineOptions['auth']> {
  // Other values than of auth() are refused with the other options.
  const entity: unknown = (auth as Partial<typeof auth>).options?.entity
  const found = collections.find(({ resource }) => resource === entity)
  return found === undefined ? auth : { ...auth, options: { ...auth.options, entity: found.className as never } }
}

type Definition = JsonModel['resources'][number]
type GivenRules = Definition['config']

function mergeRules(
  { entities, resources }: JsonModel,
  given: readonly Definition[],
  { name: file, collections }: InferredFile,
  config: string,
): Definition[] {
  const rules = new Map(resources.map(definition => [definition.entity, definition]))
  for (const { entity, config: more } of given) {
    const collection = collections.find(({ resource, className }) => entity === resource || entity === className)
    if (collection === undefined) {
      const names = collections.map(({ resource }) => resource)
      const near = typeof entity === 'string' ? formatHint(findNearest(entity, names)) : ` Name one as a text: ${names.join(', ')}.`
      const given = typeof entity === 'string' ? `resource(${JSON.stringify(entity)})` : 'a resource'
      throw new CommandError(`${config}: ${given} names no collection of ${file}.${near}`)
    }
    if (more.name !== undefined || more.singular !== undefined)
      throw new CommandError(`${config}: ${collection.resource} is called as in ${file}: leave "name" and "singular" out.`)
    const schema = entities[collections.indexOf(collection)]!
    rules.set(schema, { entity: schema, config: joinRules(rules.get(schema)?.config ?? {}, more) })
  }
  return [...rules.values()]
}

/** Keeps each prohibition of the file. */
function joinRules(own: GivenRules, more: GivenRules): GivenRules {
  const names = Object.keys({ ...own.attributes, ...more.attributes })
  const attributes = Object.fromEntries(names.map(name => [name, { ...more.attributes?.[name], ...own.attributes?.[name] }]))
  return {
    ...more,
    ...own,
    ...(names.length === 0 ? {} : { attributes }),
    ...(own.access === undefined && more.access === undefined ? {} : { access: joinAccess(own.access, more.access) }),
  }
}

function joinAccess(own: GivenRules['access'], more: GivenRules['access']): NonNullable<GivenRules['access']> {
  if (typeof own !== 'object') return more!
  if (more === undefined || more === true) return own
  if (typeof more === 'object') return { ...more, ...own }
  return typeof more === 'function' ? (ctx, action) => own[action] !== false && more(ctx, action) : more
}
