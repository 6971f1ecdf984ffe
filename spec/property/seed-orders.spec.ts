/**
 * Seed orders: a seed gives the same rows with the same IDs by statements and by the unit of work, in any order of its resources and
 * records, with links by another key, to records that are listed later, and in circles. Counted IDs follow the order of the list.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import * as fc from 'fast-check'
import { resource } from '../../lib/index.ts'
import { check, costly } from '../helpers/check.ts'
import { createEngine, describeStores, readTables, suiteEngine } from '../helpers/stores.ts'

const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string().unique() } })
const Writer = defineEntity({
  name: 'Writer',
  properties: { id: p.integer().primary(), name: p.string().unique(), best: () => p.oneToOne(Article).owner().nullable() },
})
const Article = defineEntity({
  name: 'Article',
  properties: {
    id: p.integer().primary(),
    slug: p.string().unique(),
    writer: () => p.manyToOne(Writer),
    parent: () => p.manyToOne(Article).nullable(),
    tags: () => p.manyToMany(Tag).owner(),
    notes: () => p.oneToMany(Note).mappedBy('article'),
  },
})
const Note = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.string(), article: () => p.manyToOne(Article) },
})
/** Cannot be without another one. */
const Step = defineEntity({
  name: 'Step',
  properties: { id: p.integer().primary(), name: p.string().unique(), after: () => p.manyToOne(Step) },
})

const options = {
  entities: [Tag, Writer, Article, Note, Step],
  resources: [
    resource(Tag, { key: 'name' }),
    resource(Writer, { key: 'name' }),
    resource(Article, { key: 'slug' }),
    resource(Step, { key: 'name' }),
  ],
}

const COUNT = 4
const some = fc.subarray([...Array(COUNT).keys()], { minLength: 0 })
const one = fc.integer({ min: 0, max: COUNT - 1 })
const order = fc.shuffledSubarray([...Array(COUNT).keys()], { minLength: COUNT })

interface Drawn {
  readonly orders: readonly (readonly number[])[]
  readonly resources: readonly string[]
  readonly articles: readonly {
    readonly writer: number
    readonly parent: number | null
    readonly tags: readonly number[]
    readonly notes: number
  }[]
  readonly best: readonly (number | null)[]
  /** The tags that have IDs of their own. */
  readonly given: readonly number[]
  /** By step, the step before; -1: the root. */
  readonly steps: readonly number[]
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  orders: fc.array(order, { minLength: 5, maxLength: 5 }),
  resources: fc.shuffledSubarray(['tags', 'writers', 'articles', 'steps', 'notes'], { minLength: 5 }),
  articles: fc.array(fc.record({ writer: one, parent: fc.option(one), tags: some, notes: fc.integer({ min: 0, max: 2 }) }), {
    minLength: COUNT,
    maxLength: COUNT,
  }),
  best: fc.uniqueArray(one, { minLength: COUNT, maxLength: COUNT }),
  given: some,
  steps: fc.tuple(...[...Array(COUNT).keys()].map(index => fc.integer({ min: -1, max: index - 1 }))),
})

function makeSeed({ orders, resources, articles, best, given, steps }: Drawn): Record<string, object[]> {
  const makers: Record<string, (index: number) => object> = {
    tags: index => ({ ...(given.includes(index) ? { id: 10 - index } : {}), name: `t${index}` }),
    writers: index => ({ name: `w${index}`, ...(index < 2 ? { best: `a${best[index]!}` } : {}) }),
    articles: index => {
      const { writer, parent, tags, notes } = articles[index]!
      const texts = [...Array(notes).keys()].map(note => ({ text: `${index}.${note}` }))
      return {
        slug: `a${index}`,
        writer: `w${writer}`,
        parent: parent === null ? null : `a${parent}`,
        tags: tags.map(tag => `t${tag}`),
        ...(notes === 0 ? {} : { notes: texts }),
      }
    },
    steps: index => ({ name: `s${index}`, after: steps[index]! < 0 ? 'root' : `s${steps[index]!}` }),
    // Others are nested in their articles.
    notes: index => ({ text: `listed ${index}`, article: `a${index}` }),
  }
  return Object.fromEntries(resources.map((name, place) => [name, orders[place]!.map(index => makers[name]!(index))]))
}

describeStores('a seed', () => {
  const byStatements = suiteEngine(options)
  const byUnit = suiteEngine({ ...options, orm: { subscribers: [{ afterCreate() {} }] } })

  it('gives the same rows and IDs by statements and by the unit of work, in the order of its lists', () =>
    check(
      fc.asyncProperty(drawn, async parts => {
        const seed = makeSeed(parts)
        const tables: unknown[] = []
        for (const engine of [byStatements(), byUnit()]) {
          await engine.reset()
          const root = engine.orm.em.getPlatform().quoteIdentifier('step')
          await engine.orm.em.fork().getConnection().execute(`insert into ${root} (id, name, after_id) values (1000, 'root', 1000)`)
          await engine.seed(seed)
          const own = ['article', 'writer', 'tag', 'note', 'step', 'article_tags']
          const read = (await readTables(engine)).filter(({ name }) => own.includes(name))
          tables.push(
            read.map(({ name, rows }) => ({ name, rows: rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) })),
          )
          for (const name of ['writers', 'articles', ...(parts.given.length === 0 ? ['tags'] : [])]) {
            const { body } = await engine.send(`GET /v1/${name}?sort=id&depth=0`)
            const named = (records: unknown): unknown[] =>
              (records as Record<string, unknown>[]).map(record => record['slug'] ?? record['name'])
            assert.deepEqual(named(body[name]), named(seed[name]), name)
          }
        }
        assert.deepEqual(tables[1], tables[0])
      }),
      { label: 'orders of seeds', runs: costly(60) },
    ))
})

describeStores('a seed of records that need one of their own table', () => {
  it('is inserted with IDs that it gives, where a subscriber listens', async () => {
    await using engine = await createEngine({ ...options, orm: { subscribers: [{ afterCreate() {} }] } })
    await engine.orm.em.fork().getConnection().execute(`insert into step (id, name, after_id) values (1, 'root', 1)`)
    await engine.seed({
      steps: [
        { id: 2, name: 'b', after: 'a' },
        { id: 3, name: 'a', after: 'root' },
      ],
    })
    assert.equal((await engine.send('GET /v1/steps/b')).body.step.after, 'a')
  })
})
