/**
 * Makes the model of one version from MikroORM's metadata and the resource options, at the creation of an engine. Errors name entity,
 * property and reason.
 */
import type { EntityMetadata, EntityName, MikroORM } from '@mikro-orm/core'
import { withArticle } from '../../foundation/base/article.ts'
import type { NamedFilters } from '../added-filters.ts'
import { applyAttributeConfigs, checkConfig, readRules } from '../apply-resource-config.ts'
import { checkIdsNames, indexAttributes } from '../ids-name.ts'
import { unreadableIn } from './getters.ts'
import { isExact } from '../inferred-entities.ts'
import { DescribedType, PlaceType } from './described-type.ts'
import { defaultNames, type DefaultNames } from '../resource-names.ts'
import { NOTHING_LEARNED, applyOpen, type LearnedNames } from '../open-attributes.ts'
import { tableColumns } from '../model.ts'
import { checkShownKeys, readShownKey } from './shown-key.ts'
import { addReferrers } from '../owning-links.ts'
import type { Attribute, InnerAttribute, KeyPart, Model, RelationAttribute, Resource, ScalarAttribute } from '../model.ts'
import { lockOtherSides } from './both-sides.ts'
import { markFileNumbers } from './file-numbers.ts'
import { isGetter, publicName, scalarType } from './property-type.ts'
import { ENVELOPE_KEYS } from '../../foundation/http/envelope.ts'
import { KEY_KINDS, isUnloadable, readForeignColumns } from './foreign-key.ts'
import { readAttribute } from './read-attribute.ts'
import { isHiddenInverse, isMixedList } from './read-common.ts'
import { unsupported, unsupportedReason } from './unsupported.ts'
import { readMarks } from './read-marks.ts'
import { addInherited, isConcrete, linkHierarchies, buildQuery, type Mutable } from './read-hierarchy.ts'
import { findTableName } from '../table-name.ts'
import { explainStoredTable } from './explain-stored-table.ts'
import { readStoredTable } from './read-stored-table.ts'
import { readUniques } from './read-uniques.ts'
import type { SharedScope } from '../resource-rules.ts'
import type { ResourceConfig, ResourceDefinition } from '../resource-config.ts'

/** @throws Error for what cannot be served, or two resources of one name; TypeError, RangeError for a malformed definition */
export function readModel(
  orm: MikroORM,
  version: string,
  definitions: readonly ResourceDefinition[],
  { secret, learned = NOTHING_LEARNED, isOfFile, filters, shared }: ModelSurroundings,
): Model {
  const configs = findConfigs(orm, version, definitions)
  const metas = inGivenOrder(orm).filter(meta => !meta.embeddable && isConcrete(meta) && !isGeneratedPivot(meta))
  const drafts = new Map<EntityMetadata, Mutable<Resource>>()
  for (const meta of metas) {
    refuseUnsupported(meta)
    const config = configs.get(meta.class) ?? {}
    checkConfig(meta.className, config)
    const names = resourceNames(meta, config)
    const rules = readRules(meta, orm, config, { filters, shared })
    drafts.set(meta, { ...createDraft(meta, names, orm), served: configs.has(meta.class), rules })
  }
  for (const [meta, draft] of drafts) draft.key = keyParts(meta)
  linkHierarchies(drafts)
  const byClass = new Map<object, Resource>([...drafts].map(([meta, draft]) => [meta.class, draft]))
  for (const [meta, draft] of drafts) {
    const config = withSecret(configs.get(meta.class) ?? {}, meta, secret)
    fill(meta, draft, byClass, config, learned[meta.className] ?? [])
    if (isOfFile) draft.attributes = draft.attributes.map(markFileNumbers)
  }
  for (const [meta, draft] of drafts)
    draft.attributes = Object.freeze(draft.attributes.map(attribute => withPivot(keepingShared(attribute, draft.attributes), meta, orm)))
  const isOpen = ({ entity }: Resource, { property }: Attribute): boolean => configs.get(entity)?.attributes?.[property]?.readOnly === false
  for (const [draft, attributes] of lockOtherSides([...drafts.values()], isOpen)) (draft as Mutable<Resource>).attributes = attributes
  for (const [meta, draft] of drafts) {
    const { marks, shown } = readMarks(draft, configs.get(meta.class) ?? {}, secret?.entity)
    draft.marks = marks
    if (shown.length > 0) draft.attributes = Object.freeze([...draft.attributes, ...shown])
  }
  for (const draft of drafts.values()) draft.byName = indexAttributes(draft.attributes)
  addReferrers([...drafts.values()])
  addInherited(drafts)
  for (const draft of drafts.values()) hideUnserved(draft)
  checkShownKeys([...drafts.values()])
  for (const draft of drafts.values()) {
    draft.version = draft.attributes.find(attribute => attribute.kind === 'scalar' && attribute.version) as ScalarAttribute | undefined
    Object.freeze(draft)
  }
  return freezeModel([...drafts.values()])
}

