/** MSW with its service worker, and handlers by hand over an array. */
import { http, HttpResponse } from 'msw'
import { setupWorker } from 'msw/browser'
import { offer } from '../meter.ts'
import { CUSTOMERS, ORDERS, ORIGIN, type Order } from '../orders.ts'

const seeded = (): Order[] => ORDERS.map(order => ({ ...order }))
let orders = seeded()

const shown = (order: Order): object => ({ ...order, customer: CUSTOMERS.find(({ id }) => id === order.customer) })

const worker = setupWorker(
  http.get(`${ORIGIN}/orders`, ({ request }) => {
    const parameters = new URL(request.url).searchParams
    const item = parameters.get('item')
    let found = item === null ? orders : orders.filter(order => order.item === item)
    const [key, direction] = (parameters.get('sort') ?? '').split('.')
    if (key === 'amount') found = found.toSorted((one, two) => (direction === 'desc' ? two.amount - one.amount : one.amount - two.amount))
    return HttpResponse.json(found.slice(0, Number(parameters.get('limit'))).map(shown))
  }),
  http.get(`${ORIGIN}/orders/:id`, ({ params }) => {
    const order = orders.find(({ id }) => id === Number(params['id']))
    return order === undefined ? new HttpResponse(null, { status: 404 }) : HttpResponse.json(shown(order))
  }),
  http.post(`${ORIGIN}/orders`, async ({ request }) => {
    const order = { id: orders.length + 1, ...((await request.json()) as Omit<Order, 'id'>) }
    orders.push(order)
    return HttpResponse.json(shown(order), { status: 201 })
  }),
  http.patch(`${ORIGIN}/orders/:id`, async ({ params, request }) => {
    const place = orders.findIndex(({ id }) => id === Number(params['id']))
    if (place < 0) return new HttpResponse(null, { status: 404 })
    orders[place] = { ...orders[place]!, ...((await request.json()) as Partial<Order>) }
    return HttpResponse.json(shown(orders[place]))
  }),
)
await worker.start({ quiet: true })
await offer(() => {
  orders = seeded()
})
