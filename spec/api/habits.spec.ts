/** Parameters of other APIs: refused, with their spelling here, which is understood. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, resource } from '../../lib/index.ts'
import { describeTargets } from '../helpers/targets.ts'

const Author = defineEntity({ name: 'Author', properties: { id: p.integer().primary(), name: p.string() } })
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    bodyText: p.text().nullable(),
    views: p.integer().nullable(),
    createdAt: p.datetime().nullable(),
    author: () => p.manyToOne(Author).nullable(),
  },
})
const Odd = defineEntity({
  name: 'Odd',
  properties: {
    id: p.integer().primary(),
    _page: p.integer(),
    q: p.string(),
    age: p.integer(),
    age_gte: p.integer(),
    secret: p.string().hidden(),
  },
})

const entities = [Author, Post, Odd]

/** What is written, what is suggested, and what the sentence says. */
const CASES: readonly (readonly [string, string, string])[] = [
  ['_page=3', 'offset', 'Did you mean "offset"? Page 3 of 10 records each is "limit=10&offset=20".'],
  ['_limit=3', 'limit', 'Did you mean "limit"?'],
  ['_per_page=3', 'limit', 'Did you mean "limit"?'],
  ['_start=3', 'offset', 'Did you mean "offset"?'],
  ['_sort=views', 'sort', 'Did you mean "sort"? The direction follows the name: "sort=name.desc".'],
  ['_order=desc', 'sort', 'Did you mean "sort"? The direction follows the name: "sort=name.desc".'],
  ['_embed=author', 'expand', 'Did you mean "expand"?'],
  ['_expand=author', 'expand', 'Did you mean "expand"?'],
  ['fields=title', 'attributes', 'Did you mean "attributes"?'],
  ['q=sea', '*~=', 'Did you mean "*~=*sea*"?'],
  ['views_gte=5', 'views>=', 'Did you mean "views>=5"?'],
  ['views_lte=5', 'views<=', 'Did you mean "views<=5"?'],
  ['views_ne=5', 'views!=', 'Did you mean "views!=5"?'],
  ['views__gt=5', 'views>', 'Did you mean "views>5"?'],
  ['views[gte]=5', 'views>=', 'Did you mean "views>=5"?'],
  ['views[$lt]=5', 'views<', 'Did you mean "views<5"?'],
  ['views:gte=5', 'views>=', 'Did you mean "views>=5"?'],
  ['views.gte=5', 'views>=', 'Did you mean "views>=5"?'],
  ['views_like=5', 'views=', 'Did you mean "views=5"?'],
  ['title_like=sea', 'title~=', 'Did you mean "title~=*sea*"?'],
  ['title__startswith=sea', 'title=', 'Did you mean "title=sea*"?'],
  ['author.name_like=ann', 'author.name~=', 'Did you mean "author.name~=*ann*"?'],
  ['created_at_gte=2020-01-01', 'createdAt>=', 'Did you mean "createdAt>=2020-01-01"?'],
  ['filter[title]=sea', 'title=', 'Did you mean "title=sea"?'],
  ['filters[views][$gte]=5', 'views>=', 'Did you mean "views>=5"?'],
  ['where=x', 'id=', 'Each filter is a parameter: "id=..." or "id!=...".'],
  ['views=>5', 'views>', 'Did you mean "views>5"?'],
  ['views=>=5', 'views>=', 'Did you mean "views>=5"?'],
  ['views=gte.5', 'views>=', 'Did you mean "views>=5"?'],
  ['createdAt=<2020-01-01', 'createdAt<', 'Did you mean "createdAt<2020-01-01"?'],
  ['sort=-views', 'views.desc', 'Did you mean "views.desc"?'],
  ['sort=-author.name', 'author.name.desc', 'Did you mean "author.name.desc"?'],
  ['sort=views:desc', 'views.desc', 'Did you mean "views.desc"?'],
  ['sort=views+asc', 'views.asc', 'Did you mean "views.asc"?'],
  ['sort=views,desc', 'id.desc', 'The direction follows its name: "id.desc".'],
]

