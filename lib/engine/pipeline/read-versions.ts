/** Reads the model of each version, and checks options and formulas against the model. Loaded when an engine is made. */
import type { EntityMetadata, EntityName, MikroORM } from '@mikro-orm/core'
import { findRules, type CustomParameter } from '../../records/access/access-rules.ts'
import { wait, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import type { Connection } from '../../records/database/connection.ts'
import { readListDefaults, type DefaultsOfLists } from '../../records/access/list-defaults.ts'
import { requireConditions } from '../../records/access/list-condition.ts'
import type { NamedFilters } from '../../model/added-filters.ts'
import type { Attribute, Model, Resource } from '../../model/model.ts'
import { NOTHING_LEARNED } from '../../model/open-attributes.ts'
import type { CheckedOptions } from '../options/options.ts'
import { NO_PARAMETERS, buildVocabulary, type Vocabulary } from '../../records/request/query-string.ts'
import { NO_VERSION, listVersions } from '../../records/request/address.ts'
import type { SessionPaths } from '../../records/request/session-paths.ts'
import { describeReserved } from '../../records/request/reserved-paths.ts'
import { ALL_RESERVED, RESERVED, type Reserved } from '../../records/request/reserved-parameters.ts'
import { bindParameters } from '../../records/database/bind.ts'
import { planRead } from '../../records/plan/plan.ts'
import { readModel, type Secret } from '../../model/metadata/read-model.ts'
import { Plans } from '../../records/read/plan-cache.ts'
import { defaultLookUp, type ResourceLookup } from '../../records/access/resolve-path.ts'
import { formatHint, findNearest } from '../../foundation/base/suggest.ts'
import { EVERYTHING } from '../../records/plan/visibility.ts'
import type { Notes } from '../../foundation/errors/notes.ts'
import { hasProperty, NO_SHARED_SCOPE } from '../../model/resource-rules.ts'
import type { CompiledVersion } from './versions.ts'

/**
 * @param filters those added to the entity manager
 * @param learned names added to open resources
 * @throws TypeError, Error where options do not fit the model
 */
export function readVersions(
  options: CheckedOptions,
  orm: MikroORM,
  filters: NamedFilters,
  learned = NOTHING_LEARNED,
): Map<string, CompiledVersion> {
  checkDefinitions(options, orm)
  checkSharedScope(options, orm)
  const { renamed, custom } = readParameters(options.parameters)
  const surroundings = {
    secret: findSecret(options, orm),
    learned,
    filters,
    shared: options.defaults.scope ?? NO_SHARED_SCOPE,
    isOfFile: typeof options.database === 'string' && options.database !== ':memory:',
  }
  const compiled = new Map<string, CompiledVersion>()
  for (const version of listVersions(options.versions)) {
    const model = readModel(orm, version, options.resources, surroundings)
    if (version === NO_VERSION) checkResourceNames(model, options.auth?.options?.paths)
    const vocabulary = readVocabulary(renamed, custom, model)
    requireConditions(model)
    checkDefaultPaths(model, vocabulary, options)
    compiled.set(version, {
      model,
      rules: findRules(model),
      lookUp: createLookUp(options, model, orm),
      vocabulary,
      customParameters: custom,
      defaults: readListDefaults(model.resources, vocabulary, options.limits),
      plans: new Plans(),
    })
  }
  return compiled
}

function findSecret({ auth }: CheckedOptions, orm: MikroORM): Secret | undefined {
  if (auth?.options?.entity === undefined) return undefined
  return { entity: orm.getMetadata().get(auth.options.entity).class, property: auth.options.password }
}

function checkDefinitions({ resources, versions }: CheckedOptions, orm: MikroORM): void {
  for (const [index, definition] of (resources as unknown[]).entries()) {
    const { entity, config } = (definition ?? {}) as Partial<CheckedOptions['resources'][number]>
    if (entity === undefined || entity === null || typeof config !== 'object' || config === null)
      throw new TypeError(`resources.${index} must be made by resource(Entity, { ... }).`)
    if (knownMeta(entity, orm) === undefined)
      throw new TypeError(`resources.${index}: ${formatEntityName(entity)} is not an entity of the engine.`)
    if (config.versions !== undefined && !Array.isArray(config.versions))
      throw new TypeError(`resources.${index}: "versions" must be an array of versions.`)
    for (const version of config.versions ?? []) {
      if (versions.length === 0)
        throw new TypeError(`resource(${formatEntityName(entity)}): "versions" has no meaning where paths have no version.`)
      if (!versions.includes(version))
        throw new TypeError(`resource: unknown version "${version}".${formatHint(findNearest(version, versions))}`)
    }
  }
}

/** Notes listed resources without a scope, by `defaults.scope` or of the resource. */
export function noteUnscoped(
  { defaults: { scope = NO_SHARED_SCOPE } }: CheckedOptions,
  versions: Iterable<{ readonly model: Model }>,
  orm: MikroORM,
  notes: Notes,
): void {
  const names = Object.keys(scope)
  if (names.length === 0) return
  const unscoped = new Set<string>()
  for (const { model } of versions)
    for (const { plural, rules, entity } of model.resources) {
      const meta = orm.getMetadata().get(entity as EntityName)
      if (rules.ownScopes === 0 && rules.access.list !== false && !names.some(name => hasProperty(meta, name))) unscoped.add(plural)
    }
  if (unscoped.size === 0) return
  const what = names.map(name => `"${name}"`).join(' or ')
  notes.add(
    `${[...unscoped].join(', ')}: without the scope of all (defaults.scope), since the entity has no ${what}, and no scope of its own.`,
  )
}

function checkSharedScope({ defaults: { scope = NO_SHARED_SCOPE } }: CheckedOptions, orm: MikroORM): void {
  const metas = [...orm.getMetadata()]
  for (const name of Object.keys(scope)) {
    if (metas.some(meta => hasProperty(meta, name))) continue
    const suggestion = findNearest(name, new Set(metas.flatMap(({ properties }) => Object.keys(properties))))
    throw new TypeError(`defaults.scope: no entity has a property "${name}".${formatHint(suggestion)}`)
  }
}

/** @returns `undefined` for an entity that is none of the engine's */
function knownMeta(entity: unknown, orm: MikroORM): EntityMetadata | undefined {
  const meta = orm.getMetadata().find(entity as EntityName)
  return meta !== undefined && orm.getMetadata().has(meta.class) ? orm.getMetadata().get(meta.class) : undefined
}

function formatEntityName(entity: unknown): string {
  const { name, meta } = entity as { name?: string; meta?: { className?: string } }
  return meta?.className ?? name ?? typeof entity
}

/** Refuses reserved paths: without versions, a resource `_test` would take `/_test`. */
function checkResourceNames({ resources }: Model, session: SessionPaths | undefined): void {
  for (const resource of resources) {
    for (const name of [resource.plural, resource.singular, ...resource.accepted]) {
      const what = describeReserved(name, session)
      if (what === undefined) continue
      const suggestion = JSON.stringify(`own_${name.replaceAll(/\W|^_/g, '')}`)
      throw new TypeError(
        `resource(${resource.className}): without versions, "/${name}" is the path of ${what}: ` +
          `give the resource another name, { name: ${suggestion} }.`,
      )
    }
  }
}

function readParameters(parameters: CheckedOptions['parameters']): {
  renamed: Partial<Record<Reserved, string>>
  custom: Map<string, CustomParameter>
} {
  const renamed: Partial<Record<Reserved, string>> = {}
  const custom = new Map<string, CustomParameter>()
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters))
    throw new TypeError('parameters must be an object: { limit: "per_page", q: (value, ctx) => ({ ... }) }.')
  for (const [name, meaning] of Object.entries(parameters)) {
    if (typeof meaning === 'function') {
      if (!/^[\w.-]+$/.test(name)) throw new TypeError(`parameters: "${name}" cannot be the name of a parameter.`)
      custom.set(name, meaning)
    } else if (typeof meaning !== 'string' || !/^[\w.-]+$/.test(meaning)) {
      throw new TypeError(`parameters: "${name}" must be another name for a reserved parameter, or a function.`)
    } else if (!(ALL_RESERVED as readonly string[]).includes(name)) {
      throw new TypeError(`parameters: "${name}" is not a reserved parameter.${formatHint(findNearest(name, ALL_RESERVED))}`)
    } else {
      renamed[name as Reserved] = meaning
    }
  }
  return { renamed, custom }
}

