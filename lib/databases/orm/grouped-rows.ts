/**
 * Writes rows by one statement only if all leave the same columns to the database. MikroORM looks at the first row alone: generated keys
 * and defaults of others would be lost.
 */
import type { EntityDictionary, EntityMetadata, FilterQuery, QueryResult } from '@mikro-orm/core'

/** Classes of one table may name a shared column differently: MikroORM would lose the value of the second name. */
function listShared(root: EntityMetadata): readonly string[] {
  let names = known.get(root)
  if (names === undefined) {
    const stored = root.props.filter(({ persist, fieldNames }) => persist !== false && fieldNames !== undefined)
    names = stored.flatMap(({ name, fieldNames }) =>
      stored.some(other => other.name !== name && other.fieldNames.some(column => fieldNames.includes(column))) ? [name] : [],
    )
    known.set(root, names)
  }
  return names
}

const known = new WeakMap<EntityMetadata, readonly string[]>()

/** Finds runs of neighbours with values for the same properties. */
function findRuns(data: readonly object[], names: readonly string[]): number[][] {
  if (names.length === 0) return [[...data.keys()]]
  const runs: number[][] = []
  let last: string | undefined
  for (const [position, row] of data.entries()) {
    const given = names.filter(name => (row as Readonly<Record<string, unknown>>)[name] !== undefined).join()
    if (given !== last || runs.length === 0) runs.push([])
    last = given
    runs.at(-1)!.push(position)
  }
  return runs
}

/** @param update updates rows by one statement, each by a condition */
export async function updateInGroups<T extends object>(
  { root }: EntityMetadata<T>,
  where: readonly FilterQuery<T>[],
  data: readonly EntityDictionary<T>[],
  update: (where: FilterQuery<T>[], data: EntityDictionary<T>[]) => Promise<QueryResult<T>>,
): Promise<QueryResult<T>> {
  const results: QueryResult<T>[] = []
  for (const run of findRuns(data, listShared(root))) {
    const updates = run.map(position => [where[position]!, data[position]!] as const)
    results.push(
      await update(
        updates.map(([condition]) => condition),
        updates.map(([, row]) => row),
      ),
    )
  }
  const [first] = results
  if (results.length < 2) return first!
  return {
    ...first!,
    affectedRows: results.reduce((sum, { affectedRows }) => sum + affectedRows, 0),
    rows: results.flatMap(({ rows = [] }) => rows),
  }
}

export async function insertInGroups<T extends object>(
  { props, root }: EntityMetadata<T>,
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
  const shared = listShared(root)
  if (groups.size < 2 && findRuns(data, shared).length < 2) return insert(data)
  // Rows with keys first: no generated key may take theirs.
  const counted = ([first]: number[]): number => (counter !== undefined && data[first!]![counter] === undefined ? 1 : 0)
  const rows: Record<string, unknown>[] = []
  let insertId: QueryResult<T>['insertId']
  for (const group of [...groups.values()].toSorted((a, b) => counted(a) - counted(b))) {
    const members = group.map(index => data[index]!)
    for (const run of findRuns(members, shared)) {
      const result = await insert(run.map(position => members[position]!))
      insertId = result.insertId
      for (const [place, position] of run.entries()) rows[group[position]!] = result.rows?.[place] ?? {}
    }
  }
  return { affectedRows: data.length, insertId: insertId!, row: rows[0]!, rows }
}
