/** Lists with a condition of the model (`where`): what does not meet it is not of the list, for reading and for writing. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p, type EntitySchema } from '@mikro-orm/sqlite'
import { raw } from '@mikro-orm/core'
import type { RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores, suiteEngine } from '../helpers/stores.ts'

type Body = Record<string, unknown>

const Label = defineEntity({
  name: 'Label',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    active: p.boolean().default(true),
    texts: () =>
      p
        .manyToMany(Text)
        .mappedBy('labels')
        .where({ author: { name: 'Ann' } }),
    all: () => p.manyToMany(Text).mappedBy('every'),
  },
})
const Author = defineEntity({
  name: 'Author',
  properties: {
    id: p.integer().primary(),
    name: p.string().nullable(),
    texts: () => p.oneToMany(Text).mappedBy('author'),
    drafts: () => p.oneToMany(Text).mappedBy('author').where({ draft: true }),
  },
})
const Text: EntitySchema = defineEntity({
  name: 'Text',
  properties: {
    id: p.integer().primary(),
    title: p.string().default(''),
    draft: p.boolean().default(false),
    author: () => p.manyToOne(Author).nullable(),
    labels: () =>
      p
        .manyToMany(Label)
        .owner()
        .inversedBy('texts')
        .where({ active: true, name: { $ne: 'old' } }),
    every: () => p.manyToMany(Label).owner().inversedBy('all').pivotTable('text_labels'),
  },
})

const SEED = {
  authors: [{ id: 1, name: 'Ann' }, { id: 2 }],
  labels: [
    { id: 1, name: 'a' },
    { id: 2, name: 'b', active: false },
    { id: 3, name: 'c' },
    { id: 4, name: 'old' },
  ],
  texts: [
    { id: 1, author: 1, draft: true, labels: [1, 2, 4] },
    { id: 2, author: 1, labels: [2, 3] },
    { id: 3, author: 2, draft: true, labels: [1, 3] },
  ],
}

/** What tests ask an engine. */
function askOf(engine: RestEngine) {
  const send = async (method: string, path: string, body?: unknown) => await engine.handle(method, `/v1/${path}`, undefined, body)
  const ids = async (path: string): Promise<unknown> => {
    const { body } = await send('GET', path)
    return body[body['resource']].map(({ id }: Body) => id)
  }
  const links = async (): Promise<unknown> =>
    (await engine.orm.em.fork().getConnection().execute<Body[]>('select text_id, label_id from text_labels order by 1, 2')).map(
      Object.values,
    )
  return { send, ids, links }
}

