/**
 * Read an attribute: one property of MikroORM's metadata to an Attribute of the model. Used by read-model.ts alone.
 * Refuses, by entity, property and reason, what cannot be served.
 */
import { isRaw } from '@mikro-orm/core'
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'
import { FileType } from './file-type.ts'
import { getterRender, relationRender, serializerRender } from './getters.ts'
import type {
  Attribute,
  PolymorphicTarget,
  DeleteRule,
  Discriminator,
  EmbeddedAttribute,
  Formula,
  InnerAttribute,
  Renderer,
  Resource,
  ScalarAttribute,
  Source,
  TargetKey,
  ToManyAttribute,
  ToOneAttribute,
  ToOneOfAttribute,
  Variants,
} from '../model.ts'
import { isGetter, publicName, scalarType } from './property-type.ts'

/** Kinds that can identify a record: in a path, or for a foreign key. */
export const KEY_KINDS: ReadonlySet<string> = new Set(['integer', 'bigint', 'text', 'uuid', 'date', 'datetime', 'time', 'custom'])

export type Meta = EntityMetadata
type Property = EntityProperty

export function unsupported(meta: Meta, property: string | undefined, reason: string): Error {
  return new Error(`${meta.className}${property === undefined ? '' : `.${property}`} cannot be served: ${reason}.`)
}

export function unsupportedReason(prop: Property): string | undefined {
  if (prop.polymorphic === true && prop.kind !== 'm:n' && (prop.primary === true || prop.mapToPk === true || prop.targetKey !== undefined))
    return 'a relation to one of several entities (polymorphic) cannot be part of a key, mapToPk, or by another key (targetKey)'
  if (prop.targetKey !== undefined && (prop.primary === true || prop.mapToPk === true))
    return `a relation by another key than the primary one (targetKey) cannot be ${prop.primary === true ? 'part of a key' : 'mapped to it (mapToPk)'}`
  if (prop.kind !== 'scalar' || isGetter(prop)) return undefined
  return scalarType(prop) === undefined
    ? `its type "${prop.type}" is unknown: give it a type of MikroORM's, or one derived from Type`
    : undefined
}

/** The columns of an owning to-one, in the order of the target's key. */
export function ownColumns(meta: Meta, prop: Property): string[] {
  if (prop.targetKey !== undefined) return [...prop.fieldNames]
  // The columns of all targets' keys alike, in the order of the keys.
  if (prop.polymorphic === true) return [...prop.joinColumns]
  return inKeyOrder(meta, prop, prop.targetMeta!, prop.joinColumns, prop.referencedColumnNames)
}

function inKeyOrder(meta: Meta, prop: Property, target: Meta, columns: readonly string[], referenced: readonly string[]): string[] {
  const targetColumns = target.getPrimaryProps().flatMap(key => key.fieldNames)
  if (columns.length !== targetColumns.length) {
    const shared = targetColumns.filter((column, index) => targetColumns.indexOf(column) < index)
    const why =
      shared.length > 0
        ? `relations in the primary key of ${target.className} share the column ${shared[0]}`
        : `its foreign key must refer to the primary key (${targetColumns.join(', ')}), and refers to ${referenced.join(', ')}`
    throw unsupported(meta, prop.name, why)
  }
  return targetColumns.map(column => {
    const index = referenced.indexOf(column)
    if (index < 0) throw unsupported(meta, prop.name, 'its foreign key refers to another column than the primary key')
    return columns[index]!
  })
}

/** What tells that a foreign key which may refer to several entities refers to this one, or to one that it inherits from. */
function discriminatorOf(target: Meta, prop: Property): Discriminator | undefined {
  if (prop.polymorphic !== true) return undefined
  const values = Object.entries(prop.discriminatorMap as Record<string, unknown>)
  for (let at: unknown = target.class; typeof at === 'function'; at = Object.getPrototypeOf(at)) {
    const found = values.find(([, entity]) => entity === at)
    if (found !== undefined) return Object.freeze({ column: prop.discriminatorColumn as string, value: found[0] })
  }
  throw unsupported(target, undefined, `"${prop.name}", which it is the other side of, does not link it`)
}

