/** Takes the place of `@mikro-orm/sqlite` in a page. That package loads better-sqlite3. */
export {
  AbstractSqlDriver,
  BaseSqliteConnection as SqliteConnection,
  MikroORM,
  SqlEntityManager,
  SqlEntityManager as EntityManager,
  SqliteDriver,
  SqlitePlatform,
} from '@mikro-orm/sql'
