/**
 * Reads the resource option `key`, another attribute, such as `slug`, as the ID for clients. Rejects attributes unfit for IDs, and links
 * still showing the primary key.
 */
import { withArticle } from '../../foundation/base/article.ts'
import { findNearest, formatHint } from '../../foundation/base/suggest.ts'
import { KEY_KINDS } from './foreign-key.ts'
import { isRelation, type Attribute, type Resource, type ScalarAttribute, type TargetKey } from '../model.ts'

type KeyedResource = Pick<Resource, 'attributes' | 'byName' | 'className' | 'hierarchy' | 'key' | 'keyNames' | 'uniques'>

/**
 * Undefined: clients see the primary key.
 *
 * @throws TypeError for an unsuitable property
 */
export function readShownKey(option: unknown, resource: KeyedResource): TargetKey | undefined {
  if (option === undefined) return undefined
  const where = `resource(${resource.className}): "key"`
  const { attributes, keyNames, byName, key, hierarchy } = resource
  if (typeof option !== 'string') throw new TypeError(`${where} must be the name of a property.`)
  const attribute = attributes.find(({ property }) => property === option)
  if (attribute === undefined) {
    const properties = attributes.map(({ property }) => property)
    throw new TypeError(`${where}: there is no property "${option}".${formatHint(findNearest(option, properties))}`)
  }
  if (keyNames.length === 1 && keyNames[0] === attribute.name) return undefined
  const why = findFault(attribute, resource)
  if (why !== undefined) throw new TypeError(`${where}: "${option}" ${why}.`)
  if (key.length !== 1 || byName.get(keyNames[0]!)?.kind !== 'scalar')
    throw new TypeError(`${where}: the primary key must be one plain property: its records are linked by ${keyNames.join(' and ')}.`)
  if (hierarchy !== undefined)
    throw new TypeError(`${where}: an entity that inherits from another, or is inherited from, keeps its primary key.`)
  const { name, property, source, type } = attribute as ScalarAttribute & { source: { kind: 'column' } }
  return Object.freeze({ name, property, part: Object.freeze({ column: source.column, type }) })
}

/** Ends a sentence: `is not unique`. */
function findFault(attribute: Attribute, { uniques }: KeyedResource): string | undefined {
  if (attribute.kind !== 'scalar' || attribute.source.kind !== 'column') return 'is no plain value of the record itself'
  const { kind, codec } = attribute.type
  if (!KEY_KINDS.has(kind) || codec !== undefined) return `cannot be a key: it is ${withArticle(kind)}`
  if (attribute.hidden) return 'is private or hidden: clients could not see it'
  if (attribute.render !== undefined) return 'is rendered: clients would see another value than the stored one'
  if (attribute.nullable) return 'can be null: each record needs a key'
  if (!uniques.some(names => names.length === 1 && names[0] === attribute.name)) return 'is not unique: declare it so (unique: true)'
  return undefined
}

/** @throws TypeError for links that show the primary key */
export function checkShownKeys(resources: readonly Resource[]): void {
  for (const { className, attributes } of resources) for (const attribute of attributes) checkCreating(attribute, className)
  const keyed = resources.filter(({ shownKey }) => shownKey !== undefined)
  for (const resource of keyed) {
    const where = `resource(${resource.className}): "key"`
    for (const { resource: holder, attribute, path } of resource.referrers) {
      const link = `"${path}" of ${holder.className}`
      if (attribute.primary) throw new TypeError(`${where}: ${link} is part of a primary key, in which the primary key is shown.`)
      if (attribute.discriminator !== undefined) throw new TypeError(`${where}: ${link} links one of several entities (polymorphic).`)
    }
    for (const holder of resources) {
      const shows = holder.attributes.find(attribute => showsKey(attribute, resource))
      if (shows !== undefined) throw new TypeError(`${where}: "${shows.name}" of ${holder.className} shows the primary key.`)
    }
  }
}

/** `create` makes records from a `key` alone. */
function checkCreating(attribute: Attribute, className: string): void {
  if (attribute.kind !== 'toMany' || attribute.creates !== true || attribute.target.shownKey !== undefined) return
  const { className: name } = attribute.target
  throw new TypeError(
    `resource(${className}): attributes.${attribute.property}: ` +
      `"create" makes records by their key, and ${name} has none: resource(${name}, { key: ... }).`,
  )
}

/** Whether the attribute shows primary keys as values. */
function showsKey(attribute: Attribute, resource: Resource): boolean {
  if (attribute.kind === 'embedded') return attribute.attributes.some(inner => showsKey(inner, resource))
  if (attribute.kind === 'scalar') return attribute.links?.entity === resource.entity
  return isRelation(attribute) && attribute.ids !== undefined && attribute.target === resource
}
