/**
 * Compiles a key of ORDER BY, such as a value, a value behind relations, or a count.
 *
 * ```
 * ?sort=author.name,tags.desc
 *
 * order by author.name, (select count(distinct tag_id) from post_tags where post_id = post.id) desc, post.id
 * ```
 */
import type { Origin } from '../../records/database/dialect.ts'
import { findTargetKey, type RelationAttribute, type Resource } from '../../model/model.ts'
import type { SortTerm } from '../../records/plan/read-plan.ts'
import { isOfClass } from './condition.ts'
import type { Reach } from './flavour.ts'
import { FromClause, startList, formatTable, type Tables } from './from-clause.ts'
import { join, sql, text, type Sql } from './sql.ts'

/** @param isOfAll all records are sorted, not a few: one count of a list serves all */
export function sortTerm(term: SortTerm, root: FromClause, isOfAll = false): Sql {
  return sortDirection(term, termValue(term, root, isOfAll), root)
}

export function termValue(term: SortTerm, root: FromClause, isOfAll = false): Sql {
  return term.or === undefined ? sortValue(term, root, isOfAll) : sortValues([term, ...term.or], root, isOfAll)
}

export function sortDirection(term: SortTerm, value: Sql, { tables, resource }: FromClause): Sql {
  return tables.flavour.order(value, term, mayBeNull(term, resource))
}

/** Paths to several entities: at most one leads to a value, except through a list. */
function sortValues(terms: readonly SortTerm[], root: FromClause, isOfAll: boolean): Sql {
  const values = terms.map(term => sortValue(term, root, isOfAll))
  const [{ attribute, descending }] = terms as [SortTerm]
  if (attribute === undefined) return sql`(${join(values, ' + ')})`
  if (!terms.some(({ hops }) => hops.some(({ kind }) => kind === 'toMany'))) return sql`coalesce(${join(values, ', ')})`
  return root.tables.flavour.extremeOfAll(descending ? 'max' : 'min', values)
}

function mayBeNull({ attribute, hops, or }: SortTerm, { attributes }: Resource): boolean {
  if (attribute === undefined) return false
  const isOwn = or === undefined && hops.length === 0 && attributes.includes(attribute)
  return !isOwn || attribute.nullable || attribute.source.kind !== 'column' || attribute.classValues !== undefined
}

export function sortValue(term: SortTerm, root: FromClause, isOfAll: boolean): Sql {
  let scope = root
  const checks: string[] = []
  const check = (value: Sql): Sql =>
    checks.length === 0
      ? value
      : sql`case when ${checks.join(' and ')} then ${value} ${text(term.attribute === undefined ? 'else 0 ' : '')}end`
  for (const [index, hop] of term.hops.entries()) {
    checks.push(...checkClasses(term, index, scope))
    if (hop.kind === 'toMany') {
      const { reach } = scope.tables.flavour
      const isReached = reach !== undefined && isOfAll && comesBack(term, scope)
      return check(isReached ? reachedBy(term, index, scope, reach) : throughList(term, index, scope))
    }
    scope = scope.toOne(hop)
  }
  checks.push(...checkClasses(term, term.hops.length, scope))
  if (term.attribute === undefined) return check(text(scope.tables.flavour.truth(isThere(scope))))
  const { flavour } = scope.tables
  const value = check(flavour.stored(term.attribute, scope))
  return term.attribute.source.kind === 'formula' ? flavour.sortedFormula(value) : value
}

function checkClasses({ classes = [] }: SortTerm, at: number, scope: FromClause): string[] {
  return classes.flatMap(each => (each.at === at ? [isOfClass(each, scope)] : []))
}

/** A key that shares columns with another relation may lack some parts. */
function isThere({ key }: FromClause): string {
  return key.map(column => `${column} is not null`).join(' and ')
}

