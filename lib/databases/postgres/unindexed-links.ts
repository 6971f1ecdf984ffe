/** Unindexed links: finds foreign keys of large tables without an index. */
import type { PoolClient } from 'pg'
import type { UnindexedLink } from '../../records/database/explained-statements.ts'
import type { Resource } from '../../model/model.ts'
import { name, tableName } from '../sql/sql.ts'
import { ask } from './server/sessions.ts'

/** An index serves that begins with the key's columns in any order. */
const FIND = `
  select u.place, array_to_json(array(select a.attname from unnest(k.conkey) with ordinality as o(n, i)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = o.n order by o.i)), greatest(c.reltuples, 0)::bigint
  from unnest($1::text[]) with ordinality as u(t, place)
    join pg_class c on c.oid = to_regclass(u.t) join pg_constraint k on c.oid = k.conrelid
  where k.contype = 'f' and c.reltuples > $2::bigint
    and not exists (select from pg_index x where x.indrelid = c.oid and x.indpred is null
      and (x.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey)
  order by 1, 2::text`

export async function findUnindexedLinks(session: PoolClient, resources: readonly Resource[], rows: number): Promise<UnindexedLink[]> {
  const tables = [...new Set(resources.map(({ table }) => table))]
  const found = await ask(session, FIND, [tables.map(tableName), rows])
  return found.map(([place, columns, count]) => {
    const table = tables[Number(place) - 1]!
    const names = JSON.parse(columns as string) as string[]
    return {
      table,
      columns: names,
      rows: Math.min(Number(count), rows + 1),
      sql: `create index on ${tableName(table)} (${names.map(name).join(', ')})`,
    }
  })
}
