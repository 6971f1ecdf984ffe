// The engine, on a file as the others are, served as the command serves it.
import { RestEngine, createServer } from '../../../lib/index.ts'
import { entities } from '../../seed.ts'

const [port, database] = process.argv.slice(2)
const engine = await RestEngine.create({ entities, database: database!, schema: 'keep', journal: 0 })
createServer(engine).listen(Number(port), '127.0.0.1')
