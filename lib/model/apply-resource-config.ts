/** Applies the application's configuration to a resource. Rejects unknown options and attributes with the nearest known name. */
import type { EntityMetadata, MikroORM } from '@mikro-orm/core'
import { withArticle } from '../foundation/base/article.ts'
import type { NamedFilters, OrmFilter } from './added-filters.ts'
import type { Action, HookContext } from './hook-context.ts'
import { restError } from '../foundation/errors/errors.ts'
import type { ValueSchema } from './value-schema.ts'
import type { Attribute, EmbeddedAttribute } from './model.ts'
import { listSharedScopes, type SharedScope } from './shared-scope.ts'
import type { ResourceRules } from './resource-rules.ts'
import { readIdsName } from './ids-name.ts'
import { isResourceName } from './resource-names.ts'
import { readComputed } from './read-computed.ts'
import type { AccessRule, UntypedConfig } from './resource-config.ts'
import { checkNames, formatHint, findNearest } from '../foundation/base/suggest.ts'

const CONFIG = [
  'name',
  'singular',
  'single',
  'repeatable',
  'key',
  'versions',
  'depth',
  'expand',
  'sort',
  'limit',
  'filter',
  'parameters',
  'attributes',
  'computed',
  'open',
  'access',
  'scope',
  'write',
  'marks',
  'list',
  'get',
  'create',
  'update',
  'delete',
]
const ATTRIBUTE_RULES = ['render', 'readOnly', 'private', 'filterable', 'sortable', 'ids', 'fill', 'schema', 'create']
const ACTIONS: readonly Action[] = ['list', 'get', 'create', 'update', 'delete']

/** Computed attributes come last. */
export function applyAttributeConfigs(className: string, attributes: readonly Attribute[], config: UntypedConfig): Attribute[] {
  const where = `resource(${className})`
  checkNames(config, CONFIG, where)
  for (const name of ['attributes', 'computed'] as const) requireObject(config[name] ?? {}, `${where}: "${name}"`)
  const rules = config.attributes ?? {}
  const properties = attributes.map(({ property }) => property)
  for (const name of Object.keys(rules)) {
    if (!properties.includes(name)) {
      throw new TypeError(`${where}: attributes: there is no property "${name}".${formatHint(findNearest(name, properties))}`)
    }
    checkAttributeRules(rules[name], `${where}: attributes.${name}`)
  }
  const configured = attributes.map(attribute =>
    readIdsName(applyRules(attribute, rules[attribute.property]), rules[attribute.property]?.ids, where),
  )
  return [...configured, ...readComputed(where, attributes, config)]
}

function checkAttributeRules(rules: unknown, where: string): void {
  requireObject(rules, where)
  checkNames(rules, ATTRIBUTE_RULES, where)
  for (const [name, value] of Object.entries(rules)) {
    if (value === undefined) continue
    if (name === 'fill') checkFill(value, where)
    if (name === 'schema') checkSchema(value, where)
    if (name === 'fill' || name === 'schema') continue
    const neededType = name === 'render' ? 'function' : name === 'ids' ? 'string' : 'boolean'
    if (typeof value !== neededType) throw new TypeError(`${where}: "${name}" must be ${withArticle(neededType)}.`)
  }
}

function checkSchema(schema: unknown, where: string): void {
  if (typeof schema === 'function' && !('~standard' in schema)) return
  const standard = (schema as { readonly '~standard'?: { readonly version?: unknown; readonly validate?: unknown } } | null)?.['~standard']
  if (standard?.version !== 1 || typeof standard.validate !== 'function')
    throw new TypeError(`${where}: "schema" must be a Standard Schema of version 1 (zod, valibot, arktype), or a function.`)
}

function checkFill(fill: unknown, where: string): void {
  if (typeof fill === 'function') return
  requireObject(fill, `${where}: "fill"`)
  checkNames(fill, ['create', 'update'], `${where}: fill`)
  for (const [mode, give] of Object.entries(fill))
    if (give !== undefined && typeof give !== 'function') throw new TypeError(`${where}: fill.${mode} must be a function.`)
}

function requireObject(value: unknown, where: string): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError(`${where} must be an object.`)
}

