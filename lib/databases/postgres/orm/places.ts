/**
 * Places: in which schemas the tables of entities are that do not say so themselves. MikroORM takes them for tables of `public`, whatever
 * the search path of the server says.
 */
import type { EntityMetadata, MikroORM } from '@mikro-orm/core'
import type { AbstractSqlPlatform } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { qualifyTable } from '../../../model/table-name.ts'
import { name, tableName } from '../../sql/sql.ts'
import { ask } from '../server/sessions.ts'

/** The schema that MikroORM takes where nobody says one. */
export function standardSchema(orm: MikroORM): string {
  return (orm.em.getPlatform() as AbstractSqlPlatform).getDefaultSchemaName()!
}

/** The schema that the options name; undefined where the search path says it. MikroORM's configuration fills in its own default. */
export function givenSchema(orm: MikroORM): string | undefined {
  const schema = orm.config.get('schema')
  return schema === standardSchema(orm) ? undefined : schema
}

/** Finds the entities whose tables are in another schema than MikroORM takes them for, with that schema. */
export async function findPlaces(
  orm: MikroORM,
  session: PoolClient,
): Promise<readonly (readonly [meta: EntityMetadata, schema: string])[]> {
  const given = givenSchema(orm)
  const open = [...orm.getMetadata()].filter(
    ({ abstract, embeddable, virtual, tableName: table, schema }) =>
      !abstract && !embeddable && virtual !== true && table !== undefined && (schema ?? '') === '',
  )
  const found = await ask(
    session,
    'select i, nspname from unnest($1::text[]) with ordinality as u(t, i) ' +
      'join pg_class c on c.oid = to_regclass(t) join pg_namespace n on n.oid = relnamespace where nspname <> $2',
    [
      open.map(({ tableName: table }) => (given === undefined ? name(table) : tableName(qualifyTable(table, given)))),
      given ?? standardSchema(orm),
    ],
  )
  return found.map(([place, schema]) => [open[Number(place) - 1]!, String(schema)])
}