/** A relation to one of several entities, as a to-one for each. */
function readToOneOf(meta: Meta, prop: Property, name: string, drafts: ReadonlyMap<object, Resource>): ToOneOfAttribute {
  const common = base(prop, name)
  const targets = prop.polymorphTargets!.map(of => {
    const target = drafts.get(of.class)
    if (target === undefined) throw unsupported(meta, prop.name, `its target ${of.className} is not served`)
    if (target.key.length !== prop.joinColumns.length)
      throw unsupported(meta, prop.name, 'its foreign key does not hold the whole primary key')
    refuseUnlinkable(meta, prop, of, target)
    return { of, target }
  })
  const isTaken = (called: string): boolean => targets.some(({ of }) => of.props.some(other => publicName(other) === called))
  const typeName = ['type', 'resource'].find(called => !isTaken(called))
  if (typeName === undefined)
    throw unsupported(
      meta,
      prop.name,
      'its targets have attributes "type" and "resource", so that none is left to tell which of them is linked',
    )
  const items = Object.freeze(targets.map(({ target }) => target.singular))
  const shared = {
    ...common,
    owner: true,
    columns: Object.freeze([...prop.joinColumns]),
    targetKey: undefined,
    document: undefined,
    primary: false,
    holdsKey: false,
    unique: prop.kind === '1:1',
    orphanRemoval: prop.orphanRemoval === true,
    cascadeRemove: cascadesRemove(prop),
    onDelete: common.nullable ? ('unlink' as const) : ('refuse' as const),
  }
  const branches = targets.map(({ of, target }): PolymorphicTarget => {
    const type: ScalarAttribute = Object.freeze({
      kind: 'scalar',
      ...common,
      name: typeName,
      property: typeName,
      nullable: true,
      hidden: false,
      readOnly: true,
      required: false,
      needed: false,
      type: Object.freeze({ kind: 'text', items }),
      source: { kind: 'tag', column: target.key[0]!.column, value: target.singular },
      primary: false,
      version: false,
    } satisfies ScalarAttribute)
    const otherSide = prop.inversedBy === undefined ? undefined : (of.properties[prop.inversedBy as never] as Property | undefined)
    return Object.freeze({
      kind: 'toOne',
      ...shared,
      target,
      discriminator: discriminatorOf(of, prop)!,
      type,
      otherSide: otherSide === undefined ? undefined : publicName(otherSide),
    } satisfies PolymorphicTarget)
  })
  return Object.freeze({
    kind: 'toOneOf',
    ...common,
    branches: Object.freeze(branches),
    typeName,
    columns: Object.freeze([prop.discriminatorColumn as string, ...prop.joinColumns]),
    unique: shared.unique,
  } satisfies ToOneOfAttribute)
}

/** What a foreign key refers to where it is not the primary key of its target. */
function targetKeyOf(meta: Meta, prop: Property): TargetKey | undefined {
  if (prop.targetKey === undefined) return undefined
  const referred = prop.targetMeta!.properties[prop.targetKey as never] as Property
  const type = referred.kind === 'scalar' && referred.fieldNames?.length === 1 && !isGetter(referred) ? scalarType(referred) : undefined
  if (type === undefined || !KEY_KINDS.has(type.kind)) {
    throw unsupported(
      meta,
      prop.name,
      `"${prop.targetKey}" of ${prop.targetMeta!.className} cannot be referred to: it is no plain value that can be a key`,
    )
  }
  const target = prop.targetMeta!
  if (prop.createForeignKeyConstraint && target.tptParent !== undefined && !target.ownProps!.some(({ name }) => name === referred.name)) {
    throw unsupported(
      meta,
      prop.name,
      `the table of ${target.className} has no "${referred.name}" for its foreign key to refer to, the table of a class above has; relate to that one, or do without a constraint (createForeignKeyConstraint: false)`,
    )
  }
  const others = meta.props.filter(
    other => other !== prop && other.persist !== false && other.formula === undefined && other.kind !== '1:m',
  )
  if (others.some(other => (other.kind !== '1:1' || other.owner) && other.fieldNames?.includes(prop.fieldNames[0]!))) {
    throw unsupported(
      meta,
      prop.name,
      'its foreign key, which holds another key than the primary one (targetKey), is the column of another property',
    )
  }
  return Object.freeze({
    name: publicName(referred),
    property: referred.name,
    part: Object.freeze({ column: referred.fieldNames[0]!, type }),
  })
}

function deleteRule(prop: Property): DeleteRule {
  return prop.deleteRule === 'cascade'
    ? 'cascade'
    : prop.deleteRule === 'set null' || prop.deleteRule === 'set default'
      ? 'unlink'
      : 'refuse'
}

