/** Clients of other backends, unchanged, against the wires of fixtures/wires. The clients are those of fixtures/clients. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { jsonApi } from '../../fixtures/wires/json-api.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Author = defineEntity({
  name: 'Author',
  properties: () => ({ id: p.integer().primary(), name: p.string(), articles: () => p.oneToMany(Article).mappedBy('author') }),
})
const Article = defineEntity({
  name: 'Article',
  properties: () => ({
    id: p.integer().primary(),
    title: p.string().unique(),
    views: p.integer().nullable(),
    author: () => p.manyToOne(Author).nullable(),
  }),
})
const seed = {
  authors: [
    { id: 1, name: 'Ann' },
    { id: 2, name: 'Bob' },
  ],
  articles: ['Tea', 'Bread', 'Milk', 'Rice', 'Rye'].map((title, index) => ({
    id: index + 1,
    title,
    views: index * 10,
    author: 1 + (index % 2),
  })),
}

interface Kitsu {
  get(path: string, config?: { readonly params?: object }): Promise<Found>
  create(type: string, body: object): Promise<Found>
  update(type: string, body: object): Promise<Found>
  delete(type: string, id: string | number): Promise<unknown>
}

interface Found {
  readonly data: never
  readonly meta: object
  readonly links: Readonly<Record<string, string | null>>
}

/** Undefined where the package is not installed. */
async function loadKitsu(): Promise<(new (options: object) => Kitsu) | undefined> {
  const name = 'kitsu'
  try {
    return ((await import(name)) as { readonly default: new (options: object) => Kitsu }).default
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

const Kitsu = await loadKitsu()

describeStores("clients of an application's own backend", () => {
  it('are kitsu, of JSON:API', { skip: Kitsu === undefined ? 'kitsu is not installed in fixtures/clients' : false }, async () => {
    await using engine = await createEngine({ entities: [Author, Article], seed, versions: [], wire: jsonApi })
    using _ = engine.intercept('https://api.test')
    const api = new Kitsu!({ baseURL: 'https://api.test', camelCaseTypes: false, pluralize: false, resourceCase: 'none' })
    const titles = ({ data }: Found): unknown[] => (data as readonly { title: string }[]).map(({ title }) => title)

    assert.deepEqual(titles(await api.get('articles')), ['Tea', 'Bread', 'Milk', 'Rice', 'Rye'])
    const page = await api.get('articles', {
      params: { page: { number: 2, size: 2 }, sort: '-views', filter: { 'author.name': 'Ann,Bob' } },
    })
    assert.deepEqual([titles(page), page.meta], [['Milk', 'Bread'], { total: 5 }])
    assert.match(page.links['next']!, /page%5Bnumber%5D=3/)
    assert.deepEqual(titles(await api.get('articles', { params: { filter: { views: { gte: 30 } } } })), ['Rice', 'Rye'])
    const one = await api.get('articles/2', { params: { include: 'author', fields: { articles: 'title,author' } } })
    assert.equal(one.data['author']['data']['name'], 'Bob')
    assert.equal(one.data['views'], undefined)
    const nested = await api.get('authors/1', { params: { include: 'articles.author' } })
    assert.equal(nested.data['articles']['data'][0]['author']['data']['name'], 'Ann')

    const made = await api.create('articles', { title: 'Salt', author: { data: { id: '2', type: 'authors' } } })
    assert.equal(made.data['id'], '6')
    assert.equal((await api.update('articles', { id: '6', title: 'Pepper' })).data['title'], 'Pepper')
    assert.equal((await api.get('articles/6', { params: { include: 'author' } })).data['author']['data']['name'], 'Bob')
    await api.delete('articles', 6)
    await assert.rejects(api.get('articles/6'), (error: { errors: { status: string }[] }) => error.errors[0]!.status === '404')
    await assert.rejects(
      api.create('articles', { title: 'Tea' }),
      (error: { errors: { source: { pointer: string } }[] }) => error.errors[0]!.source.pointer === '/data/attributes/title',
    )
  })
})
