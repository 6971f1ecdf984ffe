/** Finds links among foreign keys, 1:1 links over unique columns, and pivot tables, such as `post_tags`. */
import { isWritable, type ForeignKey, type Table } from './tables.ts'

export interface Link {
  readonly table: Table
  readonly foreignKey: ForeignKey
  readonly target: Table
  readonly unique: boolean
  readonly primary: boolean
  /** The target has a list of the rows: rows have IDs. */
  readonly listed: boolean
  /** The unique column; `undefined` for a link to the primary key. */
  readonly referred: string | undefined
}

/** A table of links alone. */
export interface Pivot {
  readonly table: Table
  readonly links: readonly [Link, Link]
}

export interface Relations {
  readonly links: readonly Link[]
  readonly pivots: readonly Pivot[]
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every(item => b.includes(item))
}

/** MikroORM writes a pivot table's name into a comment of generated code. */
function isCodeName(name: string): boolean {
  return !/[\n\r\u2028\u2029]/.test(name)
}

type TakesUnique = (table: Table, foreignKey: ForeignKey, target: Table) => boolean

/**
 * @param keyed tables whose records have IDs
 * @param keyless tables without IDs, which may link records
 */
export function findRelations(keyed: readonly Table[], keyless: readonly Table[], takesUnique: TakesUnique): Relations {
  const byId = new Map(keyed.map(table => [table.id, table]))
  const links = keyless.flatMap(table =>
    findLinks({ ...table, key: [] }, byId, takesUnique).map(link => ({ ...link, table, unique: false, listed: false })),
  )
  const pivots: Pivot[] = []
  for (const table of keyed) {
    const tableLinks = findLinks(table, byId, takesUnique)
    const pivot = findPivot(table, tableLinks)
    if (pivot === undefined) links.push(...tableLinks)
    else pivots.push(pivot)
  }
  // Foreign keys to a pivot table make the table a resource.
  const needed = new Set(links.map(({ target }) => target.id))
  const [kept, plain] = [pivots.filter(({ table }) => !needed.has(table.id)), pivots.filter(({ table }) => needed.has(table.id))]
  return { links: [...links, ...plain.flatMap(pivot => pivot.links)], pivots: kept }
}

/** No column belongs to two links. Of several foreign keys, the link with most columns wins, then a link to a primary key. */
function findLinks(table: Table, byId: ReadonlyMap<string, Table>, takesUnique: TakesUnique): Link[] {
  const taken = new Set<string>()
  const links: Link[] = []
  const isByKey = ({ target, targets }: ForeignKey): boolean => sameSet(targets, byId.get(target)?.key ?? [])
  const rank = (each: ForeignKey): number => each.columns.length + (isByKey(each) ? 0.5 : 0)
  for (const foreignKey of table.foreignKeys.toSorted((a, b) => rank(b) - rank(a))) {
    const { columns } = foreignKey
    const target = byId.get(foreignKey.target)
    if (target === undefined || columns.some(column => taken.has(column))) continue
    const referred = isByKey(foreignKey) ? undefined : findReferred(table, foreignKey, target)
    // A foreign key must refer to a primary key or to a unique column.
    if (!isByKey(foreignKey) && (referred === undefined || !takesUnique(table, foreignKey, target))) continue
    if (table.columns.some(({ name, generated }) => generated && columns.includes(name))) continue
    const inKey = columns.filter(column => table.key.includes(column)).length
    if (inKey > 0 && (inKey < columns.length || referred !== undefined)) continue
    for (const column of columns) taken.add(column)
    const unique = sameSet(columns, table.key) || table.uniques.some(set => sameSet(set, columns))
    links.push({ table, foreignKey, target, unique, primary: inKey > 0, listed: true, referred })
  }
  const position = (link: Link): number => table.columns.findIndex(({ name }) => link.foreignKey.columns.includes(name))
  return links.toSorted((a, b) => position(a) - position(b))
}

/** The referred column must be unique, and part of no key and no foreign key. */
function findReferred(table: Table, { columns, targets }: ForeignKey, target: Table): string | undefined {
  const referred = target.columns.find(({ name }) => name === targets[0])
  if (columns.length !== 1 || referred === undefined || referred.generated || !isWritable(table) || !isWritable(target)) return undefined
  if (target.key.includes(referred.name) || target.foreignKeys.some(each => each.columns.includes(referred.name))) return undefined
  return target.uniques.some(set => sameSet(set, targets)) ? referred.name : undefined
}

function findPivot(table: Table, links: readonly Link[]): Pivot | undefined {
  const [first, second] = links
  if (first === undefined || second === undefined || links.length > 2 || !isWritable(table) || !isCodeName(table.name)) return undefined
  const columns = [...first.foreignKey.columns, ...second.foreignKey.columns]
  const isPure =
    first.referred === undefined &&
    second.referred === undefined &&
    sameSet(
      columns,
      table.columns.map(({ name }) => name),
    ) &&
    sameSet(columns, table.key)
  return isPure && !first.unique && !second.unique ? { table, links: [first, second] } : undefined
}
