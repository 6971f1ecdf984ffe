/** Describes the schemas of a server as entities. Throws Error in one line where nothing can be served. */
import type { PoolClient } from 'pg'
import { describeDatabase } from '../../../records/database/describe-database.ts'
import type { ServerDatabase } from '../../../records/database/world-store.ts'
import type { DescribedModel } from '../../introspect/entities.ts'
import { ask, command } from '../server/sessions.ts'
import { listSchemas, readCatalogue } from './catalogue.ts'
import { buildServerEntities } from './entities.ts'
import { buildTables } from './tables.ts'

export async function describeServer(session: PoolClient, database: ServerDatabase): Promise<DescribedModel> {
  await command(session, 'begin isolation level repeatable read read only')
  try {
    const schemas = await findSchemas(session, database)
    const model = buildServerEntities(buildTables(await readCatalogue(session, schemas), schemas.length > 1))
    if (model.entities.length === 0) throw await nothingToServe(session, database, schemas, model.notes)
    return model
  } finally {
    await command(session, 'rollback')
  }
}

async function findSchemas(session: PoolClient, { schema }: ServerDatabase): Promise<readonly string[]> {
  if (schema !== undefined) return [...new Set([schema].flat())]
  const [[current] = []] = await ask(session, 'select current_schema()')
  return current === null || current === undefined ? [] : [current as string]
}

async function nothingToServe(
  session: PoolClient,
  { url }: ServerDatabase,
  schemas: readonly string[],
  notes: readonly string[],
): Promise<Error> {
  const list = (names: readonly string[]): string => names.map(each => `"${each}"`).join(', ')
  const others = (await listSchemas(session)).filter(schema => !schemas.includes(schema))
  const where = schemas.length === 0 ? '' : ` in the schema${schemas.length > 1 ? 's' : ''} ${list(schemas)}`
  const named = others.length === 0 ? '' : ` There are tables in ${list(others)}: name them by "schema", or by ?schema= in the URL.`
  const [note] = notes
  return new Error(
    `${describeDatabase(url)} has no tables${where} that can be served: ` +
      `there is nothing in it to serve.${named}${note === undefined ? '' : ` ${note}`}`,
  )
}
