/** Mirage: models, a serializer that embeds, and routes; those of a list by hand, as its guide has them. */
import { Model, RestSerializer, belongsTo, createServer, hasMany } from 'miragejs'
import { offer } from '../meter.ts'
import { CUSTOMERS, ORDERS, ORIGIN, type Order } from '../orders.ts'

const fixtures = {
  customers: CUSTOMERS.map(({ id, name }) => ({ id: String(id), name })),
  orders: ORDERS.map(({ id, item, amount, customer }) => ({ id: String(id), item, amount, customerId: String(customer) })),
}

const read = (text: string): object => {
  const { customer, ...order } = JSON.parse(text) as Partial<Order>
  return customer === undefined ? order : { ...order, customerId: String(customer) }
}

const embedding = { root: false, embed: true }
const server = createServer({
  // Without log and delay.
  environment: 'test',
  models: { customer: Model.extend({ orders: hasMany('order') }), order: Model.extend({ customer: belongsTo('customer') }) },
  serializers: {
    customer: RestSerializer.extend(embedding),
    order: RestSerializer.extend({ ...embedding, include: ['customer'] }),
  },
  fixtures,
  routes() {
    this.urlPrefix = ORIGIN
    this.get('/orders', (schema, { queryParams }) => {
      const { item, sort = '', limit } = queryParams as Readonly<Record<string, string | undefined>>
      let found = item === undefined ? schema.all('order') : schema.where('order', { item } as object)
      const [key, direction] = sort.split('.')
      const amountOf = (order: object): number => (order as Order).amount
      if (key === 'amount')
        found = found.sort((one, two) => (direction === 'desc' ? amountOf(two) - amountOf(one) : amountOf(one) - amountOf(two)))
      return found.slice(0, Number(limit))
    })
    this.get('/orders/:id')
    this.post('/orders', (schema, { requestBody }) => schema.create('order', read(requestBody)))
    this.patch('/orders/:id', (schema, { params, requestBody }) => {
      const order = schema.find('order', params['id']!)!
      order.update(read(requestBody))
      return order
    })
  },
})
await offer(() => {
  server.db.emptyData()
  server.loadFixtures()
})