function createDraft(meta: EntityMetadata, names: DefaultNames, orm: MikroORM): Omit<Mutable<Resource>, 'served' | 'rules'> {
  return {
    entity: meta.class,
    className: meta.className,
    table: findTableName(meta),
    source: isQuery(meta) ? buildQuery(meta, orm) : { kind: 'table' },
    hierarchy: undefined,
    readOnly: isReadOnly(meta),
    plural: names.plural,
    singular: names.singular,
    accepted: names.accepted,
    attributes: [],
    byName: new Map(),
    key: [],
    keyNames: [],
    shownKey: undefined,
    order: [],
    generatedKey: false,
    version: undefined,
    uniques: [],
    referrers: [],
    marks: new Map(),
    open: undefined,
    readStored: readOnce(() => readStoredTable(meta, orm)),
    explainStored: () => explainStoredTable(meta),
  }
}

function readOnce<T>(read: () => T): () => T {
  let known: { readonly value: T } | undefined
  return () => (known ??= { value: read() }).value
}

/** With a required attribute in the same column, the foreign key cannot become NULL: deletes are refused. */
function keepingShared(attribute: Attribute, all: readonly Attribute[]): Attribute {
  if (attribute.kind !== 'toOne' || !attribute.owner || attribute.onDelete !== 'unlink') return attribute
  const columns = [...attribute.columns, ...(attribute.beside ?? []).map(({ column }) => column)]
  const isShared = all.some(other => other !== attribute && !other.nullable && tableColumns(other).some(column => columns.includes(column)))
  return isShared ? Object.freeze({ ...attribute, onDelete: 'refuse' }) : attribute
}

function withPivot(attribute: Attribute, meta: EntityMetadata, orm: MikroORM): Attribute {
  if (attribute.kind !== 'toMany' || attribute.via.kind !== 'pivot') return attribute
  const { via } = attribute
  const { pivotEntity } = meta.properties[attribute.property] as EntityMetadata['props'][number]
  const pivot = orm.getMetadata().find(pivotEntity as EntityName)
  if (pivot === undefined) return attribute
  const isEmpty = pivot.props.some(prop => prop.nullable === true && prop.fieldNames?.some(column => via.targetColumns.includes(column)))
  return Object.freeze({
    ...attribute,
    via: Object.freeze({ ...via, table: findTableName(pivot), mayBeEmpty: via.mayBeEmpty || isEmpty }),
  })
}

function isQuery(meta: EntityMetadata): boolean {
  return meta.virtual === true || (meta.expression !== undefined && meta.view !== true)
}

function isReadOnly(meta: EntityMetadata): boolean {
  return isQuery(meta) || meta.view === true || meta.readonly === true || isUnloadable(meta)
}

/** Entities found only through others come last. */
function inGivenOrder(orm: MikroORM): EntityMetadata[] {
  // MikroORM forgets extended abstract classes.
  const given = (orm.config.get('entities') as unknown[]).flatMap(entity =>
    typeof entity === 'string' ? [] : [orm.getMetadata().find(entity as EntityName)?.class],
  )
  // An entity's first place counts.
  const ranks = new Map(given.map((entity, index) => [entity, index] as const).toReversed())
  const rank = (meta: EntityMetadata): number => ranks.get(meta.class) ?? given.length
  return [...orm.getMetadata()].toSorted((a, b) => rank(a) - rank(b))
}

function freezeModel(all: readonly Resource[]): Model {
  const resources = all.filter(({ served }) => served)
  const byName = new Map<string, Resource>()
  for (const resource of resources) {
    for (const name of resource.accepted) {
      const other = byName.get(name)
      if (other !== undefined && other !== resource)
        throw new Error(
          `${other.className} and ${resource.className} would both answer to "${name}": ` +
            `give one another name with resource(${resource.className}, { name, singular }).`,
        )
      byName.set(name, resource)
    }
  }
  const flags = new Set(resources.flatMap(resource => resource.attributes.flatMap(listFlags)))
  return Object.freeze({
    resources,
    entities: all,
    byName,
    flags,
    byEntity: new Map(resources.map(resource => [resource.entity, resource])),
    isOpen: resources.some(({ open }) => open !== undefined),
  })
}

