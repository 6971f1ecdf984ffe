/** Table rows: records of a seed as rows of their table. */

/** Rows to insert into a table, their values as the database stores them. */
export interface TableRows {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}
