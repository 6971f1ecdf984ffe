/** Open: a SQLite database with a MikroORM instance on it, and the schema that the entities want. */
import { existsSync } from 'node:fs'
import { MikroORM } from '@mikro-orm/sqlite'
import type { MikroORM as CoreMikroORM, Options as CoreOptions } from '@mikro-orm/core'
import type { Options } from '@mikro-orm/sqlite'
import { SqliteConnection } from './connection.ts'
import { Handle } from './handle.ts'
import type { LentSqliteDialect } from './kysely-dialect.ts'
import { followClock } from './model-time.ts'
import { skipUpdateOfCreated } from './on-update.ts'
import { BoundSqliteDriver } from './orm-driver.ts'

/** What to open. */
export interface Opening {
  readonly entities: NonNullable<CoreOptions['entities']>
  readonly database: string
  readonly schema: 'update' | 'keep'
  readonly orm: Partial<CoreOptions>
}

export async function open({ entities, database, schema, orm: extra }: Opening): Promise<SqliteConnection> {
  const isNew = database !== ':memory:' && !existsSync(database)
  const handle = new Handle(database)
  try {
    // A file of our own gets the faster journal; an existing one keeps what it has.
    if (isNew) handle.db.pragma('journal_mode = wal')
    const optionsOn = (lent: LentSqliteDialect): Options =>
      ({ ...extra, entities, dbName: ':memory:', driver: BoundSqliteDriver, driverOptions: lent }) as unknown as Options
    const connection = new SqliteConnection(handle, lent => new MikroORM(optionsOn(lent)))
    // Only glob texts need the asynchronous discovery, which looks for extensions on the disk.
    if (entities.some(entity => typeof entity === 'string')) connection.attach(await MikroORM.init(optionsOn(connection.lend())))
    skipUpdateOfCreated(connection.orm)
    followClock(connection.orm)
    if (schema === 'update') await updateSchema(connection.orm, handle)
    return connection
  } catch (error) {
    handle.close()
    throw error
  }
}

/** Creates missing tables and columns; never drops any. */
async function updateSchema(orm: CoreMikroORM, handle: Handle): Promise<void> {
  const [table] = handle.all("select 1 from sqlite_master where type = 'table' limit 1", [])
  if (table === undefined) handle.db.exec(await orm.schema.getCreateSchemaSQL({ wrap: false }))
  else await orm.schema.update({ safe: true, wrap: false })
}