function applyRules(attribute: Attribute, rules: NonNullable<UntypedConfig['attributes']>[string]): Attribute {
  if (rules === undefined) return attribute
  const { fill } = rules
  if (fill !== undefined && (attribute.readOnly || (attribute.kind !== 'scalar' && attribute.kind !== 'toOne')))
    throw new TypeError(
      `resource: "${attribute.name}" cannot be filled: ` +
        `it is ${attribute.readOnly ? 'made by the database' : 'more than a value or a link'}.`,
    )
  const { schema } = rules
  if (schema !== undefined && (attribute.readOnly || (attribute.kind !== 'scalar' && attribute.kind !== 'embedded')))
    throw new TypeError(
      `resource: "${attribute.name}" takes no schema: it is ${attribute.readOnly ? 'made by the database' : 'a relation'}.`,
    )
  if (rules.create === true && attribute.kind !== 'toMany')
    throw new TypeError(`resource: "${attribute.name}" cannot create its records: it is no list.`)
  const readOnly = attribute.readOnly || rules.readOnly === true || fill !== undefined
  const filterable = rules.filterable ?? (rules.render === undefined && attribute.filterable)
  const sortable = rules.sortable ?? (rules.render === undefined && attribute.sortable)
  const changed = {
    hidden: attribute.hidden || rules.private === true,
    readOnly,
    required: attribute.required && !readOnly,
    filterable,
    sortable,
    render: rules.render ?? attribute.render,
    ...(rules.create === true ? { creates: true } : {}),
    ...(schema === undefined ? {} : { schema: schema as ValueSchema }),
    ...(fill === undefined ? {} : { fill: typeof fill === 'function' ? { create: fill } : fill }),
  }
  if (attribute.kind === 'toOneOf') {
    const branches = attribute.branches.map(branch => {
      const type = Object.freeze({ ...branch.type, filterable, sortable })
      return Object.freeze({ ...branch, ...changed, type })
    })
    return Object.freeze({ ...attribute, ...changed, branches: Object.freeze(branches) })
  }
  if (attribute.kind !== 'embedded') return Object.freeze({ ...attribute, ...changed })
  return Object.freeze({ ...attribute, ...changed, ...restrictInside(attribute, filterable, sortable) })
}

/** An inner attribute is filterable or sortable only where the whole object is. */
function restrictInside(
  embedded: EmbeddedAttribute,
  filterable: boolean,
  sortable: boolean,
): Pick<EmbeddedAttribute, 'attributes' | 'byName'> {
  const attributes = embedded.attributes.map(child => {
    const restricted = { ...child, filterable: child.filterable && filterable, sortable: child.sortable && sortable }
    return Object.freeze(
      restricted.kind === 'embedded' ? { ...restricted, ...restrictInside(restricted, filterable, sortable) } : restricted,
    )
  })
  return { attributes: Object.freeze(attributes), byName: new Map(attributes.map(child => [child.name, child])) }
}

interface SharedRules {
  readonly filters: NamedFilters
  readonly shared: SharedScope
}

/** Reads all rules but the attributes', and MikroORM's filters. */
export function readRules(meta: EntityMetadata, orm: MikroORM, config: UntypedConfig, { filters, shared }: SharedRules): ResourceRules {
  const where = `resource(${meta.className})`
  const { access = true, scope, write, depth = 1, expand = [], single, repeatable = false } = config
  if (single !== undefined && typeof single !== 'string' && typeof single !== 'number')
    throw new TypeError(`${where}: "single" must be the ID of a record.`)
  if (typeof repeatable !== 'boolean') throw new TypeError(`${where}: "repeatable" must be true or false.`)
  if (![0, 1, 2].includes(depth)) throw new RangeError(`${where}: "depth" must be 0, 1 or 2.`)
  for (const name of ['name', 'singular'] as const) {
    const resourceName: unknown = config[name]
    if (resourceName !== undefined && (typeof resourceName !== 'string' || !isResourceName(resourceName)))
      throw new TypeError(`${where}: "${name}" must be a path segment such as "users".`)
  }
  if (!Array.isArray(expand) || !expand.every(path => typeof path === 'string'))
    throw new TypeError(`${where}: "expand" must be an array of relation paths.`)
  if (!isRule(access)) {
    requireObject(access, `${where}: "access"`)
    checkNames(access, ACTIONS, `${where}: access`)
    for (const [action, rule] of Object.entries(access)) {
      if (rule !== undefined && !isRule(rule)) throw new TypeError(`${where}: access.${action} must be a boolean or a function.`)
    }
  }
  const ruleFor = (action: Action): AccessRule => (typeof access === 'object' ? (access[action] ?? true) : access)
  for (const name of [...ACTIONS, 'scope', 'write'] as const) {
    if (config[name] !== undefined && typeof config[name] !== 'function') throw new TypeError(`${where}: "${name}" must be a function.`)
  }
  const ownScopes = [...(scope === undefined ? [] : [scope]), ...listSharedScopes(meta, shared)]
  const ormScopes = readOrmFilters(meta, orm, filters)
  return Object.freeze({
    depth,
    single: single === undefined ? undefined : String(single),
    expand: Object.freeze([...expand]),
    parameters: readParameters(where, config),
    defaults: readDefaults(where, config),
    access: Object.freeze(Object.fromEntries(ACTIONS.map(action => [action, ruleFor(action)])) as Record<Action, AccessRule>),
    ownScopes: ownScopes.length,
    writeScopes: ownScopes.length + ormScopes.ofWrites.length,
    write,
    repeatable,
    scopes: Object.freeze([...ownScopes, ...ormScopes.ofWrites, ...ormScopes.fixed]),
    wrappers: Object.freeze(
      Object.fromEntries(
        ACTIONS.flatMap(action => (config[action] === undefined ? [] : [[action, config[action]]])),
      ) as ResourceRules['wrappers'],
    ),
  })
}

