/** Applies the options of `resource(User, { … })`: checks them, changes the attributes, makes `ResourceRules` of the rest. */
import type { EntityMetadata, MikroORM } from '@mikro-orm/core'
import type { NamedFilters, OrmFilter } from './added-filters.ts'
import type { Action, HookContext } from './hook-context.ts'
import { restError } from '../foundation/errors/errors.ts'
import type { ValueSchema, AccessRule, UntypedConfig } from './resource-config.ts'
import type { Attribute, EmbeddedAttribute } from './model.ts'
import { listSharedScopes, type SharedScope, type ResourceRules } from './resource-rules.ts'
import { readIdsName } from './ids-name.ts'
import { isResourceName } from './resource-names.ts'
import { readComputed } from './read-computed.ts'
import { anything, callable, flag, must, object, readOptions, text, type OptionTable } from '../foundation/base/option-table.ts'
import { checkNames, formatHint, findNearest } from '../foundation/base/suggest.ts'
import { isObject } from '../foundation/json/json.ts'

const ACTIONS: readonly Action[] = ['list', 'get', 'create', 'update', 'delete']

const segment = must('a path segment such as "users"', name => typeof name === 'string' && isResourceName(name))
const isFilled = (text: unknown): boolean => typeof text === 'string' && text !== ''

const CONFIG = {
  name: [segment],
  singular: [segment],
  single: [must('the ID of a record', id => typeof id === 'string' || typeof id === 'number')],
  repeatable: [flag],
  key: [anything],
  versions: [anything],
  depth: [must('0, 1 or 2', depth => [0, 1, 2].includes(depth as number), RangeError)],
  expand: [must('an array of relation paths', paths => Array.isArray(paths) && paths.every(path => typeof path === 'string'))],
  sort: [must('sort keys, such as "age.desc", or an array of them', sort => (Array.isArray(sort) ? sort : [sort]).every(isFilled))],
  limit: [must('a number of records, 0 or more', limit => Number.isSafeInteger(limit) && (limit as number) >= 0, RangeError)],
  filter: [must('an object', filter => typeof filter === 'string' || isObject(filter))],
  parameters: [checkParameters],
  attributes: [object],
  computed: [object],
  open: [anything],
  access: [checkAccess],
  scope: [callable],
  write: [callable],
  marks: [anything],
  list: [callable],
  get: [callable],
  create: [callable],
  update: [callable],
  delete: [callable],
} as const satisfies OptionTable<UntypedConfig>

const boolean = must('a boolean', value => typeof value === 'boolean')
const ATTRIBUTE_RULES = {
  render: [callable],
  readOnly: [boolean],
  private: [boolean],
  filterable: [boolean],
  sortable: [boolean],
  ids: [text],
  fill: [checkFill],
  schema: [must('a Standard Schema of version 1 (zod, valibot, arktype), or a function', isValueSchema)],
  create: [boolean],
} as const satisfies OptionTable<NonNullable<UntypedConfig['attributes']>[string]>

/** Leaves attribute rules to `applyAttributeConfigs`. */
export function checkConfig(className: string, config: UntypedConfig): void {
  readOptions(config, CONFIG, `resource(${className})`)
}

export function applyAttributeConfigs(className: string, attributes: readonly Attribute[], config: UntypedConfig): Attribute[] {
  const where = `resource(${className})`
  const rules = config.attributes ?? {}
  const properties = attributes.map(({ property }) => property)
  for (const name of Object.keys(rules)) {
    if (!properties.includes(name)) {
      throw new TypeError(`${where}: attributes: there is no property "${name}".${formatHint(findNearest(name, properties))}`)
    }
    const place = `${where}: attributes.${name}`
    object(rules[name], place, where)
    readOptions(rules[name]!, ATTRIBUTE_RULES, place)
  }
  const configured = attributes.map(attribute =>
    readIdsName(applyRules(attribute, rules[attribute.property]), rules[attribute.property]?.ids, where),
  )
  return [...configured, ...readComputed(where, attributes, config)]
}

function isValueSchema(schema: unknown): boolean {
  if (typeof schema === 'function' && !('~standard' in schema)) return true
  const standard = (schema as { readonly '~standard'?: { readonly version?: unknown; readonly validate?: unknown } } | null)?.['~standard']
  return standard?.version === 1 && typeof standard.validate === 'function'
}

function checkFill(fill: unknown, place: string, where: string): void {
  if (typeof fill === 'function') return
  object(fill, place, where)
  checkNames(fill as object, ['create', 'update'], `${where}: fill`)
  for (const [mode, give] of Object.entries(fill as object)) if (give !== undefined) callable(give, `${where}: fill.${mode}`, where)
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

/** Reads all options but `attributes` and `computed`, and MikroORM's filters. */
export function readRules(meta: EntityMetadata, orm: MikroORM, config: UntypedConfig, { filters, shared }: SharedRules): ResourceRules {
  const { access = true, scope, write, depth = 1, expand = [], single, repeatable = false } = config
  const ruleFor = (action: Action): AccessRule => (typeof access === 'object' ? (access[action] ?? true) : access)
  const ownScopes = [...(scope === undefined ? [] : [scope]), ...listSharedScopes(meta, shared)]
  const ormScopes = readOrmFilters(meta, orm, filters)
  return Object.freeze({
    depth,
    single: single === undefined ? undefined : String(single),
    expand: Object.freeze([...expand]),
    parameters: new Map(Object.entries(config.parameters ?? {})),
    defaults: readDefaults(config),
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

function checkParameters(parameters: unknown, place: string, where: string): void {
  object(parameters, place, where)
  for (const [name, read] of Object.entries(parameters as object)) {
    if (!/^[\w.-]+$/.test(name)) throw new TypeError(`${where}: parameters: "${name}" cannot be the name of a parameter.`)
    if (typeof read !== 'function') throw new TypeError(`${where}: parameters: "${name}" must be a function that gives a condition.`)
  }
}

/** records/access/list-defaults.ts checks the names of attributes. */
function readDefaults({ sort, limit, filter }: UntypedConfig): ResourceRules['defaults'] {
  if (sort === undefined && limit === undefined && filter === undefined) return undefined
  return Object.freeze({
    ...(sort === undefined ? {} : { sort }),
    ...(limit === undefined ? {} : { limit }),
    ...(filter === undefined ? {} : { filter }),
  })
}

function checkAccess(access: unknown, place: string, where: string): void {
  if (isRule(access)) return
  object(access, place, where)
  checkNames(access as object, ACTIONS, `${where}: access`)
  for (const [action, rule] of Object.entries(access as object))
    if (rule !== undefined && !isRule(rule)) throw new TypeError(`${where}: access.${action} must be a boolean or a function.`)
}

function isRule(rule: unknown): rule is AccessRule {
  return typeof rule === 'boolean' || typeof rule === 'function'
}

interface OrmFilters {
  readonly ofWrites: ResourceRules['scopes']
  readonly fixed: ResourceRules['scopes']
}

/**
 * Reads MikroORM's filters with `default: true`. Of one name, the configuration's counts, else the added filter, as in MikroORM. A write
 * may take a row out of a fixed condition, such as `{ deletedAt: null }`: soft deletion.
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

function concernsEntity(filter: OrmFilter, meta: EntityMetadata): boolean {
  if (filter.entity === undefined) return true
  const entities: unknown[] = Array.isArray(filter.entity) ? filter.entity : [filter.entity]
  return entities.some(
    entity => entity === meta.class || entity === meta.className || (entity as { meta?: { class?: unknown } }).meta?.class === meta.class,
  )
}
