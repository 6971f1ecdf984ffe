/** Table name: has the schema where an entity names a schema. */

/** Impossible in names. */
const SEPARATOR = '\0'

export function qualifyTable(name: string, schema: string | undefined): string {
  return schema === undefined ? name : `${schema}${SEPARATOR}${name}`
}

/** The schema, if any, and the name. */
export function splitTable(table: string): string[] {
  return table.split(SEPARATOR)
}

/** Used in messages. */
export function showTable(table: string): string {
  return table.replace(SEPARATOR, '.')
}
