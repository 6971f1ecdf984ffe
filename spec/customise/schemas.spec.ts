/** Schemas of values: Standard Schemas and functions of the application, beyond the model. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { z } from 'zod'
import { RestEngine, auth, resource } from '../../lib/index.ts'
import type { StandardSchema } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    email: p.string().nullable(),
    age: p.integer().nullable(),
    born: p.date().nullable(),
    meta: p.json<unknown>().nullable(),
    boss: () => p.manyToOne(User).nullable(),
    posts: () => p.oneToMany(Post).mappedBy('author'),
  },
})
const Post = defineEntity({
  name: 'Post',
  properties: { id: p.integer().primary(), title: p.string(), author: () => p.manyToOne(User).nullable() },
})

/** A Standard Schema without a library, which answers later. */
const later: StandardSchema = {
  '~standard': {
    version: 1,
    vendor: 'spec',
    validate: async value => Promise.resolve(value === 'taken@x.test' ? { issues: [{ message: 'is taken elsewhere' }] } : { value }),
  },
}
const asked: unknown[] = []

describeStores('schemas of values', () => {
  let engine: RestEngine

  before(async () => {
    engine = await createEngine({
      entities: [User, Post],
      seed: { users: [{ id: 1, name: '' }] },
      resources: [
        resource(User, {
          attributes: {
            name: { schema: z.string().min(1).max(5) },
            email: { schema: later },
            age: {
              schema: (age, ctx) => {
                asked.push(age)
                return (age ?? 0) >= 18 || ctx.headers['x-child'] !== undefined || 'must be 18 or more'
              },
            },
            born: { schema: born => String(born).endsWith('-01') },
            meta: { schema: z.object({ tags: z.array(z.object({ of: z.number() })) }) },
          },
        }),
        resource(Post, { attributes: { title: { schema: title => title === title.trim() || 'must not begin or end with spaces' } } }),
      ],
    })
  })
  after(() => engine.close())

  const ask = async (method: string, path: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await engine.handle(method, `/v1${path}`, {}, body, { headers })
    return { status: answer.status, body: answer.body }
  }
  const errorsOf = ({ body }: { body: { errors?: { code: string; detail: string; attribute: string }[] } }) =>
    (body.errors ?? []).map(({ code, detail, attribute }) => [code, attribute, detail])

  const REFUSED: readonly (readonly [
    method: string,
    path: string,
    body: unknown,
    errors: readonly (readonly [attribute: string, detail: RegExp])[],
  ])[] = [
    ['POST', '/users', { name: '' }, [['name', /^"name": Too small/]]],
    ['PATCH', '/users/1', { name: 'too long' }, [['name', /^"name": Too big/]]],
    ['PUT', '/users/1/name', 'too long', [['name', /^"name": Too big/]]],
    ['POST', '/users', { name: 'a', email: 'taken@x.test' }, [['email', /^"email": is taken elsewhere$/]]],
    ['POST', '/users', { name: 'a', age: 3 }, [['age', /^"age": must be 18 or more$/]]],
    ['POST', '/users', { name: 'a', born: '2000-01-02' }, [['born', /^"born": is refused\.$/]]],
    ['POST', '/users', { name: 'a', meta: { tags: [{ of: 1 }, { of: 'x' }] } }, [['meta.tags.1.of', /^"meta.tags.1.of": Invalid input/]]],
    ['POST', '/users', { name: 'a', posts: [{ title: 'ok' }, { title: ' x' }] }, [['posts.1.title', /must not begin or end with spaces/]]],
    ['POST', '/posts', { title: 'x', author: { name: '' } }, [['author.name', /Too small/]]],
    ['PUT', '/users/1/boss', { name: '' }, [['name', /Too small/]]],
    ['POST', '/users/1/posts', { title: 'x ' }, [['title', /spaces/]]],
    ['POST', '/posts', [{ title: 'x' }, { title: ' ' }], [['1.title', /spaces/]]],
  ]
  for (const [method, path, body, errors] of REFUSED) {
    it(`refuse ${method} ${path} ${JSON.stringify(body)}`, async () => {
      const { count } = (await ask('GET', '/users', undefined)).body as { count: number }
      const answer = await ask(method, path, body)
      assert.equal(answer.status, 422, JSON.stringify(answer.body))
      const found = errorsOf(answer)
      assert.deepEqual(
        found.map(([code, attribute]) => [code, attribute]),
        errors.map(([attribute]) => ['schema_refused', attribute]),
      )
      for (const [index, [, detail]] of errors.entries()) assert.match(String(found[index]![2]).replace(/^\[1\]: /, ''), detail)
      assert.equal((await ask('GET', '/users', undefined)).body.count, count)
    })
  }

  it('are reported beside all other errors, and asked about values of their type alone', async () => {
    asked.length = 0
    const answer = await ask('POST', '/users', { name: 5, age: 'x', email: 'taken@x.test', nope: 1 })
    assert.deepEqual(
      errorsOf(answer).map(([code, attribute]) => `${code} ${attribute}`),
      ['value_invalid name', 'value_invalid age', 'schema_refused email', 'attribute_unknown nope'],
    )
    const { status } = await ask('POST', '/users', { name: 'a', age: null, email: null, meta: null })
    assert.equal(status, 200)
    assert.deepEqual(asked, [])
    assert.equal((await ask('POST', '/users', { name: 'a', age: 3 }, { 'x-child': '1' })).status, 200)
  })

  it('are not asked about what is there, nor about seeds', async () => {
    assert.equal((await ask('PATCH', '/users/1', { email: 'x' })).body.user.name, '')
    await engine.seed({ users: [{ name: '' }] })
  })
})

describe('a schema', () => {
  it('leaves a write planned, and is part of the OpenAPI document where the library says it', async () => {
    await using engine = await RestEngine.create({
      entities: [User, Post],
      resources: [resource(User, { attributes: { name: { schema: z.string().min(2) } } })],
    })
    const { writes } = await engine.explain('POST', '/v1/users', undefined, { name: 'ann' })
    assert.match(JSON.stringify(writes), /by statements/)
    const text = JSON.stringify(await engine.openapi())
    assert.equal(text.includes('"minLength":2'), 'jsonSchema' in z.string()['~standard'])
  })

  it('is asked about a plain password, which is hashed afterwards', async () => {
    const Account = defineEntity({
      name: 'Account',
      properties: { id: p.integer().primary(), login: p.string().unique(), password: p.string().hidden() },
    })
    await using engine = await RestEngine.create({
      entities: [Account],
      auth: auth({ entity: Account, identifier: 'login', password: 'password', public: ['POST /v1/accounts'] }),
      resources: [
        resource(Account, { attributes: { password: { schema: password => password.length >= 8 || 'must have 8 characters' } } }),
      ],
    })
    const create = (password: string) => engine.handle('POST', '/v1/accounts', {}, { login: 'ann', password })
    assert.equal((await create('short')).body.errors[0].detail, '"password": must have 8 characters')
    assert.equal((await create('long enough')).status, 200)
    assert.equal((await engine.handle('POST', '/v1/login', {}, { login: 'ann', password: 'long enough' })).status, 200)
  })

  it('is refused where it is none, or checks no value', async () => {
    const create = (attributes: object) => RestEngine.create({ entities: [User, Post], resources: [resource(User, { attributes })] })
    await assert.rejects(create({ name: { schema: /x/ } }), /attributes.name: "schema" must be a Standard Schema of version 1/)
    await assert.rejects(create({ posts: { schema: () => true } }), /"posts" takes no schema: it is a relation/)
  })
})