describeTargets('habits of other APIs', { entities, fresh: 'suite' }, target => {
  it('are refused with their spelling here', async () => {
    for (const [query, suggestion, sentence] of CASES) {
      const { status, body } = await target.call('GET', `/v1/posts?${query}`)
      assert.equal(status, 400, query)
      const [fault] = body.errors
      assert.equal(fault.suggestion, suggestion, query)
      assert.ok(fault.detail.endsWith(`. ${sentence}`), `${query}: ${fault.detail}`)
      // A suggested name is one of those that are allowed; a suggested filter begins with one, or with any text.
      if (fault.code === 'parameter_unknown')
        assert.ok(
          [...fault.allowed, '*'].some((name: string) => suggestion.startsWith(name)),
          `${query}: ${suggestion} of ${fault.allowed}`,
        )
    }
  })

  it('are told of a "+" in a time, which is a blank in a URL', async () => {
    for (const query of [
      'createdAt>=2024-01-01T00:00:00+01:00',
      'createdAt=2024-01-01T00:00:00+01:00',
      'createdAt!=2024-01-01T00:00:00.5+0100',
    ]) {
      const { status, body } = await target.call('GET', `/v1/posts?${query}`)
      const [fault] = body.errors
      assert.equal(status, 400)
      assert.match(fault.detail, /A "\+" in a URL is a blank: write %2B for it, as in "2024-01-01T00:00:00[.5]*%2B01:?00"\./)
      const [name = ''] = query.split('2024')
      assert.equal((await target.call('GET', `/v1/posts?${name}${fault.suggestion}`)).status, 200)
    }
    const { body } = await target.call('GET', '/v1/posts?createdAt=2024+soon')
    assert.doesNotMatch(body.errors[0].detail, /%2B/)
  })

  it('are suggested in a spelling that is understood', async () => {
    for (const [query, , sentence] of CASES) {
      const meant = /Did you mean "(?<meant>[^"]*[=<>~][^"]*)"/.exec(sentence)?.groups?.['meant']
      if (meant !== undefined) assert.equal((await target.call('GET', `/v1/posts?${encodeURI(meant)}`)).status, 200, `${query}: ${meant}`)
    }
  })

  it('are hints on one record for what it takes', async () => {
    await target.call('POST', '/v1/posts', undefined, { id: 1, title: 'x' })
    assert.match((await target.call('GET', '/v1/posts/1?_expand=author')).body.detail, /Did you mean "expand"\?$/)
    assert.doesNotMatch((await target.call('GET', '/v1/posts/1?_sort=title')).body.detail, /Did you mean/)
  })

  it('are nothing of the kind where an attribute has the name', async () => {
    await target.call('POST', '/v1/odds', undefined, { _page: 3, q: 'x', age: 1, age_gte: 7, secret: 's' })
    for (const query of ['_page=3', 'q=x', 'age_gte=7', '_page>=3&q=*x*']) {
      const { status, body } = await target.call('GET', `/v1/odds?${query}`)
      assert.deepEqual([status, body.count > 0], [200, true], query)
    }
  })

  it('suggest nothing that the caller may not see', async () => {
    const { body } = await target.call('GET', '/v1/odds?search=x')
    assert.equal(body.errors[0].suggestion, '*~=')
    assert.equal((await target.call('GET', '/v1/odds?secret_like=x')).body.errors[0].suggestion, undefined)
  })
})

it('are spelt by the application’s own names of parameters', async () => {
  await using engine = await RestEngine.create({
    entities,
    parameters: { limit: 'count', offset: 'skip', q: value => ({ title: value }) },
    resources: [resource(Post, { attributes: { title: { private: true } } })],
  })
  const { body } = await engine.handle('GET', '/v1/posts?_page=3')
  assert.match(body.detail, /Did you mean "skip"\? Page 3 of 10 records each is "count=10&skip=20"\.$/)
  assert.equal((await engine.handle('GET', '/v1/posts?q=x')).status, 200)
  assert.equal((await engine.handle('GET', '/v1/posts?search=x')).body.errors[0].suggestion, '*~=')
})

it('are refused in a query that is an object', async () => {
  await using engine = await RestEngine.create({ entities })
  for (const [query, suggestion, sentence] of [
    [{ views: { $gte: 3 } }, 'views>=', 'An operator follows the name: { "views>=": 3 }.'],
    [{ views: { gte: 3 } }, 'views>=', 'An operator follows the name: { "views>=": 3 }.'],
    [{ views: [{ $lt: 3 }] }, 'views<', 'An operator follows the name: { "views<": 3 }.'],
    [{ title: { $like: 'x' } }, 'title~=', 'An operator follows the name: { "title~=": "x" }.'],
    [{ where: { title: 'x' } }, 'title', 'Filters stand in the query itself: { "title": "x" }.'],
    [{ orderBy: { title: 'desc' } }, 'sort', 'A sort is a string: { sort: "title.desc" }.'],
    [{ 'createdAt>=': new Date(0) }, 'createdAt', 'Give its toISOString().'],
    [{ views: {} }, undefined, 'or an array of them.'],
    [{ views: Object.create(null) as object }, undefined, 'or an array of them.'],
    [{ views: () => 3 }, undefined, 'or an array of them.'],
    [{ views: Symbol('3') }, undefined, 'or an array of them.'],
  ] as const) {
    const { status, body } = await engine.handle('GET', '/v1/posts', query as never)
    assert.equal(status, 400)
    assert.equal(body.errors[0].suggestion, suggestion)
    assert.ok(body.detail.endsWith(sentence), body.detail)
    assert.doesNotMatch(body.detail, /\[object/)
  }
  // What makes a text of itself is one.
  assert.equal((await engine.handle('GET', '/v1/posts', { title: new URL('http://a.test') } as never)).status, 200)
})
