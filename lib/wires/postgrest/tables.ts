/** Finds tables, columns and embeddable relations by names of the database, as in `select=author_id,users(name)`. */
import type { WireApi, WireAttribute, WireResource } from '../../foundation/base/wire.ts'
import { Failure } from './failure.ts'

export interface TableRelation {
  readonly owner: WireResource
  readonly target: WireResource
  readonly isMany: boolean
  /** Undefined: only the target names the owner. */
  readonly attribute: WireAttribute | undefined
  /** The target's foreign key to the owner. */
  readonly back: WireAttribute | undefined
}

/** A JSON file's collections also have names there. */
export function findTable(api: WireApi, name: string): WireResource {
  const found = api.resources.find(({ table }) => table === name) ?? api.resources.find(resource => resource.name === name)
  if (found !== undefined) return found
  throw new Failure(404, 'PGRST205', `Could not find the table 'public.${name}' in the schema cache`)
}

/** Computed values, too. */
export function isColumn({ kind, column }: WireAttribute): boolean {
  return kind === 'scalar' || kind === 'embedded' || kind === 'toOneOf' || column !== undefined
}

/** Computed values are not in `*`. */
export function isStored(attribute: WireAttribute): boolean {
  return attribute.column !== undefined || attribute.kind === 'embedded' || attribute.kind === 'toOneOf'
}

export function columnOf({ column, name }: WireAttribute): string {
  return column ?? name
}

/** A link's ID may have a name of its own. */
export function shownAs({ ids, name }: WireAttribute): string {
  return ids ?? name
}

export function findColumn(resource: WireResource, name: string): WireAttribute | undefined {
  return resource.attributes.find(attribute => isColumn(attribute) && columnOf(attribute) === name)
}

export function needColumn(resource: WireResource, name: string): WireAttribute {
  const found = findColumn(resource, name)
  if (found === undefined) throw new Failure(400, '42703', `column ${resource.table}.${name} does not exist`)
  return found
}

/** A foreign key has the type of the target's key. */
export function typeOf(api: WireApi, attribute: WireAttribute): string | undefined {
  if (attribute.kind === 'scalar') return attribute.type
  if (attribute.kind === 'embedded') return 'json'
  const target = api.resources.find(({ name }) => name === attribute.target)
  const key = target?.attributes.find(({ name }) => name === target.key[0])
  return key === undefined || key === attribute || key.kind !== 'scalar' ? undefined : key.type
}

function listRelations(api: WireApi, owner: WireResource): TableRelation[] {
  const relations: TableRelation[] = []
  for (const attribute of owner.attributes) {
    const target = api.resources.find(({ name }) => name === attribute.target)
    if (target === undefined || (attribute.kind !== 'toOne' && attribute.kind !== 'toMany')) continue
    const other = target.attributes.find(({ name }) => name === attribute.inverse)
    const isMany = attribute.kind === 'toMany'
    relations.push({ owner, target, isMany, attribute, back: isMany && other?.kind === 'toOne' ? other : undefined })
  }
  for (const target of api.resources) {
    for (const back of target.attributes) {
      const isKnown = relations.some(known => known.target === target && (known.back === back || known.attribute?.inverse === back.name))
      if (back.kind === 'toOne' && back.column !== undefined && back.target === owner.name && !isKnown)
        relations.push({ owner, target, isMany: true, attribute: undefined, back })
    }
  }
  return relations
}

/** For `name!hint`. */
function hintsOf({ owner, target, attribute, back }: TableRelation): string[] {
  const ownColumns = attribute?.column === undefined ? [] : [attribute.column, `${owner.table}_${attribute.column}_fkey`]
  const otherColumns = back?.column === undefined ? [] : [back.column, `${target.table}_${back.column}_fkey`]
  return [
    ...ownColumns,
    ...otherColumns,
    ...(attribute === undefined ? [] : [attribute.name]),
    ...(attribute?.through === undefined ? [] : [attribute.through]),
  ]
}

function isCalled(api: WireApi, { table, name }: WireResource, wanted: string): boolean {
  return table === wanted || (name === wanted && api.resources.every(other => other.table !== wanted))
}

/** @throws Failure for none or several */
export function findRelation(api: WireApi, owner: WireResource, name: string, hint: string | undefined): TableRelation {
  const related = listRelations(api, owner).filter(relation => {
    const names = hintsOf(relation)
    return (
      (isCalled(api, relation.target, name) || names.includes(name)) &&
      (hint === undefined || names.includes(hint) || isCalled(api, relation.target, hint))
    )
  })
  const found = related.filter(({ attribute }) => hint === undefined && attribute !== undefined && attribute.column === name)
  const candidates = preferChildren(found.length > 0 ? found : related)
  if (candidates.length === 1) return candidates[0]!
  if (candidates.length > 1) throw ambiguous(owner, name, candidates)
  const using = hint === undefined ? '' : ` using the hint '${hint}'`
  throw new Failure(400, 'PGRST200', `Could not find a relationship between '${owner.table}' and '${name}' in the schema cache`, {
    details:
      `Searched for a foreign key relationship between '${owner.table}' and '${name}'${using} in the schema 'public', ` +
      'but no matches were found.',
  })
}

/** For a table with a link to itself, the table's name means the rows below, the column's name the row above. */
function preferChildren(related: readonly TableRelation[]): readonly TableRelation[] {
  const [one, other, ...others] = related
  if (one === undefined || other === undefined || others.length > 0 || one.owner !== one.target || one.isMany === other.isMany)
    return related
  const [above, below] = one.isMany ? [other, one] : [one, other]
  return above.attribute !== undefined && above.attribute === below.back ? [below] : related
}

/** `posts_author_id_fkey using posts(author_id) and users(id)` */
function describeRelation(relation: TableRelation): string | undefined {
  const { owner, target, attribute, back } = relation
  const [first, second] = hintsOf(relation)
  const column = attribute?.column ?? back?.column
  if (column === undefined) return second ?? first
  const keyOfTable = ({ table, key, attributes }: WireResource): string =>
    `${table}(${key.map(name => columnOf(attributes.find(each => each.name === name)!)).join(', ')})`
  return attribute?.column === undefined
    ? `${second ?? first} using ${keyOfTable(owner)} and ${target.table}(${column})`
    : `${second ?? first} using ${owner.table}(${column}) and ${keyOfTable(target)}`
}

function ambiguous(owner: WireResource, name: string, relations: readonly TableRelation[]): Failure {
  const described = relations.map(relation => ({
    cardinality: relation.attribute?.kind === 'toOne' ? 'many-to-one' : relation.back === undefined ? 'many-to-many' : 'one-to-many',
    embedding: `${owner.table} with ${relation.target.table}`,
    relationship: describeRelation(relation),
  }))
  const choices = relations.map(relation => `'${name}!${hintsOf(relation)[1] ?? hintsOf(relation)[0]}'`).join(', ')
  return new Failure(300, 'PGRST201', `Could not embed because more than one relationship was found for '${owner.table}' and '${name}'`, {
    details: described,
    hint: `Try changing '${name}' to one of the following: ${choices}. Find the desired relationship in the 'details' key.`,
  })
}