/** A resource with parameters has a vocabulary, in `of`. */
function readVocabulary(
  renamed: Partial<Record<Reserved, string>>,
  custom: ReadonlyMap<string, unknown>,
  { resources, flags }: Model,
): Vocabulary {
  const build = (...more: Iterable<string>[]): Vocabulary => {
    const vocabulary = buildVocabulary(renamed, flags, new Set([...custom.keys(), ...more.flatMap(names => [...names])]))
    checkVocabulary(vocabulary)
    return vocabulary
  }
  const special = resources.filter(({ rules }) => rules.parameters.size > 0)
  if (special.length === 0) return build()
  return { ...build(), of: new Map(special.map(({ plural, rules }) => [plural, build(rules.parameters.keys())])) }
}

function checkVocabulary({ names, reserved, flags, own }: Vocabulary): void {
  const meant = new Set([...RESERVED, ...reserved.values()]).size
  if (names.size < meant + flags.size + own.size || reserved.size < meant) {
    throw new TypeError(`parameters: two parameters have one name among ${[...reserved.keys(), ...flags, ...own].join(', ')}.`)
  }
}

/** Plans a read where `expand`, or the order of a list, names a path. */
function checkDefaultPaths(model: Model, vocabulary: Vocabulary, { limits }: CheckedOptions): void {
  const visibility = { ...EVERYTHING, flags: model.flags }
  const orders = model.entities.some(({ attributes }) => attributes.some(hasOrder))
  for (const resource of model.resources) {
    if (!orders && resource.rules.expand.length === 0) continue
    try {
      planRead(resource, { kind: 'collection' }, true, NO_PARAMETERS, { limits, visibility, vocabulary })
    } catch (error) {
      throw new TypeError(`resource(${resource.className}): expand: ${(error as Error).message}`, { cause: error })
    }
  }
}