function cascadesRemove(prop: Property): boolean {
  return prop.orphanRemoval === true || prop.cascade.some(cascade => cascade === 'remove' || cascade === 'all')
}

/** A list whose members are of several entities, each in a table of its own: it has no one resource. What they have as their other side is served. */
export function isMixedList(prop: Property): boolean {
  return prop.kind === 'm:n' && prop.polymorphTargets !== undefined
}

/** The other side that MikroORM adds to a unidirectional many-to-many. */
export function isHiddenInverse(prop: Property): boolean {
  return prop.kind === 'm:n' && prop.name.endsWith('__inverse') && prop.hydrate === false
}

function base(prop: Property, name: string, declared: Property = prop) {
  const readOnly = prop.generated !== undefined || prop.formula !== undefined
  const required =
    declared.nullable !== true &&
    declared.default === undefined &&
    declared.defaultRaw === undefined &&
    declared.onCreate === undefined &&
    !(prop.primary === true && prop.autoincrement === true) &&
    prop.version !== true &&
    prop.persist !== false &&
    !readOnly
  return {
    name,
    property: declared.name,
    nullable: declared.nullable === true,
    hidden: prop.hidden === true,
    readOnly,
    filterable: true,
    sortable: true,
    flag: undefined,
    render: undefined,
    required,
    needed: required,
  }
}

/** Whether the constructor of the class gives it a value: `createdAt = new Date()`. MikroORM takes only those for defaults that are constant. */
function isInitialised(meta: Meta, prop: Property): boolean {
  try {
    const entity = new (meta.class as unknown as new () => Record<string, unknown>)()
    return (entity[prop.name] ?? undefined) !== undefined
  } catch {
    // One that cannot do without arguments.
    return false
  }
}

export function readAttribute(meta: Meta, prop: Property, drafts: ReadonlyMap<object, Resource>, paths: Map<string, string>): Attribute {
  const attribute = readDeclared(meta, prop, drafts, paths)
  if (prop.kind === 'scalar' || prop.serializer === undefined) return attribute
  return Object.freeze({ ...attribute, render: relationRender(meta, prop) })
}

function readDeclared(meta: Meta, prop: Property, drafts: ReadonlyMap<object, Resource>, paths: Map<string, string>): Attribute {
  const name = publicName(prop)
  paths.set(prop.name, name)
  if (prop.kind === 'scalar') {
    const attribute = readScalar(meta, prop, name, prop, undefined)
    return Object.freeze({ ...attribute, required: attribute.required && !isInitialised(meta, prop) })
  }
  if (prop.kind === 'embedded' && prop.persist === false) return readUnstored(prop, name, prop)
  if (prop.kind === 'embedded') return readEmbedded(meta, prop, name, prop, undefined, { paths, drafts }, name)
  if (prop.polymorphic === true && prop.kind !== 'm:n' && prop.mappedBy === undefined) return readToOneOf(meta, prop, name, drafts)
  const target = targetOf(meta, prop, drafts)
  const relation = { ...base(prop, name), target, orphanRemoval: prop.orphanRemoval === true, cascadeRemove: cascadesRemove(prop) }
  if (prop.formula !== undefined) return readFormulaLink(meta, prop, name, target)
  if (prop.kind === 'm:1' || prop.kind === '1:1') {
    const owner = prop.kind === 'm:1' || prop.owner
    // What links a row of a view from its other side would be written there.
    const readOnly = relation.readOnly || (!owner && target.readOnly)
    const mapped = owner ? undefined : (prop.targetMeta!.properties[prop.mappedBy as never] as Property)
    const otherSide = owner ? prop.inversedBy : prop.mappedBy
    return Object.freeze({
      kind: 'toOne',
      ...relation,
      readOnly,
      nullable: owner ? relation.nullable : true,
      // The other side may be empty, unless it is declared not to be: MikroORM asks for it then.
      required: relation.required && !readOnly,
      needed: relation.required && !readOnly,
      owner,
      columns: Object.freeze(mapped === undefined ? ownColumns(meta, prop) : ownColumns(prop.targetMeta!, mapped)),
      targetKey: mapped === undefined ? targetKeyOf(meta, prop) : targetKeyOf(prop.targetMeta!, mapped),
      discriminator: mapped === undefined ? undefined : discriminatorOf(meta, mapped),
      document: undefined,
      primary: prop.primary === true,
      unique: prop.kind === '1:1',
      holdsKey: prop.mapToPk === true,
      otherSide: otherSideName(prop, otherSide),
      onDelete: owner ? deleteRule(prop) : 'refuse',
    } satisfies ToOneAttribute)
  }
  return Object.freeze({
    kind: 'toMany',
    ...relation,
    readOnly: relation.readOnly || (target.readOnly && prop.kind === '1:m'),
    nullable: false,
    required: false,
    needed: false,
    via: prop.kind === '1:m' ? readForeign(meta, prop) : readPivot(meta, prop),
    otherSide: otherSideName(prop, prop.mappedBy ?? prop.inversedBy),
    where: isEmptyWhere(prop.where) ? undefined : (prop.where as object),
    orderBy: Object.freeze(readOrderBy(prop)),
  } satisfies ToManyAttribute)
}

