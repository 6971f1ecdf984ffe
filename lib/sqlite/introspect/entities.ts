/**
 * Makes MikroORM entities of an introspected file, and resource names where the defaults do not fit. Names are those of the file in the
 * API's spelling. Equal names are distinguished by a rule, and in the end by a number.
 */
import { EntitySchema } from '@mikro-orm/core'
import type Database from 'better-sqlite3'
import { FileType } from './file-type.ts'
import { camelCase, camelPlural, camelSingular, defaultNames, isResourceName, words } from '../../model/resource-names.ts'
import type { ResourceNames } from '../../model/resource-names.ts'
import { ENVELOPE_KEYS } from '../../base/envelope.ts'
import { resource } from '../../model/resource-config.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'
import type { ScalarType } from '../../values/scalar-type.ts'
import { ColumnTypes } from './column-type.ts'
import type { Column, ForeignKey, Introspection, Table } from './introspect.ts'
import { isWritable, findRelations } from './relations.ts'
import type { Link, Pivot, Relations } from './relations.ts'
import { name as quoted } from '../../sql/sql.ts'

/** The model of a file. */
export interface FileModel {
  readonly entities: readonly EntitySchema[]
  readonly definitions: readonly ResourceDefinition[]
  /** Omissions, a sentence each. */
  readonly notes: readonly string[]
}

type Properties = Record<string, object>

/** Property names that would hide members of every object. */
const OF_OBJECTS = new Set([...Object.getOwnPropertyNames(Object.prototype), 'toJSON', 'then'])

/** The draft of an entity. */
class EntityDraft {
  readonly table: Table
  /** The types of the key's columns. Undefined when the records have no IDs. */
  readonly keyTypes: ReadonlyMap<string, ScalarType> | undefined
  readonly types: ColumnTypes
  readonly properties: Properties = {}
  readonly #names = new Set<string>()
  /** Names of attributes by column. */
  readonly byColumn = new Map<string, string>()
  schema: EntitySchema | undefined

  constructor(table: Table, db: Database.Database) {
    this.table = table
    this.types = new ColumnTypes(db, table)
    this.keyTypes = findKeyTypes(table, this.types)
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** Takes the first free name, or else the last one with a number. */
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
    const own = formatPropertyName(name)
    this.properties[own] = own === name ? property : { ...property, serializedName: name }
  }
}

/** Formats the name of a property for an attribute, so that code can use it. */
function formatPropertyName(name: string): string {
  if (OF_OBJECTS.has(name)) return `${name}_`
  return /^\d/.test(name) ? `_${name}` : name
}

function findKeyTypes(table: Table, types: ColumnTypes): ReadonlyMap<string, ScalarType> | undefined {
  if (table.kind !== 'table' || table.key.length === 0) return undefined
  const found = new Map<string, ScalarType>()
  for (const column of table.columns) {
    if (!table.key.includes(column.name)) continue
    const type = types.ofKey(column)
    if (type === undefined) return undefined
    found.set(column.name, type)
  }
  return found
}

export function buildEntities({ tables, broken }: Introspection, db: Database.Database): FileModel {
  const drafts = new Map(tables.map(table => [table.name, new EntityDraft(table, db)]))
  const keyed = [...drafts.values()].filter(({ keyTypes }) => keyTypes !== undefined).map(({ table }) => table)
  const relations = findRelations(keyed)
  const pivots = new Set(relations.pivots.map(({ table }) => table.name))
  const entities = [...drafts.values()].filter(({ table }) => !pivots.has(table.name))
  for (const draft of entities) addColumns(draft, relations, drafts)
  addLists(relations, drafts)
  const classNames = new Set<string>()
  for (const draft of entities) draft.schema = buildSchema(draft, classNames)
  return {
    entities: entities.map(({ schema }) => schema!),
    definitions: buildDefinitions(entities),
    notes: [...broken].map(([name, reason]) => `${name}: it is left out, since SQLite cannot read it: ${reason}.`),
  }
}