function readParameters(where: string, { parameters = {} }: UntypedConfig): ResourceRules['parameters'] {
  requireObject(parameters, `${where}: "parameters"`)
  for (const [name, read] of Object.entries(parameters)) {
    if (!/^[\w.-]+$/.test(name)) throw new TypeError(`${where}: parameters: "${name}" cannot be the name of a parameter.`)
    if (typeof read !== 'function') throw new TypeError(`${where}: parameters: "${name}" must be a function that gives a condition.`)
  }
  return new Map(Object.entries(parameters))
}

/** Checks form alone: the version's vocabulary checks names. */
function readDefaults(where: string, { sort, limit, filter }: UntypedConfig): ResourceRules['defaults'] {
  if (sort === undefined && limit === undefined && filter === undefined) return undefined
  if (sort !== undefined && !(Array.isArray(sort) ? sort : [sort]).every(key => typeof key === 'string' && key !== ''))
    throw new TypeError(`${where}: "sort" must be sort keys, such as "age.desc", or an array of them.`)
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0))
    throw new RangeError(`${where}: "limit" must be a number of records, 0 or more.`)
  if (filter !== undefined && typeof filter !== 'string') requireObject(filter, `${where}: "filter"`)
  return Object.freeze({
    ...(sort === undefined ? {} : { sort }),
    ...(limit === undefined ? {} : { limit }),
    ...(filter === undefined ? {} : { filter }),
  })
}

function isRule(rule: unknown): rule is AccessRule {
  return typeof rule === 'boolean' || typeof rule === 'function'
}

/** As scopes. */
interface OrmFilters {
  readonly ofWrites: ResourceRules['scopes']
  readonly fixed: ResourceRules['scopes']
}

/**
 * Reads MikroORM filters that are on by default: from the configuration (unless switched off there), from the entity (`default: true`), and
 * added to the entity manager. Of filters with one name, the configuration's wins, then the added one, as in MikroORM. A write may take a
 * row out of a fixed condition, such as `{ deletedAt: null }`: soft deletion.
 */
function readOrmFilters(meta: EntityMetadata, orm: MikroORM, added: NamedFilters): OrmFilters {
  const active = (filters: object): [string, OrmFilter][] =>
    Object.entries(filters as NamedFilters).filter(([, filter]) => filter.default === true && concernsEntity(filter, meta))
  const named = Object.fromEntries([...active(meta.filters), ...active(added), ...active(orm.config.get('filters'))])
  const ofWrites = Object.entries(named).filter(([, { cond }]) => typeof cond === 'function')
  const fixed = Object.values(named).flatMap(({ cond }) => (typeof cond === 'function' ? [] : [() => cond]))
  const read =
    ([name, filter]: [string, OrmFilter]) =>
    (ctx: HookContext): object | Promise<object> => {
      if (typeof filter.cond !== 'function') return filter.cond
      const args = ctx.em.getFilterParams(name)
      if (args === undefined && filter.cond.length > 0 && filter.args !== false) {
        throw restError(
          'filter_unset',
          `The filter "${name}" of ${meta.className} has no parameters: set them with engine.orm.em.setFilterParams("${name}", ...).`,
        )
      }
      return filter.cond(args, 'read', ctx.em, {}, meta.className)
    }
  return { ofWrites: ofWrites.map(read), fixed }
}

/** A filter of the whole ORM may list entities. */
function concernsEntity(filter: OrmFilter, meta: EntityMetadata): boolean {
  if (filter.entity === undefined) return true
  const entities: unknown[] = Array.isArray(filter.entity) ? filter.entity : [filter.entity]
  return entities.some(
    entity => entity === meta.class || entity === meta.className || (entity as { meta?: { class?: unknown } }).meta?.class === meta.class,
  )
}