function isEmptyWhere(where: unknown): boolean {
  return where === undefined || where === null || (typeof where === 'object' && Reflect.ownKeys(where).length === 0)
}

/** A to-one that an SQL expression gives: a formula, or the newest of a list (`through`). It holds no foreign key, so that the database keeps nothing of it. */
function readFormulaLink(meta: Meta, prop: Property, name: string, target: Resource): ToOneAttribute {
  if (target.key.length !== 1) throw unsupported(meta, prop.name, 'a relation by a formula must be to an entity whose key is one column')
  return Object.freeze({
    kind: 'toOne',
    ...base(prop, name),
    nullable: true,
    readOnly: true,
    target,
    orphanRemoval: false,
    cascadeRemove: false,
    owner: true,
    formula: formulaOf(meta, prop),
    columns: Object.freeze([]),
    targetKey: undefined,
    discriminator: undefined,
    document: undefined,
    primary: false,
    unique: false,
    holdsKey: prop.mapToPk === true,
    otherSide: undefined,
    onDelete: 'refuse',
  } satisfies ToOneAttribute)
}

function owning(prop: Property): boolean {
  return prop.kind === 'm:1' || (prop.kind === '1:1' && prop.owner)
}

/** Refuses a link to one of several that MikroORM could write, but not load. */
function refuseUnlinkable(meta: Meta, prop: Property, of: Meta, target: Resource): void {
  if (!owning(prop) || !hasRelatedKey(of)) return
  throw unsupported(
    meta,
    prop.name,
    `the whole key of ${target.className} is a relation to a key of several parts, and MikroORM loads no link to that`,
  )
}

/** Whether the whole key is one relation to a key of several parts. */
function hasRelatedKey(meta: Meta): boolean {
  const [key, ...others] = meta.getPrimaryProps()
  return key !== undefined && key.kind !== 'scalar' && others.length === 0 && key.fieldNames.length > 1
}

/** Whether MikroORM can load no record that has such a link: there is no link of it that it can make of a row. */
export function isUnloadable({ relations }: Meta): boolean {
  return relations.some(prop => owning(prop) && prop.formula === undefined && prop.polymorphic !== true && hasRelatedKey(prop.targetMeta!))
}

/** The target of a relation; refuses what MikroORM cannot write a link to. */
function targetOf(meta: Meta, prop: Property, drafts: ReadonlyMap<object, Resource>): Resource {
  const target = drafts.get(prop.targetMeta!.class)
  if (target === undefined) throw unsupported(meta, prop.name, 'its target is not served')
  const mapped = prop.mappedBy === undefined ? undefined : (prop.targetMeta!.properties[prop.mappedBy as never] as Property | undefined)
  if (mapped?.embedded !== undefined) {
    throw unsupported(
      meta,
      prop.name,
      'it is the other side of a relation inside an embedded object, which MikroORM neither loads nor writes',
    )
  }
  const isInKey = prop.primary === true || prop.mapToPk === true || prop.kind === 'm:n'
  if (isInKey && target.key.length > 1 && target.key.some(({ type }) => type.kind === 'custom')) {
    const what = prop.kind === 'm:n' ? 'a many-to-many relation' : prop.mapToPk === true ? 'mapToPk' : 'a foreign key in the primary key'
    throw unsupported(meta, prop.name, `MikroORM writes custom types in a composite key unconverted for ${what}`)
  }
  return target
}