/** Adds the columns and links of the table itself, in the order of its columns. */
function addColumns(draft: EntityDraft, { links }: Relations, drafts: ReadonlyMap<string, EntityDraft>): void {
  const { table } = draft
  const own = links.filter(link => link.table === table)
  const linked = new Map(own.flatMap(link => link.foreignKey.columns.map(column => [column, link] as const)))
  // Plain columns take their names first, so that links give way.
  const names = new Map<Column | Link, string>()
  for (const column of table.columns) if (!linked.has(column.name)) names.set(column, draft.take(camelCase(column.name)))
  for (const link of own) names.set(link, draft.take(...suggestLinkNames(link.foreignKey)))
  for (const column of table.columns) {
    const link = linked.get(column.name)
    if (link === undefined) {
      const name = names.get(column)!
      draft.byColumn.set(column.name, name)
      draft.add(name, buildPlainProperty(column, draft))
    } else if (link.foreignKey.columns.find(first => table.columns.some(({ name }) => name === first)) === column.name) {
      const name = names.get(link)!
      for (const each of link.foreignKey.columns) draft.byColumn.set(each, name)
      draft.add(name, buildLinkProperty(link, drafts))
    }
  }
  if (draft.keyTypes === undefined && table.rowid !== undefined) {
    draft.properties[draft.take('rowid', 'rowid_')] = {
      type: new FileType({ kind: 'integer', loose: true }, true),
      fieldName: table.rowid,
      hidden: true,
      persist: false,
    }
  }
}

function buildPlainProperty(column: Column, { table, keyTypes, types }: EntityDraft): object {
  const primary = keyTypes?.get(column.name)
  const isRowid = primary !== undefined && table.rowidKey
  return {
    type: new FileType(primary ?? types.of(column)),
    // MikroORM must not check the values of the file.
    runtimeType: 'unknown',
    fieldName: column.name,
    ...(primary === undefined ? {} : { primary: true }),
    ...(isRowid && isWritable(table) ? { autoincrement: true } : {}),
    ...(column.notNull || primary !== undefined ? {} : { nullable: true }),
    ...(column.defaultSql === undefined || primary !== undefined ? {} : { defaultRaw: parseDefault(column.defaultSql) }),
    ...(column.generated ? { generated: column.name } : {}),
    ...(table.uniques.some(set => set.length === 1 && set[0] === column.name) ? { unique: true } : {}),
  }
}

/** Parses the SQL of a default. SQLite takes double quotes around a default for a text, because it cannot be a name. */
function parseDefault(sql: string): string {
  const [, text] = /^"((?:[^"]|"")*)"$/.exec(sql) ?? []
  return text === undefined ? sql : `'${text.replaceAll('""', '"').replaceAll("'", "''")}'`
}

function buildLinkProperty(link: Link, drafts: ReadonlyMap<string, EntityDraft>): object {
  const { table, foreignKey, target, unique, primary } = link
  const columns = table.columns.filter(({ name }) => foreignKey.columns.includes(name))
  return {
    kind: unique ? '1:1' : 'm:1',
    entity: () => drafts.get(target.name)!.schema,
    ...(unique ? { owner: true } : {}),
    joinColumns: foreignKey.columns,
    referencedColumnNames: foreignKey.targets,
    deleteRule: foreignKey.onDelete,
    updateRule: 'no action',
    ...(primary ? { primary: true } : {}),
    ...(primary || columns.every(({ notNull }) => notNull) ? {} : { nullable: true }),
    ...(columns.every(({ defaultSql }) => defaultSql !== undefined) ? { defaultRaw: columns[0]!.defaultSql } : {}),
  }
}

