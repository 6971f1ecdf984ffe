/** Checks the helpers themselves: the query encoding, and equal answers of all targets to the same call. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import library, { Author } from '../../fixtures/library/index.ts'
import { encodeQuery, type Query } from './encode-query.ts'
import { describeTargets } from './targets.ts'

describe('encodeQuery', () => {
  const cases: [query: Query | undefined, text: string][] = [
    [undefined, ''],
    ['?a=b', 'a=b'],
    [new URLSearchParams({ a: 'b c' }), 'a=b+c'],
    [{ 'age>=': 18 }, 'age%3E=18'],
    [{ 'age>': 18 }, 'age%3E18'],
    [{ 'name!=': 'Ann' }, 'name!=Ann'],
    [{ 'name~=': 'a*' }, 'name~=a*'],
    [{ '!name': 'a&b', limit: 5 }, '!name=a%26b&limit=5'],
    [{ name: ['a', 'b,c', null] }, 'name=a%2Cb%5C%2Cc%2Cnull'],
    [{ sort: ['a', 'b.desc'] }, 'sort=a%2Cb.desc'],
    [{ publisher: null, active: true }, 'publisher=null&active=true'],
  ]
  for (const [query, text] of cases) it(`writes ${JSON.stringify(text)}`, () => assert.equal(encodeQuery(query), text))
})

describeTargets('targets', { ...library, everyTarget: 'it is about them' }, target => {
  it('answers alike through every door', async () => {
    const em = target.engine.orm.em.fork()
    em.create(Author, { id: 7, name: 'Ann', email: 'ann@example.test' })
    await em.flush()
    const answer = await target.call('GET', '/v1/authors', { 'id>': 6, 'name~=': 'a*', attributes: 'id,name' })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], 'application/json; charset=UTF-8')
    assert.deepEqual(answer.body.authors, [{ id: 7, name: 'Ann' }])
    assert.deepEqual(answer.body.filter, [
      ['id>', '6'],
      ['name~=', 'a*'],
    ])
  })

  it('starts each test with an empty database', async () => {
    const made = await target.call('POST', '/v1/authors', undefined, { name: 'Bob', email: 'bob@example.test' })
    assert.equal(made.status, 200)
    assert.equal((await target.call('GET', '/v1/authors', { limit: 0 })).body.count, 1)
  })

  it('has no body where there is none', async () => {
    assert.equal((await target.call('OPTIONS', '/v1/authors')).body, undefined)
  })
})

describeTargets('a suite of one engine', { ...library, fresh: 'suite' }, target => {
  it('keeps what a test wrote', async () => {
    await target.call('POST', '/v1/authors', undefined, { name: 'Bob', email: 'bob@example.test' })
    assert.equal((await target.call('GET', '/v1/authors')).body.count, 1)
  })
  it('for the next one', async () => {
    assert.equal((await target.call('GET', '/v1/authors')).body.count, 1)
  })
})