/** Behind the first list of the path: the least or greatest value, or the number of records. */
function throughList(term: SortTerm, first: number, owner: FromClause): Sql {
  const joins: Sql[] = []
  const relation = term.hops[first]!
  if (relation.kind !== 'toMany') throw new Error('throughList: not a list.')
  const list = startList(relation, owner, owner.tables, joins)
  const { flavour } = owner.tables
  let scope = list.scope
  const checks = checkClasses(term, first + 1, scope)
  for (const [index, hop] of term.hops.entries()) {
    if (index <= first) continue
    scope = scope.joinAny(hop)
    checks.push(...checkClasses(term, index + 1, scope))
  }
  let what: Sql
  if (term.attribute !== undefined) {
    what = flavour.extreme(term.descending ? 'max' : 'min', flavour.stored(term.attribute, scope), term.attribute.type)
  } else if (first === term.hops.length - 1 && relation.via.kind === 'foreign') {
    what = text('count(*)')
  } else {
    const key = scope.key
    what = text(key.length === 1 ? `count(distinct ${key[0]!})` : flavour.countDistinct(key, isThere(scope)))
  }
  return sql`(select ${what} from ${list.from} ${join([...joins, text('')], ' ')}where ${join([list.on, ...checks.map(text)], ' and ')})`
}

/** Kinds of keys that are equal in JavaScript if equal in the database. */
const PLAIN_KEYS: ReadonlySet<string> = new Set(['integer', 'bigint', 'text', 'uuid'])

/** Behind a to-one relation or a list with shared members, many records count the same list: one count serves all. */
function comesBack({ hops, attribute, classes }: SortTerm, { resource }: FromClause): boolean {
  if (attribute !== undefined || classes !== undefined) return false
  const last = hops.findLastIndex(({ kind }) => kind === 'toMany')
  const isShared = hops.slice(0, last).some(hop => hop.kind === 'toOne' || hop.via.kind === 'pivot')
  const isByKey = hops.every(hop => (hop.kind === 'toOne' ? hop.targetKey : findTargetKey(hop)) === undefined)
  const isPlain = [resource, ...hops.map(({ target }) => target)].every(({ key }) =>
    key.every(({ type }) => PLAIN_KEYS.has(type.kind) && type.loose !== true && type.collated !== true && type.codec === undefined),
  )
  return isShared && isByKey && isPlain
}

/** A count behind the first list, for all records at once. */
function reachedBy(term: SortTerm, first: number, owner: FromClause, reach: Reach): Sql {
  let { resource } = owner
  const steps = term.hops.slice(first).map((hop, index) => {
    const step = compileStep(hop, resource, { tables: owner.tables, reach, from: index === 0 ? undefined : owner.origin })
    resource = hop.target
    return step
  })
  return reach.count(reach.key(owner.key, owner.resource), steps)
}

interface SortContext {
  readonly tables: Tables
  readonly reach: Reach
  readonly from: Origin | undefined
}

function compileStep(hop: RelationAttribute, resource: Resource, { tables, reach, from }: SortContext): Sql {
  const joins: Sql[] = []
  const select = (links: readonly string[], reached: FromClause, from: Sql, existing: Sql | undefined): Sql => {
    const what = reach.links(reach.key(links, resource), reach.key(reached.key, hop.target))
    const parts = [sql`select ${what} from ${from}`, ...joins, ...(existing === undefined ? [] : [sql`where ${existing}`])]
    return sql`(${join(parts, ' ')})`
  }
  if (hop.kind === 'toMany') {
    const list = startList(hop, undefined, tables, joins)
    if (from !== undefined) tables.watched?.push({ table: list.scope.origin?.visit.table, from })
    return select(list.links, list.scope, list.from, list.existing)
  }
  tables.watched?.push({ table: resource.source.kind === 'query' ? undefined : resource.table, from })
  const here = new FromClause(resource, tables, tables.next(), joins)
  return select(here.key, here.toOne(hop), sql`${formatTable(resource)} as ${here.alias}`, undefined)
}