function otherSideName(prop: Property, other: string | undefined): string | undefined {
  const property = other === undefined ? undefined : (prop.targetMeta!.properties[other as never] as Property | undefined)
  return property === undefined || isHiddenInverse(property) || isMixedList(property) ? undefined : publicName(property)
}

function readForeign(meta: Meta, prop: Property): ToManyAttribute['via'] {
  const mapped = prop.targetMeta!.properties[prop.mappedBy as never] as Property
  const holder = prop.targetMeta!
  return {
    kind: 'foreign',
    columns: Object.freeze(ownColumns(holder, mapped)),
    attribute: publicName(mapped),
    targetKey: targetKeyOf(holder, mapped),
    discriminator: discriminatorOf(meta, mapped),
  }
}

function readPivot(meta: Meta, prop: Property): ToManyAttribute['via'] {
  const pivot = prop.pivotTable
  const inherited = meta.tptParent?.properties[prop.name as never] as Property | undefined
  if (inherited !== undefined && inherited.pivotTable !== pivot) {
    const why = `MikroORM gives each class that inherits it a pivot table of its own; name one for all by pivotTable('${inherited.pivotTable}')`
    throw unsupported(meta, prop.name, why)
  }
  const [own, target] = [meta, prop.targetMeta!].map(side => side.getPrimaryProps().flatMap(key => key.fieldNames))
  if (prop.joinColumns.length !== own!.length || prop.inverseJoinColumns.length !== target!.length) {
    throw unsupported(meta, prop.name, 'its pivot table does not hold both primary keys')
  }
  if (meta.getPrimaryProps().some(({ runtimeType }) => runtimeType === 'Date')) {
    throw unsupported(meta, prop.name, 'MikroORM does not find the members of a many-to-many list whose owner has a date-time for its key')
  }
  const shared = prop.joinColumns.find(column => prop.inverseJoinColumns.includes(column))
  if (shared !== undefined) {
    const why = `its pivot table has the one column "${shared}" for both sides; name two by joinColumn and inverseJoinColumn`
    throw unsupported(meta, prop.name, why)
  }
  return {
    kind: 'pivot',
    table: pivot,
    ownerColumns: Object.freeze([...prop.joinColumns]),
    targetColumns: Object.freeze([...prop.inverseJoinColumns]),
    orderColumn: prop.fixedOrder === true ? prop.fixedOrderColumn : undefined,
    mayBeEmpty: prop.targetMeta!.props.some(({ customType }) => customType instanceof FileType),
    // MikroORM gives a class that inherits such a list the value of the class that declares it.
    discriminator:
      prop.polymorphic === true
        ? Object.freeze({ column: prop.discriminatorColumn as string, value: String(prop.discriminatorValue) })
        : undefined,
    owner: prop.owner,
  }
}

/** The order of a list: the relation's own, else the target entity's. Nested objects become dotted paths. */
function readOrderBy(prop: Property): { path: string; descending: boolean }[] {
  const declared: unknown = prop.orderBy ?? prop.targetMeta?.orderBy
  const list: unknown[] = declared === undefined ? [] : Array.isArray(declared) ? (declared as unknown[]) : [declared]
  const walk = (value: unknown, target: Meta | undefined, prefix: string): { path: string; descending: boolean }[] =>
    Object.entries(value as Record<string, unknown>).flatMap(([name, direction]) => {
      const property = target?.properties[name as never] as Property | undefined
      const path = `${prefix}${property === undefined ? name : publicName(property)}`
      return typeof direction === 'object' && direction !== null
        ? walk(direction, property?.targetMeta, `${path}.`)
        : [{ path, descending: /^(desc|-1)/i.test(String(direction)) }]
    })
  return list.flatMap(entry => walk(entry, prop.targetMeta, ''))
}

function readScalar(meta: Meta, prop: Property, name: string, declared: Property, document: Document | undefined): ScalarAttribute {
  if (isGetter(prop)) return readGetter(prop, name, declared, getterRender(meta, prop))
  const type = Object.freeze(scalarType(prop)!)
  const common = base(prop, name, declared)
  const required = document === undefined ? common.required : requiredInside(declared)
  return {
    kind: 'scalar',
    ...common,
    required,
    needed: required,
    type,
    source: readSource(meta, prop, document),
    primary: prop.primary === true,
    version: prop.version === true,
    // Like any value that is not the stored one, it cannot be filtered or sorted by unless that is asked for.
    ...(prop.serializer === undefined ? {} : { render: serializerRender(meta, prop, type), filterable: false, sortable: false }),
  }
}

