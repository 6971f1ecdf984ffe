/**
 * The specification that the engine was built from, sentence by sentence, on the sample model. A test is named after what it says there.
 * Not here: login and quickstats, which come with a later release.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countSample, entities, sampleData, Publisher } from '../../fixtures/sample/index.ts'
import { describeTargets } from '../helpers/targets.ts'

const SIZE = 4
const data = sampleData({ size: SIZE })
const count = countSample(SIZE)
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/
const JSON_TYPE = 'application/json; charset=UTF-8'

type Row = Record<string, unknown>

/** The IDs of the records of the sample that meet a test, in the order of their keys. */
function idsOf<T extends { id: number }>(records: readonly T[], test: (record: T) => boolean = () => true): number[] {
  return records.filter(test).map(({ id }) => id)
}

const ids = (records: Row[]): unknown[] => records.map(record => record['id'])

/** By code point, NULL smallest. */
function compare(a: string | number | null, b: string | number | null): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? -1 : 1
  return typeof a === 'string' && typeof b === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(b)) : a < b ? -1 : 1
}

const sitesOf = (publisher: number): number => data.sites.filter(site => site.publisher === publisher).length

describeTargets('the specification: reading', { entities, seed: data, fresh: 'suite' }, target => {
  describe('what the service does', () => {
    for (const [resource, records] of Object.entries(data)) {
      it(`exposes ${resource} as JSON, each record with its collection, item and attribute paths`, async () => {
        const list = await target.call('GET', `/v1/${resource}`, { limit: 1 })
        assert.equal(list.status, 200)
        assert.equal(list.body.count, (records as unknown[]).length)
        const [record] = list.body[resource] as [Row]
        const one = await target.call('GET', `/v1/${resource}/${String(record['id'])}`)
        assert.deepEqual(one.body[one.body.resource], record)
        for (const [name, value] of Object.entries(record)) {
          const attribute = await target.call('GET', `/v1/${resource}/${String(record['id'])}/${name}`)
          assert.equal(attribute.status, 200)
          if ('value' in attribute.body) assert.deepEqual(attribute.body.value, value)
        }
      })
    }

    it('fetches related data in one call', async () => {
      const { body } = await target.call('GET', '/v1/publishers', { expand: 'sites.domains,user', limit: 3 })
      for (const publisher of body.publishers as { id: number; sites: { id: number; domains: { hostname: string }[] }[] }[]) {
        assert.deepEqual(
          ids(publisher.sites),
          idsOf(data.sites, site => site.publisher === publisher.id),
        )
        for (const site of publisher.sites) {
          assert.deepEqual(
            site.domains.map(({ hostname }) => hostname),
            data.domains.filter(domain => domain.site === site.id).map(({ hostname }) => hostname),
          )
        }
      }
    })
  })

  describe('fields seen on typical records', () => {
    it('shows id, name, email, created_at and updated_at of a user as it was stored', async () => {
      for (const { id, name, email, created_at, updated_at } of data.users) {
        const { user } = (await target.call('GET', `/v1/users/${id}`)).body
        assert.deepEqual(
          { id: user.id, name: user.name, email: user.email, created_at: user.created_at, updated_at: user.updated_at },
          { id, name, email, created_at, updated_at },
        )
        assert.match(user.created_at as string, ISO)
        assert.ok(!('password' in user))
      }
    })

    it('shows a plain value, a relationship to one resource, and a list of related resources', async () => {
      const site = data.sites.find(({ category }) => category !== null)!
      const { body } = await target.call('GET', `/v1/sites/${site.id}`)
      assert.equal(body.site.name, site.name)
      assert.equal(body.site.category, site.category)
      assert.deepEqual(
        body.site.domains,
        idsOf(data.domains, domain => domain.site === site.id),
      )
    })
  })

  describe('the envelope of a collection query', () => {
    it('has each field with its type, and the list under the name of the resource', async () => {
      const { status, headers, body } = await target.call('GET', '/v1/users')
      assert.equal(status, 200)
      assert.equal(headers['content-type'], JSON_TYPE)
      assert.equal(body.success, true)
      assert.match(body.timestamp as string, ISO)
      assert.equal(body.sort, 'id.asc')
      assert.equal(body.offset, 0)
      assert.equal(body.limit, 100)
      assert.deepEqual(body.filter, [])
      assert.equal(body.count, count.users)
      assert.equal(body.previous, null)
      assert.equal(body.next, null)
      assert.equal(body.resource, 'users')
      assert.deepEqual(ids(body.users), idsOf(data.users))
    })

    it('has the filters applied', async () => {
      const { body } = await target.call('GET', '/v1/users', { role: 'admin', '!name': 'A*' })
      assert.deepEqual(body.filter, [
        ['role', 'admin'],
        ['!name', 'A*'],
      ])
    })

    it('has links to the previous and the next page', async () => {
      const { body } = await target.call('GET', '/v1/sites?limit=5&offset=5')
      assert.equal(body.previous, '/v1/sites?limit=5&offset=0')
      assert.equal(body.next, '/v1/sites?limit=5&offset=10')
      assert.deepEqual(ids((await target.call('GET', body.next as string)).body.sites), idsOf(data.sites).slice(10, 15))
    })
  })

  describe('the endpoints', () => {
    it('GET /{version}/{resource} returns a list of resources', async () => {
      assert.deepEqual(ids((await target.call('GET', '/v1/sites')).body.sites), idsOf(data.sites))
    })

    it('GET /{version}/{resource}/{ID} returns one resource; depth, attributes and expand apply', async () => {
      const [site] = data.sites
      assert.equal((await target.call('GET', `/v1/sites/${site!.id}`)).body.site.url, site!.url)
      assert.deepEqual(
        (await target.call('GET', `/v1/sites/${site!.id}`, { depth: 0, attributes: 'name,publisher.name', expand: 'publisher' })).body.site,
        { name: site!.name, publisher: { name: data.publishers[site!.publisher - 1]!.name } },
      )
    })

    it('GET /{version}/{resource}/{ID}/{attribute} returns one attribute, a resource, or a list of resources', async () => {
      const [site] = data.sites
      assert.equal((await target.call('GET', `/v1/sites/${site!.id}/name`)).body.value, site!.name)
      assert.equal((await target.call('GET', `/v1/sites/${site!.id}/publisher`)).body.publisher.id, site!.publisher)
      const { sites } = (await target.call('GET', `/v1/publishers/${site!.publisher}/sites`)).body
      assert.deepEqual(
        ids(sites),
        idsOf(data.sites, ({ publisher }) => publisher === site!.publisher),
      )
    })

    it('answers to the singular and the plural name', async () => {
      assert.deepEqual(ids((await target.call('GET', '/v1/site')).body.sites), idsOf(data.sites))
      assert.equal((await target.call('GET', '/v1/daily_statistics/1')).status, 200)
      assert.equal((await target.call('GET', '/v1/daily_statistic/1')).status, 200)
    })
  })

  describe('limit and offset', () => {
    it('gives 100 entries at most when limit is omitted', async () => {
      assert.ok(count.daily_statistics > 100)
      const { body } = await target.call('GET', '/v1/daily_statistics', { depth: 0 })
      assert.deepEqual(ids(body.daily_statistics), idsOf(data.daily_statistics).slice(0, 100))
      assert.equal(body.count, count.daily_statistics)
    })

    it('gives at most as many entries as limit says, 1000 at most by default', async () => {
      assert.equal((await target.call('GET', '/v1/daily_statistics?limit=7')).body.daily_statistics.length, 7)
      assert.equal((await target.call('GET', '/v1/daily_statistics?limit=1001&depth=0')).body.limit, 1000)
    })

    it('skips as many entries as offset says, none by default', async () => {
      assert.deepEqual(ids((await target.call('GET', '/v1/sites?offset=3&limit=2')).body.sites), idsOf(data.sites).slice(3, 5))
      assert.deepEqual(ids((await target.call('GET', '/v1/sites?limit=2')).body.sites), idsOf(data.sites).slice(0, 2))
    })
  })

  describe('sort', () => {
    it('orders by id ascending when it is omitted', async () => {
      for (const resource of ['users', 'sites', 'campaigns'] as const) {
        assert.deepEqual(ids((await target.call('GET', `/v1/${resource}`)).body[resource]), idsOf<{ id: number }>(data[resource]))
      }
    })

    for (const [sort, sign] of [
      ['name', 1],
      ['name.asc', 1],
      ['name.desc', -1],
    ] as const) {
      it(`takes the direction from the suffix: ${sort}`, async () => {
        const expected = data.users.toSorted((a, b) => sign * compare(a.name, b.name) || a.id - b.id)
        const { body } = await target.call('GET', '/v1/users', { sort })
        assert.deepEqual(ids(body.users), idsOf(expected))
        assert.equal(body.sort, sign === 1 ? 'name.asc' : 'name.desc')
      })
    }

    it('addresses sub-attributes with dots: category.name.asc', async () => {
      const name = (category: number | null): string | null => (category === null ? null : data.categories[category - 1]!.name)
      const expected = data.sites.toSorted((a, b) => compare(name(a.category), name(b.category)) || a.id - b.id)
      assert.deepEqual(ids((await target.call('GET', '/v1/sites', { sort: 'category.name.asc' })).body.sites), idsOf(expected))
    })

    it('sorts by the count of related items where no attribute is given: sites.desc', async () => {
      const expected = data.publishers.toSorted((a, b) => sitesOf(b.id) - sitesOf(a.id) || a.id - b.id)
      const { body } = await target.call('GET', '/v1/publishers', { sort: 'sites.desc' })
      assert.deepEqual(ids(body.publishers), idsOf(expected))
      const upwards = data.publishers.toSorted((a, b) => sitesOf(a.id) - sitesOf(b.id) || a.id - b.id)
      assert.deepEqual(ids((await target.call('GET', '/v1/publishers?sort=sites')).body.publishers), idsOf(upwards))
    })
  })

  describe('depth', () => {
    const site = data.sites.find(({ category }) => category !== null)!
    const relations = ['publisher', 'category', 'domains', 'statistics']

    it('returns no relationship attributes at 0', async () => {
      const { body } = await target.call('GET', `/v1/sites/${site.id}`, { depth: 0 })
      for (const name of relations) assert.ok(!(name in body.site))
      assert.equal(body.site.name, site.name)
    })

    it('returns relationship attributes as IDs at 1, which is the default', async () => {
      const one = (await target.call('GET', `/v1/sites/${site.id}`, { depth: 1 })).body.site
      assert.equal(one.publisher, site.publisher)
      assert.equal(one.category, site.category)
      assert.deepEqual(
        one.domains,
        idsOf(data.domains, domain => domain.site === site.id),
      )
      assert.deepEqual((await target.call('GET', `/v1/sites/${site.id}`)).body.site, one)
    })

    it('returns relationship attributes as expanded objects at 2', async () => {
      const two = (await target.call('GET', `/v1/sites/${site.id}`, { depth: 2 })).body.site
      assert.deepEqual(two.publisher, (await target.call('GET', `/v1/publishers/${site.publisher}`)).body.publisher)
      assert.deepEqual(two.category, (await target.call('GET', `/v1/categories/${site.category}`)).body.category)
      assert.deepEqual(
        ids(two.domains),
        idsOf(data.domains, domain => domain.site === site.id),
      )
    })

    it('takes 0, 1 and 2 only', async () => {
      for (const depth of [3, -1, 'x']) assert.equal((await target.call('GET', '/v1/sites', { depth })).status, 400)
    })
  })

  describe('attributes', () => {
    it('includes what it lists', async () => {
      const { body } = await target.call('GET', '/v1/users', { attributes: 'id,name,email' })
      assert.deepEqual(
        body.users,
        data.users.map(({ id, name, email }) => ({ id, name, email })),
      )
    })

    it('excludes what has the prefix !', async () => {
      const whole = (await target.call('GET', '/v1/users')).body.users as Row[]
      const { body } = await target.call('GET', '/v1/users', { attributes: '!email,!created_at' })
      assert.deepEqual(
        body.users,
        whole.map(user => Object.fromEntries(Object.entries(user).filter(([name]) => name !== 'email' && name !== 'created_at'))),
      )
    })

    it('returns all attributes when it is not set', async () => {
      const { body } = await target.call('GET', '/v1/users/1')
      assert.deepEqual(Object.keys(body.user as object), [
        'id',
        'name',
        'email',
        'role',
        'active',
        'created_at',
        'updated_at',
        'publishers',
        'advertisers',
      ])
    })
  })

  describe('expand', () => {
    it('returns the listed relationships expanded instead of as IDs', async () => {
      const [site] = data.sites
      const { body } = await target.call('GET', `/v1/sites/${site!.id}`, { expand: 'publisher' })
      assert.deepEqual(body.site.publisher, (await target.call('GET', `/v1/publishers/${site!.publisher}`)).body.publisher)
      assert.deepEqual(
        body.site.domains,
        idsOf(data.domains, domain => domain.site === site!.id),
      )
    })

    it('expands one level deeper than depth=2', async () => {
      const [site] = data.sites
      const { body } = await target.call('GET', `/v1/sites/${site!.id}`, { depth: 2, expand: 'publisher' })
      const publisher = (await target.call('GET', `/v1/publishers/${site!.publisher}`, { depth: 2 })).body.publisher
      assert.deepEqual(body.site.publisher, publisher)
      assert.equal(typeof body.site.publisher.sites[0].name, 'string')
    })
  })

  describe('attribute filters', () => {
    it('filters by every parameter name that is not reserved', async () => {
      const { body } = await target.call('GET', '/v1/users', { role: 'manager' })
      assert.deepEqual(
        ids(body.users),
        idsOf(data.users, user => user.role === 'manager'),
      )
      assert.equal(body.count, body.users.length)
    })

    it('negates a filter whose name starts with !', async () => {
      const { body } = await target.call('GET', '/v1/users?!role=manager')
      assert.deepEqual(
        ids(body.users),
        idsOf(data.users, user => user.role !== 'manager'),
      )
    })

    it('takes a comma-separated list of values', async () => {
      const { body } = await target.call('GET', '/v1/users?role=manager,admin')
      assert.deepEqual(
        ids(body.users),
        idsOf(data.users, user => user.role === 'manager' || user.role === 'admin'),
      )
      assert.deepEqual(ids((await target.call('GET', '/v1/users?id=1,3,99')).body.users), [1, 3])
    })

    it('takes * as a wildcard in string matches', async () => {
      const { body } = await target.call('GET', '/v1/users?name=A*')
      assert.deepEqual(
        ids(body.users),
        idsOf(data.users, user => user.name.startsWith('A')),
      )
      assert.ok(body.users.length > 0)
      const { sites } = (await target.call('GET', '/v1/sites?url=*www.*')).body
      assert.deepEqual(
        ids(sites),
        idsOf(data.sites, site => site.url.includes('www.')),
      )
    })

    it('filters on related records', async () => {
      const { body } = await target.call('GET', '/v1/sites', { publisher: 1 })
      assert.deepEqual(
        ids(body.sites),
        idsOf(data.sites, site => site.publisher === 1),
      )
      const blocked = idsOf(data.publishers, ({ id }) => data.sites.some(site => site.publisher === id && site.status === 'blocked'))
      assert.deepEqual(ids((await target.call('GET', '/v1/publishers?sites.status=blocked')).body.publishers), blocked)
    })

    it('does not ignore a name that it does not know', async () => {
      assert.equal((await target.call('GET', '/v1/users?nmae=x')).status, 400)
    })
  })

  it('knows no path without a version', async () => {
    for (const path of ['/users', '/users/1', '/v2/users']) assert.equal((await target.call('GET', path)).status, 404)
  })

  it('answers errors as JSON with success false', async () => {
    const { status, headers, body } = await target.call('GET', '/v1/nothing')
    assert.equal(status, 404)
    assert.equal(headers['content-type'], JSON_TYPE)
    assert.equal(body.success, false)
  })
})