function listFlags(attribute: Attribute): string[] {
  const flags = attribute.flag === undefined ? [] : [attribute.flag]
  return attribute.kind === 'embedded' ? [...flags, ...attribute.attributes.flatMap(listFlags)] : flags
}

interface ModelSurroundings {
  readonly secret: Secret | undefined
  readonly learned?: LearnedNames
  readonly filters: NamedFilters
  readonly shared: SharedScope
  /** Whether other programs may write the database. */
  readonly isOfFile: boolean
}

/** The password hashes of users: private whatever the configuration says. */
export interface Secret {
  readonly entity: object
  readonly property: string
}

function withSecret(
  config: ResourceConfig<Record<string, unknown>>,
  meta: EntityMetadata,
  secret: Secret | undefined,
): ResourceConfig<Record<string, unknown>> {
  if (secret?.entity !== meta.class || !(secret.property in meta.properties)) return config
  const { attributes = {} } = config
  return { ...config, attributes: { ...attributes, [secret.property]: { ...attributes[secret.property], private: true } } }
}

function findConfigs(
  orm: MikroORM,
  version: string,
  definitions: readonly ResourceDefinition[],
): Map<object, ResourceConfig<Record<string, unknown>>> {
  const configs = new Map<object, ResourceConfig<Record<string, unknown>>>()
  const defined = new Set<object>()
  for (const { entity, config } of definitions) {
    const meta = orm.getMetadata().get(entity as EntityName)
    defined.add(meta.class)
    if (config.versions !== undefined && !config.versions.includes(version)) continue
    if (configs.has(meta.class)) throw new TypeError(`resource(${meta.className}) is given twice for the version ${version}.`)
    configs.set(meta.class, config)
  }
  for (const meta of orm.getMetadata()) if (!defined.has(meta.class)) configs.set(meta.class, {})
  return configs
}

function hideUnserved(draft: Mutable<Resource>): void {
  if (draft.attributes.every(isShown)) return
  draft.attributes = Object.freeze(draft.attributes.map(hidden))
  draft.byName = indexAttributes(draft.attributes)
}

function isShown(attribute: Attribute): boolean {
  if (attribute.kind === 'scalar') return true
  if (attribute.kind === 'embedded') return attribute.attributes.every(isShown)
  return attribute.kind === 'toOneOf' ? attribute.branches.some(leadsToShown) : leadsToShown(attribute)
}

function leadsToShown({ kind, target: { served, rules } }: RelationAttribute): boolean {
  return served && rules.access[kind === 'toOne' ? 'get' : 'list'] !== false
}

function hidden(attribute: Attribute): Attribute {
  if (isShown(attribute)) return attribute
  if (attribute.kind !== 'embedded') return Object.freeze({ ...attribute, hidden: true, closed: !attribute.hidden })
  const attributes = attribute.attributes.map(hidden) as InnerAttribute[]
  return Object.freeze({
    ...attribute,
    attributes: Object.freeze(attributes),
    byName: new Map(attributes.map(child => [child.name, child])),
  })
}

/** Whether MikroORM made the entity. A pivot of the application is served like any entity. */
export function isGeneratedPivot(meta: EntityMetadata): boolean {
  const storedLinks = meta.relations.filter(prop => prop.persist !== false)
  const isMade = storedLinks.length > 0 && storedLinks.every(prop => /_(owner|inverse)$/.test(prop.name))
  // A shared pivot has one stored link, a plain column for the other side, and unstored links.
  return meta.pivotTable === true && isMade && (storedLinks.length === 2 || meta.relations.length > storedLinks.length)
}

function resourceNames(meta: EntityMetadata, config: ResourceConfig<Record<string, unknown>>): DefaultNames {
  const renamed =
    config.name === undefined && config.singular === undefined ? undefined : { plural: config.name, singular: config.singular }
  const standard = defaultNames(meta.className)
  const plural = renamed?.plural ?? standard.plural
  // "error" is a key of answers: the plural instead.
  const ownSingular = ENVELOPE_KEYS.has(standard.singular) ? standard.plural : standard.singular
  const singular = renamed?.singular ?? (renamed?.plural === undefined ? ownSingular : renamed.plural)
  for (const name of [plural, singular]) {
    if (ENVELOPE_KEYS.has(name))
      throw new Error(
        `${meta.className} cannot be served as "${name}": that is a key of the answers. ` +
          `Give it another name with resource(${meta.className}, { name, singular }).`,
      )
  }
  const accepted = renamed === undefined ? standard.accepted : [...new Set([plural, singular])]
  return { plural, singular, accepted }
}

