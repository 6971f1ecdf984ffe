/** The parts of the workbench that need no browser: places, queries of lists, completion. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OutlinedResource } from '../../lib/description/outline/outline-parts.ts'
import type { OutlinedAttribute } from '../../lib/description/outline/outline-parts.ts'
import { complete } from '../../lib/workbench/data/complete.ts'
import { nextSort, readListQuery, withOffset, withParameter } from '../../lib/workbench/data/list-query.ts'
import { formatPlace, parsePlace } from '../../lib/workbench/state/place-text.ts'

const NAMES = { limit: 'limit', offset: 'offset', sort: 'sort', depth: 'depth', attributes: 'attributes', expand: 'expand' }

function attribute(name: string, more: Partial<OutlinedAttribute> = {}): OutlinedAttribute {
  const plain = { nullable: false, required: true, readOnly: false, unique: false, filterable: true, sortable: true } as const
  return { name, kind: 'scalar', type: 'text', ...plain, ...more }
}

function resource(name: string, attributes: readonly OutlinedAttribute[]): OutlinedResource {
  return { name, singular: name.slice(0, -1), key: ['id'], label: 'name', creates: true, updates: true, deletes: true, attributes }
}

const id = attribute('id', { type: 'integer' })
const users = resource('users', [id, attribute('name'), attribute('active', { type: 'boolean' })])
const sites = resource('sites', [
  id,
  attribute('name'),
  attribute('status', { type: 'enum', items: ['active', 'blocked'] }),
  attribute('owner', { kind: 'toOne', type: 'users', target: 'users', nullable: true, ids: 'ownerId' }),
  attribute('tags', { kind: 'toMany', type: 'users', target: 'users' }),
  attribute('extra', { flag: 'extras' }),
])
const find = (name: string): OutlinedResource | undefined => [users, sites].find(each => each.name === name)

describe('places', () => {
  it('are what their text says, whatever the segments hold', () => {
    for (const path of [[], ['sites'], ['sites', '3~5'], ['a/b', 'c?d', 'e#f', '100%']]) {
      const query = 'name~=*a*&sort=name'
      assert.deepEqual(parsePlace(formatPlace('data', path, query)), { screen: 'data', path, query })
    }
    assert.deepEqual(parsePlace(''), { screen: '', path: [], query: '' })
    assert.deepEqual(parsePlace('#/data/100%'), { screen: 'data', path: ['100%'], query: '' })
  })

  it('keep a query as an app would send it', () => {
    assert.equal(parsePlace('#/data/sites?name=a b&x=%26').query, 'name=a%20b&x=%26')
  })
})

describe('the query of a list', () => {
  it('asks for a page, for linked records by name, and for no lists', () => {
    const { asked, plain, offset, sort } = readListQuery('status=active&sort=owner.name.desc&offset=50', sites, NAMES, find)
    assert.equal(asked, 'status=active&sort=owner.name.desc&offset=50&limit=50&attributes=id,name,status,owner.id,owner.name&expand=owner')
    assert.equal(plain, 'status=active&sort=owner.name.desc&offset=50&limit=50&depth=1')
    assert.deepEqual([offset, sort], [50, [{ path: 'owner.name', descending: true }]])
  })

  it('asks for whole records where a name is no path', () => {
    for (const name of ['home.title', 'a,b', '!a'])
      assert.equal(readListQuery('', resource('texts', [id, attribute(name)]), NAMES, find).asked, 'limit=50&depth=1')
  })

  it('never asks for more than a page, and leaves what the reader has chosen', () => {
    assert.equal(readListQuery('limit=1000', users, NAMES, find).limit, 50)
    assert.equal(readListQuery('limit=7', users, NAMES, find).limit, 7)
    const chosen = readListQuery('attributes=name&depth=0', users, NAMES, find)
    assert.deepEqual([chosen.asked, chosen.isOwnChoice], ['attributes=name&depth=0&limit=50', true])
  })

  it('takes parameters by the names that the application gave them', () => {
    const names = { ...NAMES, limit: 'per_page', sort: 'order_by' }
    assert.match(readListQuery('order_by=name', users, names, find).asked, /^order_by=name&per_page=50/)
  })

  it('changes one parameter, and leaves the others as they are written', () => {
    assert.equal(withParameter('name=A%26B&sort=name&age>3', 'sort', 'id.desc'), 'name=A%26B&age>3&sort=id.desc')
    assert.equal(withParameter('sort=name', 'sort', undefined), '')
    assert.equal(withOffset('name=a', 'offset', 50), 'name=a&offset=50')
    assert.equal(withOffset('name=a&offset=50', 'offset', 0), 'name=a')
  })

  it('turns the order of a column up, down and off', () => {
    assert.equal(nextSort([], 'name'), 'name')
    assert.equal(nextSort([{ path: 'name', descending: false }], 'name'), 'name.desc')
    assert.equal(nextSort([{ path: 'name', descending: true }], 'name'), undefined)
    assert.equal(nextSort([{ path: 'id', descending: true }], 'name'), 'name')
  })
})

describe('completion', () => {
  const known = { root: '/v1', resources: [users, sites], names: NAMES }
  /** The suggestions at `|` in a text. */
  const at = (text: string): string[] => complete(text.replace('|', ''), text.indexOf('|'), known).suggestions.map(each => each.text)

  it('knows resources, names along relations, and parameters', () => {
    assert.deepEqual(at('/v1/s|'), ['/v1/sites'])
    assert.deepEqual(at('/v1/sites?na|'), ['name'])
    assert.deepEqual(at('/v1/sites?owner.a|'), ['owner.active'])
    assert.deepEqual(at('/v1/sites?so|&name=x'), ['sort='])
    assert.ok(!at('/v1/sites?|').includes('extra'))
    assert.deepEqual(at('/v1/nothing?na|'), [])
  })

  it('knows the operators of a type, and the values of enums and booleans', () => {
    assert.deepEqual(at('/v1/sites?status|'), ['status=', 'status!='])
    assert.ok(at('/v1/sites?name|').includes('name~='))
    assert.deepEqual(at('/v1/sites?status=|'), ['active', 'blocked'])
    assert.deepEqual(at('/v1/sites?status=active,b|'), ['blocked'])
    assert.deepEqual(at('/v1/users?active=|'), ['true', 'false'])
    assert.deepEqual(at('/v1/sites?owner=|'), ['null'])
    assert.ok(at('/v1/sites?sort=na|').includes('name.desc'))
    assert.deepEqual(at('/v1/sites?sort=name.desc|'), ['name.desc.nullsfirst', 'name.desc.nullslast'])
    assert.deepEqual(at('/v1/sites?sort=name.asc.nullsl|'), ['name.asc.nullslast'])
    assert.deepEqual(at('/v1/sites?offset=|'), ['first'])
    assert.deepEqual(at('/v1/sites?expand=|'), ['owner', 'tags'])
  })

  it('knows the parameters of a list in parentheses', () => {
    assert.deepEqual(at('/v1/sites?expand=owner(na|'), ['name'])
    assert.deepEqual(at('/v1/sites?expand=owner(name=x;acti|'), ['active'])
    assert.deepEqual(at('/v1/sites?expand=tags(limit=3;sort=na|'), ['name', 'name.desc'])
    assert.deepEqual(at('/v1/sites?expand=tags(limit=3;active=|'), ['true', 'false'])
    assert.deepEqual(at('/v1/sites?expand=tags(limit=3),ow|'), ['owner'])
    assert.deepEqual(at('/v1/sites?expand=tags(limit=3)&sta|'), ['status'])
  })

  it('knows groups, and the attributes behind their relations', () => {
    assert.ok(at('/v1/sites?|').includes('('))
    assert.ok(at('/v1/sites?owner|').includes('owner('))
    assert.deepEqual(at('/v1/sites?(status=active;na|'), ['name'])
    assert.deepEqual(at('/v1/sites?!(status=|'), ['active', 'blocked'])
    assert.deepEqual(at('/v1/sites?owner(act|'), ['active'])
    assert.deepEqual(at('/v1/sites?(owner(active=true);sta|'), ['status'])
    assert.deepEqual(at('/v1/sites?(so|'), [])
    assert.deepEqual(at('/v1/sites?nothing(na|'), [])
  })

  it('says where the text begins that a suggestion replaces', () => {
    const text = '/v1/sites?status=active&owner.na'
    const { from, suggestions } = complete(text, text.length, known)
    assert.equal(text.slice(0, from) + suggestions[0]!.text, '/v1/sites?status=active&owner.name')
  })
})
