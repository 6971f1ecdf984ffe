/** Expanded lists with parameters of their own: filters, order, page, counts; what is refused; rules; statements. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { resource } from '../../lib/index.ts'
import { watchStatements } from '../helpers/statements.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { describeTargets, type Target } from '../helpers/targets.ts'

const Author = defineEntity({
  name: 'Author',
  properties: { id: p.integer().primary(), name: p.string(), posts: () => p.oneToMany(Post).mappedBy('author').orderBy({ likes: 'desc' }) },
})
const Post = defineEntity({
  name: 'Post',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    likes: p.integer().nullable(),
    day: p.date().nullable(),
    draft: p.string().hidden().nullable(),
    author: () => p.manyToOne(Author),
    comments: () => p.oneToMany(Comment).mappedBy('post'),
    tags: () => p.manyToMany(Tag),
  },
})
const Comment = defineEntity({
  name: 'Comment',
  properties: { id: p.integer().primary(), text: p.string(), post: () => p.manyToOne(Post) },
})
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string() } })
const entities = [Author, Post, Comment, Tag]

const seed = {
  authors: [1, 2, 3].map(id => ({ id, name: `author ${id}` })),
  tags: [1, 2].map(id => ({ id, name: `tag ${id}` })),
  posts: [
    { id: 1, title: 'a;b', likes: 5, author: 1, tags: [1, 2] },
    { id: 2, title: 'c(d)', likes: 9, author: 1, tags: [2] },
    { id: 3, title: 'plain', likes: null, author: 1, draft: 'x' },
    { id: 4, title: 'plain', likes: 7, author: 2, tags: [1] },
  ],
  comments: [1, 2, 3, 4].map(id => ({ id, text: `comment ${id}`, post: id === 4 ? 4 : 1 })),
}

type Shown = Record<string, unknown>

async function ids(target: Target, expand: unknown, name = 'posts'): Promise<unknown[]> {
  const { status, body } = await target.call('GET', '/v1/authors', { expand } as never)
  assert.equal(status, 200, JSON.stringify(body))
  return (body['authors'] as Shown[]).map(author => {
    const list = author[name]
    return Array.isArray(list) ? list.map(({ id }: Shown) => id) : list
  })
}

async function refusal(target: Target, path: string, query: object): Promise<{ detail: string; codes: unknown[] }> {
  const { status, body } = await target.call('GET', path, query as never)
  assert.equal(status, 400, JSON.stringify(body))
  return { detail: body['detail'] as string, codes: (body['errors'] as Shown[]).map(({ code }) => code) }
}

describeTargets('expanded lists', { entities, seed, fresh: 'suite', limits: { maxLimit: 50, maxFilters: 5 } }, target => {
  it('cuts, filters and sorts the list of each record, in the order of the model unless told', async () => {
    assert.deepEqual(await ids(target, 'posts'), [[2, 1, 3], [4], []])
    assert.deepEqual(await ids(target, 'posts(limit=1)'), [[2], [4], []])
    assert.deepEqual(await ids(target, 'posts(limit=1;offset=1)'), [[1], [], []])
    assert.deepEqual(await ids(target, 'posts(sort=likes;limit=2)'), [[3, 1], [4], []])
    assert.deepEqual(await ids(target, 'posts(sort=likes.asc.nullslast)'), [[1, 2, 3], [4], []])
    assert.deepEqual(await ids(target, 'posts(likes>=6)'), [[2], [4], []])
    assert.deepEqual(await ids(target, 'posts(tags=1;limit=5)'), [[1], [4], []])
    assert.deepEqual(await ids(target, 'posts(limit=0)'), [[], [], []])
    assert.deepEqual(await ids(target, 'posts()'), [[2, 1, 3], [4], []])
  })

  it('counts in the place of the list', async () => {
    assert.deepEqual(await ids(target, 'posts(count)'), [3, 1, 0])
    assert.deepEqual(await ids(target, 'posts(count;title=plain)'), [1, 1, 0])
    const { body } = await target.call('GET', '/v1/posts/1', { expand: 'comments(count),tags(count)' })
    assert.deepEqual([(body['post'] as Shown)['comments'], (body['post'] as Shown)['tags']], [3, 2])
    const none = await target.call('GET', '/v1/authors/3', { expand: 'posts(count)' })
    assert.equal((none.body['author'] as Shown)['posts'], 0)
  })

  it('takes lists inside of lists, and literal semicolons and parentheses', async () => {
    const expand = 'posts(limit=1;sort=id;expand=comments(sort=id.desc;limit=1),tags(count);attributes=title,comments,tags)'
    const { body } = await target.call('GET', '/v1/authors/1', { expand })
    assert.deepEqual((body['author'] as Shown)['posts'], [{ title: 'a;b', comments: [{ id: 3, text: 'comment 3', post: 1 }], tags: 2 }])
    const dotted = await target.call('GET', '/v1/authors/1', {
      expand: 'posts(limit=1;sort=id),posts.comments(sort=id.desc;limit=1),posts.tags(count)',
      attributes: 'posts.title,posts.comments,posts.tags',
    })
    assert.deepEqual(dotted.body['author'], { posts: (body['author'] as Shown)['posts'] })
    assert.deepEqual(await ids(target, String.raw`posts(title=a\;b)`), [[1], [], []])
    assert.deepEqual(await ids(target, String.raw`posts(title=c\(d\))`), [[2], [], []])
    assert.deepEqual(await ids(target, 'posts(title=c(d))'), [[2], [], []])
  })

  it('filters a single related record: one that does not match is null', async () => {
    const { body } = await target.call('GET', '/v1/posts', { expand: 'author(name=*2;attributes=name)' })
    assert.deepEqual(
      (body['posts'] as Shown[]).map(({ author }) => author),
      [null, null, null, { name: 'author 2' }],
    )
  })

  it('takes objects in a query object', { skip: target.door === 'http' }, async () => {
    assert.deepEqual(await ids(target, [{ posts: { 'title=': 'plain', sort: ['id.desc'], limit: 1 } }]), [[3], [4], []])
    assert.deepEqual(await ids(target, { posts: { title: ['a;b', 'c(d)'] } }), [[2, 1], [], []])
    assert.deepEqual(await ids(target, { posts: 'count' }), [3, 1, 0])
    assert.deepEqual(await ids(target, { posts: { count: true, 'likes>': 5 } }), [1, 1, 0])
    assert.deepEqual(await ids(target, { posts: { expand: { comments: { limit: 1 } }, limit: 1 } }), [[2], [4], []])
    for (const query of [{ name: { $like: 'a' } }, { sort: [{ name: 1 }] }, { expand: { posts: 3 } }, { expand: { posts: { limit: {} } } }])
      await refusal(target, '/v1/authors', query)
  })

  it('keeps the parameters in the links of pages', async () => {
    const { body } = await target.call('GET', '/v1/authors', { expand: 'posts(title=plain;limit=1)', limit: 1 })
    const next = await target.call('GET', body['next'] as string)
    assert.deepEqual(
      (next.body['authors'] as Shown[]).map(({ posts }) => (posts as Shown[]).map(({ id }) => id)),
      [[4]],
    )
  })

  it('says what is wrong, and in which list', async () => {
    const cases: [expand: string, detail: RegExp, code: string][] = [
      ['posts(titel=a)', /In "posts\(\.\.\.\)".*Did you mean "title"/, 'parameter_unknown'],
      ['posts(draft=x)', /In "posts\(\.\.\.\)"/, 'parameter_unknown'],
      ['posts(likes=abc)', /In "posts\(\.\.\.\)": "likes" must be an integer/, 'value_invalid'],
      ['posts(day=2026-99-99)', /In "posts\(\.\.\.\)"/, 'value_invalid'],
      ['posts(limit=51)', /at most 50 records/, 'limit_exceeded'],
      ['posts(limit=x)', /In "posts\(\.\.\.\)"/, 'value_invalid'],
      ['posts(depth=2)', /stands outside/, 'parameter_not_allowed'],
      ['posts(count;limit=1)', /takes filters alone/, 'parameter_not_allowed'],
      ['posts(limit=1;limit=2)', /given twice/, 'parameter_repeated'],
      ['posts(limit=1),posts(limit=2)', /parentheses twice/, 'parameter_repeated'],
      ['posts(limit=1).comments', /goes on behind/, 'value_invalid'],
      ['posts(limit=1)(limit=2)', /goes on behind/, 'value_invalid'],
      ['posts(limit=1', /not closed/, 'value_invalid'],
      ['posts)limit=1', /not opened/, 'value_invalid'],
      ['posts(sort=nope)', /In "posts\(\.\.\.\)"/, 'attribute_unknown'],
      ['posts(expand=commets(limit=1))', /Did you mean "comments"|commets/, 'attribute_unknown'],
      ['name(limit=1)', /not a relation/, 'not_a_relation'],
      ['posts.author(limit=1)', /is one record/, 'parameter_not_allowed'],
      ['posts(title=a;title=b;title=c;title=d;title=e;title=f)', /at most 5 filters/, 'limit_exceeded'],
      ['posts(expand=author(expand=posts(expand=author(expand=posts(expand=author)))))', /more than 5 relations/, 'limit_exceeded'],
    ]
    for (const [expand, detail, code] of cases) {
      const found = await refusal(target, '/v1/authors', { expand })
      assert.match(found.detail, detail, expand)
      assert.deepEqual(found.codes, [code], expand)
    }
    const unselected = await refusal(target, '/v1/authors', { expand: 'posts(titel=a)', attributes: 'name' })
    assert.match(unselected.detail, /titel/)
  })

  it('answers hostile texts with 400 or 200, never more', async () => {
    const texts = [
      '(',
      ')',
      '()',
      'posts((',
      'posts())',
      'posts(;;;)',
      'posts(=)',
      'posts(!)',
      'posts(\\)',
      'posts(limit=1\\)',
      ',(',
      'posts(count=)',
    ]
    texts.push('posts('.repeat(5000), `${'posts('.repeat(3000)}${')'.repeat(3000)}`, `posts(title=${'('.repeat(999)}${')'.repeat(999)})`)
    texts.push(
      `posts(expand=${'comments(count),'.repeat(60)}tags)`,
      'posts(|=1)',
      'posts(title|=1)',
      'posts(.=1)',
      'posts(count(a))',
      '\\(',
      'posts\\(x',
    )
    for (const expand of texts) {
      const { status } = await target.call('GET', '/v1/authors', { expand })
      // A head of HTTP has a limit of its own.
      assert.ok([400, 200, 431].includes(status), `${expand.slice(0, 50)}: ${status}`)
    }
  })
})

describeStores('expanded lists, by rules', () => {
  it('shows and counts what the caller may see', async () => {
    const scoped = resource(Post, { scope: ctx => (ctx.headers['x-all'] === undefined ? { likes: { $gt: 6 } } : {}) })
    await using engine = await createEngine({ entities, seed, resources: [scoped], parameters: { expand: 'include' } })
    const show = async (include: string, headers = {}): Promise<unknown[]> => {
      const { body } = await engine.handle('GET', '/v1/authors', { include }, undefined, { headers })
      return (body as { authors: Shown[] }).authors.map(({ posts }) => (Array.isArray(posts) ? posts.map(({ id }: Shown) => id) : posts))
    }
    assert.deepEqual(await show('posts(limit=2;sort=id)'), [[2], [4], []])
    assert.deepEqual(await show('posts(count)'), [1, 1, 0])
    assert.deepEqual(await show('posts(count)', { 'x-all': '1' }), [3, 1, 0])
    assert.deepEqual(await show('posts(limit=1;sort=id)', { 'x-all': '1' }), [[1], [4], []])
    const { body } = await engine.handle('GET', '/v1/authors', { include: [{ posts: { limit: 1, sort: 'id' } }] })
    assert.equal((body as { count: number }).count, 3)
  })

  it('reads each level by one statement, planned once for a shape', async () => {
    await using engine = await createEngine({ entities, seed })
    const run = (expand: string) => watchStatements(() => engine.handle('GET', '/v1/authors', { expand, limit: 3 }))
    const nested = await run('posts(limit=2;likes>0;expand=comments(limit=1),tags(count))')
    assert.equal(nested.result.status, 200)
    const reads = nested.sql.filter(sql => /from/.test(sql))
    assert.equal(reads.filter(sql => /row_number/.test(sql)).length, 2)
    assert.ok(reads.length <= 5, nested.sql.join('\n'))
    const other = await run('posts(limit=1;likes>3;expand=comments(limit=2),tags(count))')
    assert.deepEqual(
      other.sql.filter(sql => /row_number/.test(sql)),
      nested.sql.filter(sql => /row_number/.test(sql)),
    )
  })
})

describe('expanded lists, explained', () => {
  it('shows the statements', async () => {
    await using engine = await createEngine({ entities, seed })
    const explained = await engine.explain('GET', '/v1/authors?expand=posts(limit=1)')
    assert.match(JSON.stringify(explained), /row_number\(\) over \(partition by/)
  })
})