/** A value that the entity's own code gives, of the plain values of a record. */
function readGetter(prop: Property, name: string, declared: Property, render: Renderer): ScalarAttribute {
  return {
    kind: 'scalar',
    ...base(prop, name, declared),
    nullable: true,
    readOnly: true,
    required: false,
    filterable: false,
    sortable: false,
    type: Object.freeze({ kind: 'json' }),
    source: { kind: 'getter' },
    primary: false,
    version: false,
    render,
  }
}

/** An embedded object that has no columns: whatever is given is for the model's own code. */
function readUnstored(prop: Property, name: string, declared: Property): ScalarAttribute {
  const common = base(prop, name, declared)
  const type = Object.freeze({ kind: 'json' } as const)
  return Object.freeze({ kind: 'scalar', ...common, type, source: { kind: 'none' }, primary: false, version: false } as const)
}

/** A getter of an embeddable; of several classes, that of the class that the object is of. */
function getterInside(prop: Property, name: string): Renderer {
  const { polymorphs, discriminatorMap, discriminatorColumn } = prop.targetMeta!
  const renderOf = (meta: Meta): Renderer => getterRender(meta, meta.properties[name as never] as Property)
  if (polymorphs === undefined) return renderOf(prop.targetMeta!)
  const byValue = new Map<string, Renderer>()
  for (const [value, entity] of Object.entries(discriminatorMap as Record<string, unknown>)) {
    const holder = polymorphs.find(polymorph => polymorph.class === entity)
    if (holder !== undefined && name in holder.properties) byValue.set(value, renderOf(holder))
  }
  const told = publicName(ownDeclaration(prop, discriminatorColumn as string)!)
  return (value, object, ctx) => byValue.get(String(object[told]))?.(value, object, ctx)
}

/** Inside a JSON document nothing has a column, which MikroORM takes for not being stored. */
function requiredInside(declared: Property): boolean {
  return declared.nullable !== true && declared.default === undefined && declared.onCreate === undefined
}

interface Document {
  readonly column: string
  readonly keys: readonly string[]
}

function readSource(meta: Meta, prop: Property, document: Document | undefined): Source {
  if (document !== undefined) return { kind: 'document', ...document }
  if (prop.formula !== undefined) return { kind: 'formula', sql: formulaOf(meta, prop) }
  if (prop.persist === false) return { kind: 'none' }
  return {
    kind: 'column',
    column: prop.fieldNames[0]!,
    rawDefault: isRaw(prop.default) || (prop.default === undefined && prop.defaultRaw !== undefined),
    generated: prop.generated !== undefined,
  }
}

/** A MikroORM formula as SQL text with bound values: `??` marks an identifier, `?` a value. */
function formulaOf(meta: Meta, prop: Property): Formula {
  const formula = prop.formula as unknown as (columns: object, table: object) => unknown
  return (alias, quote) => {
    const table = { alias, name: meta.tableName, schema: meta.schema, qualifiedName: meta.tableName, toString: () => alias }
    const result: unknown = formula(meta.createColumnMappingObject(alias), table)
    if (!isRaw(result)) return { sql: String(result), values: [] }
    const params = [...result.params]
    const values: unknown[] = []
    const sql = result.sql.replaceAll(/\?\??/g, mark => {
      const value = params.shift()
      if (mark === '?') {
        values.push(value)
        return '?'
      }
      return String(value).split('.').map(quote).join('.')
    })
    return { sql, values }
  }
}

/** What the parts of an embedded object are read with. */
interface EmbeddedContext {
  /** Public paths, by the names that MikroORM gives to what is inside. */
  readonly paths: Map<string, string>
  readonly drafts: ReadonlyMap<object, Resource>
  /** Whether they are inside a list of objects. */
  readonly listed?: boolean
}

