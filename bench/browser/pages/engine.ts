/** The engine, as docs/browser.md says, with the answers of the others. */
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, loadSqlite, resource } from '../../../lib/browser.ts'
import { offer } from '../meter.ts'
import { CUSTOMERS, ORDERS, ORIGIN } from '../orders.ts'

const Customer = defineEntity({ name: 'Customer', properties: { id: p.integer().primary(), name: p.string() } })
const Order = defineEntity({
  name: 'Order',
  properties: { id: p.integer().primary(), item: p.string(), amount: p.integer(), customer: () => p.manyToOne(Customer) },
})

await loadSqlite('/sqlite3.wasm')
const engine = await RestEngine.create({
  entities: [Customer, Order],
  resources: [resource(Order, { depth: 2 })],
  seed: { customers: [...CUSTOMERS], orders: [...ORDERS] },
  versions: [],
  envelope: { list: 'bare', record: 'bare' },
  createdStatus: 201,
})
engine.intercept(ORIGIN)
await offer(() => engine.reset())
