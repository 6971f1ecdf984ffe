/** Properties that the model gives an accessor, and embedded objects that have no columns. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p, rel } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Author = defineEntity({ name: 'Author', properties: { id: p.integer().primary(), name: p.string() } })

class Article {
  id!: number
  author!: { id: number }
  private words = ''
  get authorId(): number {
    return this.author?.id
  }
  set authorId(id: number) {
    this.author = rel(Author as never, id as never)
  }
  get title(): string {
    return this.words
  }
  set title(title: string) {
    this.words = title.trim()
  }
}
class Price {
  cents!: number
  get amount(): number {
    return this.cents
  }
  set amount(amount: number) {
    this.cents = amount
  }
}
const PriceSchema = defineEntity({
  class: Price,
  embeddable: true,
  properties: { cents: p.integer().accessor('amount') },
} as never)
const ArticleSchema = defineEntity({
  class: Article,
  properties: {
    id: p.integer().primary(),
    author: () => p.manyToOne(Author).accessor('authorId'),
    title: p.string().accessor(),
    price: () =>
      p
        .embedded(PriceSchema as never)
        .object()
        .nullable(),
    cost: () => p.embedded(PriceSchema as never).nullable(),
  },
} as never)

describeStores('an accessor', () => {
  it('of a relation, of a plain value and in an embedded object takes what is written, by its own name', async () => {
    const failures: unknown[] = []
    await using engine = await createEngine({
      entities: [Author, ArticleSchema] as never,
      onError: error => failures.push(error),
      seed: { authors: [{ name: 'Ann' }, { name: 'Bob' }] },
    })
    const made = await engine.handle('POST', '/v1/articles', undefined, {
      authorId: 1,
      title: ' x ',
      price: { amount: 3 },
      cost: { amount: 5 },
    })
    assert.equal(made.status, 200, `${JSON.stringify(made.body)} ${String(failures[0])}`)
    const article = { id: 1, authorId: 1, title: 'x', price: { amount: 3 }, cost: { amount: 5 } }
    assert.deepEqual((made.body as { article: object }).article, article)
    const changed = await engine.handle('PUT', '/v1/articles/1', undefined, {
      authorId: 2,
      title: ' y',
      price: { amount: 4 },
      cost: { amount: 6 },
    })
    assert.deepEqual(
      (changed.body as { article: object }).article,
      { id: 1, authorId: 2, title: 'y', price: { amount: 4 }, cost: { amount: 6 } },
      String(failures[0]),
    )
    const nested = await engine.handle('POST', '/v1/articles', undefined, { authorId: { name: 'Cy' }, title: 'z' })
    assert.deepEqual(
      (nested.body as { article: object }).article,
      { id: 2, authorId: 3, title: 'z', price: null, cost: null },
      String(failures[0]),
    )
  })
})

describeStores('an embedded object that is not stored', () => {
  it('is taken, and shown nowhere', async () => {
    const Figures = defineEntity({ name: 'Figures', embeddable: true, properties: { revenue: p.integer() } })
    const Event = defineEntity({
      name: 'Event',
      properties: {
        id: p.integer().primary(),
        name: p.string(),
        inline: () => p.embedded(Figures).persist(false).nullable(),
        object: () => p.embedded(Figures).object().persist(false).nullable(),
        list: () => p.embedded(Figures).array().persist(false),
      },
    })
    const failures: unknown[] = []
    await using engine = await createEngine({ entities: [Event], onError: error => failures.push(error) })
    const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
      const answer = await engine.handle(method, path, undefined, body)
      assert.equal(answer.status, 200, `${JSON.stringify(answer.body)} ${String(failures[0])}`)
      return (answer.body as Record<string, unknown>)[(answer.body as { resource: string }).resource]
    }
    assert.deepEqual(await ask('POST', '/v1/events', { name: 'a' }), { id: 1, name: 'a' })
    const given = { name: 'b', inline: { revenue: 1 }, object: { revenue: 1 }, list: [{ revenue: 1 }] }
    assert.deepEqual(await ask('POST', '/v1/events', given), { id: 2, name: 'b' })
    assert.deepEqual(await ask('PUT', '/v1/events/2', { ...given, name: 'c' }), { id: 2, name: 'c' })
    assert.equal(((await engine.given('events')) as { id: number }).id, 3)
    assert.deepEqual(await ask('GET', '/v1/events?name=c'), [{ id: 2, name: 'c' }])
  })
})

describeStores('a stored property with a getterName', () => {
  it('is stored and shown, as MikroORM stores it', async () => {
    const properties = { id: p.integer().primary(), title: p.string().getterName('getTitle') }
    await using engine = await createEngine({ entities: [defineEntity({ name: 'Named', properties })] })
    const { status, body } = await engine.handle('POST', '/v1/nameds', undefined, { title: 'a' })
    assert.deepEqual([status, body.named], [200, { id: 1, title: 'a' }])
    assert.equal((await engine.handle('GET', '/v1/nameds', { title: 'a' })).body.count, 1)
  })
})