function refuseUnsupported(meta: EntityMetadata): void {
  if (meta.primaryKeys.length === 0 && !isQuery(meta)) throw unsupported(meta, undefined, 'it has no primary key')
  for (const prop of meta.props.filter(each => !isHiddenInverse(each))) {
    const reason = unsupportedReason(prop)
    if (reason !== undefined) throw unsupported(meta, placeOf(prop, meta), reason)
  }
}

function placeOf({ name, embedded }: EntityMetadata['props'][number], meta: EntityMetadata): string {
  const holder = embedded && meta.properties[embedded[0]]
  return holder === undefined ? name : `${placeOf(holder, meta)}.${embedded![1]}`
}

function findOrder(key: readonly KeyPart[], meta: EntityMetadata): string[] {
  return [...meta.props.filter(ordersRecords).flatMap(prop => prop.fieldNames), ...key.map(part => part.column)]
}

function ordersRecords(prop: EntityMetadata['props'][number]): boolean {
  const { customType } = prop
  return customType instanceof PlaceType || (customType instanceof DescribedType && customType.ordersRecords)
}

function keyParts(meta: EntityMetadata): KeyPart[] {
  return meta.getPrimaryProps().flatMap(prop => {
    if (prop.kind === 'scalar') {
      const type = scalarType(prop)!
      if (!KEY_KINDS.has(type.kind)) throw unsupported(meta, prop.name, `${withArticle(type.kind)} cannot be a key`)
      // Keys are bound as stored.
      if ((type.codec?.compareSql?.('?') ?? '?') !== '?')
        throw unsupported(
          meta,
          prop.name,
          'a type with SQL of its own for writing (convertToDatabaseValueSQL) cannot be a key: convert in convertToDatabaseValue',
        )
      return [{ column: prop.fieldNames[0]!, type }]
    }
    return keyParts(prop.targetMeta!).map((part, index) => ({ column: readForeignColumns(meta, prop)[index]!, type: part.type }))
  })
}

/** Adds attributes and key names. Relations need the keys of all drafts. */
function fill(
  meta: EntityMetadata,
  draft: Mutable<Resource>,
  drafts: ReadonlyMap<object, Resource>,
  config: ResourceConfig<Record<string, unknown>>,
  learned: readonly string[],
): void {
  const paths = new Map<string, string>()
  const declared = meta.props
    .filter(prop => !(isGetter(prop) && unreadableIn(meta, prop) !== undefined))
    .filter(
      prop =>
        prop.embedded === undefined && !isHiddenInverse(prop) && !isMixedList(prop) && !isOfDescendant(meta, prop) && !ordersRecords(prop),
    )
    .map(prop => readAttribute(meta, prop, drafts, paths))
  const configured = applyAttributeConfigs(meta.className, declared, config)
  const { attributes, open } = applyOpen(`resource(${meta.className})`, configured, config.open, { learned, exact: isExact(meta.class) })
  const byName = new Map<string, Attribute>()
  for (const attribute of attributes) {
    if (byName.has(attribute.name)) throw unsupported(meta, attribute.property, `the name "${attribute.name}" is taken by another property`)
    byName.set(attribute.name, attribute)
  }
  checkIdsNames(attributes, `resource(${meta.className})`)
  draft.attributes = Object.freeze([...attributes])
  draft.byName = byName
  draft.open = open
  draft.keyNames = meta.getPrimaryProps().map(prop => publicName(prop))
  const [only, ...others] = meta.getPrimaryProps()
  draft.order = Object.freeze(findOrder(draft.key, meta))
  draft.generatedKey = others.length === 0 && only?.autoincrement === true
  draft.uniques = Object.freeze(readUniques(meta).map(names => Object.freeze(names.map(name => paths.get(name) ?? name))))
  draft.shownKey = readShownKey(config.key, draft)
}

/** Whether the property is of a class below, or the discriminator. */
function isOfDescendant(meta: EntityMetadata, prop: EntityMetadata['props'][number]): boolean {
  const hasAll = meta.root.inheritanceType === 'sti' && (meta.root === meta || meta.discriminatorValue === undefined)
  return (hasAll && prop.inherited === true) || prop.name === (meta.root as { tptDiscriminatorColumn?: string }).tptDiscriminatorColumn
}
