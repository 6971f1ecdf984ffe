/** Defaults of a list: the sort, the limit and the filter of a request that names none, and pages by number. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { auth, resource, RestEngine } from '../../lib/index.ts'
import { tryPromises } from '../../lib/try-promises.ts'
import { describeTargets } from '../helpers/targets.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    secret: p.string().hidden().nullable(),
    posts: () => p.oneToMany(Post).mappedBy('author'),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    stars: p.integer(),
    published: p.boolean().default(false),
    author: () => p.manyToOne(User).nullable(),
  },
})
const entities = [User, Post]
const seed = {
  users: [{ id: 1, name: 'Ann' }],
  posts: [1, 2, 3, 4, 5, 6].map(n => ({ id: n, title: `p${n}`, stars: n, published: n % 2 === 0, author: 1 })),
}
type Config = Parameters<typeof resource>[1]
const configure = (config: Config): ReturnType<typeof resource>[] => [resource(Post, config as never)]
const DEFAULTS = { sort: 'stars.desc', limit: 2, filter: { published: true, 'stars>': 1 } }

interface Page {
  readonly sort: string
  readonly limit: number
  readonly filter: readonly (readonly string[])[]
  readonly count: number
  readonly next: string | null
  readonly previous: string | null
  readonly posts: readonly { readonly id: number }[]
}
const idsOf = ({ posts }: Page): number[] => posts.map(({ id }) => id)

describeTargets('defaults of a list', { entities, seed, resources: configure(DEFAULTS), fresh: 'suite' }, target => {
  const ask = async (query = ''): Promise<Page> => {
    const { status, body } = await target.call('GET', `/v1/posts${query}`)
    assert.equal(status, 200)
    return body as Page
  }

  it('hold where a request names none, and the envelope says so', async () => {
    const { sort, limit, filter, count, next, ...page } = await ask()
    assert.deepEqual([sort, limit, count, next], ['stars.desc', 2, 3, '/v1/posts?offset=2'])
    assert.deepEqual(filter, [
      ['published', 'true'],
      ['stars>', '1'],
    ])
    assert.deepEqual(idsOf(page as Page), [6, 4])
    assert.deepEqual(idsOf(await ask('?offset=2')), [2])
  })

  it('give way one by one', async () => {
    assert.deepEqual(idsOf(await ask('?limit=5')), [6, 4, 2])
    assert.deepEqual(idsOf(await ask('?sort=title')), [2, 4])
    assert.deepEqual(idsOf(await ask('?sort=')), [6, 4], 'an empty sort is none')
  })

  it('of filters give way together to any filter', async () => {
    const page = await ask('?stars<=3')
    assert.deepEqual([idsOf(page), page.filter], [[3, 2], [['stars<=', '3']]])
    assert.deepEqual(idsOf(await ask('?id!=null&limit=10')), [6, 5, 4, 3, 2, 1])
  })

  it('are not those of records, of lists below a record, and of what is shown within others', async () => {
    assert.equal((await target.call('GET', '/v1/posts/1')).status, 200)
    const { body } = await target.call('GET', '/v1/users/1/posts')
    assert.deepEqual([body.count, body.sort, body.limit, body.filter], [6, 'id.asc', 100, []])
    const { body: shown } = await target.call('GET', '/v1/users/1', { expand: 'posts' })
    assert.deepEqual(idsOf(shown.user as Page), [1, 2, 3, 4, 5, 6])
  })

  it('of sort and filter hold for CSV, which has all pages', async () => {
    const headers = { accept: 'text/csv' }
    const { body } = await target.engine.handle('GET', '/v1/posts', { attributes: 'id' }, undefined, { headers })
    assert.equal(body, 'id\r\n6\r\n4\r\n2\r\n')
  })
})

describe('defaults of a list', () => {
  const make = (config: object, more: object = {}): Promise<RestEngine> =>
    RestEngine.create({ entities, seed, resources: configure(config), ...more })
  const refused = async (config: object, message: RegExp): Promise<void> => {
    await assert.rejects(make(config), message, JSON.stringify(config))
  }

  it('take arrays and texts', async () => {
    await using engine = await make({ sort: ['published', 'stars.desc'], filter: 'stars>=2&stars<6' })
    const { body } = await engine.handle('GET', '/v1/posts')
    const { sort } = body as Page
    assert.deepEqual([idsOf(body as Page), sort], [[5, 3, 4, 2], 'published.asc,stars.desc'])
    await using any = await make({ filter: { stars: [2, 5], title: 'p*' } })
    assert.deepEqual(idsOf((await any.handle('GET', '/v1/posts')).body as Page), [2, 5])
  })

  it('are refused when the engine is created, with what is meant', async () => {
    await refused({ sort: 'starz' }, /^TypeError: resource\(Post\): sort: A post has no attribute "starz"\. Did you mean "stars"\?/)
    await refused({ sort: 'author.secret' }, /sort: .*secret/)
    await refused({ sort: 3 }, /"sort" must be sort keys/)
    await refused({ limit: 2000 }, /"limit" is 2000, and limits\.maxLimit allows 1000/)
    await refused({ limit: -1 }, /"limit" must be a number of records/)
    await refused({ filter: { nope: 1 } }, /filter: There is no parameter "nope"/)
    await refused({ filter: { 'stars>': 'x' } }, /filter: "stars>" must be an integer, got "x"/)
    await refused({ filter: { sort: 'stars' } }, /"sort" is a parameter, not a filter\. Give "sort" beside "filter"/)
    await refused({ filter: { stars: { $gt: 1 } } }, /An operator follows the name: \{ "stars>": 1 \}/)
    await refused({ filter: 7 }, /"filter" must be an object/)
    await refused({ single: 1, sort: 'stars' }, /"sort" is of a list, and a resource with "single" has none/)
  })

  it('are refused where some callers could not name them', async () => {
    const users = resource(User, { access: ctx => ctx.user !== undefined })
    const create = RestEngine.create({
      entities,
      resources: [...configure({ sort: 'author.name' }), users],
      auth: auth({ entity: User, identifier: 'name', password: 'secret', authenticate: () => undefined }),
    })
    await assert.rejects(create, /resource\(Post\): sort: A post has no attribute "author"/)
  })

  it('are in the OpenAPI document', async () => {
    await using engine = await make(DEFAULTS)
    const { paths } = await engine.openapi()
    type Operation = Readonly<Record<string, unknown>> & {
      readonly parameters: readonly { readonly name: string; readonly schema: { readonly default?: unknown } }[]
    }
    const list = paths['/v1/posts']!['get'] as Operation
    const defaultOf = (name: string): unknown => list.parameters.find(each => each.name === name)?.schema.default
    assert.deepEqual([defaultOf('limit'), defaultOf('sort')], [2, 'stars.desc'])
    assert.deepEqual(list['x-default-filter'], [
      ['published', 'true'],
      ['stars>', '1'],
    ])
    const whole = await engine.openapi({ attributes: true })
    assert.match(
      String((whole.paths['/v1/posts']!['get'] as Operation)['description']),
      /^Without any filter these hold: `published` true, `stars>` 1\./,
    )
  })

  it('are not those of a list below a record, as JSON and as CSV', async () => {
    await using engine = await make({ limit: 2 }, { parameters: { page: 'page' }, limits: { defaultLimit: 4 } })
    const path = '/v1/users/1/posts?page=2&attributes=id'
    const { body } = await engine.handle('GET', path)
    assert.deepEqual(idsOf(body as never), [5, 6])
    const { body: csv } = await engine.handle('GET', path, undefined, undefined, { headers: { accept: 'text/csv' } })
    assert.equal(csv, 'id\r\n5\r\n6\r\n')
  })

  it('keep all promises of the self-test', async () => {
    await using engine = await make(DEFAULTS, { parameters: { page: 'page' } })
    const { report } = await tryPromises(engine, { runs: 40 }, false)
    assert.deepEqual(report.failures, [])
    assert.deepEqual(report.skipped, [])
  })
})

describeTargets('pages by number', { entities, seed, parameters: { page: 'page', limit: 'per_page' }, fresh: 'suite' }, target => {
  const ask = async (query: string): Promise<Page> => {
    const { status, body } = await target.call('GET', `/v1/posts?${query}`)
    assert.equal(status, 200, query)
    return body as Page
  }

  it('begin with 1, and are linked by their numbers', async () => {
    const [first, second, third] = [await ask('per_page=2&page=1'), await ask('page=2&per_page=2'), await ask('per_page=2&page=3')]
    assert.deepEqual([first, second, third].map(idsOf), [
      [1, 2],
      [3, 4],
      [5, 6],
    ])
    assert.deepEqual([first.previous, first.next], [null, '/v1/posts?per_page=2&page=2'])
    assert.deepEqual([second.previous, second.next], ['/v1/posts?page=1&per_page=2', '/v1/posts?page=3&per_page=2'])
    assert.deepEqual([third.previous, third.next], ['/v1/posts?per_page=2&page=2', null])
    assert.deepEqual(idsOf(await ask('page=2')), [])
    assert.deepEqual([(await ask('page=9007199254740993&per_page=3')).posts, (await ask('page=1&per_page=0')).next], [[], null])
  })

  it('are the pages by offset, which stay', async () => {
    const { next, previous, ...page } = await ask('per_page=2&offset=2')
    assert.deepEqual([idsOf(page as Page), next, previous], [[3, 4], '/v1/posts?per_page=2&offset=4', '/v1/posts?per_page=2&offset=0'])
  })

  it('are refused beside an offset, and where they are none', async () => {
    for (const [query, detail] of [
      ['page=2&offset=2', /"page" and "offset" both say where the page begins/],
      ['page=0', /"page" must be the number of a page, 1 or more/],
      ['page=1.5', /must be the number/],
      ['page=1&page=2', /given twice/],
      ['_page=2', /Did you mean "page"\?/],
    ] as const) {
      const { status, body } = await target.call('GET', `/v1/posts?${query}`)
      assert.equal(status, 400, query)
      assert.match(body.detail, detail)
    }
    assert.equal((await target.call('GET', '/v1/posts/1?page=1')).status, 400)
  })

  it('are those of lists below a record, of QUERY and of CSV', async () => {
    const { body } = await target.call('GET', '/v1/users/1/posts?page=2&per_page=4')
    assert.deepEqual([idsOf(body as Page), body.previous], [[5, 6], '/v1/users/1/posts?page=1&per_page=4'])
    const asked = await target.call('QUERY', '/v1/posts', undefined, { page: 3, per_page: 2 })
    assert.deepEqual(idsOf(asked.body as Page), [5, 6])
    const headers = { accept: 'text/csv' }
    const { body: csv } = await target.engine.handle('GET', '/v1/posts?page=2&per_page=2&attributes=id', undefined, undefined, { headers })
    assert.equal(csv, 'id\r\n3\r\n4\r\n')
  })

  it('are in the OpenAPI document', async () => {
    const document = await target.engine.openapi({ details: true })
    const { Page: page } = document.components['parameters'] as Record<string, { name: string; schema: object }>
    assert.deepEqual([page!.name, page!.schema], ['page', { type: 'integer', minimum: 1 }])
    assert.match(String(document.info['description']), /paged by `per_page` and `offset` or `page`/)
  })
})

describe('without the parameter page', () => {
  it('an attribute may have the name', async () => {
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), page: p.integer() } })
    await using engine = await RestEngine.create({ entities: [Note], seed: { notes: [{ page: 1 }, { page: 2 }] } })
    assert.equal((await engine.handle('GET', '/v1/notes', { page: 2 })).body.count, 1)
    assert.ok(!JSON.stringify((await engine.openapi()).info).includes('or `page`'))
    await using named = await RestEngine.create({
      entities: [Note],
      seed: { notes: [{ page: 1 }, { page: 2 }] },
      parameters: { page: 'page' },
    })
    assert.deepEqual((await named.handle('GET', '/v1/notes', { page_: 2, page: 1 })).body.count, 1)
    await assert.rejects(
      RestEngine.create({ entities: [Note], parameters: { pgae: 'p' } }),
      /"pgae" is not a reserved parameter\. Did you mean "page"\?/,
    )
  })
})
