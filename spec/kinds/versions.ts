/** Entities with optimistic locking of each kind. */
import { defineEntity, p } from '@mikro-orm/sqlite'

export const Doc = defineEntity({
  name: 'Doc',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    version: p.integer().version(),
    pages: () => p.oneToMany(Page).mappedBy('doc').orphanRemoval(),
  },
})
export const Page = defineEntity({
  name: 'Page',
  properties: { id: p.integer().primary(), text: p.string(), stamp: p.datetime(3).version(), doc: () => p.manyToOne(Doc) },
})
/** MikroORM compares the values that it has read when it updates. */
export const Stock = defineEntity({
  name: 'Stock',
  properties: {
    id: p.integer().primary(),
    amount: p.integer().concurrencyCheck(),
    note: p.string().nullable().concurrencyCheck(),
    big: p.bigint().nullable().concurrencyCheck(),
    other: p.string().nullable(),
  },
})
export const Plain = defineEntity({ name: 'Plain', properties: { id: p.integer().primary(), name: p.string() } })
export const entities = [Doc, Page, Stock, Plain]
