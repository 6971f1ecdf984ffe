/** Makes MikroORM entities of a server's tables. */
import { types } from '@mikro-orm/core'
import type { PoolClient } from 'pg'
import { describeDatabase } from '../../../records/database/describe-database.ts'
import type { ServerDatabase } from '../../../records/database/world-store.ts'
import { buildEntities, type DescribedModel } from '../../introspect/entities.ts'
import { isWritable, noteUnwritable, type TableMapping } from '../../introspect/tables.ts'
import { name as quoted, tableName } from '../../sql/sql.ts'
import { ask, command } from '../server/sessions.ts'
import { listSchemas, readCatalogue } from './catalogue.ts'
import { type ServerColumn, type ServerTable, type ServerTables, buildTables } from './tables.ts'

export function buildServerEntities({ tables, notes }: ServerTables): DescribedModel {
  const model = buildEntities(tables, table => new ServerMapping(table))
  return { ...model, notes: [...notes, ...noteUnwritable(tables), ...model.notes] }
}

class ServerMapping implements TableMapping {
  readonly #table: ServerTable
  readonly key: readonly string[] | undefined
  /** The query says the order. */
  readonly order = undefined

  constructor(table: ServerTable) {
    this.#table = table
    const parts = table.columns.filter(({ name }) => table.key.includes(name))
    const isKey = parts.length > 0 && parts.every(({ type }) => type.keyMembers !== undefined)
    this.key = isKey ? parts.map(({ name }) => name) : undefined
  }

  get query(): string {
    const { id, columns, hasPlaces, isPartial } = this.#table
    const shown = isPartial ? columns.map(({ name }) => quoted(name)).join(', ') : '*'
    return `select ${shown} from ${tableName(id)}${hasPlaces ? ' order by ctid' : ''}`
  }

  describe(column: ServerColumn): object {
    const table = this.#table
    const { type, items } = column
    const isKey = this.key?.includes(column.name) === true
    const isCounted = isKey && this.key.length === 1 && type.isInteger && column.counted && isWritable(table)
    const members = isKey ? type.keyMembers : type.members
    return {
      ...(isKey ? members : withItems(type, items)),
      fieldName: column.name,
      ...(isKey ? { primary: true } : {}),
      ...(isKey && this.key.length === 1 ? { autoincrement: isCounted } : {}),
      ...(column.notNull || isKey ? {} : { nullable: true }),
      // MikroORM loses a record with a key given by the server in part.
      ...(column.defaultSql === undefined || isCounted || (isKey && this.key.length > 1)
        ? {}
        : { [column.always ? 'generated' : 'defaultRaw']: column.defaultSql }),
      ...(column.generated ? { generated: column.name } : {}),
      ...(table.uniques.some(set => set.length === 1 && set[0] === column.name) ? { unique: true } : {}),
    }
  }
}

function withItems({ members, isInteger }: ServerColumn['type'], items: ServerColumn['items']): object {
  const { type, items: labels } = members as { readonly type?: unknown; readonly items?: readonly string[] }
  // A domain may allow some labels of an enum.
  if (labels !== undefined && items !== undefined) return { ...members, items: labels.filter(label => items.includes(label)) }
  const kind = isInteger ? 'number' : type === types.text || type === types.string ? 'string' : undefined
  if (items === undefined || !items.every(item => typeof item === kind)) return members
  // An enum has no length.
  return { enum: true, items: [...items], ...(isInteger ? members : { type: types.text }) }
}

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