/** Suggests names of a link, best first: its column without `Id`, the common words of its columns, the table that it refers to. */
function suggestLinkNames({ columns, table }: ForeignKey): string[] {
  const [column = ''] = columns
  const target = camelSingular(table)
  if (columns.length === 1) {
    const own = words(column)
    if (own.length > 1 && own.at(-1) === 'id') return [camelCase(own.slice(0, -1).join('_')), camelCase(column)]
    const bare = own.length === 1 && own[0]!.endsWith('id') ? own[0]!.slice(0, -2) : undefined
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

/** Adds the inverse sides: lists of linking records, and both sides of pivot tables. */
function addLists({ links, pivots }: Relations, drafts: ReadonlyMap<string, EntityDraft>): void {
  const findDraft = (table: Table): EntityDraft => drafts.get(table.name)!
  for (const link of links) {
    const { table, target, unique } = link
    const owner = findDraft(target)
    const attribute = findDraft(table).byColumn.get(link.foreignKey.columns[0]!)!
    const plain = unique ? camelSingular(table.name) : formatListName(table.name)
    const several = links.filter(other => other.table === table && other.target === target).length > 1
    const long = `${plain}As${toPascalCase(attribute)}`
    const name = owner.take(...(several ? [long] : [plain, long]))
    owner.add(name, { kind: unique ? '1:1' : '1:m', entity: () => findDraft(table).schema, mappedBy: formatPropertyName(attribute) })
    const property = findDraft(table).properties[formatPropertyName(attribute)]!
    findDraft(table).properties[formatPropertyName(attribute)] = { ...property, inversedBy: formatPropertyName(name) }
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
  // Each side is named after its target.
  const there = nameList(a, right)
  const back = nameList(b, left)
  a.add(there, {
    kind: 'm:n',
    entity: () => b.schema,
    owner: true,
    pivotTable: pivot.table.name,
    joinColumns: orderByKey(left, a),
    inverseJoinColumns: orderByKey(right, b),
    inversedBy: formatPropertyName(back),
  })
  b.add(back, { kind: 'm:n', entity: () => a.schema, mappedBy: formatPropertyName(there) })
}

function sameTargets(a: Pivot, b: Pivot): boolean {
  const names = ({ links }: Pivot): string =>
    links
      .map(({ target }) => target.name)
      .toSorted()
      .join('\0')
  return names(a) === names(b)
}

/** Orders the columns of a link like the key of the target's entity. */
function orderByKey({ foreignKey }: Link, { keyTypes }: EntityDraft): string[] {
  return [...keyTypes!.keys()].map(column => foreignKey.columns[foreignKey.targets.indexOf(column)]!)
}

function buildSchema(draft: EntityDraft, classNames: Set<string>): EntitySchema {
  const { table, keyTypes, properties } = draft
  // The name becomes part of generated code, where line breaks must not occur.
  const plain = toPascalCase(camelSingular(table.name)).replaceAll(/[^\p{L}\p{M}\p{N}_]/gu, '')
  const stem = /^\p{L}/u.test(plain) ? plain : `Table${plain}`
  let name = stem
  for (let number = 2; classNames.has(name); number++) name = `${stem}${number}`
  classNames.add(name)
  const uniques = table.uniques.flatMap(columns => {
    const names = [...new Set(columns.map(column => formatPropertyName(draft.byColumn.get(column)!)))]
    const covered = names.flatMap(each => {
      const { joinColumns } = properties[each] as { joinColumns?: readonly string[] }
      return joinColumns ?? [(properties[each] as { fieldName: string }).fieldName]
    })
    // A unique set with only some columns of a composite link is left to the database.
    return names.length > 1 && covered.length === columns.length ? [{ properties: names }] : []
  })
  return new EntitySchema({
    name,
    // MikroORM never writes to a read-only table, so the name only has to be unique.
    ...(isWritable(table) ? { tableName: table.name } : { tableName: `(${name})`, comment: table.name, readonly: true }),
    properties,
    uniques,
    ...(keyTypes === undefined
      ? {
          expression: `select ${table.rowid === undefined ? '' : `${table.rowid} as ${quoted(table.rowid)}, `}* from ${quoted(table.name)}`,
        }
      : {}),
  } as never)
}

/** Whether the last word of a name has no English plural: it ends with a digit, or is in another script. */
function isOdd(name: string): boolean {
  return /\d$|[^\0-\x7f]/.test(words(name).at(-1) ?? '')
}

/** Formats the name of a list of a table's records. */
function formatListName(table: string): string {
  return isOdd(table) ? camelCase(table) : camelPlural(table)
}

/** Finds the names of a table's resource. */
function findNames(table: string): ResourceNames {
  if (!isOdd(table)) return defaultNames(table)
  const own = words(table)
  return { plural: own.join('_'), singular: own.join('_'), accepted: [...new Set([own.join('_'), own.join('-'), camelCase(table)])] }
}

/** Defines resource names where the default ones do not fit: two tables with one name, or a name that is a key of answers. */
function buildDefinitions(drafts: readonly EntityDraft[]): ResourceDefinition[] {
  const taken = new Set<string>()
  // A table with the exact name of its resource comes first.
  const isExact = ({ table }: EntityDraft): boolean => findNames(table.name).plural === table.name.toLowerCase()
  return [...drafts.filter(isExact), ...drafts.filter(draft => !isExact(draft))].flatMap(({ table, schema }) => {
    const entity = schema!
    const standard = defaultNames(entity.meta.className)
    const own = findNames(table.name)
    const isFree = (names: readonly string[]): boolean =>
      names.every(name => isResourceName(name) && !ENVELOPE_KEYS.has(name) && !taken.has(name))
    if (isFree(own.accepted) && own.plural === standard.plural && own.singular === standard.singular) {
      for (const name of own.accepted) taken.add(name)
      return []
    }
    const stem = isResourceName(own.singular) ? own.singular : 'table'
    const candidates = function* (): Generator<[string, string]> {
      if (isResourceName(own.plural)) yield [own.plural, own.singular]
      yield [`${stem}_records`, `${stem}_record`]
      for (let number = 2; ; number++) yield [`${isResourceName(own.plural) ? own.plural : 'tables'}_${number}`, `${stem}_${number}`]
    }
    for (const names of candidates()) {
      if (!isFree(names)) continue
      for (const name of names) taken.add(name)
      return [resource(entity, { name: names[0], singular: names[1] })]
    }
    return []
  })
}
