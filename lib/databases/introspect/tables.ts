/** Tables and views as plain data. Each database describes the values of columns (`TableMapping`). */

export interface Column {
  readonly name: string
  readonly notNull: boolean
  readonly defaultSql: string | undefined
  readonly generated: boolean
}

export type DeleteAction = 'no action' | 'restrict' | 'set null' | 'set default' | 'cascade'

export interface ForeignKey {
  readonly columns: readonly string[]
  /** The target's `name`. */
  readonly table: string
  /** The target's `id`. */
  readonly target: string
  /** The target's columns, in the order of `columns`. */
  readonly targets: readonly string[]
  readonly onDelete: DeleteAction
  readonly onUpdate?: DeleteAction
}

export interface Table {
  /** Unique: the name, with the schema where needed (`qualifyTable`). */
  readonly id: string
  readonly name: string
  /** `undefined` for the connection's schema. */
  readonly schema?: string
  readonly columns: readonly Column[]
  /** The primary key, in order; empty without a key. */
  readonly key: readonly string[]
  readonly foreignKeys: readonly ForeignKey[]
  /** Unique in the whole table, without the primary key. */
  readonly uniques: readonly (readonly string[])[]
  readonly readOnly?: boolean
}

export interface TableMapping {
  /** Columns of the ID, in the table's order; `undefined` without IDs. */
  readonly key: readonly string[] | undefined
  describe(column: Column): object
  /** A foreign key to a unique column may be a relation: both columns compare alike, and every link has a record. Default: no. */
  takesUnique?(foreignKey: ForeignKey, target: Table): boolean
  /** The SELECT for a table without a key. */
  readonly query: string
  /** The hidden order of a table without a key. */
  readonly order: { readonly names: readonly string[]; readonly property: object } | undefined
}

/**
 * Gives a table without a primary key another key that is never NULL: all columns together, or the first unique column (Rails' `id:
 * false`).
 */
export function completeKey<T extends Table>(table: T): T {
  const { columns, uniques } = table
  if (table.key.length > 0) return table
  const given = columns.filter(({ notNull, generated }) => notNull && !generated).map(({ name }) => name)
  const isUnique = (key: readonly string[]): boolean =>
    uniques.some(set => set.length === key.length && set.every(name => key.includes(name)))
  const key = given.length === columns.length && isUnique(given) ? given : given.filter(name => isUnique([name])).slice(0, 1)
  return key.length === 0
    ? table
    : { ...table, key, uniques: uniques.filter(set => set.length !== key.length || set.some(name => !key.includes(name))) }
}

/** MikroORM takes dots for separators, question marks for parameters, and some columns for members of every object. */
export function isWritable({ name, schema = '', columns, readOnly = false }: Table): boolean {
  return (
    !readOnly &&
    [schema, name, ...columns.map(column => column.name)].every(each => !/[.?]/.test(each)) &&
    !columns.some(column => column.name in Object.prototype)
  )
}

export function noteUnwritable(tables: readonly Table[]): string[] {
  return tables.flatMap(table => {
    if (table.key.length === 0 || table.readOnly === true || isWritable(table)) return []
    const odd = [table.name, ...table.columns.map(({ name }) => name)].find(each => /[.?]/.test(each) || each in Object.prototype)
    const why = odd === undefined ? 'MikroORM cannot write the name of its schema' : `MikroORM cannot write the name ${JSON.stringify(odd)}`
    return [`${table.id}: it is read-only, since ${why}.`]
  })
}
