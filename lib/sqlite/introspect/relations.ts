/**
 * Relations: what the foreign keys of a file mean: links to one record, one-to-one where the columns are unique, and pivot tables, which hold nothing but
 * two links. Names are given in entities.ts.
 */
import type { ForeignKey, Table } from './introspect.ts'

/** A foreign key that becomes a relation. */
export interface Link {
  readonly table: Table
  readonly foreignKey: ForeignKey
  readonly target: Table
  /** No two rows link the same one. */
  readonly unique: boolean
  /** The columns are part of the table's own key. */
  readonly primary: boolean
}

/** A table that is a many-to-many relation and nothing else. */
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

/** MikroORM takes a dot for a separator and a question mark for a value, and cannot tell some columns from what every JavaScript object has. */
export function isWritable({ name, columns }: Table): boolean {
  return (
    [name, ...columns.map(column => column.name)].every(each => !/[.?]/.test(each)) &&
    !columns.some(column => column.name in Object.prototype)
  )
}

/** Whether MikroORM can call an entity so, as it does with pivot tables: it puts the name into a comment of generated code. */
function isCodeName(name: string): boolean {
  return !/[\n\r\u2028\u2029]/.test(name)
}

/**
 * @param keyed the tables whose records have IDs
 */
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
  // What refers to a pivot table needs it as a resource.
  const needed = new Set(links.map(({ target }) => target.name))
  const [kept, plain] = [pivots.filter(({ table }) => !needed.has(table.name)), pivots.filter(({ table }) => needed.has(table.name))]
  return { links: [...links, ...plain.flatMap(pivot => pivot.links)], pivots: kept }
}

/** Each column belongs to one relation at most: of foreign keys that share one, that with the most columns is it, else the first. */
function findLinks(table: Table, byName: ReadonlyMap<string, Table>): Link[] {
  const taken = new Set<string>()
  const links: Link[] = []
  for (const foreignKey of table.foreignKeys.toSorted((a, b) => b.columns.length - a.columns.length)) {
    const { columns, targets } = foreignKey
    const target = byName.get(foreignKey.table)
    // One that refers to other columns than the key is a plain column.
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