describeStores('lists with a condition', () => {
  const engine = suiteEngine({
    entities: [Author, Label, Text],
    seed: SEED,
    onError: error => {
      throw error
    },
  })

  it('show, find, count and sort what meets it', async () => {
    const api = askOf(engine())
    const { body } = await api.send('GET', 'texts')
    assert.deepEqual(
      body['texts'].map(({ labels }: Body) => labels),
      [[1], [3], [1, 3]],
    )
    const labels = await api.send('GET', 'labels?depth=2')
    assert.deepEqual(
      labels.body['labels'].map(({ texts }: Body) => (texts as Body[]).map(({ id }) => id)),
      [[1], [1, 2], [2], [1]],
    )
    assert.deepEqual(await api.ids('texts/1/labels'), [1])
    assert.deepEqual(await api.ids('labels/1/texts'), [1])
    assert.deepEqual(await api.ids('authors/1/drafts'), [1])
    assert.deepEqual((await api.send('GET', 'authors/1')).body['author'], { id: 1, name: 'Ann', texts: [1, 2], drafts: [1] })
    assert.deepEqual(await api.ids('texts?labels=2'), [])
    assert.deepEqual(await api.ids('texts?!labels=1'), [2])
    assert.deepEqual(await api.ids('texts?labels.active=false'), [])
    assert.deepEqual(await api.ids('labels?texts=3'), [])
    assert.deepEqual(await api.ids('authors?drafts=null'), [])
    assert.deepEqual(await api.ids('authors?drafts.labels=3'), [2])
    assert.deepEqual(await api.ids('texts?sort=labels.desc'), [3, 1, 2])
    assert.deepEqual(await api.ids('labels?sort=texts.desc,id.desc'), [2, 4, 3, 1])
    assert.deepEqual(await api.ids('authors?sort=drafts.labels.desc'), [2, 1])
    assert.deepEqual(await api.ids('authors?sort=texts.labels.id.asc'), [1, 2])
    assert.equal((await api.send('GET', 'texts/1/labels?limit=0')).body['count'], 1)
  })

  it('are replaced as they are shown: what is linked and not shown stays', async () => {
    const api = askOf(engine())
    const put = async (path: string, body: unknown): Promise<unknown> => {
      const answer = await api.send('PUT', path, body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      const record: unknown = answer.body[answer.body['resource']]
      const read = await api.send('GET', path)
      assert.deepEqual(read.body[read.body['resource']], record)
      return record
    }
    const text = { id: 1, title: '', draft: true, author: 1 }
    assert.deepEqual(await put('texts/1', { labels: [3] }), { ...text, labels: [3], every: [2, 3, 4] })
    assert.deepEqual(await put('texts/1', { labels: [] }), { ...text, labels: [], every: [2, 4] })
    assert.deepEqual(await put('texts/1', { labels: [{ name: 'new' }, 1] }), { ...text, labels: [1, 5], every: [1, 2, 4, 5] })
    assert.deepEqual(await put('labels/1', { texts: [2] }), { id: 1, name: 'a', active: true, texts: [2], all: [2, 3] })
    assert.deepEqual(await put('authors/1', { drafts: [] }), { id: 1, name: 'Ann', texts: [2], drafts: [] })
    assert.deepEqual(await put('authors/1', { drafts: [3, { draft: true }] }), { id: 1, name: 'Ann', texts: [2, 3, 4], drafts: [3, 4] })
    assert.equal((await api.send('POST', 'texts/2/labels', { name: 'more' })).status, 200)
    assert.equal((await api.send('POST', 'authors/2/drafts', { draft: true })).status, 200)
    assert.deepEqual(await api.ids('authors/2/drafts'), [5])
  })

  it('refuse what they would not show, and change nothing', async () => {
    const api = askOf(engine())
    const before = [await api.links(), await api.ids('texts'), await api.ids('labels')]
    const refused = async (method: string, path: string, body: unknown, attribute: string): Promise<void> => {
      const answer = await api.send(method, path, body)
      assert.equal(answer.status, 422, JSON.stringify(answer.body))
      assert.deepEqual(
        answer.body['errors'].map((fault: Body) => [fault['code'], fault['attribute']]),
        [['conflict', attribute]],
      )
      assert.deepEqual([await api.links(), await api.ids('texts'), await api.ids('labels')], before)
    }
    await refused('PUT', 'texts/1', { labels: [1, 2] }, 'labels.1')
    await refused('PUT', 'texts/1', { labels: [{ name: 'x', active: false }] }, 'labels.0')
    await refused('POST', 'texts/1/labels', { name: 'old' }, 'labels')
    await refused('POST', 'texts', { labels: [2] }, 'labels.0')
    await refused('PUT', 'labels/1', { texts: [3] }, 'texts.0')
    await refused('PUT', 'authors/1', { drafts: [2] }, 'drafts.0')
    await refused('POST', 'authors/1/drafts', { title: 'no draft' }, 'drafts')
    await refused('POST', 'authors', { drafts: [{}] }, 'drafts.0')
  })

  it('lose all their links with their owner', async () => {
    const api = askOf(engine())
    assert.equal((await api.send('DELETE', 'texts/1')).status, 200)
    assert.deepEqual(await api.links(), [
      [2, 2],
      [2, 3],
      [3, 1],
      [3, 3],
    ])
    assert.equal((await api.send('DELETE', 'labels/2')).status, 200)
    assert.deepEqual(await api.links(), [
      [2, 3],
      [3, 1],
      [3, 3],
    ])
  })

  it('delete what is shown when they are deleted', async () => {
    const api = askOf(engine())
    assert.equal((await api.send('DELETE', 'texts/1/labels')).body['count'], 1)
    assert.deepEqual(await api.ids('labels'), [2, 3, 4])
  })

  it('refuse, when the engine is created, a condition that is not one of properties', async () => {
    const Other = defineEntity({ name: 'Other', properties: { id: p.integer().primary() } })
    const of = (where: object) =>
      defineEntity({
        name: 'Thing',
        properties: {
          id: p.integer().primary(),
          others: () =>
            p
              .manyToMany(Other)
              .owner()
              .where(where as never),
        },
      })
    await assert.rejects(
      createEngine({ entities: [Other, of({ nope: 1 })] }),
      /Thing\.others cannot be served: the "where" of "others": there is no property "nope"/,
    )
    await assert.rejects(createEngine({ entities: [Other, of({ [raw('1 = 1')]: [] })] }), /Thing\.others cannot be served: .* in SQL/)
  })

  it('may be repeated in a body beside the list of all, as they are shown', async () => {
    await using engine = await createEngine({ entities: [Label, Author, Text], seed: SEED })
    const shown = (await engine.handle('GET', '/v1/authors/1')).body.author
    assert.ok(shown.texts.length > shown.drafts.length && shown.drafts.length > 0)
    const put = await engine.handle('PUT', '/v1/authors/1', undefined, { ...shown, name: 'Ann' })
    assert.equal(put.status, 200, JSON.stringify(put.body))
    assert.deepEqual(put.body.author, shown)
    const refused = await engine.handle('PUT', '/v1/authors/1', undefined, { ...shown, drafts: [] })
    assert.deepEqual([refused.status, refused.body.errors[0].code], [422, 'conflict'])
    assert.deepEqual((await engine.handle('GET', '/v1/authors/1')).body.author, shown)
  })

  it('leave a link alone that is repeated as a filter of the model shows it', async () => {
    const House = defineEntity({
      name: 'House',
      filters: { open: { name: 'open', cond: { closed: false }, default: true } },
      properties: { id: p.integer().primary(), closed: p.boolean() },
    })
    const Work = defineEntity({
      name: 'Work',
      properties: { id: p.integer().primary(), house: () => p.manyToOne(House), name: p.string() },
    })
    await using engine = await createEngine({
      entities: [House, Work],
      seed: { houses: [{ id: 1, closed: false }], works: [{ id: 1, house: 1, name: 'w' }] },
    })
    await engine.orm.em.getConnection().execute('update house set closed = (1 = 1)')
    const shown = (await engine.handle('GET', '/v1/works/1')).body.work
    assert.equal(shown.house, null)
    const put = await engine.handle('PUT', '/v1/works/1', undefined, { ...shown, name: 'x' })
    assert.deepEqual([put.status, put.body.work], [200, { id: 1, house: null, name: 'x' }])
    assert.deepEqual(await engine.orm.em.getConnection().execute('select house_id from work'), [{ house_id: 1 }])
    assert.equal((await engine.handle('POST', '/v1/works', undefined, { house: null, name: 'y' })).status, 422)
  })

  it('refuse a scope in SQL, instead of showing everything', async () => {
    const Other = defineEntity({ name: 'Other', properties: { id: p.integer().primary() } })
    const { resource } = await import('../../lib/index.ts')
    const errors: string[] = []
    await using engine = await createEngine({
      entities: [Other],
      seed: { others: [{ id: 1 }] },
      resources: [resource(Other, { scope: () => ({ [raw('1 = 0')]: [] }) })],
      onError: error => errors.push(String(error)),
    })
    const { status } = await engine.handle('GET', '/v1/others')
    assert.equal(status, 500)
    assert.match(errors.join(), /scope of Other: a condition in SQL/)
  })
})
