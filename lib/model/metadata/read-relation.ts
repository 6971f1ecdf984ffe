/** Makes the attribute of a relation, to-one, to-many, or a link by a formula. Rejects relations MikroORM cannot write. */
import type { EntityMetadata, EntityProperty } from '@mikro-orm/core'
import type { Resource, ToManyAttribute, ToOneAttribute } from '../model.ts'
import { DescribedType } from './described-type.ts'
import { cascadesRemove, findDiscriminator, readBeside, readForeignColumns, readDeleteRule, readTargetKey } from './foreign-key.ts'
import { publicName } from './property-type.ts'
import { isHiddenInverse, isMixedList, readCommon, type PropertyContext, type ResourcesByClass, compileFormula } from './read-common.ts'
import { unsupported } from './unsupported.ts'

export function readRelation(context: PropertyContext, resources: ResourcesByClass): ToOneAttribute | ToManyAttribute {
  const { meta, prop } = context
  const target = findTarget(meta, prop, resources)
  if (prop.formula !== undefined) return readFormulaLink(context, target)
  return prop.kind === 'm:1' || prop.kind === '1:1' ? readToOne(context, target) : readToMany(context, target)
}

function readToOne(context: PropertyContext, target: Resource): ToOneAttribute {
  const { meta, prop } = context
  const common = readCommon(context)
  const owner = prop.kind === 'm:1' || prop.owner
  // Linking from the other side would write to the view.
  const readOnly = common.readOnly || (!owner && (target.readOnly || isUnstored(prop)))
  // MikroORM may require a value.
  const required = common.required && !readOnly
  const mapped = owner ? undefined : (prop.targetMeta!.properties[prop.mappedBy] as EntityProperty)
  const [holder, link] = mapped === undefined ? [meta, prop] : [prop.targetMeta!, mapped]
  return Object.freeze({
    kind: 'toOne',
    ...common,
    target,
    orphanRemoval: prop.orphanRemoval === true,
    cascadeRemove: cascadesRemove(prop),
    readOnly,
    nullable: owner ? common.nullable : true,
    required,
    needed: required,
    owner,
    columns: Object.freeze(readForeignColumns(holder, link)),
    targetKey: readTargetKey(holder, link),
    beside: readBeside(holder, link),
    discriminator: mapped === undefined ? undefined : findDiscriminator(meta, mapped),
    document: undefined,
    primary: prop.primary === true,
    unique: prop.kind === '1:1',
    holdsKey: prop.mapToPk === true,
    otherSide: findOtherSide(prop, owner ? prop.inversedBy : prop.mappedBy),
    onDelete: owner ? readDeleteRule(prop) : 'refuse',
  } satisfies ToOneAttribute)
}

function readToMany(context: PropertyContext, target: Resource): ToManyAttribute {
  const { meta, prop } = context
  const common = readCommon(context)
  return Object.freeze({
    kind: 'toMany',
    ...common,
    target,
    orphanRemoval: prop.orphanRemoval === true,
    cascadeRemove: cascadesRemove(prop),
    readOnly: common.readOnly || (prop.kind === '1:m' && (target.readOnly || isUnstored(prop))),
    nullable: false,
    required: false,
    needed: false,
    via: prop.kind === '1:m' ? readForeign(meta, prop) : readPivot(meta, prop),
    otherSide: findOtherSide(prop, prop.mappedBy ?? prop.inversedBy),
    where: isEmptyWhere(prop.where) ? undefined : (prop.where as object),
    orderBy: Object.freeze(readOrderBy(prop)),
  } satisfies ToManyAttribute)
}

/** MikroORM does not write a to-one with `persist: false`, nor by its inverse side. */
function isUnstored({ targetMeta, mappedBy }: EntityProperty): boolean {
  return targetMeta!.properties[mappedBy]?.persist === false
}

