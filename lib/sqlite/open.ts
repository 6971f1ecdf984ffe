/** Open: a SQLite database with a MikroORM instance on it, and the schema that the entities want. */
import { existsSync } from 'node:fs'
import { MikroORM } from '@mikro-orm/sqlite'
import type { Options as CoreOptions } from '@mikro-orm/core'
import type { Options } from '@mikro-orm/sqlite'
import { SqliteConnection } from './connection.ts'
import { Handle } from './handle.ts'
import { skipUpdateOfCreated } from './on-update.ts'
import { BoundSqliteDriver } from './orm-driver.ts'

export interface OpenDatabase {
  readonly orm: MikroORM
  readonly connection: SqliteConnection
}

/** What to open. */
export interface Opening {
  readonly entities: NonNullable<CoreOptions['entities']>
  readonly database: string
  readonly schema: 'update' | 'keep'
  readonly orm: Partial<CoreOptions>
}

export async function open({ entities, database, schema, orm: extra }: Opening): Promise<OpenDatabase> {
  const isNew = database !== ':memory:' && !existsSync(database)
  const handle = new Handle(database)
  try {
    // A file of our own gets the faster journal; an existing one keeps what it has.
    if (isNew) handle.db.pragma('journal_mode = wal')
    const connection = new SqliteConnection(handle)
    const options = {
      ...extra,
      entities,
      dbName: ':memory:',
      driver: BoundSqliteDriver,
      driverOptions: connection.lend(),
    } as unknown as Options
    // Only glob texts need the asynchronous discovery, which looks for extensions on the disk.
    const orm = entities.some(entity => typeof entity === 'string') ? await MikroORM.init(options) : new MikroORM(options)
    connection.attach(orm)
    skipUpdateOfCreated(orm)
    if (schema === 'update') await updateSchema(orm, handle)
    return { orm, connection }
  } catch (error) {
    handle.close()
    throw error
  }
}

/** Creates missing tables and columns; never drops any. */
async function updateSchema(orm: MikroORM, handle: Handle): Promise<void> {
  const [table] = handle.all("select 1 from sqlite_master where type = 'table' limit 1", [])
  if (table === undefined) handle.db.exec(await orm.schema.getCreateSchemaSQL({ wrap: false }))
  else await orm.schema.update({ safe: true, wrap: false })
}
