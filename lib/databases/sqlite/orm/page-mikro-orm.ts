/** Page MikroORM: what `@mikro-orm/sqlite` gives the engine on Node. That package loads better-sqlite3. */
export {
  AbstractSqlDriver,
  BaseSqliteConnection as SqliteConnection,
  MikroORM,
  SqlEntityManager,
  SqlEntityManager as EntityManager,
  SqliteDriver,
  SqlitePlatform,
} from '@mikro-orm/sql'