const small = sampleData({ size: 1 })
const user = { name: 'Zed', email: 'zed@example.com', password: 'x' }

describeTargets('the specification: writing', { entities, seed: small }, target => {
  it('POST /{version}/{resource} creates a resource, at its singular name too, and carries the created record', async () => {
    for (const [path, email] of [
      ['/v1/user', 'a@example.com'],
      ['/v1/users', 'b@example.com'],
    ] as const) {
      const { status, headers, body } = await target.call('POST', path, undefined, { ...user, email })
      assert.equal(status, 200)
      assert.equal(headers['content-type'], JSON_TYPE)
      assert.equal(body.status, 'OK')
      assert.equal(body.success, true)
      assert.equal(body.user.name, 'Zed')
      assert.deepEqual((await target.call('GET', `/v1/users/${String(body.user.id)}`)).body.user, body.user)
    }
  })

  it('sets created_at at creation, and leaves updated_at null until the first update', async () => {
    const before = Date.now()
    const made = (await target.call('POST', '/v1/user', undefined, user)).body.user
    assert.match(made.created_at as string, ISO)
    assert.ok(Date.parse(made.created_at as string) >= before - 1000)
    assert.equal(made.updated_at, null)
    const { user: changed } = (await target.call('PUT', `/v1/users/${String(made.id)}`, undefined, { name: 'Zoe' })).body
    assert.match(changed.updated_at as string, ISO)
    assert.equal(changed.created_at, made.created_at)
  })

  it('derives validation from the model: type, nullability, default', async () => {
    const made = (await target.call('POST', '/v1/user', undefined, user)).body.user
    assert.deepEqual([made.role, made.active], ['viewer', true])
    for (const wrong of [{ name: null }, { name: 5 }, { active: 'yes' }, { role: 'king' }, { email: undefined }, { nickname: 'z' }]) {
      const { status, body } = await target.call('POST', '/v1/user', undefined, { ...user, email: 'other@example.com', ...wrong })
      assert.equal(status, 422, JSON.stringify(wrong))
      assert.equal(body.success, false)
      assert.equal(body.errors[0].attribute, Object.keys(wrong)[0])
    }
  })

  it('POST /{version}/{resource}/{ID}/{attribute} appends a newly created resource to a list', async () => {
    const { status, body } = await target.call('POST', '/v1/sites/1/domains', undefined, { hostname: 'new.example.com' })
    assert.equal(status, 200)
    assert.equal(body.domain.site, 1)
    assert.ok((await target.call('GET', '/v1/sites/1')).body.site.domains.includes(body.domain.id))
  })

  it('POST to an attribute is possible only if it is a list of resources', async () => {
    for (const name of ['name', 'publisher', 'created_at']) {
      assert.equal((await target.call('POST', `/v1/sites/1/${name}`, undefined, { name: 'x' })).status, 400)
    }
  })

  it('PUT /{version}/{resource}/{ID} changes the attributes given and leaves the others', async () => {
    const before = (await target.call('GET', '/v1/sites/1')).body.site
    const { status, body } = await target.call('PUT', '/v1/sites/1', undefined, { name: 'Changed' })
    assert.equal(status, 200)
    assert.deepEqual(body.site, { ...before, name: 'Changed', updated_at: body.site.updated_at })
    assert.deepEqual((await target.call('GET', '/v1/sites/1')).body.site, body.site)
  })

  it('PUT /{version}/{resource}/{ID}/{attribute} changes an attribute', async () => {
    assert.equal((await target.call('PUT', '/v1/sites/1/name', undefined, 'Renamed')).body.site.name, 'Renamed')
    assert.equal((await target.call('PUT', '/v1/sites/1/category', undefined, 2)).body.site.category, 2)
    assert.equal((await target.call('PUT', '/v1/sites/1/category', undefined, null)).body.site.category, null)
    assert.equal((await target.call('GET', '/v1/sites/1/name')).body.value, 'Renamed')
  })

  it('DELETE /{version}/{resource}/{ID} deletes the resource', async () => {
    const made = (await target.call('POST', '/v1/user', undefined, user)).body.user
    const { status, body } = await target.call('DELETE', `/v1/users/${String(made.id)}`)
    assert.equal(status, 200)
    assert.deepEqual(body.user, made)
    assert.equal((await target.call('GET', `/v1/users/${String(made.id)}`)).status, 404)
  })

  it('DELETE /{version}/{resource}/{ID}/{attribute} deletes a related resource together with the reference to it', async () => {
    const { category } = (await target.call('POST', '/v1/category', undefined, { name: 'Short-lived' })).body
    await target.call('PUT', '/v1/sites/1/category', undefined, category.id)
    assert.equal((await target.call('DELETE', '/v1/sites/1/category')).status, 200)
    assert.equal((await target.call('GET', '/v1/sites/1')).body.site.category, null)
    assert.equal((await target.call('GET', `/v1/categories/${String(category.id)}`)).status, 404)
  })

  it('DELETE of a list deletes the related resources', async () => {
    await target.call('POST', '/v1/sites/1/domains', undefined, { hostname: 'gone.example.com' })
    const before = (await target.call('GET', '/v1/sites/1')).body.site.domains as number[]
    const { status, body } = await target.call('DELETE', '/v1/sites/1/domains')
    assert.equal(status, 200)
    assert.equal(body.count, before.length)
    assert.deepEqual((await target.call('GET', '/v1/sites/1')).body.site.domains, [])
    for (const id of before) assert.equal((await target.call('GET', `/v1/domains/${id}`)).status, 404)
  })

  it('DELETE of an attribute is possible only if it is a relation', async () => {
    assert.equal((await target.call('DELETE', '/v1/sites/1/name')).status, 400)
  })
})

const lookup = (name: string): typeof Publisher | undefined => (name === 'media' ? Publisher : undefined)

describeTargets(
  'the specification: what applications decide',
  { entities, seed: small, lookup, versions: ['v1', 'v3'], fresh: 'suite' },
  target => {
    it('looks a resource up by its name; when nothing is returned it does not exist', async () => {
      assert.equal((await target.call('GET', '/v1/media/1')).status, 200)
      assert.equal((await target.call('GET', '/v1/publishers')).status, 404)
    })

    it('serves the versions that the application names', async () => {
      assert.equal((await target.call('GET', '/v3/media')).status, 200)
      assert.equal((await target.call('GET', '/v2/media')).status, 404)
    })
  },
)

describeTargets(
  'the specification: limits',
  { entities, seed: small, limits: { maxLimit: 5, defaultLimit: 3 }, fresh: 'suite' },
  target => {
    it('lets the application change the page sizes', async () => {
      assert.equal((await target.call('GET', '/v1/daily_statistics')).body.daily_statistics.length, 3)
      assert.equal((await target.call('GET', '/v1/daily_statistics?limit=1000')).body.daily_statistics.length, 5)
    })
  },
)
