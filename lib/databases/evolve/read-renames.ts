/** Finds the tables and columns of the option `renamed`, with possible old names for each. */
import type { EntityMetadata, EntityProperty, MikroORM, NamingStrategy } from '@mikro-orm/core'
import { entityName } from '../../model/resource-names.ts'
import type { Evolving } from '../../records/database/evolving.ts'
import { findEntity, findProperty, keyOfEntity, type EntityWithSingular } from './named-entities.ts'

export interface AskedRename {
  readonly asked: string
  /** Best first. */
  readonly from: readonly string[]
  readonly to: string
  /** The property's table of links, if once a list. */
  readonly pivot?: string
}

export interface AskedTable {
  readonly asked: string
  /** Best first. */
  readonly from: readonly string[]
  readonly to: string
  readonly schema: string | undefined
  readonly old?: string
  readonly owner?: string
  /** Beginnings of names of link tables and columns: `trip_` and `journey_`. */
  readonly links?: readonly [old: string, next: string]
}

interface AskedRenames {
  readonly renamed: ReadonlyMap<string, readonly AskedRename[]>
  readonly tables: readonly AskedTable[]
}

/** @throws TypeError for unknown names */
export function readRenamed(named: ReadonlyMap<string, EntityWithSingular>, orm: MikroORM, renamed: Evolving['renamed']): AskedRenames {
  const naming = orm.config.getNamingStrategy()
  const columns = new Map<string, AskedRename[]>()
  const tables: AskedTable[] = []
  for (const [resource, names] of Object.entries(renamed)) {
    if (resource === 'entities') {
      for (const [old, next] of Object.entries(names)) tables.push(readTable(findEntity(named, next, 'renamed.entities'), old, naming))
      continue
    }
    const meta = findEntity(named, resource, 'renamed')
    const ofTable = columns.get(keyOfEntity(meta)) ?? []
    columns.set(keyOfEntity(meta), ofTable)
    for (const [old, next] of Object.entries(names)) {
      const prop = findProperty(meta, next, `renamed.${resource}`)
      const asked = `${resource}.${old}`
      if (prop.kind === 'm:n' && prop.owner) tables.push(readPivot(meta, prop, old, asked, naming))
      else ofTable.push({ asked, ...readColumn(prop, old, asked, naming), ...namePivot(meta, prop, old, naming) })
    }
  }
  return { renamed: columns, tables }
}

function readColumn(prop: EntityProperty, old: string, asked: string, naming: NamingStrategy): Omit<AskedRename, 'asked'> {
  const isStored = prop.persist !== false && prop.formula === undefined && prop.fieldNames?.length === 1
  if (!isStored) throw new TypeError(`"renamed.${asked}": "${prop.name}" is not stored in one column, so it has no old name.`)
  const [plain, link] = [naming.propertyToColumnName(old), naming.joinKeyColumnName(old, prop.referencedColumnNames?.[0] ?? 'id')]
  return { from: prop.kind === 'scalar' ? [plain, old, link] : [link, plain, old], to: prop.fieldNames[0]! }
}

function readPivot(meta: EntityMetadata, prop: EntityProperty, old: string, asked: string, naming: NamingStrategy): AskedTable {
  const from = naming.joinTableName(meta.className, prop.targetMeta!.tableName, old, meta.tableName)
  return { asked, from: [from], to: nameOfPivot(prop), schema: meta.schema, old, owner: meta.tableName }
}

function readTable(meta: EntityMetadata, old: string, naming: NamingStrategy): AskedTable {
  if (meta.root.tableName === meta.tableName && meta.root.className !== meta.className)
    throw new TypeError(
      `"renamed.entities.${old}": rows of ${meta.className} are in the table of ${meta.root.className}, ` +
        `where "${String(meta.discriminatorValue)}" marks them: keep the old mark as its discriminatorValue.`,
    )
  const one = entityName(old) ?? old
  const from = [naming.classToTableName(one), naming.classToTableName(old), old].filter(table => table !== meta.tableName)
  return {
    asked: old,
    from: [...new Set(from)],
    to: meta.tableName,
    schema: meta.schema,
    links: [one, meta.className].map(each => `${naming.classToTableName(each)}_`) as [string, string],
  }
}

function namePivot(meta: EntityMetadata, prop: EntityProperty, old: string, naming: NamingStrategy): Pick<AskedRename, 'pivot'> {
  if (prop.kind !== 'm:1' && prop.kind !== '1:1') return {}
  return { pivot: naming.joinTableName(meta.className, prop.targetMeta!.tableName, old, meta.tableName) }
}

/** Omits the schema. */
export function nameOfPivot({ pivotTable }: EntityProperty): string {
  return pivotTable.split('.').at(-1)!
}

/** Names made of a renamed table's name. */
interface Followers {
  readonly tables: readonly AskedTable[]
  readonly columns: readonly { readonly table: string; readonly from: string; readonly to: string }[]
  /** Discriminators of polymorphic relations. */
  readonly marks: readonly { readonly table: string; readonly column: string; readonly from: string; readonly to: string }[]
}

export function listFollowers(orm: MikroORM, { to, schema, links }: AskedTable, from: string): Followers {
  const found = { tables: [] as AskedTable[], columns: [] as Followers['columns'][number][], marks: [] as Followers['marks'][number][] }
  if (links === undefined) return found
  const [old, next] = links
  for (const meta of orm.getMetadata()) {
    if (meta.pivotTable === true || meta.embeddable || meta.virtual) continue
    for (const prop of Object.values(meta.properties)) {
      if (prop.kind === 'm:n' && prop.owner) {
        const pivot = nameOfPivot(prop)
        if (meta.tableName === to && pivot.startsWith(`${to}_`))
          found.tables.push({ asked: pivot, from: [from + pivot.slice(to.length)], to: pivot, schema })
        const ownerColumns = meta.tableName === to ? prop.joinColumns : []
        const targetColumns = prop.targetMeta?.tableName === to ? prop.inverseJoinColumns : []
        for (const column of [...ownerColumns, ...targetColumns])
          if (column.startsWith(next)) found.columns.push({ table: pivot, from: old + column.slice(next.length), to: column })
      }
      if (prop.polymorphic === true && Object.hasOwn(prop.discriminatorMap ?? {}, to))
        found.marks.push({
          table: prop.kind === 'm:n' ? nameOfPivot(prop) : meta.tableName,
          column: prop.discriminatorColumn as string,
          from,
          to,
        })
    }
  }
  return found
}
