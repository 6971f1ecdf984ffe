/** A link that clients may not write: from its other side they may not write it either, whatever the way. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { auth, resource } from '../../lib/index.ts'
import { createEngine, describeStores, readTables } from '../helpers/stores.ts'

const Org = defineEntity({
  name: 'Org',
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    members: () => p.oneToMany(Person).mappedBy('org'),
    badge: () => p.oneToOne(Badge).mappedBy('org').nullable(),
    cities: () => p.manyToMany(City).inversedBy('orgs'),
    people: () => p.manyToMany(Person).pivotEntity(() => Stay),
  },
})
const Person = defineEntity({
  name: 'Person',
  properties: { id: p.integer().primary(), name: p.string(), org: () => p.manyToOne(Org).nullable() },
})
const Badge = defineEntity({
  name: 'Badge',
  properties: { id: p.integer().primary(), text: p.string(), org: () => p.oneToOne(Org).inversedBy('badge').nullable() },
})
const City = defineEntity({
  name: 'City',
  properties: { id: p.integer().primary(), name: p.string(), orgs: () => p.manyToMany(Org).mappedBy('cities') },
})
const Stay = defineEntity({
  name: 'Stay',
  properties: { org: () => p.manyToOne(Org).primary(), person: () => p.manyToOne(Person).primary() },
})
const seed = {
  orgs: [
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
  ],
  people: [
    { id: 1, name: 'Ann', org: 1 },
    { id: 2, name: 'Bob' },
  ],
  badges: [
    { id: 1, text: 'x', org: 1 },
    { id: 2, text: 'y' },
  ],
  cities: [
    { id: 1, name: 'Rome', orgs: [1] },
    { id: 2, name: 'Oslo' },
  ],
  stays: [{ org: 1, person: 1 }],
}
const entities = [Org, Person, Badge, City, Stay]

type Write = readonly [line: string, body?: unknown]
const listWrites = (path: string, name: string, ofNew: object): Write[] => [
  [`PUT ${path}/2/${name}`, [1]],
  [`PUT ${path}/2/${name}`, { connect: [1] }],
  [`PUT ${path}/1/${name}`, { disconnect: [1] }],
  [`POST ${path}/2/${name}`, 1],
  [`POST ${path}/2/${name}`, ofNew],
  [`PATCH ${path}/2`, { [name]: [1] }],
  [`PATCH ${path}/2`, { [name]: [ofNew] }],
  [`PATCH ${path}/1`, { [name]: [] }],
  [`PATCH ${path}/2`, { [name]: { connect: [1] } }],
  [`POST ${path}`, { name: 'new', [name]: [1] }],
  [`POST ${path}`, [{ name: 'new', [name]: [ofNew] }]],
  [`DELETE ${path}/1/${name}`],
  [`DELETE ${path}/1/${name}/1`],
]
const MEMBERS = [
  ...listWrites('/v1/orgs', 'members', { name: 'new' }),
  ['POST /v1/cities', { name: 'x', orgs: [{ name: 'y', members: [1] }] }] as Write,
]
const BADGE: Write[] = [
  ['PUT /v1/orgs/2/badge', 1],
  ['PUT /v1/orgs/2/badge', { text: 'new' }],
  ['PUT /v1/orgs/1/badge', null],
  ['PATCH /v1/orgs/2', { badge: 1 }],
  ['PATCH /v1/orgs/1', { badge: null }],
  ['PATCH /v1/orgs/2', { badge: { text: 'new' } }],
  ['POST /v1/orgs', { name: 'new', badge: 1 }],
  ['DELETE /v1/orgs/1/badge'],
]
const OWN: Write[] = [
  ['PATCH /v1/people/2', { org: 1 }],
  ['PUT /v1/people/2/org', 1],
  ['PUT /v1/people/2/org', { name: 'new' }],
  ['DELETE /v1/people/1/org'],
]
const locked = { readOnly: true } as const
const CASES: [string, ReturnType<typeof resource>, readonly Write[]][] = [
  ['a link of many to one', resource(Person, { attributes: { org: locked } }), [...OWN, ...MEMBERS]],
  ['a link that is filled', resource(Person, { attributes: { org: { fill: () => 1 } } }), MEMBERS],
  ['a private link', resource(Person, { attributes: { org: { readOnly: true, private: true } } }), MEMBERS],
  ['a one-to-one', resource(Badge, { attributes: { org: locked } }), BADGE],
  ['the owning list of many-to-many', resource(Org, { attributes: { cities: locked } }), listWrites('/v1/cities', 'orgs', { name: 'new' })],
  ['the other list of many-to-many', resource(City, { attributes: { orgs: locked } }), listWrites('/v1/orgs', 'cities', { name: 'new' })],
  ['a link of a pivot entity', resource(Stay, { attributes: { person: locked } }), listWrites('/v1/orgs', 'people', { name: 'new' })],
]

describeStores('a link that clients may not write', () => {
  for (const [name, definition, writes] of CASES)
    it(`is refused from its other side: ${name}`, async () => {
      await using engine = await createEngine({ entities, seed, resources: [definition] })
      const before = await readTables(engine)
      for (const [line, body] of writes) {
        const answer = await engine.send(line, body === undefined ? {} : { body })
        assert.ok([400, 405, 422].includes(answer.status), `${line} ${JSON.stringify(body)}: ${answer.status}`)
        assert.match(JSON.stringify(answer.body), /read-only|not allowed here/)
      }
      assert.deepEqual(await readTables(engine), before)
    })

  it('is a list that OpenAPI calls read-only, and that a seed may write', async () => {
    await using engine = await createEngine({
      entities,
      resources: [resource(Person, { attributes: { org: locked } })],
      seed: { people: [{ id: 1, name: 'Ann' }], orgs: [{ id: 1, name: 'a', members: [1] }] },
    })
    assert.deepEqual((await engine.send('GET /v1/orgs/1')).body.org.members, [1])
    const document = (await engine.openapi()) as unknown as { paths: Record<string, object> }
    assert.deepEqual(Object.keys(document.paths['/v1/orgs/{id}/members'] ?? {}).includes('post'), false)
  })

  it('is written from the side that says readOnly: false', async () => {
    const resources = [resource(Person, { attributes: { org: locked } }), resource(Org, { attributes: { members: { readOnly: false } } })]
    await using engine = await createEngine({ entities, seed, resources })
    assert.equal((await engine.send('PUT /v1/orgs/2/members', { body: [1] })).status, 200)
    assert.equal((await engine.send('PATCH /v1/people/1', { body: { org: 1 } })).status, 422)
  })

  it('is no matter of a list of many that is read-only: the link is the person’s', async () => {
    await using engine = await createEngine({ entities, seed, resources: [resource(Org, { attributes: { members: locked } })] })
    assert.equal((await engine.send('POST /v1/people', { body: { name: 'Eve', org: 2 } })).status, 200)
  })

  it('is set by a mark alone', async () => {
    const User = defineEntity({
      name: 'User',
      properties: {
        id: p.integer().primary(),
        email: p.string(),
        password: p.string().hidden(),
        likes: () => p.manyToMany(Post).inversedBy('likedBy'),
      },
    })
    const Post = defineEntity({
      name: 'Post',
      properties: { id: p.integer().primary(), likedBy: () => p.manyToMany(User).mappedBy('likes') },
    })
    await using engine = await createEngine({
      entities: [User, Post],
      auth: auth({ entity: User, secret: 'that of a spec, which is long enough' }),
      resources: [resource(Post, { attributes: { likedBy: locked }, marks: { like: 'likedBy' } })],
      seed: { users: [1, 2].map(id => ({ id, email: `${id}`, password: 'x' })), posts: [{ id: 1 }] },
    })
    const headers = { authorization: `Bearer ${engine.token({ id: 1 })}` }
    assert.equal((await engine.send('PATCH /v1/users/2', { body: { likes: [1] }, headers })).status, 422)
    assert.equal((await engine.send('POST /v1/posts/1/like', { headers })).status, 200)
    assert.deepEqual((await engine.send('GET /v1/users/1', { headers })).body.user.likes, [1])
  })
})