function readEmbedded(
  meta: Meta,
  prop: Property,
  name: string,
  declared: Property,
  document: Document | undefined,
  surroundings: EmbeddedContext,
  path: string,
): EmbeddedAttribute {
  const isList = prop.array === true
  const within: Document | undefined = document ?? (prop.object === true || isList ? { column: prop.fieldNames[0]!, keys: [] } : undefined)
  const attributes = Object.entries(prop.embeddedProps).map(([childName, child]) => {
    // The embeddable's own declaration: inside a nullable object MikroORM marks every child as nullable.
    const own = ownDeclaration(prop, childName) ?? child
    const reason = unsupportedReason(child) ?? unsupportedInside(child, within)
    if (reason !== undefined) throw unsupported(meta, `${prop.name}.${childName}`, reason)
    if (isList && childName in Array.prototype) {
      throw unsupported(meta, `${prop.name}.${childName}`, 'MikroORM takes this name, in a list of objects, for the method of arrays')
    }
    const publicChild = own.serializedName ?? childName
    const inside =
      within === undefined
        ? undefined
        : { column: within.column, keys: Object.freeze([...within.keys, child.fieldNames?.[0] ?? childName]) }
    surroundings.paths.set(child.name, `${path}.${publicChild}`)
    const listed = isList || surroundings.listed === true
    const read = (): InnerAttribute => {
      if (child.kind === 'embedded') {
        if (own.persist === false) return readUnstored(child, publicChild, own)
        return readEmbedded(meta, child, publicChild, own, inside, { ...surroundings, listed }, `${path}.${publicChild}`)
      }
      if (child.kind !== 'scalar') {
        if (listed) return readKeyInside(child, publicChild, own, inside)
        return readLinkInside(meta, child, publicChild, own, inside, targetOf(meta, child, surroundings.drafts))
      }
      if (isGetter(child)) return readGetter(child, publicChild, own, getterInside(prop, childName))
      return readScalar(meta, child, publicChild, own, inside)
    }
    const attribute = Object.freeze(read())
    return isList ? unreachable(attribute) : attribute
  })
  const common = base(prop, name, declared)
  const { polymorphs, discriminatorMap } = prop.targetMeta ?? {}
  // Where a class says which of several embeddables its object is of, the object itself says nothing.
  const variants = polymorphs === undefined || discriminatorMap === undefined ? undefined : readVariants(prop, attributes)
  const needed = document === undefined ? common.required : requiredInside(declared)
  return Object.freeze({
    kind: 'embedded',
    entity: prop.targetMeta?.class,
    ...common,
    // An object all of whose attributes may be left out may be left out itself: it is made then.
    required: needed && (isList || variants !== undefined || attributes.some(attribute => attribute.required)),
    needed,
    document: within,
    array: isList,
    variants,
    attributes: Object.freeze(attributes),
    byName: new Map(attributes.map(attribute => [attribute.name, attribute])),
  } satisfies EmbeddedAttribute)
}

/** Key types whose values JSON holds as SQLite compares them. */
const LINKED_IN_JSON = new Set(['integer', 'text', 'uuid'])

/** Why a relation inside an embedded object cannot be served. */
function unsupportedInside(child: Property, document: Document | undefined): string | undefined {
  if (child.getterName !== undefined && document !== undefined)
    return 'MikroORM takes a method (getterName), in an object that is stored as JSON, for the value; a getter is none'
  if (child.kind === 'scalar' || child.kind === 'embedded') return undefined
  if (child.kind === '1:m' || child.kind === 'm:n' || !child.owner)
    return 'of relations inside embedded objects only those are supported that hold a foreign key: many-to-one, and the owning side of one-to-one'
  if (child.polymorphic === true)
    return 'a relation to one of several entities (polymorphic) is not supported inside embedded objects; relate each by a relation of its own'
  if (child.targetKey !== undefined)
    return 'a relation by another key than the primary one (targetKey) is not supported inside embedded objects'
  if (document === undefined) return undefined
  if (child.kind === '1:1') return 'in an object that is stored as JSON nothing keeps a one-to-one relation unique; make it many-to-one'
  const [key, ...others] = child.targetMeta!.getPrimaryProps()
  const kind = key!.kind === 'scalar' && others.length === 0 ? scalarType(key!)?.kind : undefined
  return LINKED_IN_JSON.has(kind!)
    ? undefined
    : 'a relation in an object that is stored as JSON must be to an entity whose key is an integer, a text or a UUID'
}

/** A to-one inside a list of embedded objects: the key that it holds, since what is in a list cannot be joined to. */
function readKeyInside(prop: Property, name: string, declared: Property, document: Document | undefined): ScalarAttribute {
  const [key] = prop.targetMeta!.getPrimaryProps()
  const required = requiredInside(declared)
  return {
    kind: 'scalar',
    ...base(prop, name, declared),
    required,
    needed: required,
    type: Object.freeze(scalarType(key!)!),
    source: { kind: 'document', ...document! },
    primary: false,
    version: false,
    ...(prop.mapToPk === true ? {} : { links: Object.freeze({ entity: prop.targetMeta!.class, wrapped: prop.ref === true }) }),
  }
}

