/**
 * Described target: the schema that MikroORM would make of the model which a database describes, as `--eject` writes it. Where it says the
 * same as the schema of the entities, the database fits them, however it is spelt there.
 */
import { MikroORM } from '@mikro-orm/core'
import type { DatabaseSchema, SqlSchemaGenerator } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { Notes } from '../../../foundation/base/notes.ts'
import { correctMetadata } from '../../orm/correct-metadata.ts'
import { readCatalogue } from '../introspect/catalogue.ts'
import { buildServerEntities } from '../introspect/entities.ts'
import { buildTables } from '../introspect/tables.ts'

/**
 * @param schemas those of the entities
 * @returns the tables with their schemas; undefined where there are none
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

/** The schema that the entities want. MikroORM takes `'-1'::integer` for a number, and compares it as a text. */
export function readTarget(orm: MikroORM): DatabaseSchema {
  const target = (orm.schema as SqlSchemaGenerator).getTargetSchema()
  for (const table of target.getTables())
    for (const column of table.getColumns()) if (typeof column.default === 'number') column.default = String(column.default)
  return target
}
