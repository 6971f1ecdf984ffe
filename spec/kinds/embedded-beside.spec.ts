/**
 * Relations inside embedded objects, beside and behind those of other kinds: by another key (targetKey), and to one of several entities.
 */
import assert from 'node:assert/strict'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { it } from 'node:test'
import { describeTargets } from '../helpers/targets.ts'

const id = p.integer().primary()
const Person = defineEntity({ name: 'Person', properties: { id, email: p.string().unique() } })
const Country = defineEntity({
  name: 'Country',
  properties: { id, name: p.string(), head: () => p.manyToOne(Person).targetKey('email').nullable() },
})
const Place = defineEntity({ name: 'Place', embeddable: true, properties: { street: p.string(), country: () => p.manyToOne(Country) } })
const House = defineEntity({
  name: 'House',
  properties: { id, at: () => p.embedded(Place), doc: () => p.embedded(Place).object().nullable() },
})
const Like = defineEntity({ name: 'Like', properties: { id, of: () => p.manyToOne([House, Country]).nullable() } })

const seed = {
  people: [
    { id: 1, email: 'a@x' },
    { id: 2, email: 'b@x' },
  ],
  countries: [
    { id: 1, name: 'Aland', head: 1 },
    { id: 2, name: 'Bland', head: 2 },
    { id: 3, name: 'Cland' },
  ],
  houses: [
    { id: 1, at: { street: 'p', country: 1 }, doc: { street: 'q', country: 2 } },
    { id: 2, at: { street: 'r', country: 2 } },
  ],
  likes: [
    { id: 1, of: { type: 'house', id: 1 } },
    { id: 2, of: { type: 'country', id: 2 } },
    { id: 3, of: { type: 'house', id: 2 } },
  ],
}

describeTargets(
  'relations inside embedded objects, among others',
  { entities: [Person, Country, House, Like], seed, fresh: 'test' },
  target => {
    const ok = async (method: string, path: string, query?: Record<string, string>, body?: unknown) => {
      const answer = await target.call(method, path, query, body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body
    }
    const ids = async (of: string, query: Record<string, string>): Promise<number[]> =>
      (await ok('GET', `/v1/${of}`, query))[of].map((record: { id: number }) => record.id)

    it('are shown and expanded behind them', async () => {
      const { like } = await ok('GET', '/v1/likes/1', { expand: 'of.at.country.head,of.doc.country' })
      assert.deepEqual(like.of.at, { street: 'p', country: { id: 1, name: 'Aland', head: { id: 1, email: 'a@x' } } })
      assert.deepEqual(like.of.doc, { street: 'q', country: { id: 2, name: 'Bland', head: 2 } })
      const { likes } = await ok('GET', '/v1/likes', { depth: '2' })
      assert.deepEqual(likes[0].of, { type: 'house', id: 1, at: { street: 'p', country: 1 }, doc: { street: 'q', country: 2 } })
      assert.deepEqual(likes[1].of, { type: 'country', id: 2, name: 'Bland', head: 2 })
    })

    it('lead on to them in filters and orders', async () => {
      for (const [query, expected] of [
        [{ 'of.at.country.head.email': 'b@x' }, [3]],
        [{ 'of.doc.country.head.email': 'b@x' }, [1]],
        [{ 'of.at.country': '1' }, [1]],
        [{ sort: 'of.at.country.head.email.desc', 'of.at.street': '*' }, [3, 1]],
      ] as const)
        assert.deepEqual(await ids('likes', query), expected, JSON.stringify(query))
      assert.deepEqual(await ids('houses', { 'at.country.head': '2' }), [2])
      assert.deepEqual(await ids('houses', { 'doc.country.head': '2' }), [1])
    })

    it('are written with them, and keep what they need', async () => {
      const of = { type: 'house', at: { street: 's', country: { name: 'New', head: { email: 'c@x' } } }, doc: { street: 't', country: 3 } }
      const { like } = await ok('POST', '/v1/likes', { depth: '2' }, { of })
      assert.deepEqual(like.of, { type: 'house', id: 3, at: { street: 's', country: 4 }, doc: { street: 't', country: 3 } })
      assert.deepEqual(await ids('likes', { 'of.at.country.head.email': 'c@x' }), [4])
      const { house } = await ok('PUT', '/v1/houses/3', {}, { at: { country: 1 }, doc: { country: { name: 'Newer', head: 3 } } })
      assert.deepEqual(
        [house.at, house.doc],
        [
          { street: 's', country: 1 },
          { street: 't', country: 5 },
        ],
      )
      for (const at of [1, 5]) {
        const refused = await target.call('DELETE', `/v1/countries/${at}`)
        assert.deepEqual([refused.status, refused.body.code], [409, 'owner_required'], JSON.stringify(refused.body))
      }
      // The like of the house is emptied, the link in the house goes with it.
      await ok('DELETE', '/v1/houses/3')
      assert.equal((await ok('GET', '/v1/likes/4')).like.of, null)
      await ok('DELETE', '/v1/countries/5')
      const made = await target.engine.given('like', { of: { type: 'house', doc: {} } }, { seed: 1 })
      assert.equal(made['of'].type, 'house')
    })
  },
)
