/** A shop: every kind of attribute that `given` must make up, required, and relations of every shape. */
import { defineEntity, p } from '@mikro-orm/sqlite'

export const Money = defineEntity({
  name: 'Money',
  embeddable: true,
  properties: { amount: p.decimal().precision(6).scale(2), currency: p.string().length(3), note: p.string().nullable() },
})

export const Box = defineEntity({
  name: 'Box',
  embeddable: true,
  properties: { width: p.integer(), price: () => p.embedded(Money) },
})

export const Tenant = defineEntity({
  name: 'Tenant',
  properties: { id: p.integer().primary(), name: p.string().length(40), createdAt: p.datetime() },
})

export const Customer = defineEntity({
  name: 'Customer',
  properties: {
    id: p.integer().primary(),
    name: p.string().length(60),
    email: p.string().length(120).unique(),
    vip: p.boolean(),
    secret: p.string().length(30).hidden(),
    nick: p.string().nullable(),
    tenant: () => p.manyToOne(Tenant),
    orders: () => p.oneToMany(Order).mappedBy('customer'),
    card: () => p.oneToOne(Card).mappedBy('customer').nullable(),
  },
})

/** The owning side of a required one-to-one. */
export const Card = defineEntity({
  name: 'Card',
  properties: { number: p.bigint().primary(), customer: () => p.oneToOne(Customer).inversedBy('card') },
})

export const Product = defineEntity({
  name: 'Product',
  properties: {
    sku: p.string().length(8).primary(),
    name: p.string(),
    price: p.decimal().precision(4).scale(2),
    share: p.decimal().precision(2).scale(2),
    tenant: () => p.manyToOne(Tenant),
    tags: () => p.manyToMany(Tag),
  },
})

export const Tag = defineEntity({
  name: 'Tag',
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => crypto.randomUUID()),
    code: p.string().length(2).unique(),
  },
})

export const Order = defineEntity({
  name: 'Order',
  properties: {
    id: p.integer().primary(),
    number: p.string().length(12).unique(),
    status: p.enum(['open', 'paid', 'sent']),
    placedAt: p.datetime(),
    createdAt: p.datetime().onCreate(() => new Date()),
    customer: () => p.manyToOne(Customer).inversedBy('orders'),
    items: () => p.oneToMany(OrderItem).mappedBy('order'),
  },
})

export const OrderItem = defineEntity({
  name: 'OrderItem',
  properties: {
    order: () => p.manyToOne(Order).primary(),
    position: p.integer().primary(),
    quantity: p.integer(),
    product: () => p.manyToOne(Product),
  },
})

/** Of all types, required. */
export const Everything = defineEntity({
  name: 'Everything',
  tableName: 'everything',
  properties: {
    id: p.uuid().primary(),
    one: p.string().length(1),
    two: p.string().length(2).unique(),
    long: p.text(),
    size: p.smallint(),
    count: p.integer().unique(),
    big: p.bigint(),
    bigText: p.bigint('string').unique(),
    ratio: p.float(),
    exact: p.double().unique(),
    cost: p.decimal().precision(10).scale(3).unique(),
    whole: p.decimal(),
    on: p.boolean(),
    day: p.date().unique(),
    expiresAt: p.datetime().unique(),
    at: p.time().unique(),
    token: p.uuid().unique(),
    level: p.enum([1, 2, 3]),
    data: p.json<unknown>(),
    file: p.blob(),
    inline: () => p.embedded(Money),
    box: () => p.embedded(Box).object(),
    spare: () => p.embedded(Box).nullable(),
  },
})

/** Two small choices that are unique together, beside an attribute with a default. */
export const Slot = defineEntity({
  name: 'Slot',
  properties: {
    id: p.integer().primary(),
    room: p.enum(['a', 'b', 'c']),
    morning: p.boolean(),
    week: p.integer().default(1),
  },
  uniques: [{ properties: ['room', 'morning'] }],
})

export const entities = [Tenant, Customer, Card, Product, Tag, Order, OrderItem, Everything, Slot, Money, Box]
