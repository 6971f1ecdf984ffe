/**
 * Described target: the schema that MikroORM would make of the model a database describes. Parts that the entities' schema has, too, fit,
 * however spelt in the database.
 */
import { MikroORM } from '@mikro-orm/core'
import type { DatabaseSchema, SqlSchemaGenerator } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { Notes } from '../../../foundation/errors/notes.ts'
import { correctMetadata } from '../../orm/correct-metadata.ts'
import { readCatalogue } from '../introspect/catalogue.ts'
import { buildServerEntities } from '../introspect/entities.ts'
import { buildTables } from '../introspect/tables.ts'

/**
 * @param schemas the schemas of the entities
 * @returns `undefined` for schemas without tables
 */
export async function describeTarget(orm: MikroORM, session: PoolClient, schemas: readonly string[]): Promise<DatabaseSchema | undefined> {
  const { entities } = buildServerEntities(buildTables(await readCatalogue(session, schemas), true))
  if (entities.length === 0) return undefined
  const described = new MikroORM({
    entities: [...entities],
    dbName: orm.config.get('dbName'),
    driver: orm.config.get('driver'),
    driverOptions: orm.config.get('driverOptions'),
    entityManager: orm.config.get('entityManager'),
    metadataCache: { enabled: false },
  } as never)
  correctMetadata(described, true, new Notes())
  return readTarget(described)
}

/** MikroORM takes `'-1'::integer` for a number, but compares texts. */
export function readTarget(orm: MikroORM): DatabaseSchema {
  const target = (orm.schema as SqlSchemaGenerator).getTargetSchema()
  for (const table of target.getTables())
    for (const column of table.getColumns()) if (typeof column.default === 'number') column.default = String(column.default)
  return target
}
