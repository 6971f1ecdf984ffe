// Feathers 5 on Koa, with a memory service for each collection of a JSON file: nothing is written to a disk.
import { readFileSync } from 'node:fs'
import { feathers } from '@feathersjs/feathers'
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa'
import { MemoryService } from '@feathersjs/memory'

const [port, file] = process.argv.slice(2)
const app = koa(feathers())
app.use(errorHandler())
app.use(bodyParser())
app.configure(rest())
for (const [name, records] of Object.entries(JSON.parse(readFileSync(file, 'utf8')))) {
  const store = Object.fromEntries(records.map(record => [record.id, record]))
  const startId = records.length + 1
  app.use(name, new MemoryService({ store, startId, paginate: { default: 100, max: 1000 } }))
  // A query is texts, and the adapter compares strictly.
  const before = ({ params: { query } }) => {
    if (query.active !== undefined) query.active = query.active === 'true'
  }
  app.service(name).hooks({ before: { find: [before] } })
}
await app.listen(Number(port), '127.0.0.1')
