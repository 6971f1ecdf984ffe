/**
 * Finds links to move where `author` (to one) becomes `authors` (to many), or vice versa, and makes of old links the rows of a new table,
 * or a `fill` of a new column. The `move-links.ts` of each database reads old links. Old links stay, unless `drop` takes them.
 */
import type { EntityMetadata, EntityProperty, MikroORM } from '@mikro-orm/core'
import { FillText } from '../../records/database/fill-text.ts'
import type { FilledRows } from './compute-fill.ts'
import { listColumnNames } from './drop-request.ts'
import { rateNames } from './find-renames.ts'
import { keyOfEntity } from './named-entities.ts'
import { countRows, type Plan } from './plan.ts'
import { isGiven, type Filling } from './read-fill.ts'
import { nameOfPivot } from './read-renames.ts'
import type { EvolveRequest } from './request.ts'

/** A stored foreign key of a single column, without a property by now. */
export interface OldLink {
  readonly table: string
  readonly column: string
  readonly target: string
}

interface OldPivot {
  readonly name: string
  readonly links: readonly [OldLink, OldLink]
}

interface OldLinks {
  readonly links: readonly OldLink[]
  readonly pivots: readonly OldPivot[]
  readonly hasTable: (table: string) => boolean
  readonly hasColumn: (table: string, column: string) => boolean
}

/** From a column to a new table. */
interface Spread {
  readonly link: OldLink
  readonly pivot: string
  /** Columns of the new table: of the row with the link, and of the linked row. */
  readonly columns: readonly [from: string, to: string]
}

/** From a table to a new column. */
interface Gather {
  readonly pivot: OldPivot
  readonly meta: EntityMetadata
  readonly prop: EntityProperty
  readonly columns: readonly [from: string, to: string]
}

export interface MovedLinks {
  readonly spread: readonly Spread[]
  readonly gather: readonly Gather[]
  /** Entries of `renamed`, carried out by moves. */
  readonly served: ReadonlySet<string>
}

export function findMovedLinks(orm: MikroORM, request: EvolveRequest, old: OldLinks, plan: Plan): MovedLinks {
  const moved = { spread: [] as Spread[], gather: [] as Gather[], served: new Set<string>() }
  for (const meta of orm.getMetadata()) {
    if (meta.pivotTable === true || meta.embeddable || meta.virtual || meta.abstract) continue
    for (const prop of Object.values(meta.properties)) {
      if (prop.kind === 'm:n' && prop.owner && prop.joinColumns.length === 1 && prop.inverseJoinColumns?.length === 1)
        findSpread(meta, prop, { request, old, moved, plan })
      if ((prop.kind === 'm:1' || (prop.kind === '1:1' && prop.owner)) && prop.fieldNames?.length === 1 && prop.targetMeta !== undefined)
        findGather(meta, prop, { request, old, moved, plan })
    }
  }
  return moved
}

interface LinkSearch {
  readonly request: EvolveRequest
  readonly old: OldLinks
  readonly moved: { readonly spread: Spread[]; readonly gather: Gather[]; readonly served: Set<string> }
  readonly plan: Plan
}

function findSpread(meta: EntityMetadata, prop: EntityProperty, { request, old, moved, plan }: LinkSearch): void {
  const pivot = nameOfPivot(prop)
  const [own, target] = [meta.tableName, prop.targetMeta?.tableName]
  if (target === undefined || old.hasTable(pivot) || !old.hasTable(own) || !old.hasTable(target)) return
  const asked = request.tables.find(each => each.to === pivot && each.old !== undefined)
  if (asked !== undefined && old.hasTable(asked.from[0]!)) return
  const links = old.links.filter(each => (each.table === own && each.target === target) || (each.table === target && each.target === own))
  const wanted = links.find(each => asked !== undefined && each.table === own && listColumnNames(each.column).includes(asked.old!))
  const link = wanted ?? links[0]
  if (link === undefined) return
  const isLikely = links.length === 1 && (rateNames(link.column, prop.name) > 0 || rateNames(link.column, link.target) > 0)
  if (wanted === undefined && !isLikely) {
    const resource = request.resourceOf(keyOfEntity(meta))
    for (const { table, column } of links.filter(each => each.table === own)) {
      const was = listColumnNames(column).at(-1)!
      const way = `renamed: { ${resource}: { ${was}: '${prop.name}' } } (--rename ${resource}.${was}=${prop.name})`
      plan.hints.push(`if "${prop.name}" takes the links of ${table}.${column}, say ${way}`)
    }
    return
  }
  if (wanted !== undefined) moved.served.add(asked!.asked)
  const [one, other] = [prop.joinColumns[0]!, prop.inverseJoinColumns[0]!]
  moved.spread.push({ link, pivot, columns: link.table === own ? [one, other] : [other, one] })
}

