/**
 * Reads the resource option `marks`, as in `{ favorite: { list: 'favoritedBy', shown: 'favorited' } }`. Rejects, with TypeError, other
 * lists than many-to-many lists of users.
 */
import { isObject } from '../../foundation/json/json.ts'
import { checkNames, formatHint, findNearest } from '../../foundation/base/suggest.ts'
import type { HookContext } from '../hook-context.ts'
import { keyFromText } from '../key.ts'
import { findHierarchyRoot } from '../model.ts'
import type { Attribute, ResourceMark, Resource, ScalarAttribute, ToManyAttribute } from '../model.ts'
import type { MarkOption, UntypedConfig } from '../resource-config.ts'
import { isResourceName } from '../resource-names.ts'

interface ReadMarks {
  readonly marks: ReadonlyMap<string, ResourceMark>
  /** Attributes such as `favorited`: whether the caller has set the mark. */
  readonly shown: readonly ScalarAttribute[]
}

/** @param users the entity that logs in */
export function readMarks(resource: Resource, { marks = {} }: UntypedConfig, users: object | undefined): ReadMarks {
  const where = `resource(${resource.className}): marks`
  const read = new Map<string, ResourceMark>()
  const shown: ScalarAttribute[] = []
  if (!isObject(marks)) throw new TypeError(`${where} must be an object: { favorite: 'favoritedBy' }.`)
  for (const [name, given] of Object.entries<unknown>(marks)) {
    const { list: property, shown: as } = readOption(name, given, where)
    if (users === undefined)
      throw new TypeError(`${where}: a mark is that of the user who asks, and nobody logs in: the option "auth" is missing.`)
    for (const wanted of as === undefined ? [name] : [name, as])
      if (resource.attributes.some(attribute => attribute.name === wanted) || shown.some(attribute => attribute.name === wanted))
        throw new TypeError(`${where}: "${wanted}" is an attribute already.`)
    const attribute = findList(resource, property, `${where}.${name}`, users)
    read.set(name, { name, list: attribute })
    if (as !== undefined) shown.push(showMark(as, attribute, resource))
  }
  return { marks: read, shown }
}

function readOption(name: string, given: unknown, where: string): MarkOption<string> {
  if (!isResourceName(name)) throw new TypeError(`${where}: "${name}" must be a path segment such as "favorite".`)
  if (typeof given === 'string') return { list: given }
  if (!isObject(given)) throw new TypeError(`${where}.${name} must be the name of a list, or { list, shown }.`)
  checkNames(given, ['list', 'shown'], `${where}.${name}`)
  const { list, shown } = given
  if (typeof list !== 'string') throw new TypeError(`${where}.${name}: "list" must be the name of a list of users.`)
  if (shown === undefined) return { list }
  if (typeof shown !== 'string' || shown === '') throw new TypeError(`${where}.${name}: "shown" must be the name of an attribute.`)
  return { list, shown }
}

function findList({ attributes }: Resource, property: string, where: string, users: object): ToManyAttribute {
  const isList = (attribute: Attribute): attribute is ToManyAttribute =>
    attribute.kind === 'toMany' && attribute.via.kind === 'pivot' && findHierarchyRoot(attribute.target).entity === users
  const found = attributes.find(attribute => attribute.property === property)
  if (found !== undefined && isList(found)) return found
  const lists = attributes.filter(isList).map(attribute => attribute.property)
  const which = lists.length === 0 ? 'there is none' : `those are ${lists.join(', ')}`
  throw new TypeError(
    `${where}: "${property}" is no many-to-many list of the users who log in; ${which}.${formatHint(findNearest(property, lists))}`,
  )
}

/** An alias used nowhere else. */
const LINKS = 'mark'

function showMark(name: string, { via, target }: ToManyAttribute, { key }: Resource): ScalarAttribute {
  if (via.kind !== 'pivot') throw new Error('showMark: no pivot table.')
  const { table, ownerColumns, targetColumns, discriminator } = via
  const parts = targetColumns.map(
    (_, index) =>
      ({ claims }: HookContext): unknown =>
        claims === undefined ? null : (keyFromText(claims.sub, target)?.[index] ?? null),
  )
  const sql = (alias: string, quote: (identifier: string) => string) => {
    const at = (column: string): string => `${quote(LINKS)}.${quote(column)}`
    const conditions = [
      ...ownerColumns.map((column, index) => `${at(column)} = ${alias}.${quote(key[index]!.column)}`),
      ...targetColumns.map(column => `${at(column)} = ?`),
      ...(discriminator === undefined ? [] : [`${at(discriminator.column)} = ?`]),
    ]
    const from = table.split('.').map(quote).join('.')
    return {
      sql: `exists (select 1 from ${from} as ${quote(LINKS)} where ${conditions.join(' and ')})`,
      values: [...parts, ...(discriminator === undefined ? [] : [discriminator.value])],
    }
  }
  return Object.freeze({
    kind: 'scalar',
    name,
    property: name,
    nullable: false,
    hidden: false,
    readOnly: true,
    required: false,
    needed: false,
    filterable: true,
    sortable: true,
    flag: undefined,
    render: undefined,
    type: Object.freeze({ kind: 'boolean' }),
    source: Object.freeze({ kind: 'formula', sql, asksCaller: () => true }),
    primary: false,
    version: false,
  } satisfies ScalarAttribute)
}