function hasOrder(attribute: Attribute): boolean {
  if (attribute.kind === 'embedded') return attribute.attributes.some(hasOrder)
  return attribute.kind === 'toMany' && attribute.orderBy.length > 0
}

/** @throws Error for a formula that the database refuses, TypeError for a default filter with a value of the wrong type */
export function* checkExpressions(
  versions: ReadonlyMap<string, CompiledVersion>,
  { limits }: CheckedOptions,
  connection: Connection,
): Coroutine<void> {
  for (const { model, vocabulary, defaults } of versions.values()) {
    yield* checkFormulas(model, vocabulary, limits, connection)
    checkDefaultValues(defaults, vocabulary, limits, connection)
  }
}

function checkDefaultValues(defaults: DefaultsOfLists, vocabulary: Vocabulary, limits: Limits, { dialect }: Connection): void {
  for (const [resource, { filters, asked }] of defaults) {
    if (filters.length === 0) continue
    try {
      const parameters = { ...NO_PARAMETERS, expand: [], filters, asked }
      const plan = planRead(resource, { kind: 'collection' }, true, parameters, { limits, visibility: EVERYTHING, vocabulary })
      bindParameters(dialect.compile(plan).rows, { filters, key: [], limit: 1, offset: 0 }, dialect)
    } catch (error) {
      throw new TypeError(`resource(${resource.className}): filter: ${(error as Error).message}`, { cause: error })
    }
  }
}

function* checkFormulas(model: Model, vocabulary: Vocabulary, limits: Limits, connection: Connection): Coroutine<void> {
  const visibility = { ...EVERYTHING, flags: model.flags }
  for (const resource of model.resources) {
    for (const path of resource.attributes.flatMap(attribute => formulasIn(attribute, ''))) {
      const parameters = { ...NO_PARAMETERS, depth: 0 as const, attributes: [path], expand: [] }
      try {
        const plan = planRead(resource, { kind: 'collection' }, true, parameters, { limits, visibility, vocabulary })
        yield* wait(connection.check(connection.dialect.compile(plan).rows))
      } catch (error) {
        throw new Error(`resource(${resource.className}): computed.${path}: ${(error as Error).message}.`, { cause: error })
      }
    }
  }
}

function formulasIn(attribute: Attribute, prefix: string): string[] {
  const path = `${prefix}${attribute.name}`
  if (attribute.kind === 'embedded') return attribute.attributes.flatMap(child => formulasIn(child, `${path}.`))
  return attribute.kind === 'scalar' && attribute.source.kind === 'formula' && !attribute.hidden ? [path] : []
}

function createLookUp({ lookup }: CheckedOptions, model: Model, orm: MikroORM): ResourceLookup {
  if (lookup === undefined) return defaultLookUp(model)
  return (name, version): Resource | undefined => {
    const entity = lookup(name, version)
    if (entity === undefined || entity === null) return undefined
    const meta = knownMeta(entity, orm)
    if (meta === undefined) throw new Error(`lookup: "${name}" gave what is not an entity of the engine.`)
    // An entity may be served in other versions only.
    return model.byEntity.get(meta.class)
  }
}
