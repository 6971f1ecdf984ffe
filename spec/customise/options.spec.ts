/**
 * Every option of `resource` that is wrong is refused when the engine is created, with its place, and with the nearest name where one is
 * misspelt.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine, resource } from '../../lib/index.ts'
import { entities, Item, Label, Shop, start } from './world.ts'

const WRONG: [string, unknown, RegExp][] = [
  ['an unknown option', { scop: () => ({}) }, /resource\(Item\): unknown option "scop"\. Did you mean "scope"\?/],
  [
    'an unknown option that is near nothing',
    { whatever: 1 },
    /resource\(Item\): unknown option "whatever"\. Known are name, singular, .*, delete\.$/,
  ],
  ['an unknown attribute', { attributes: { nam: {} } }, /resource\(Item\): attributes: there is no property "nam"\. Did you mean "name"\?/],
  [
    'an unknown rule',
    { attributes: { name: { privat: true } } },
    /resource\(Item\): attributes\.name: unknown option "privat"\. Did you mean "private"\?/,
  ],
  ['rules that are no object', { attributes: { name: true } }, /resource\(Item\): attributes\.name must be an object/],
  ['rules that are null', { attributes: { name: null } }, /resource\(Item\): attributes\.name must be an object/],
  ['attributes that are no object', { attributes: ['name'] }, /resource\(Item\): "attributes" must be an object/],
  ['a renderer that is no function', { attributes: { name: { render: 'x' } } }, /attributes\.name: "render" must be a function/],
  ['a private that is no boolean', { attributes: { name: { private: 'yes' } } }, /attributes\.name: "private" must be a boolean/],
  ['a readOnly that is no boolean', { attributes: { name: { readOnly: 1 } } }, /attributes\.name: "readOnly" must be a boolean/],
  ['a filterable that is no boolean', { attributes: { name: { filterable: null } } }, /attributes\.name: "filterable" must be a boolean/],
  ['a sortable that is no boolean', { attributes: { name: { sortable: 'no' } } }, /attributes\.name: "sortable" must be a boolean/],
  ['an access that is a text', { access: 'admin' }, /resource\(Item\): "access" must be/],
  ['an access that is null', { access: null }, /resource\(Item\): "access" must be/],
  ['an access that is a list', { access: ['get'] }, /resource\(Item\): "access" must be/],
  ['an access for an unknown action', { access: { read: true } }, /resource\(Item\): access: unknown option "read"/],
  [
    'an access for a misspelt action',
    { access: { updat: true } },
    /resource\(Item\): access: unknown option "updat"\. Did you mean "update"\?/,
  ],
  ['an access of one action that is a text', { access: { get: 'admin' } }, /resource\(Item\): access\.get must be a boolean or a function/],
  ['an access of one action that is null', { access: { get: null } }, /resource\(Item\): access\.get must be a boolean or a function/],
  ['a scope that is no function', { scope: { id: 1 } }, /resource\(Item\): "scope" must be a function/],
  ...['list', 'get', 'create', 'update', 'delete'].map((name): [string, unknown, RegExp] => [
    `a ${name} that is no function`,
    { [name]: true },
    new RegExp(`resource\\(Item\\): "${name}" must be a function`),
  ]),
  ['a depth of 3', { depth: 3 }, /resource\(Item\): "depth" must be 0, 1 or 2/],
  ['a depth as text', { depth: '1' }, /resource\(Item\): "depth" must be 0, 1 or 2/],
  ['an expand that is no list', { expand: 'tags' }, /resource\(Item\): "expand" must be an array/],
  ['an expand of what is no text', { expand: [1] }, /resource\(Item\): "expand" must be an array/],
  ['an expand of an unknown attribute', { expand: ['tag'] }, /resource\(Item\): expand: .*"tag".* Did you mean "tags"\?/],
  ['an expand of what is no relation', { expand: ['name'] }, /resource\(Item\): expand: "name" is not a relation/],
  ['an expand of an unknown path', { expand: ['shop.itms'] }, /resource\(Item\): expand: .*"itms".* Did you mean "items"\?/],
  ['a name that is no segment', { name: 'my items' }, /resource\(Item\): "name" must be a path segment/],
  ['an empty name', { name: '' }, /resource\(Item\): "name" must be a path segment/],
  ['a name that is no text', { name: 5 }, /resource\(Item\): "name" must be a path segment/],
  ['a singular that is no segment', { singular: 'a/b' }, /resource\(Item\): "singular" must be a path segment/],
  ['versions that are no list', { versions: 'v1' }, /"versions" must be an array/],
  ['computed that is no object', { computed: [] }, /resource\(Item\): "computed" must be an object/],
]

describe('an option of resource', () => {
  for (const [what, config, message] of WRONG) {
    it(`is refused: ${what}`, () => assert.rejects(RestEngine.create({ entities, resources: [resource(Item, config as never)] }), message))
  }

  it('may be left undefined', async () => {
    const names = 'name singular versions depth expand attributes computed access scope list get create update delete'.split(' ')
    const config = Object.fromEntries(names.map(name => [name, undefined]))
    await using asked = await start({
      resources: [resource(Item, { ...config, attributes: { name: { render: undefined, private: undefined } } } as never)],
    })
    assert.equal((await asked.get('/v1/items/1')).body.item.name, 'apple')
  })

  const Other = defineEntity({ name: 'Other', properties: { id: p.integer().primary() } })
  const DEFINITIONS: [string, unknown, RegExp][] = [
    ['no definition', [undefined], /resources\.0 must be made by resource/],
    ['an entity itself', [Item], /resources\.0 must be made by resource/],
    ['no list', resource(Item, {}), /"resources" must be an array/],
    ['without an entity', [resource(undefined as never, {})], /resources\.0 must be made by resource/],
    ['without a configuration', [resource(Item, undefined as never)], /resources\.0 must be made by resource/],
    ['an entity of another engine', [resource(Other, {})], /Other/],
  ]
  for (const [what, resources, message] of DEFINITIONS) {
    it(`is refused: ${what}`, () => assert.rejects(RestEngine.create({ entities, resources: resources as never }), message))
  }
})

describe('the defaults of a resource', () => {
  it('are the depth and the expand of requests that name none', async () => {
    await using asked = await start({
      resources: [resource(Shop, { depth: 0 }), resource(Item, { depth: 2 }), resource(Label, { expand: ['item.shop'] })],
    })
    assert.deepEqual((await asked.get('/v1/shops/1')).body.shop, { id: 1, name: 'north' })
    assert.deepEqual((await asked.get('/v1/shops/1', { depth: 1 })).body.shop.items, [1, 2])
    assert.equal((await asked.get('/v1/items/1')).body.item.shop.name, 'north')
    assert.equal((await asked.get('/v1/items/1', { depth: 1 })).body.item.shop, 1)
    assert.equal((await asked.get('/v1/labels/1')).body.label.item.shop.name, 'north')
    assert.equal((await asked.get('/v1/labels/1', { expand: 'item' })).body.label.item.shop, 1)
    assert.equal((await asked.call('PUT', '/v1/labels/1', {}, { text: 'x' })).body.label.item.shop.name, 'north')
    assert.equal((await asked.get('/v1/items/1/label')).body.label.item.shop.name, 'north')
    assert.deepEqual((await asked.get('/v1/labels', { depth: 0, limit: 1 })).body.labels[0].item.name, 'apple')
  })

  it('leave out, without an error, what the caller may not see', async () => {
    await using asked = await start({
      resources: [resource(Label, { expand: ['item.shop', 'item'] }), resource(Item, { access: ctx => ctx.headers['x-staff'] === 'yes' })],
    })
    const stranger = await asked.get('/v1/labels/1')
    assert.deepEqual([stranger.status, stranger.body.label], [200, { id: 1, text: 'one' }])
    const staff = await asked.call('GET', '/v1/labels/1', {}, undefined, { 'x-staff': 'yes' })
    assert.equal(staff.body.label.item.shop.name, 'north')
    assert.equal((await asked.get('/v1/labels/1', { expand: 'item' })).status, 400)
  })
})
