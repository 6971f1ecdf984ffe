/** Orders: what all contenders of `bench:browser` hold, and what they are asked for. An order shows its customer as an object. */

export const ORIGIN = 'https://api.example.test'

const ITEMS = ['Tea', 'Coffee', 'Milk', 'Bread', 'Butter', 'Cheese', 'Honey', 'Rice', 'Salt', 'Oil']

export interface Customer {
  readonly id: number
  readonly name: string
}

/** As it is stored. */
export interface Order {
  readonly id: number
  readonly item: string
  readonly amount: number
  /** The ID of a customer. */
  readonly customer: number
}

export const CUSTOMERS: readonly Customer[] = Array.from({ length: 50 }, (_, index) => ({ id: index + 1, name: `Customer ${index + 1}` }))

export const ORDERS: readonly Order[] = Array.from({ length: 1000 }, (_, index) => ({
  id: index + 1,
  item: ITEMS[index % ITEMS.length]!,
  amount: ((index + 1) * 7919) % 10_007,
  customer: 1 + ((index * 31) % CUSTOMERS.length),
}))

interface Question {
  readonly method: string
  readonly path: string
  /** @param call numbers the calls */
  readonly body?: (call: number) => object
}

export const QUESTIONS = {
  'list of 100': { method: 'GET', path: '/orders?limit=100' },
  'filter and sort': { method: 'GET', path: '/orders?item=Tea&sort=amount.desc&limit=100' },
  'one record': { method: 'GET', path: '/orders/17' },
  update: { method: 'PATCH', path: '/orders/17', body: call => ({ amount: 20_000 + call }) },
  create: { method: 'POST', path: '/orders', body: call => ({ item: 'Jam', amount: 20_000 + call, customer: 3 }) },
} as const satisfies Readonly<Record<string, Question>>

export type Operation = keyof typeof QUESTIONS

/** Asks as an application does. */
export async function ask(operation: Operation, call: number): Promise<unknown> {
  const { method, path, body }: Question = QUESTIONS[operation]
  const init = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body(call)) }
  return (await fetch(ORIGIN + path, { method, ...init })).json()
}
