/**
 * Tables: the tables and views of a database as plain data, as far as relations and names need them. What a column holds is known to its
 * database alone.
 */

/** A column of a table or view. */
export interface Column {
  readonly name: string
  readonly notNull: boolean
  /** The SQL expression of the default. */
  readonly defaultSql: string | undefined
  readonly generated: boolean
}

/** The declared action on a row when its target is deleted, or gets another key. */
export type DeleteAction = 'no action' | 'restrict' | 'set null' | 'set default' | 'cascade'

export interface ForeignKey {
  readonly columns: readonly string[]
  /** The name of the target table, in its own spelling. */
  readonly table: string
  /** The `id` of the target table. */
  readonly target: string
  /** The target columns, in the order of `columns`. */
  readonly targets: readonly string[]
  readonly onDelete: DeleteAction
  /** Default: `no action`. */
  readonly onUpdate?: DeleteAction
}

/** A table or view. */
export interface Table {
  /** As the model refers to it; see `qualifyTable`. Of all tables, only this one has it. */
  readonly id: string
  readonly name: string
  /** The schema, where it is not that of the connection. */
  readonly schema?: string
  readonly columns: readonly Column[]
  /** The columns of the primary key, in its order; empty without one. */
  readonly key: readonly string[]
  readonly foreignKeys: readonly ForeignKey[]
  /** Sets of columns that are unique in the whole table, without the primary key. */
  readonly uniques: readonly (readonly string[])[]
  /** Whether nothing can be written to it. */
  readonly readOnly?: boolean
}

/** What a database says of the content of one of its tables, as MikroORM takes it. */
export interface TableMapping {
  /** The columns of the key, in the order of the table; undefined when the records have no IDs. */
  readonly key: readonly string[] | undefined
  /** Returns the property of a column that is not part of a link. */
  describe(column: Column): object
  /**
   * Whether a foreign key to a unique column can be a relation: both columns compare as they are, and no row is known to link what is not
   * there. Default: no.
   */
  takesUnique?(foreignKey: ForeignKey, target: Table): boolean
  /** The query that reads a table without a key. */
  readonly query: string
  /** The hidden property by which the records of a table without a key come, and names for it. */
  readonly order: { readonly names: readonly string[]; readonly property: object } | undefined
}

/**
 * Finds the key of a table that declares none: all columns, where all together are unique, or the first column that is unique by itself, as
 * Rails makes tables by `id: false`. None of them is NULL.
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

/**
 * Whether MikroORM can write to a table. It takes a dot for a separator and a question mark for a parameter, and confuses some columns
 * with members of every object.
 */
export function isWritable({ name, schema = '', columns, readOnly = false }: Table): boolean {
  return (
    !readOnly &&
    [schema, name, ...columns.map(column => column.name)].every(each => !/[.?]/.test(each)) &&
    !columns.some(column => column.name in Object.prototype)
  )
}

/** Notes the tables that are read-only since MikroORM cannot write to them. */
export function noteUnwritable(tables: readonly Table[]): string[] {
  return tables.flatMap(table => {
    if (table.key.length === 0 || table.readOnly === true || isWritable(table)) return []
    const odd = [table.name, ...table.columns.map(({ name }) => name)].find(each => /[.?]/.test(each) || each in Object.prototype)
    const why = odd === undefined ? 'MikroORM cannot write the name of its schema' : `MikroORM cannot write the name ${JSON.stringify(odd)}`
    return [`${table.id}: it is read-only, since ${why}.`]
  })
}