function findGather(meta: EntityMetadata, prop: EntityProperty, { request, old, moved, plan }: LinkSearch): void {
  const [own, target, column] = [meta.tableName, prop.targetMeta!.tableName, prop.fieldNames[0]!]
  const filling = request.fill.get(keyOfEntity(meta))?.get(column)
  if (!old.hasTable(own) || old.hasColumn(own, column) || (isGiven(filling) && filling?.links === undefined)) return
  const asked = request.renamed.get(keyOfEntity(meta))?.find(each => each.to === column && each.pivot !== undefined)
  const pivots = old.pivots.filter(
    ({ links: [one, other] }) => [one.target, other.target].toSorted().join(' ') === [own, target].toSorted().join(' '),
  )
  // A renamed entity's tables of links may still begin with the old name.
  const owns = [own, ...request.tables.flatMap(({ to, from, links }) => (to === own && links !== undefined ? from : []))]
  const partOf = (table: string): string | undefined => {
    const prefix = owns.find(each => table.startsWith(`${each}_`))
    return prefix === undefined ? undefined : table.slice(prefix.length + 1)
  }
  const wanted = asked && pivots.find(({ name }) => name === asked.pivot || (partOf(name) ?? name) === partOf(asked.pivot!))
  const pivot = wanted ?? pivots[0]
  if (pivot === undefined) return
  const [one, other] = pivot.links
  const [from, to] = one.target === own ? [one, other] : [other, one]
  const resource = request.resourceOf(keyOfEntity(meta))
  const was = partOf(pivot.name)
  if (wanted === undefined && (pivots.length > 1 || own === target || rateNames(was ?? pivot.name, prop.name) === 0)) {
    const way = `renamed: { ${resource}: { ${was}: '${prop.name}' } } (--rename ${resource}.${was}=${prop.name})`
    if (was !== undefined) plan.hints.push(`if "${prop.name}" takes the links of "${pivot.name}", say ${way}`)
    return
  }
  if (wanted !== undefined) moved.served.add(asked!.asked)
  moved.gather.push({ pivot, meta, prop, columns: [from.column, to.column] })
}

const SHOWN = 5

/**
 * Adds a `fill` of the new column by the links of the old table.
 *
 * @param rows for each link: key of the row that gets it, key of the linked row, as texts
 */
export function gatherLinks(
  { pivot, meta, prop }: Gather,
  rows: readonly (readonly [from: string, to: string])[],
  request: EvolveRequest,
  plan: Plan,
): void {
  const [table, column] = [keyOfEntity(meta), prop.fieldNames[0]!]
  const links = Map.groupBy(rows, ([from]) => from)
  const several = [...links].filter(([, all]) => new Set(all.map(([, to]) => to)).size > 1)
  if (several.length > 0) {
    const named = several.slice(0, SHOWN).map(([from, all]) => `${from} (${all.map(([, to]) => to).join(', ')})`)
    const more = several.length > SHOWN ? ` and ${several.length - SHOWN} more` : ''
    plan.faults.push(
      `${table}.${column} takes one link, and "${pivot.name}" has several for ${countRows(several.length)}: ${named.join(', ')}${more}: ` +
        `say which, fill: { ${request.resourceOf(table)}: { ${prop.name}: row => ... } }`,
    )
    return
  }
  const key = meta.getPrimaryProps()[0]!.fieldNames[0]!
  const to = request.columns.get(table)!.get(column)!
  const each = (row: Readonly<Record<string, unknown>>): unknown => {
    const found = links.get(String(row[key]))
    return found === undefined ? null : new FillText(found[0]![1])
  }
  const fill = request.fill as Map<string, Map<string, Filling>>
  const ofTable = fill.get(table) ?? new Map<string, Filling>()
  fill.set(
    table,
    ofTable.set(column, { asked: `the links of ${pivot.name}`, to, json: undefined, stored: undefined, each, links: pivot.name }),
  )
}

export function spreadLinks({ link, pivot, columns }: Spread, rows: readonly (readonly [from: unknown, to: unknown])[]): FilledRows {
  return {
    asked: `the links of ${link.table}.${link.column}`,
    table: pivot,
    source: link.table,
    rows: rows.map(([from, to]) => ({
      shown: String(from),
      values: new Map([
        [columns[0], from],
        [columns[1], to],
      ]),
    })),
  }
}
