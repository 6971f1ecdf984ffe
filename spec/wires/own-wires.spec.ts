/** The wires of fixtures/wires, which docs/wires.md shows, by the requests that clients of these backends send. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import type { RestEngine, Wire } from '../../lib/index.ts'
import { readNested } from '../../lib/wires/query/index.ts'
import { drf } from '../../fixtures/wires/drf.ts'
import { hal } from '../../fixtures/wires/hal.ts'
import { jsonApi } from '../../fixtures/wires/json-api.ts'
import { nestCrud } from '../../fixtures/wires/nest-crud.ts'
import { strapi } from '../../fixtures/wires/strapi.ts'
import { ROOT } from '../helpers/command.ts'
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
    draft: p.boolean().default(false),
    author: () => p.manyToOne(Author).nullable(),
  }),
})
const seed = {
  authors: [
    { id: 1, name: 'Ann' },
    { id: 2, name: 'Bob' },
  ],
  articles: ['Tea', 'Bread', 'Milk', 'Rice', '100% rye'].map((title, index) => ({
    id: index + 1,
    title,
    views: index === 4 ? null : index * 10,
    draft: index === 1,
    author: 1 + (index % 2),
  })),
}

type Row = Readonly<Record<string, unknown>>

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: never
}

async function ask(engine: RestEngine, path: string, method = 'GET', body?: unknown, type = 'application/json'): Promise<Answer> {
  const content = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': type } }
  const response = await engine.fetch(`http://api.test${path}`, { method, ...content })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: (text === '' ? undefined : JSON.parse(text)) as never }
}

describeStores("wires of an application's own", () => {
  const create = (wire: Wire): Promise<RestEngine> => createEngine({ entities: [Author, Article], seed, versions: [], wire })
  const titles = (rows: readonly Row[]): unknown[] => rows.map(({ title }) => title)

  it('have less than 80 lines each', () => {
    const folder = join(ROOT, 'fixtures/wires')
    for (const name of readdirSync(folder)) {
      const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n').length
      assert.ok(lines < 80, `${name} has ${lines} lines`)
    }
  })

  it('read nested names, lists, and hostile ones', () => {
    const pairs = [...new URLSearchParams('a[b][$eq]=1&a[b][$ne]=2&c[]=x&c[]=y&d[0]=p&d[1]=q&e=1&e=2&__proto__[x]=1&f[&g[a][b]c=3')]
    assert.deepEqual(
      JSON.stringify(readNested(pairs)),
      '{"a":{"b":{"$eq":"1","$ne":"2"}},"c":["x","y"],"d":["p","q"],"e":["1","2"],"__proto__":{"x":"1"},"f[":"","g[a][b]c":"3"}',
    )
    assert.equal(({} as Row)['x'], undefined)
    assert.ok(JSON.stringify(readNested([[`a${'[b]'.repeat(5000)}`, '1']])).length < 40_000)
  })

  it('refuse conditions that are nested too deep', async () => {
    await using strapiEngine = await create(strapi(5))
    await using nestEngine = await create(nestCrud)
    for (const levels of [30, 5000, 50_000]) {
      const nested = encodeURIComponent('{"$and":['.repeat(levels) + '{"title":"Tea"}' + ']}'.repeat(levels))
      for (const [engine, path] of [
        [strapiEngine, `/api/articles?filters${'[$and][0]'.repeat(levels)}[title][$eq]=Tea`],
        [strapiEngine, `/api/articles?filters${'[author]'.repeat(levels)}[title][$eq]=Tea`],
        [nestEngine, `/articles?s=${nested}`],
      ] as const) {
        const { status, body } = await ask(engine, path)
        assert.deepEqual([status, /deeper than 30 levels|no attribute/.test(JSON.stringify(body))], [400, true], path.slice(0, 40))
      }
    }
    for (const search of ['filters=title', 'filters[$and]=title', 'filters[$not]=title', 'filters[$or][0]=title'])
      assert.equal((await ask(strapiEngine, `/api/articles?${search}`)).status, 400, search)
    for (const value of ['["Tea",{"toString":1}]', `[${'['.repeat(5000)}${']'.repeat(5000)}]`])
      assert.equal((await ask(nestEngine, `/articles?s={"title":${value}}`)).status, 400, value.slice(0, 30))
    const { body } = await ask(strapiEngine, `/api/articles?filters${'[$and][0]'.repeat(12)}[title][$eq]=Tea`)
    assert.deepEqual(titles((body as { data: Row[] }).data), ['Tea'])
  })

  for (const version of [4, 5] as const)
    it(`answer Strapi ${version}`, async () => {
      await using engine = await create(strapi(version))
      const rows = (body: unknown): Row[] =>
        (body as { data: Row[] }).data.map(entry => ({ ...(version === 4 ? (entry['attributes'] as Row) : entry) }))
      const query =
        'filters[title][$containsi]=E&filters[author][name][$eq]=Ann&sort[0]=views:desc&pagination[pageSize]=1&populate[0]=author'
      const listed = await ask(engine, `/api/articles?${query}`)
      assert.deepEqual(listed.body['meta'], { pagination: { page: 1, pageSize: 1, pageCount: 2, total: 2 } } as never)
      const [first] = rows(listed.body)
      const author = version === 4 ? { data: { id: 1, attributes: { name: 'Ann' } } } : { id: 1, documentId: '1', name: 'Ann' }
      assert.deepEqual([first!['title'], first!['author']], ['Tea', author])
      const either = await ask(
        engine,
        '/api/articles?filters[$or][0][views][$gte]=30&filters[$or][1][title][$startsWith]=100%25&fields[0]=title',
      )
      assert.deepEqual(
        rows(either.body).map(row => [row['title'], row['views']]),
        [
          ['Rice', undefined],
          ['100% rye', undefined],
        ],
      )
      const none = await ask(engine, '/api/articles?filters[views][$null]=true&filters[id][$in][0]=4&filters[id][$in][1]=5')
      assert.deepEqual(titles(rows(none.body)), ['100% rye'])
      const made = await ask(engine, '/api/articles?populate=*', 'POST', { data: { title: 'Salt', author: 2 } })
      assert.equal(made.status, 201)
      assert.equal((await ask(engine, '/api/articles/6', 'PUT', { data: { views: 7 } })).status, 200)
      assert.equal((await ask(engine, '/api/articles/6', 'DELETE')).status, version === 4 ? 200 : 204)
      const refused = await ask(engine, '/api/articles', 'POST', { data: { title: 'Tea' } })
      const { error } = refused.body as { error: { name: string; details: { errors: { path: string[] }[] } } }
      assert.deepEqual([refused.status, error.name, error.details.errors[0]!.path], [400, 'ValidationError', ['title']])
      assert.deepEqual(
        [(await ask(engine, '/api/articles/99')).status, (await ask(engine, '/api/articles?filters[nothing]=1')).status],
        [404, 400],
      )
    })

  it('answer Spring HAL', async () => {
    await using engine = await create(hal)
    const page = (await ask(engine, '/articles?page=1&size=2&sort=title,desc')).body as Record<string, Record<string, unknown>>
    assert.deepEqual(titles(page['_embedded']!['articles'] as Row[]), ['Milk', 'Bread'])
    assert.deepEqual(page['page'], { size: 2, totalElements: 5, totalPages: 3, number: 1 })
    const href = (rel: string): string => (page['_links']![rel] as { href: string }).href
    const next = new URL(href('next'), 'http://api.test')
    assert.deepEqual([next.pathname, next.searchParams.get('page'), next.searchParams.get('sort')], ['/articles', '2', 'title,desc'])
    assert.deepEqual(Object.keys(page['_links']!), ['self', 'first', 'prev', 'next', 'last'])
    const one = (await ask(engine, '/articles/2')).body as { title: string; id?: number; _links: Record<string, { href: string }> }
    assert.deepEqual(
      [one.title, one.id, new URL(one['_links'].author!.href, 'http://api.test').pathname],
      ['Bread', undefined, '/articles/2/author'],
    )
    assert.equal((await ask(engine, '/articles/2/author')).body['name'], 'Bob')
    const own = (await ask(engine, '/authors/1/articles')).body as Record<string, { articles: Row[] }>
    assert.equal(own['_embedded']!.articles.length, 3)
    const found = (await ask(engine, '/articles/search/findByTitleContainingIgnoreCase?title=RI')).body as Record<
      string,
      { articles: Row[] }
    >
    assert.deepEqual(titles(found['_embedded']!.articles), ['Rice'])
    const made = await ask(engine, '/articles', 'POST', { title: 'Salt', author: 'http://api.test/authors/2' })
    assert.deepEqual([made.status, new URL(made.headers.get('location')!, 'http://api.test').pathname], [201, '/articles/6'])
    assert.equal((await ask(engine, '/articles/6/author')).body['name'], 'Bob')
    assert.equal((await ask(engine, '/articles/6', 'PATCH', { views: 5 })).body['views'], 5)
    assert.equal((await ask(engine, '/articles/6', 'DELETE')).status, 204)
    assert.deepEqual([(await ask(engine, '/articles/6')).status, (await ask(engine, '/articles', 'POST', {})).status], [404, 400])
  })

  it('answer NestJS CRUD', async () => {
    await using engine = await create(nestCrud)
    const list = async (query: string): Promise<never> => (await ask(engine, `/articles?${query}`)).body
    assert.deepEqual(titles(await list('filter=views||$gte||10&filter=author.name||$eq||Ann&sort=views,DESC')), ['Milk'])
    assert.deepEqual(titles(await list('filter[0]=title||$starts||Te&or[0]=views||$isnull&sort=id,ASC')), ['Tea', '100% rye'])
    const search = encodeURIComponent('{"$or":[{"title":{"$contL":"ICE"}},{"draft":true}]}')
    assert.deepEqual(titles(await list(`s=${search}&sort=id,ASC`)), ['Bread', 'Rice'])
    const page = (await list('limit=2&page=2&join=author&fields=title&sort=id,ASC')) as { data: Row[] }
    assert.deepEqual(page, { data: page.data, count: 2, total: 5, page: 2, pageCount: 3 })
    assert.deepEqual(page.data[0], { id: 3, title: 'Milk', author: { id: 1, name: 'Ann' } })
    const bulk = await ask(engine, '/articles/bulk', 'POST', { bulk: [{ title: 'Salt' }, { title: 'Oil' }] })
    assert.deepEqual([bulk.status, (bulk.body as Row[]).length], [201, 2])
    assert.equal((await ask(engine, '/articles/6', 'PATCH', { views: 1 })).body['views'], 1)
    assert.equal((await ask(engine, '/articles/6', 'DELETE')).status, 200)
    const refused = await ask(engine, '/articles', 'POST', { views: 'many' })
    assert.deepEqual([refused.status, refused.body['error'], (refused.body['message'] as string[]).length], [400, 'Bad Request', 2])
    assert.equal((await ask(engine, '/articles/99')).status, 404)
  })

  it('answer JSON:API', async () => {
    await using engine = await create(jsonApi)
    const type = 'application/vnd.api+json'
    const query =
      'include=author&fields[articles]=title,author&sort=-views&page[number]=2&page[size]=2&filter[author.name]=Ann,Bob&filter[views][gte]=0'
    const listed = await ask(engine, `/articles?${query}`)
    const document = listed.body as { data: Row[]; included: Row[]; links: Record<string, string | null>; meta: object }
    assert.equal(listed.headers.get('content-type'), type)
    assert.deepEqual(document.data[0], {
      type: 'articles',
      id: '2',
      attributes: { title: 'Bread' },
      relationships: { author: { data: { type: 'authors', id: '2' } } },
    })
    assert.deepEqual(
      document.included.map(({ id }) => id),
      ['2', '1'],
    )
    assert.deepEqual([document.meta, document.links['next'], document.links['prev'] !== null], [{ total: 4 }, null, true])
    const data = { type: 'articles', attributes: { title: 'Salt' }, relationships: { author: { data: { type: 'authors', id: '1' } } } }
    const made = await ask(engine, '/articles', 'POST', { data }, type)
    assert.deepEqual([made.status, (made.body['data'] as Row)['id']], [201, '6'])
    const changed = { data: { type: 'articles', id: '6', relationships: { author: { data: null } } } }
    const after = (await ask(engine, '/articles/6?include=author', 'PATCH', changed, type)).body['data'] as Row
    assert.deepEqual((after['relationships'] as Row)['author'], { data: null })
    assert.equal((await ask(engine, '/articles', 'POST', { data: { type: 'authors' } }, type)).status, 409)
    const refused = await ask(engine, '/articles', 'POST', { data: { type: 'articles', attributes: { title: 'Tea' } } }, type)
    assert.deepEqual((refused.body['errors'] as Row[])[0]!['source'], { pointer: '/data/attributes/title' })
    assert.equal((await ask(engine, '/articles/6', 'DELETE')).status, 204)
    assert.deepEqual([(await ask(engine, '/articles/6')).status, (await ask(engine, '/articles?include=nothing')).status], [404, 400])
  })

  it('answer Django REST framework', async () => {
    await using engine = await create(drf)
    const list = async (query: string): Promise<{ count: number; next: string | null; previous: string | null; results: Row[] }> =>
      (await ask(engine, `/api/articles/?${query}`)).body
    const first = await list('views__gte=10&ordering=-views&page_size=2')
    assert.deepEqual([first.count, titles(first.results), first.previous], [3, ['Rice', 'Milk'], null])
    const { pathname, search } = new URL(first.next!, 'http://api.test')
    assert.deepEqual(titles((await ask(engine, pathname + search)).body['results']), ['Bread'])
    assert.deepEqual(titles((await list('author__name__icontains=AN&title__istartswith=100%25')).results), ['100% rye'])
    assert.deepEqual(titles((await list('views__isnull=True')).results), ['100% rye'])
    assert.deepEqual(titles((await list('id__in=1,3&search=mil')).results), ['Milk'])
    assert.deepEqual(titles((await list('limit=2&offset=1&ordering=id')).results), ['Bread', 'Milk'])
    assert.equal((await ask(engine, '/api/articles/?page=9')).body['detail'], 'Invalid page.')
    const made = await ask(engine, '/api/articles/', 'POST', { title: 'Salt', author: 2 })
    assert.deepEqual([made.status, made.body['author']], [201, 2])
    assert.equal((await ask(engine, '/api/articles/6/', 'PATCH', { views: 3 })).body['views'], 3)
    assert.equal((await ask(engine, '/api/articles/6/', 'DELETE')).status, 204)
    assert.deepEqual((await ask(engine, '/api/articles/', 'POST', { title: 'Tea' })).body, { title: ['This field must be unique.'] })
    assert.deepEqual((await ask(engine, '/api/articles/6/')).body, { detail: 'Not found.' })
  })

  it('have no failure of the server, however hostile the request', async () => {
    const texts = [
      '',
      'a',
      '[object',
      '{',
      '{"$or":1}',
      '{"a":{"b":{}}}',
      'null',
      '||',
      'x||y||z',
      '-',
      '%',
      '1e999',
      'author,',
      '*',
      '__proto__',
    ]
    const names = [
      'filters',
      'filters[$or]',
      'filters[a][b][$x]',
      'sort',
      'sort[a]',
      'pagination',
      'pagination[page]',
      'populate[a][b]',
      'fields',
    ]
    const others = [
      's',
      'filter',
      'or',
      'join',
      'page',
      'page[size]',
      'filter[a]',
      'filter[author][x]',
      'include',
      'include[a]',
      'size',
      'search',
      'views__x',
    ]
    const bodies = [
      null,
      1,
      'a',
      [],
      {},
      { data: null },
      { data: 1 },
      { data: { type: 'articles', relationships: { author: null, tags: { data: [{}] } } } },
      { data: { type: 'articles', relationships: null, attributes: null } },
      { data: { type: 'articles', relationships: { author: { data: [null, 5, { id: 7 }] } } } },
      { bulk: 1 },
    ]
    for (const [wire, root] of [
      [strapi(4), '/api'],
      [strapi(5), '/api'],
      [hal, ''],
      [nestCrud, ''],
      [jsonApi, ''],
      [drf, '/api'],
    ] as const) {
      await using engine = await create(wire)
      for (const name of [...names, ...others])
        for (const text of texts) {
          const query = new URLSearchParams([
            [name, text],
            ['page', '1'],
          ]).toString()
          assert.ok((await ask(engine, `${root}/articles?${query}`)).status < 500, query)
        }
      for (const body of bodies)
        for (const [method, path] of [
          ['POST', ''],
          ['POST', '/bulk'],
          ['PATCH', '/1'],
          ['PUT', '/1'],
          ['DELETE', ''],
        ] as const)
          assert.ok(
            (await ask(engine, `${root}/articles${path}`, method, body)).status < 500,
            `${root} ${method}${path} ${JSON.stringify(body)}`,
          )
    }
  })
})
