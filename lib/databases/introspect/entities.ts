/** Makes MikroORM entities of tables, with links and lists for foreign keys, and resource names where defaults do not fit. */
import { EntitySchema } from '@mikro-orm/core'
import {
  camelCase,
  camelPlural,
  camelSingular,
  words,
  defaultNames,
  isResourceName,
  type DefaultNames,
} from '../../model/resource-names.ts'
import { RESERVED_CLASSES } from '../../model/reserved-classes.ts'
import { type ResourceDefinition, resource } from '../../model/resource-config.ts'
import { findRelations, type Link, type Pivot, type Relations } from './relations.ts'
import { isWritable, type Column, type ForeignKey, type Table, type TableMapping } from './tables.ts'
import { ENVELOPE_KEYS } from '../../foundation/http/envelope.ts'

export interface DescribedModel {
  readonly entities: readonly EntitySchema[]
  readonly definitions: readonly ResourceDefinition[]
  /** Omissions, a sentence each. */
  readonly notes: readonly string[]
}

type Properties = Record<string, object>

/** Such properties would hide members of objects, or look like promises (`then`). */
const OBJECT_MEMBERS = new Set([...Object.getOwnPropertyNames(Object.prototype), 'toJSON', 'then'])

class EntityDraft {
  readonly table: Table
  readonly mapping: TableMapping
  readonly properties: Properties = {}
  readonly #names = new Set<string>()
  readonly byColumn = new Map<string, string>()
  schema: EntitySchema | undefined

