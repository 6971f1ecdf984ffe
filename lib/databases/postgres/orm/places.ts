/**
 * Finds the schemas of tables for entities without a schema. MikroORM assumes the schema of its configuration, or `public`; the server
 * follows the search path.
 */
import type { EntityMetadata, MikroORM } from '@mikro-orm/core'
import type { AbstractSqlPlatform } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { name } from '../../sql/sql.ts'
import { ask } from '../server/sessions.ts'

/** MikroORM's default. */
export function standardSchema(orm: MikroORM): string {
  return (orm.em.getPlatform() as AbstractSqlPlatform).getDefaultSchemaName()!
}

/** @returns `undefined` where the search path decides */
export function givenSchema(orm: MikroORM): string | undefined {
  const schema = orm.config.get('schema')
  return schema === standardSchema(orm) ? undefined : schema
}

/** Finds entities with tables in other schemas than MikroORM assumes. */
export async function findPlaces(
  orm: MikroORM,
  session: PoolClient,
): Promise<readonly (readonly [meta: EntityMetadata, schema: string])[]> {
  // The configuration has placed all tables.
  if (givenSchema(orm) !== undefined) return []
  const unplaced = [...orm.getMetadata()].filter(
    ({ abstract, embeddable, virtual, tableName: table, schema }) =>
      !abstract && !embeddable && virtual !== true && table !== undefined && (schema ?? '') === '',
  )
  const found = await ask(
    session,
    'select i, nspname from unnest($1::text[]) with ordinality as u(t, i) ' +
      'join pg_class c on c.oid = to_regclass(t) join pg_namespace n on n.oid = relnamespace where nspname <> $2',
    [unplaced.map(({ tableName: table }) => name(table)), standardSchema(orm)],
  )
  return found.map(([place, schema]) => [unplaced[Number(place) - 1]!, String(schema)])
}
