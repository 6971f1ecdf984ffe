/**
 * Relations: finds the meaning of foreign keys: links to one record, one-to-one links over unique columns, and pivot tables, which consist
 * of two links. entities.ts gives the names.
 */
import { isWritable, type ForeignKey, type Table } from './tables.ts'

/** A foreign key that becomes a relation. */
export interface Link {
  readonly table: Table
  readonly foreignKey: ForeignKey
  readonly target: Table
  /** Whether no two rows link the same record. */
  readonly unique: boolean
  /** Whether the columns are part of the table's own key. */
  readonly primary: boolean
  /** Whether the target lists the rows; rows without an ID cannot be listed. */
  readonly listed: boolean
  /** The unique column that the foreign key refers to instead of the primary key. */
  readonly referred: string | undefined
}

/** A table that only serves a many-to-many relation. */
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

/** Whether MikroORM accepts the name of an entity. It writes the name of a pivot table into a comment of generated code. */
function isCodeName(name: string): boolean {
  return !/[\n\r\u2028\u2029]/.test(name)
}

/** Whether a foreign key of a table to a unique column of another one can be a relation. */
type TakesUnique = (table: Table, foreignKey: ForeignKey, target: Table) => boolean

/**
 * @param keyed the tables whose records have IDs
 * @param keyless the others, which may link records
 */
export function findRelations(keyed: readonly Table[], keyless: readonly Table[], takesUnique: TakesUnique): Relations {
  const byId = new Map(keyed.map(table => [table.id, table]))
  const links = keyless.flatMap(table =>
    findLinks({ ...table, key: [] }, byId, takesUnique).map(link => ({ ...link, table, unique: false, listed: false })),
  )
  const pivots: Pivot[] = []
  for (const table of keyed) {
    const own = findLinks(table, byId, takesUnique)
    const pivot = findPivot(table, own)
    if (pivot === undefined) links.push(...own)
    else pivots.push(pivot)
  }
  // A pivot table that others refer to is needed as a resource.
  const needed = new Set(links.map(({ target }) => target.id))
  const [kept, plain] = [pivots.filter(({ table }) => !needed.has(table.id)), pivots.filter(({ table }) => needed.has(table.id))]
  return { links: [...links, ...plain.flatMap(pivot => pivot.links)], pivots: kept }
}

/**
 * Finds the links of a table. A column belongs to one link at most: among foreign keys with a common column, to that with the most
 * columns, then to one that refers to a primary key, else to the first.
 */
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
    // A foreign key to other columns than the primary key or a unique one stays a plain column.
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

/** Finds the one unique column that a foreign key refers to, where it is a plain one. */
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
