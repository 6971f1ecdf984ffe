// Feathers 5 on Koa, with a Knex service for each table.
import { feathers } from '@feathersjs/feathers'
import { KnexService } from '@feathersjs/knex'
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa'
import knex from 'knex'

const [port, filename] = process.argv.slice(2)
const Model = knex({ client: 'better-sqlite3', connection: { filename }, useNullAsDefault: true })
const app = koa(feathers())
app.use(errorHandler())
app.use(bodyParser())
app.configure(rest())
for (const name of ['user', 'site']) app.use(`${name}s`, new KnexService({ Model, name, id: 'id', paginate: { default: 100, max: 1000 } }))
await app.listen(Number(port), '127.0.0.1')