/** Read-only: a formula, or the newest of a list (`through`). */
function readFormulaLink(context: PropertyContext, target: Resource): ToOneAttribute {
  const { meta, prop } = context
  if (target.key.length !== 1) throw unsupported(meta, prop.name, 'a relation by a formula must be to an entity whose key is one column')
  return Object.freeze({
    kind: 'toOne',
    ...readCommon(context),
    nullable: true,
    readOnly: true,
    target,
    orphanRemoval: false,
    cascadeRemove: false,
    owner: true,
    formula: compileFormula(meta, prop),
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

/** Rejects targets MikroORM cannot link. */
export function findTarget(meta: EntityMetadata, prop: EntityProperty, resources: ResourcesByClass): Resource {
  const target = resources.get(prop.targetMeta!.class)
  if (target === undefined) throw unsupported(meta, prop.name, 'its target is not served')
  const mapped = prop.mappedBy === undefined ? undefined : prop.targetMeta!.properties[prop.mappedBy]
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

function findOtherSide(prop: EntityProperty, other: string | undefined): string | undefined {
  const property = other === undefined ? undefined : prop.targetMeta!.properties[other]
  return property === undefined || isHiddenInverse(property) || isMixedList(property) ? undefined : publicName(property)
}

function readForeign(meta: EntityMetadata, prop: EntityProperty): ToManyAttribute['via'] {
  const mapped = prop.targetMeta!.properties[prop.mappedBy] as EntityProperty
  const holder = prop.targetMeta!
  return {
    kind: 'foreign',
    columns: Object.freeze(readForeignColumns(holder, mapped)),
    attribute: publicName(mapped),
    targetKey: readTargetKey(holder, mapped),
    discriminator: findDiscriminator(meta, mapped),
  }
}

/** Rejects pivot tables MikroORM cannot read or write. */
function readPivot(meta: EntityMetadata, prop: EntityProperty): ToManyAttribute['via'] {
  const pivot = prop.pivotTable
  const inherited = meta.tptParent?.properties[prop.name]
  if (inherited !== undefined && inherited.pivotTable !== pivot) {
    const remedy = `name one for all by pivotTable('${inherited.pivotTable}')`
    const why = `MikroORM gives each class that inherits it a pivot table of its own; ${remedy}`
    throw unsupported(meta, prop.name, why)
  }
  const [ownerKey, targetKey] = [meta, prop.targetMeta!].map(side => side.getPrimaryProps().flatMap(key => key.fieldNames))
  if (prop.joinColumns.length !== ownerKey!.length || prop.inverseJoinColumns.length !== targetKey!.length) {
    throw unsupported(meta, prop.name, 'its pivot table does not hold both primary keys')
  }
  if (meta.getPrimaryProps().some(({ kind, runtimeType }) => kind === 'scalar' && runtimeType === 'Date')) {
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
    mayBeEmpty: prop.targetMeta!.props.some(({ customType }) => customType instanceof DescribedType),
    // Of the declaring class, as in MikroORM.
    discriminator:
      prop.polymorphic === true
        ? Object.freeze({ column: prop.discriminatorColumn as string, value: String(prop.discriminatorValue) })
        : undefined,
    owner: prop.owner,
  }
}

function isEmptyWhere(where: unknown): boolean {
  return where === undefined || where === null || (typeof where === 'object' && Reflect.ownKeys(where).length === 0)
}

function readOrderBy(prop: EntityProperty): { path: string; descending: boolean }[] {
  const declared: unknown = prop.orderBy ?? prop.targetMeta?.orderBy
  const list: unknown[] = declared === undefined ? [] : Array.isArray(declared) ? (declared as unknown[]) : [declared]
  const walk = (value: unknown, target: EntityMetadata | undefined, prefix: string): { path: string; descending: boolean }[] =>
    Object.entries(value as Record<string, unknown>).flatMap(([name, direction]) => {
      const property = target?.properties[name]
      const path = `${prefix}${property === undefined ? name : publicName(property)}`
      return typeof direction === 'object' && direction !== null
        ? walk(direction, property?.targetMeta, `${path}.`)
        : [{ path, descending: /^(desc|-1)/i.test(String(direction)) }]
    })
  return list.flatMap(entry => walk(entry, prop.targetMeta, ''))
}
