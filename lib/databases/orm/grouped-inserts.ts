/**
 * Grouped inserts: inserts rows together only where they leave the same columns to the database. MikroORM asks for what the first row leaves out and gives the
 * others NULL: a generated key would not come back, and a default of the database would not be used.
 */
import type { EntityDictionary, EntityMetadata, QueryResult } from '@mikro-orm/core'

/**
 * Inserts rows of an entity, in groups where they must be.
 *
 * @param insert inserts rows by one statement
 */
export async function insertInGroups<T extends object>(
  { props }: EntityMetadata<T>,
  data: EntityDictionary<T>[],
  insert: (rows: EntityDictionary<T>[]) => Promise<QueryResult<T>>,
): Promise<QueryResult<T>> {
  const counter = props.find(prop => prop.autoincrement === true)?.name
  const left = props.filter(prop => prop.autoincrement === true || prop.defaultRaw !== undefined || prop.generated !== undefined)
  const groups = Map.groupBy(data.keys(), index =>
    left
      .map(({ name }) => name)
      .filter(name => data[index]![name] === undefined)
      .join(),
  )
  if (groups.size < 2) return insert(data)
  // Those that bring their key come first, so that no generated one takes it.
  const counted = ([first]: number[]): number => (counter !== undefined && data[first!]![counter] === undefined ? 1 : 0)
  const rows: Record<string, unknown>[] = []
  let insertId: QueryResult<T>['insertId']
  for (const group of [...groups.values()].toSorted((a, b) => counted(a) - counted(b))) {
    const result = await insert(group.map(index => data[index]!))
    insertId = result.insertId
    for (const [position, index] of group.entries()) rows[index] = result.rows?.[position] ?? {}
  }
  return { affectedRows: data.length, insertId: insertId!, row: rows[0]!, rows }
}
