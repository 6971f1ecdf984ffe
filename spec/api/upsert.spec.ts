/** Upsert: `POST /v1/users?upsert=email` changes the record with these values, or creates one. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { client, resource } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { describeTargets, type Target } from '../helpers/targets.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    email: p.string().unique(),
    name: p.string().length(20).nullable(),
    pin: p.string().unique().hidden().nullable(),
    scores: () => p.oneToMany(Score).mappedBy('user'),
  },
})
const Score = defineEntity({
  name: 'Score',
  uniques: [{ properties: ['user', 'game'] }],
  properties: { id: p.integer().primary(), user: () => p.manyToOne(User), game: p.string(), points: p.integer() },
})
const entities = [User, Score]
const seed = {
  users: [
    { id: 1, email: 'ann@x', name: 'Ann', pin: '1' },
    { id: 2, email: 'bob@x', name: 'Bob', pin: '2' },
  ],
  scores: [{ id: 1, user: 1, game: 'go', points: 5 }],
}

type Shown = Record<string, unknown>

async function names(target: Target): Promise<unknown[]> {
  const { body } = await target.call('GET', '/v1/users')
  return (body['users'] as Shown[]).map(({ email, name }) => `${email as string} ${name as string}`)
}

const WHOLE = ['ann@x Ann', 'bob@x Bob']

describeTargets('upsert', { entities, seed, createdStatus: 201 }, target => {
  const upsert = (by: string, body: unknown, path = '/v1/users') => target.call('POST', path, { upsert: by }, body)

  it('changes the record that exists, else creates one', async () => {
    const changed = await upsert('email', { email: 'ann@x', name: 'Anna' })
    assert.deepEqual([changed.status, changed.headers['location'], (changed.body['user'] as Shown)['id']], [200, undefined, 1])
    const created = await upsert('email', { email: 'cy@x' })
    assert.deepEqual([created.status, created.body['status']], [201, 'OK'])
    assert.match(created.headers['location']!, /^\/v1\/users\/\d+$/)
    assert.deepEqual(await names(target), ['ann@x Anna', 'bob@x Bob', 'cy@x null'])
    const byKey = await upsert('id', { id: 2, email: 'bob@x', name: 'Bobby' })
    assert.deepEqual([byKey.status, (byKey.body['user'] as Shown)['name']], [200, 'Bobby'])
  })

  it('takes a key of several attributes, also of relations', async () => {
    const path = '/v1/scores'
    assert.equal((await upsert('game,user', { user: 1, game: 'go', points: 9 }, path)).status, 200)
    assert.equal((await upsert('user,game', { user: 2, game: 'go', points: 1 }, path)).status, 201)
    const { body } = await target.call('GET', path)
    assert.deepEqual(
      (body['scores'] as Shown[]).map(({ user, points }) => [user, points]),
      [
        [1, 9],
        [2, 1],
      ],
    )
  })

  it('takes arrays, all or none', async () => {
    const many = await upsert('email', [
      { email: 'cy@x', name: 'Cy' },
      { email: 'bob@x', name: 'B' },
    ])
    assert.deepEqual([many.status, many.body['count'], (many.body['users'] as Shown[]).map(({ name }) => name)], [201, 2, ['Cy', 'B']])
    const changed = await upsert('email', [{ email: 'cy@x', name: 'C' }])
    assert.deepEqual([changed.status, changed.body['count']], [200, 1])
    const refused = await upsert('email', [
      { email: 'ann@x', name: 'A' },
      { email: 'new@x', name: 'x'.repeat(30) },
    ])
    assert.equal(refused.status, 422)
    assert.deepEqual(await names(target), ['ann@x Ann', 'bob@x B', 'cy@x C'])
  })

  it('refuses two bodies of one record, names that are no key, and other places', async () => {
    const cases: [by: string, body: unknown, status: number, detail: RegExp, path?: string][] = [
      [
        'email',
        [
          { email: 'ann@x', name: 'A' },
          { email: 'ann@x', name: 'B' },
        ],
        400,
        /^\[1\]: Two records/,
      ],
      [
        'email',
        [
          { email: 'q@x', name: 'A' },
          { email: 'q@x', name: 'B' },
        ],
        400,
        /^\[1\]: Two records/,
      ],
      ['name', { name: 'Ann' }, 400, /no unique key of users; those are id and email/],
      ['emial', { email: 'a' }, 400, /Did you mean "email"/],
      ['pin', { pin: '1', email: 'z@x' }, 400, /no unique key/],
      ['', { email: 'a' }, 400, /names the attributes/],
      ['email,', { email: 'a' }, 400, /names the attributes/],
      ['email', { email: 5 }, 422, /email/],
      ['email', { name: 'x' }, 422, /email/],
      ['email', [], 400, /at least one/],
      ['email', 'x', 400, /object/],
      ['id', { id: 'abc', email: 'q@x' }, 422, /id/],
      ['user', { user: 1, game: 'go', points: 1 }, 400, /user,game/, '/v1/scores'],
      ['id', { game: 'x', points: 1 }, 400, /upsert/, '/v1/users/1/scores'],
    ]
    for (const [by, body, status, detail, path] of cases) {
      const answer = await upsert(by, body, path)
      assert.equal(answer.status, status, `${by} ${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`)
      assert.match(answer.body['detail'] as string, detail)
      assert.deepEqual(await names(target), WHOLE)
    }
    assert.equal((await target.call('GET', '/v1/users', { upsert: 'email' })).status, 400)
  })
})

describeStores('upsert, by rules', () => {
  it('needs the right of what it does', async () => {
    const resources = [
      resource(User, { access: { create: false }, scope: () => ({ id: { $ne: 2 } }), write: () => ({ name: { $ne: 'Ann' } }) }),
    ]
    await using engine = await createEngine({ entities, seed, resources })
    const send = async (body: object): Promise<number> => (await engine.handle('POST', '/v1/users?upsert=email', undefined, body)).status
    assert.equal(await send({ email: 'new@x' }), 403)
    assert.equal(await send({ email: 'ann@x', name: 'A' }), 403)
    assert.equal(await send({ email: 'bob@x', name: 'B' }), 403)
    assert.deepEqual(((await engine.handle('GET', '/v1/users')).body as { count: number }).count, 1)
  })

  it('work by the typed client', async () => {
    await using engine = await createEngine({ entities, seed })
    const api = client(engine, { users: User, scores: Score })
    assert.equal((await api.users.upsert('email', { email: 'ann@x', name: 'A' })).id, 1)
    assert.equal((await api.scores.upsert(['user', 'game'], { user: 1, game: 'go', points: 7 }, { depth: 0 })).points, 7)
  })
})
