/** Table rows: a seed's records as table rows. */

/** Values in stored form. */
export interface TableRows {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}
