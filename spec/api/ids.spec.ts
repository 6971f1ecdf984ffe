/** IDs: given by the database or by the client, of every type, in paths, bodies and filters. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import library from '../../fixtures/library/index.ts'
import { describeTargets } from '../helpers/targets.ts'

const Big = defineEntity({
  name: 'Big',
  properties: {
    id: p.bigint().primary(),
    name: p.string(),
    parent: () => p.manyToOne(Big).nullable(),
    children: () => p.oneToMany(Big).mappedBy('parent'),
  },
})
const Huge = defineEntity({ name: 'Huge', properties: { id: p.bigint('string').primary(), name: p.string() } })
const Word = defineEntity({
  name: 'Word',
  properties: { word: p.string().primary(), opposite: () => p.manyToOne(Word).nullable(), friends: () => p.manyToMany(Word) },
})
const Day = defineEntity({ name: 'Day', properties: { date: p.date().primary(), hour: p.integer().primary(), name: p.string() } })
const Token = defineEntity({ name: 'Token', properties: { id: p.uuid().primary(), next: () => p.manyToOne(Token).nullable() } })

describeTargets('ids that the database gives', library, target => {
  const make = async (name: string): Promise<number> =>
    (await target.call('POST', '/v1/genres', undefined, { name })).body.genre.id as number

  it('count up from 1', async () => {
    assert.deepEqual([await make('a'), await make('b')], [1, 2])
  })

  it('are not given again after a delete', async () => {
    for (const name of ['a', 'b', 'c']) await make(name)
    for (const id of [3, 2]) await target.call('DELETE', `/v1/genres/${id}`)
    assert.equal(await make('d'), 4)
    for (const id of [4, 1]) await target.call('DELETE', `/v1/genres/${id}`)
    assert.equal(await make('e'), 5)
  })

  it('go on after the largest that a client gave, also when that is gone', async () => {
    await target.call('POST', '/v1/genres', undefined, { id: 100, name: 'a' })
    assert.equal(await make('b'), 101)
    await target.call('DELETE', '/v1/genres/101')
    await target.call('DELETE', '/v1/genres/100')
    await target.call('POST', '/v1/genres', undefined, { id: 50, name: 'c' })
    assert.equal(await make('d'), 102)
  })

  it('may be taken again by a client that names them', async () => {
    await make('a')
    await target.call('DELETE', '/v1/genres/1')
    assert.equal((await target.call('POST', '/v1/genres', undefined, { id: 1, name: 'b' })).body.genre.id, 1)
  })

  it('may be 0 or negative where a client names them', async () => {
    for (const id of [0, -5]) {
      const made = await target.call('POST', '/v1/genres', undefined, { id, name: `n${id}` })
      assert.equal(made.status, 200, JSON.stringify(made.body))
      assert.equal(made.headers['location'], `/v1/genres/${id}`)
      const child = await target.call('POST', '/v1/genres', undefined, { name: `child of ${id}`, parent: id })
      assert.equal(child.body.genre.parent, id)
      assert.equal((await target.call('PUT', `/v1/genres/${id}`, undefined, { name: `m${id}` })).body.genre.name, `m${id}`)
      assert.equal((await target.call('GET', '/v1/genres', { parent: id })).body.count, 1)
      assert.equal((await target.call('DELETE', `/v1/genres/${id}`)).status, 200)
    }
  })
})

describeTargets('bigint ids', { entities: [Big, Huge] }, target => {
  const ids = ['9007199254740992', '9007199254740993', '9223372036854775807', '-9223372036854775808', '9007199254740995', '5', '-1']
  for (const resource of ['big', 'huge']) {
    it(`are exact beyond 2^53, as texts (${resource})`, async () => {
      for (const id of ids) {
        const made = await target.call('POST', `/v1/${resource}`, undefined, { id, name: `n${id}` })
        assert.equal(made.status, 200, JSON.stringify(made.body))
        assert.equal(made.body[resource].id, id)
        assert.equal(made.headers['location'], `/v1/${resource}/${id}`)
      }
      for (const id of ids) {
        assert.equal((await target.call('GET', `/v1/${resource}/${id}`)).body[resource].name, `n${id}`)
        const changed = await target.call('PUT', `/v1/${resource}/${id}`, undefined, { id, name: `m${id}` })
        assert.equal(changed.body[resource].name, `m${id}`)
      }
      for (const id of ids) {
        const found = await target.call('GET', `/v1/${resource}`, { id })
        assert.deepEqual(
          (found.body[found.body.resource] as { id: string; name: string }[]).map(({ id, name }) => [id, name]),
          [[id, `m${id}`]],
        )
        assert.equal((await target.call('DELETE', `/v1/${resource}/${id}`)).body[resource].id, id)
        assert.equal((await target.call('GET', `/v1/${resource}/${id}`)).status, 404)
      }
    })
  }

  it('are kept apart from their neighbours that one double stands for', async () => {
    await target.call('POST', '/v1/bigs', undefined, { id: '9007199254740992', name: 'even' })
    assert.equal((await target.call('GET', '/v1/bigs/9007199254740993')).status, 404)
    assert.equal((await target.call('DELETE', '/v1/bigs/9007199254740993')).status, 404)
    await target.call('POST', '/v1/bigs', undefined, { id: '9007199254740993', name: 'odd', parent: '9007199254740992' })
    assert.equal((await target.call('GET', '/v1/bigs/9007199254740993')).body.big.parent, '9007199254740992')
    assert.deepEqual((await target.call('GET', '/v1/bigs/9007199254740992')).body.big.children, ['9007199254740993'])
    const self = await target.call('PUT', '/v1/bigs/9007199254740993/parent', undefined, '9007199254740993')
    assert.equal(self.body.big.parent, '9007199254740993')
    assert.deepEqual((await target.call('GET', '/v1/bigs/9007199254740992')).body.big.children, [])
    await target.call('PUT', '/v1/bigs/9007199254740992', undefined, { children: ['9007199254740993'] })
    assert.equal((await target.call('GET', '/v1/bigs/9007199254740993')).body.big.parent, '9007199254740992')
  })

  for (const id of ['9223372036854775808', '-9223372036854775809', '1180591620717411303424', '01', '1.0', '1e3', '+1', ' 1', '0x1']) {
    it(`cannot be ${JSON.stringify(id)}: 404 in a path, 422 in a body`, async () => {
      assert.equal((await target.call('GET', `/v1/bigs/${encodeURIComponent(id)}`)).status, 404)
      assert.equal((await target.call('POST', '/v1/bigs', undefined, { id, name: 'x' })).status, 422)
    })
  }
})

describeTargets('text ids', { entities: [Word] }, target => {
  const words = [
    'a/b',
    '100%',
    '%2F',
    '~',
    'a~b',
    'two words',
    ' ',
    '+',
    'a?b=c&d',
    'a#b',
    'Ünïcödé 🦊',
    '\u00e9',
    'e\u0301',
    "it's",
    'say "x"',
    '\\',
    '..x',
    'null',
    'a,b',
    '*',
    'x'.repeat(255),
    '\u{10ffff}',
    'new\nline',
    '\ufeff',
  ]
  for (const word of words) {
    it(`may be ${JSON.stringify(word.slice(0, 20))}`, async () => {
      const made = await target.call('POST', '/v1/words', undefined, { word, opposite: { word: 'other' } })
      assert.equal(made.status, 200, JSON.stringify(made.body))
      assert.equal(made.body.word.word, word)
      const location = made.headers['location']!
      assert.equal(location, `/v1/words/${encodeURIComponent(word).replaceAll('~', '%7E')}`)
      assert.equal((await target.call('GET', location)).body.word.word, word)
      assert.equal((await target.call('GET', `/v1/words/${encodeURIComponent(word)}`)).body.word.word, word)
      await target.call('PUT', '/v1/words/other', undefined, { opposite: word, friends: [word, 'other'] })
      const other = (await target.call('GET', '/v1/words/other')).body.word
      assert.equal(other.opposite, word)
      assert.deepEqual((other.friends as string[]).toSorted(), ['other', word].toSorted())
      assert.equal((await target.call('GET', '/v1/words/other/opposite')).body.word.word, word)
      const escaped = word === 'null' ? '\\null' : word.replaceAll(/[\\,*]/g, '\\$&')
      assert.equal((await target.call('GET', '/v1/words', { word: escaped })).body.count, 1)
      assert.equal((await target.call('GET', '/v1/words', { opposite: escaped })).body.count, 1)
      assert.equal((await target.call('DELETE', location)).status, 200)
      assert.equal((await target.call('GET', location)).status, 404)
    })
  }

  for (const word of ['', '.', '..', 'a\0b'])
    it(`cannot be ${JSON.stringify(word)}, since no path leads to the record`, async () => {
      for (const body of [{ word }, [{ word: 'first' }, { word }], { word: 'x', opposite: { word } }, { word: 'x', friends: [{ word }] }]) {
        const { status, body: refusal } = await target.call('POST', '/v1/words', undefined, body)
        assert.deepEqual([status, refusal.errors[0].code], [422, 'value_invalid'], JSON.stringify(body))
        assert.match(refusal.errors[0].detail, /in paths|NUL/)
      }
      await assert.rejects(target.engine.seed({ words: [{ word }] }), /in paths|NUL/)
    })

  it('are told apart by case and by code points', async () => {
    for (const word of ['a', 'A', '\u00e9', 'e\u0301'])
      assert.equal((await target.call('POST', '/v1/words', undefined, { word })).status, 200)
    assert.equal((await target.call('POST', '/v1/words', undefined, { word: 'A' })).status, 409)
  })

  it('are refused as references when they are no well-formed text', async () => {
    await target.call('POST', '/v1/words', undefined, { word: '\ufffd' })
    const answer = await target.call('POST', '/v1/words', undefined, { word: 'x', opposite: '\ud800' })
    assert.equal(answer.status, 422, JSON.stringify(answer.body))
    assert.equal(answer.body.errors[0].attribute, 'opposite')
    assert.equal((await target.call('POST', '/v1/words', undefined, { word: '\udc00' })).status, 422)
  })
})

describeTargets('uuid ids', { entities: [Token] }, target => {
  const lower = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
  it('are the same in upper and lower case, and shown in lower case', async () => {
    const made = await target.call('POST', '/v1/tokens', undefined, { id: lower.toUpperCase() })
    assert.equal(made.body.token.id, lower)
    assert.equal(made.headers['location'], `/v1/tokens/${lower}`)
    assert.equal((await target.call('GET', `/v1/tokens/${lower.toUpperCase()}`)).body.token.id, lower)
    assert.equal((await target.call('GET', '/v1/tokens', { id: lower.toUpperCase() })).body.count, 1)
    assert.equal((await target.call('PUT', `/v1/tokens/${lower}`, undefined, { next: lower.toUpperCase() })).body.token.next, lower)
    assert.equal((await target.call('GET', '/v1/tokens', { next: lower.toUpperCase() })).body.count, 1)
    assert.equal((await target.call('POST', '/v1/tokens', undefined, { id: lower })).status, 409)
  })

  it('must be given where the model makes none', async () => {
    assert.equal((await target.call('POST', '/v1/tokens', undefined, {})).status, 422)
  })

  for (const id of ['x', lower.replaceAll('-', ''), `{${lower}}`, `${lower}0`]) {
    it(`cannot be ${id}`, async () => {
      assert.equal((await target.call('GET', `/v1/tokens/${encodeURIComponent(id)}`)).status, 404)
    })
  }
})

describeTargets('ids of several parts', { entities: [Day] }, target => {
  it('are joined in the order of declaration', async () => {
    const made = await target.call('POST', '/v1/days', undefined, { name: 'x', hour: 3, date: '2026-01-31' })
    assert.equal(made.headers['location'], '/v1/days/2026-01-31~3')
    assert.equal((await target.call('PUT', '/v1/days/2026-01-31~3/name', undefined, 'y')).body.day.name, 'y')
    for (const id of ['3~2026-01-31', '2026-01-31', '2026-01-31~03', '2026-01-31~3~', '2026-02-30~3', '2026-01-31%7E3']) {
      assert.equal((await target.call('GET', `/v1/days/${id}`)).status, 404, id)
    }
  })
})

const Plain = defineEntity({ name: 'Plain', properties: { id: p.integer().primary() } })
const Count = defineEntity({ name: 'Count', properties: { id: p.bigint('number').primary() } })
const Moment = defineEntity({ name: 'Moment', properties: { id: p.datetime(3).primary() } })
const Shelf = defineEntity({
  name: 'Shelf',
  properties: {
    id: p.integer().primary(),
    plains: () => p.manyToMany(Plain),
    counts: () => p.manyToMany(Count),
    bigs: () => p.manyToMany(Big),
    huges: () => p.manyToMany(Huge),
    words: () => p.manyToMany(Word),
    tokens: () => p.manyToMany(Token),
    moments: () => p.manyToMany(Moment),
  },
})
const HELD = {
  plains: [3, 5],
  counts: [7, 9007199254740991],
  bigs: ['7', '9007199254740993'],
  huges: ['9007199254740993', '9007199254740995'],
  words: ['a', 'b'],
  tokens: ['0190b0aa-0000-7000-8000-00000000000a', '0190b0aa-0000-7000-8000-00000000000b'],
  moments: ['2020-01-01T00:00:00.001Z', '2020-01-01T00:00:00.002Z'],
}

describeTargets('lists of ids of any type', { entities: [Shelf, Plain, Count, Big, Huge, Word, Token, Moment] }, target => {
  const members = {
    plains: HELD.plains.map(id => ({ id })),
    counts: HELD.counts.map(id => ({ id })),
    bigs: HELD.bigs.map(id => ({ id, name: 'big' })),
    huges: HELD.huges.map(id => ({ id, name: 'huge' })),
    words: HELD.words.map(word => ({ word })),
    tokens: HELD.tokens.map(id => ({ id })),
    moments: HELD.moments.map(id => ({ id })),
  }

  it('are the same in one record, in what a write answers, and on a page', async () => {
    const made = await target.call('POST', '/v1/shelves', undefined, { id: 1, ...members })
    assert.deepEqual(made.body.shelf, { id: 1, ...HELD }, JSON.stringify(made.body))
    assert.deepEqual((await target.call('GET', '/v1/shelves/1')).body.shelf, { id: 1, ...HELD })
    assert.deepEqual((await target.call('PUT', '/v1/shelves/1', undefined, { words: ['b'] })).body.shelf, { id: 1, ...HELD, words: ['b'] })
    await target.call('POST', '/v1/shelves', undefined, { id: 2 })
    const [first, second] = (await target.call('GET', '/v1/shelves', { depth: 1 })).body.shelves
    assert.deepEqual(first, { id: 1, ...HELD, words: ['b'] })
    assert.deepEqual(second, { id: 2, plains: [], counts: [], bigs: [], huges: [], words: [], tokens: [], moments: [] })
    assert.deepEqual((await target.call('GET', '/v1/shelves/2')).body.shelf, second)
  })
})
