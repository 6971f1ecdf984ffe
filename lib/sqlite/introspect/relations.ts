/**
 * Finds the meaning of a file's foreign keys: links to one record, one-to-one links over unique columns, and pivot tables, which consist
 * of two links. entities.ts gives the names.
 */
import type { ForeignKey, Table } from './introspect.ts'

/** A foreign key that becomes a relation. */
export interface Link {
  readonly table: Table
  readonly foreignKey: ForeignKey
  readonly target: Table
  /** Whether no two rows link the same record. */
  readonly unique: boolean
  /** Whether the columns are part of the table's own key. */
  readonly primary: boolean
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

/**
 * Whether MikroORM can write to a table. It takes a dot for a separator and a question mark for a parameter, and confuses some columns
 * with members of every object.
 */
export function isWritable({ name, columns }: Table): boolean {
  return (
    [name, ...columns.map(column => column.name)].every(each => !/[.?]/.test(each)) &&
    !columns.some(column => column.name in Object.prototype)
  )
}

/** Whether MikroORM accepts the name of an entity. It writes the name of a pivot table into a comment of generated code. */
function isCodeName(name: string): boolean {
  return !/[\n\r\u2028\u2029]/.test(name)
}

/** @param keyed the tables whose records have IDs */
export function findRelations(keyed: readonly Table[]): Relations {
  const byName = new Map(keyed.map(table => [table.name, table]))
  const links: Link[] = []
  const pivots: Pivot[] = []
  for (const table of keyed) {
    const own = findLinks(table, byName)
    const pivot = findPivot(table, own)
    if (pivot === undefined) links.push(...own)
    else pivots.push(pivot)
  }
  // A pivot table that others refer to is needed as a resource.
  const needed = new Set(links.map(({ target }) => target.name))
  const [kept, plain] = [pivots.filter(({ table }) => !needed.has(table.name)), pivots.filter(({ table }) => needed.has(table.name))]
  return { links: [...links, ...plain.flatMap(pivot => pivot.links)], pivots: kept }
}

/**
 * Finds the links of a table. A column belongs to one link at most: among foreign keys with a common column, to that with the most
 * columns, else the first.
 */
function findLinks(table: Table, byName: ReadonlyMap<string, Table>): Link[] {
  const taken = new Set<string>()
  const links: Link[] = []
  for (const foreignKey of table.foreignKeys.toSorted((a, b) => b.columns.length - a.columns.length)) {
    const { columns, targets } = foreignKey
    const target = byName.get(foreignKey.table)
    // A foreign key to other columns than the primary key stays a plain column.
    if (target === undefined || !sameSet(targets, target.key) || columns.some(column => taken.has(column))) continue
    if (table.columns.some(({ name, generated }) => generated && columns.includes(name))) continue
    const inKey = columns.filter(column => table.key.includes(column)).length
    if (inKey > 0 && inKey < columns.length) continue
    for (const column of columns) taken.add(column)
    const unique = sameSet(columns, table.key) || table.uniques.some(set => sameSet(set, columns))
    links.push({ table, foreignKey, target, unique, primary: inKey > 0 })
  }
  const position = (link: Link): number => table.columns.findIndex(({ name }) => link.foreignKey.columns.includes(name))
  return links.toSorted((a, b) => position(a) - position(b))
}

function findPivot(table: Table, links: readonly Link[]): Pivot | undefined {
  const [first, second] = links
  if (first === undefined || second === undefined || links.length > 2 || !isWritable(table) || !isCodeName(table.name)) return undefined
  const columns = [...first.foreignKey.columns, ...second.foreignKey.columns]
  const isPure =
    sameSet(
      columns,
      table.columns.map(({ name }) => name),
    ) && sameSet(columns, table.key)
  return isPure && !first.unique && !second.unique ? { table, links: [first, second] } : undefined
}
