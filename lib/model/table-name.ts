/** Table name: how the model refers to a table: by its name, or by schema and name where an entity says in which schema its table is. */

/** No name of a schema or table has it. */
const SEPARATOR = '\0'

/** Returns what the model refers to a table by. */
export function qualifyTable(name: string, schema: string | undefined): string {
  return schema === undefined ? name : `${schema}${SEPARATOR}${name}`
}

/** Returns the names that a reference to a table consists of: that of its schema, if it has one, and its own. */
export function splitTable(table: string): string[] {
  return table.split(SEPARATOR)
}

/** Returns a reference to a table as messages show it. */
export function showTable(table: string): string {
  return table.replace(SEPARATOR, '.')
}
