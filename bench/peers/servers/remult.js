// remult on Express, with its provider for better-sqlite3.
import Database from 'better-sqlite3'
import express from 'express'
import { Fields, SqlDatabase, describeEntity } from 'remult'
import { BetterSqlite3DataProvider } from 'remult/remult-better-sqlite3'
import { remultExpress } from 'remult/remult-express'

const [port, file] = process.argv.slice(2)
// remult describes its entities as classes.
/* oxlint-disable typescript/no-extraneous-class */
class User {}
class Site {}
/* oxlint-enable typescript/no-extraneous-class */
describeEntity(
  User,
  'users',
  {
    id: Fields.autoIncrement(),
    name: Fields.string(),
    email: Fields.string(),
    active: Fields.boolean(),
    score: Fields.integer(),
    created_at: Fields.number(),
  },
  { allowApiCrud: true, dbName: 'user' },
)
describeEntity(
  Site,
  'sites',
  { id: Fields.autoIncrement(), url: Fields.string(), user_id: Fields.integer() },
  { allowApiCrud: true, dbName: 'site' },
)
const app = express()
app.use(
  remultExpress({
    entities: [User, Site],
    dataProvider: new SqlDatabase(new BetterSqlite3DataProvider(new Database(file))),
    ensureSchema: false,
  }),
)
app.listen(Number(port), '127.0.0.1')