/** A to-one inside an embedded object. */
function readLinkInside(
  meta: Meta,
  prop: Property,
  name: string,
  declared: Property,
  document: Document | undefined,
  target: Resource,
): ToOneAttribute {
  const common = base(prop, name, declared)
  const required = document === undefined ? common.required : requiredInside(declared)
  const rule = document === undefined ? deleteRule(prop) : 'refuse'
  // The names of the columns: `joinColumns` does not have the prefix of the object everywhere.
  const columns = inKeyOrder(meta, prop, prop.targetMeta!, prop.fieldNames, prop.referencedColumnNames)
  // Inside a nullable object the column may be NULL, but an object that is there needs what it declares.
  const isKept = rule === 'unlink' && declared.nullable !== true && declared.deleteRule === undefined
  return {
    kind: 'toOne',
    ...common,
    required,
    needed: required,
    target,
    orphanRemoval: prop.orphanRemoval === true,
    cascadeRemove: cascadesRemove(prop),
    owner: true,
    columns: Object.freeze(document === undefined ? columns : [document.column]),
    targetKey: undefined,
    discriminator: undefined,
    document,
    primary: false,
    unique: prop.kind === '1:1',
    holdsKey: prop.mapToPk === true,
    otherSide: undefined,
    onDelete: isKept ? 'refuse' : rule,
  }
}

/** The declaration of a property of an embeddable; of several classes, that of the first that has it. */
function ownDeclaration(prop: Property, name: string): Property | undefined {
  const target = prop.targetMeta
  const holders = target?.polymorphs ?? (target === undefined ? [] : [target])
  for (const holder of holders) {
    const own = holder.properties[name as never] as Property | undefined
    if (own !== undefined) return own
  }
  return undefined
}

/** What is inside a list has no one value, so that nothing can be compared with it. */
function unreachable(attribute: InnerAttribute): InnerAttribute {
  const shut = { ...attribute, filterable: false, sortable: false }
  if (shut.kind !== 'embedded') return Object.freeze(shut)
  const attributes = shut.attributes.map(unreachable)
  return Object.freeze({ ...shut, attributes: Object.freeze(attributes), byName: new Map(attributes.map(child => [child.name, child])) })
}

/** What one class has of an attribute that others have by another type. */
function ofClass(attribute: InnerAttribute, declared: Property): InnerAttribute {
  if (attribute.kind === 'scalar' && declared.kind === 'scalar')
    return attribute.type.kind === 'json' ? { ...attribute, type: Object.freeze(scalarType(declared) ?? attribute.type) } : attribute
  const own = declared.targetMeta?.properties
  if (attribute.kind !== 'embedded' || own === undefined || declared.targetMeta!.polymorphs !== undefined) return attribute
  const attributes = attribute.attributes.flatMap((child): InnerAttribute[] => {
    const property = own[child.property as never] as Property | undefined
    if (property === undefined) return []
    const { nullable, required } = base(property, child.name)
    return [Object.freeze({ ...ofClass(child, property), nullable, required })]
  })
  return { ...attribute, attributes: Object.freeze(attributes), byName: new Map(attributes.map(child => [child.name, child])) }
}

/** The classes that a polymorphic object may be of. */
function readVariants(prop: Property, attributes: readonly InnerAttribute[]): Variants {
  const target = prop.targetMeta!
  const column = target.discriminatorColumn as string
  const discriminator = attributes.find(attribute => attribute.property === column)!
  const byValue = new Map<string, readonly InnerAttribute[]>()
  for (const [value, entity] of Object.entries(target.discriminatorMap as Record<string, unknown>)) {
    const variant = target.polymorphs!.find(polymorph => polymorph.class === entity)!
    const own = variant.props.flatMap((declared: Property) => {
      const attribute = attributes.find(({ property }) => property === declared.name)
      if (attribute === undefined) return []
      const { nullable, required } = base(declared, attribute.name)
      return [Object.freeze({ ...ofClass(attribute, declared), nullable, required: attribute === discriminator || required })]
    })
    byValue.set(value, Object.freeze(own))
  }
  return Object.freeze({ discriminator: discriminator.name, byValue })
}