  constructor(table: Table, mapping: TableMapping) {
    this.table = table
    this.mapping = mapping
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** The first free name, else the last with a number. */
  take(...names: readonly string[]): string {
    let name = names.find(each => each !== '' && !this.#names.has(each))
    for (let number = 2; name === undefined; number++) {
      const last = names.at(-1) === '' ? 'column' : names.at(-1)!
      const numbered = number === 2 && names.at(-1) === '' ? last : `${last}${number}`
      if (!this.#names.has(numbered)) name = numbered
    }
    this.#names.add(name)
    return name
  }

  add(name: string, property: object): void {
    const propertyName = formatPropertyName(name)
    this.properties[propertyName] = propertyName === name ? property : { ...property, serializedName: name }
  }
}

function formatPropertyName(name: string): string {
  if (OBJECT_MEMBERS.has(name)) return `${name}_`
  return /^\d/.test(name) ? `_${name}` : name
}

export function buildEntities<T extends Table>(tables: readonly T[], map: (table: T) => TableMapping): DescribedModel {
  const drafts = new Map(tables.map(table => [table.id, new EntityDraft(table, map(table))]))
  const hasIds = ({ id }: Table): boolean => drafts.get(id)!.mapping.key !== undefined
  const keyless = tables.filter(table => !hasIds(table))
  const takesUnique = ({ id }: Table, foreignKey: ForeignKey, target: Table): boolean =>
    drafts.get(id)!.mapping.takesUnique?.(foreignKey, target) === true
  const relations = findRelations(tables.filter(hasIds), keyless, takesUnique)
  const pivots = new Set(relations.pivots.map(({ table }) => table.id))
  const entities = [...drafts.values()].filter(({ table }) => !pivots.has(table.id))
  for (const draft of entities) addColumns(draft, relations, drafts)
  addLists(relations, drafts)
  const classNames = new Set<string>()
  for (const draft of entities) draft.schema = buildSchema(draft, classNames)
  const notes = [...noteKeyless(relations, drafts), ...notePlain(tables, keyless, relations)]
  return { entities: entities.map(({ schema }) => schema!), definitions: buildDefinitions(entities), notes }
}

function noteKeyless({ links }: Relations, drafts: ReadonlyMap<string, EntityDraft>): string[] {
  const groups = Map.groupBy(
    links.filter(({ listed }) => !listed),
    ({ table }) => table,
  )
  return [...groups].map(([table, hidden]) => {
    const why = table.key.length === 0 ? 'it has no key' : `its key (${table.key.join(', ')}) cannot be an ID`
    const names = hidden.map(({ foreignKey }) => `"${drafts.get(table.id)!.byColumn.get(foreignKey.columns[0]!)}"`)
    const targets = [...new Set(hidden.map(({ target }) => target.id))]
    return (
      `${table.id}: its rows have no IDs, since ${why}. Its own list shows ${names.join(', ')} and is filtered by ` +
      `${hidden.length > 1 ? 'them' : 'it'}; records of ${targets.join(', ')} have no list of its rows.`
    )
  })
}

function notePlain(tables: readonly Table[], keyless: readonly Table[], { links }: Relations): string[] {
  const withoutIds = new Set(keyless.map(({ id }) => id))
  return tables.flatMap(table => {
    const taken = new Set(links.filter(link => link.table === table).flatMap(({ foreignKey }) => foreignKey.columns))
    const plain = table.foreignKeys.filter(({ target, columns }) => withoutIds.has(target) && !columns.some(column => taken.has(column)))
    return plain.map(({ columns, target }) => {
      const place = columns.map(column => `${table.id}.${column}`).join(', ')
      return `${place}: the values are shown, and no relation, since the rows of ${target} have no IDs.`
    })
  })
}

function addColumns(draft: EntityDraft, { links }: Relations, drafts: ReadonlyMap<string, EntityDraft>): void {
  const { table } = draft
  const tableLinks = links.filter(link => link.table === table)
  const linked = new Map(tableLinks.flatMap(link => link.foreignKey.columns.map(column => [column, link] as const)))
  // Plain columns take names first: links give way.
  const names = new Map<Column | Link, string>()
  for (const column of table.columns) if (!linked.has(column.name)) names.set(column, draft.take(camelCase(column.name)))
  for (const link of tableLinks) names.set(link, draft.take(...suggestLinkNames(link.foreignKey, link.referred)))
  for (const column of table.columns) {
    const link = linked.get(column.name)
    if (link === undefined) {
      const name = names.get(column)!
      draft.byColumn.set(column.name, name)
      draft.add(name, draft.mapping.describe(column))
    } else if (link.foreignKey.columns.find(first => table.columns.some(({ name }) => name === first)) === column.name) {
      const name = names.get(link)!
      for (const each of link.foreignKey.columns) draft.byColumn.set(each, name)
      draft.add(name, buildLinkProperty(link, drafts))
    }
  }
  const { key, order } = draft.mapping
  if (key === undefined && order !== undefined) draft.properties[draft.take(...order.names)] = order.property
}

function buildLinkProperty(link: Link, drafts: ReadonlyMap<string, EntityDraft>): object {
  const { table, foreignKey, target, unique, primary, referred } = link
  const columns = table.columns.filter(({ name }) => foreignKey.columns.includes(name))
  return {
    kind: unique ? '1:1' : 'm:1',
    entity: () => drafts.get(target.id)!.schema,
    ...(unique ? { owner: true } : {}),
    joinColumns: foreignKey.columns,
    referencedColumnNames: foreignKey.targets,
    deleteRule: foreignKey.onDelete,
    updateRule: (referred === undefined ? undefined : foreignKey.onUpdate) ?? 'no action',
    ...(primary ? { primary: true } : {}),
    ...(primary || columns.every(({ notNull }) => notNull) ? {} : { nullable: true }),
    ...(columns.every(({ defaultSql }) => defaultSql !== undefined) ? { defaultRaw: columns[0]!.defaultSql } : {}),
  }
}

/**
 * Best first: `author_id` gives `author`; `user_name`, which refers to `name`, gives `user`; several columns give their first common words.
 */
function suggestLinkNames({ columns, table }: ForeignKey, referred?: string): string[] {
  const [column = ''] = columns
  const target = camelSingular(table)
  if (referred !== undefined) {
    const [columnWords, end] = [words(column), words(referred)]
    const isNamed = columnWords.length > end.length && columnWords.slice(-end.length).join() === end.join()
    return isNamed ? [camelCase(columnWords.slice(0, -end.length).join('_')), camelCase(column)] : [camelCase(column)]
  }
  if (columns.length === 1) {
    const columnWords = words(column)
    if (columnWords.length > 1 && columnWords.at(-1) === 'id') return [camelCase(columnWords.slice(0, -1).join('_')), camelCase(column)]
    const bare = columnWords.length === 1 && columnWords[0]!.endsWith('id') ? columnWords[0]!.slice(0, -2) : undefined
    if (bare === '' || (bare !== undefined && [camelCase(table), target, camelPlural(table)].some(name => name.toLowerCase() === bare))) {
      return [target, camelCase(column)]
    }
    return [camelCase(column)]
  }
  const [first = [], ...others] = columns.map(words)
  let length = 0
  while (length < first.length - 1 && others.every(other => other.length > length + 1 && other[length] === first[length])) length++
  return [camelCase(first.slice(0, length).join('_')), target, `${target}Link`]
}

function toPascalCase(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function addLists({ links, pivots }: Relations, drafts: ReadonlyMap<string, EntityDraft>): void {
  const findDraft = (table: Table): EntityDraft => drafts.get(table.id)!
  for (const link of links) {
    const { table, target, unique } = link
    const owner = findDraft(target)
    const attribute = findDraft(table).byColumn.get(link.foreignKey.columns[0]!)!
    const property = findDraft(table).properties[formatPropertyName(attribute)]!
    if (link.referred !== undefined) Object.assign(property, { targetKey: formatPropertyName(owner.byColumn.get(link.referred)!) })
    if (!link.listed) continue
    const plain = unique ? camelSingular(table.name) : formatListName(table.name)
    const several = links.filter(other => other.table === table && other.target === target).length > 1
    const long = `${plain}As${toPascalCase(attribute)}`
    const name = owner.take(...(several ? [long] : [plain, long]))
    owner.add(name, { kind: unique ? '1:1' : '1:m', entity: () => findDraft(table).schema, mappedBy: formatPropertyName(attribute) })
    Object.assign(property, { inversedBy: formatPropertyName(name) })
  }
  for (const pivot of pivots) addPivot(pivot, pivots, findDraft)
}

function addPivot(pivot: Pivot, pivots: readonly Pivot[], draftOf: (table: Table) => EntityDraft): void {
  const [left, right] = pivot.links
  const isSelf = left.target === right.target
  const several = pivots.some(
    other =>
      other !== pivot && other.links.every(({ target }) => target === left.target || target === right.target) && sameTargets(other, pivot),
  )
  const nameList = (owner: EntityDraft, link: Link): string => {
    const plain = isSelf ? camelPlural(suggestLinkNames(link.foreignKey)[0]!) : formatListName(link.target.name)
    const long = `${plain}Via${toPascalCase(camelCase(pivot.table.name))}`
    return owner.take(...(several ? [long] : [plain, long]))
  }
  const [a, b] = [draftOf(left.target), draftOf(right.target)]
  // A list is named after the other table; within a table, after the column.
  const there = nameList(a, right)
  const back = nameList(b, left)
  a.add(there, {
    kind: 'm:n',
    entity: () => b.schema,
    owner: true,
    pivotTable: pivot.table.schema === undefined ? pivot.table.name : `${pivot.table.schema}.${pivot.table.name}`,
    joinColumns: orderByKey(left, a),
    inverseJoinColumns: orderByKey(right, b),
    inversedBy: formatPropertyName(back),
  })
  b.add(back, { kind: 'm:n', entity: () => a.schema, mappedBy: formatPropertyName(there) })
}

function sameTargets(a: Pivot, b: Pivot): boolean {
  const names = ({ links }: Pivot): string =>
    links
      .map(({ target }) => target.id)
      .toSorted()
      .join('\0')
  return names(a) === names(b)
}

function orderByKey({ foreignKey }: Link, { mapping }: EntityDraft): string[] {
  return mapping.key!.map(column => foreignKey.columns[foreignKey.targets.indexOf(column)]!)
}

function buildSchema(draft: EntityDraft, classNames: Set<string>): EntitySchema {
  const { table, mapping, properties } = draft
  // The name becomes part of generated code, without line breaks.
  const plain = toPascalCase(camelSingular(table.name)).replaceAll(/[^\p{L}\p{M}\p{N}_]/gu, '')
  const spelt = /^\p{L}/u.test(plain) ? plain : `Table${plain}`
  const stem = RESERVED_CLASSES.has(spelt) ? `${spelt}Entity` : spelt
  let name = stem
  for (let number = 2; classNames.has(name); number++) name = `${stem}${number}`
  classNames.add(name)
  const uniques = table.uniques.flatMap(columns => {
    const names = [...new Set(columns.map(column => formatPropertyName(draft.byColumn.get(column)!)))]
    const covered = names.flatMap(each => {
      const { joinColumns } = properties[each] as { joinColumns?: readonly string[] }
      return joinColumns ?? [(properties[each] as { fieldName: string }).fieldName]
    })
    // With a part of a composite link, only the database checks the set.
    return names.length > 1 && covered.length === columns.length ? [{ properties: names }] : []
  })
  return new EntitySchema({
    name,
    ...nameTable(table, name),
    properties,
    uniques,
    ...(mapping.key === undefined ? { expression: mapping.query } : {}),
  } as never)
}

/** A table whose name MikroORM cannot write is read-only: any unique name does. */
function nameTable(table: Table, className: string): object {
  const { id, name, schema, readOnly } = table
  if (!isWritable({ ...table, readOnly: false })) return { tableName: `(${className})`, comment: id, readonly: true }
  return { tableName: name, ...(schema === undefined ? {} : { schema }), ...(readOnly === true ? { readonly: true } : {}) }
}

interface NamedEntity {
  readonly table: { readonly name: string }
  readonly schema: EntitySchema | undefined
}

/** Without an English plural: the last word ends with a digit, or is not ASCII. */
function isOdd(name: string): boolean {
  return /\d$|[^\0-\x7f]/.test(words(name).at(-1) ?? '')
}

function formatListName(table: string): string {
  return isOdd(table) ? camelCase(table) : camelPlural(table)
}

function findNames(table: string): DefaultNames {
  if (!isOdd(table)) return defaultNames(table)
  const parts = words(table)
  return {
    plural: parts.join('_'),
    singular: parts.join('_'),
    accepted: [...new Set([parts.join('_'), parts.join('-'), camelCase(table)])],
  }
}

/** Names a resource where the default name is not the table's, or is taken, invalid or a member of envelopes. */
function buildDefinitions(drafts: readonly NamedEntity[]): ResourceDefinition[] {
  const taken = new Set<string>()
  // The table `users` takes a name before a table `user`.
  const isExact = ({ table }: NamedEntity): boolean => findNames(table.name).plural === table.name.toLowerCase()
  return [...drafts.filter(isExact), ...drafts.filter(draft => !isExact(draft))].flatMap(({ table, schema }) => {
    const entity = schema!
    const standard = defaultNames(entity.meta.className)
    const wanted = findNames(table.name)
    const isFree = (names: readonly string[]): boolean =>
      names.every(name => isResourceName(name) && !ENVELOPE_KEYS.has(name) && !taken.has(name))
    if (isFree(wanted.accepted) && wanted.plural === standard.plural && wanted.singular === standard.singular) {
      for (const name of wanted.accepted) taken.add(name)
      return []
    }
    const stem = isResourceName(wanted.singular) ? wanted.singular : 'table'
    const candidates = function* (): Generator<[string, string]> {
      if (isResourceName(wanted.plural)) yield [wanted.plural, wanted.singular]
      yield [`${stem}_records`, `${stem}_record`]
      for (let number = 2; ; number++) yield [`${isResourceName(wanted.plural) ? wanted.plural : 'tables'}_${number}`, `${stem}_${number}`]
    }
    for (const names of candidates()) {
      if (!isFree(names)) continue
      for (const name of names) taken.add(name)
      return [resource(entity, { name: names[0], singular: names[1] })]
    }
    return []
  })
}
