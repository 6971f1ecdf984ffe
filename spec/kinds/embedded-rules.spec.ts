/** Rules of the application for what embedded objects link: scopes, access, renderers, classes, and what goes with a record. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Cascade, defineEntity, p } from '@mikro-orm/sqlite'
import { resource } from '../../lib/index.ts'
import type { RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { Inline, Land, Region, Stored, entities } from './embedded-relations.ts'

const SEED = {
  regions: [{ code: 'n', title: 'North' }],
  lands: [
    { id: 1, name: 'Open', size: 1, region: 'n' },
    { id: 2, name: 'Shut', size: 2 },
  ],
  inlines: [
    { id: 1, name: 'a', home: { street: 'x', land: 1, second: 2, spot: { zone: 'n' } } },
    { id: 2, name: 'b', home: { street: 'y', land: 2, second: 1, spot: {} } },
  ],
  storeds: [
    { id: 1, name: 'a', home: { street: 'x', land: 1, second: 2, spot: { zone: 'n' } } },
    { id: 2, name: 'b', home: { street: 'y', land: 2, second: 1, spot: {} } },
  ],
}

/** The entities that hold such an object, by what they are served as: in columns of their own, and in one of JSON. */
const HOLDERS = [
  ['/v1/inlines', Inline],
  ['/v1/storeds', Stored as unknown as typeof Inline],
] as const

describeStores('rules for what is linked inside embedded objects', () => {
  const engineOf = (...resources: ReturnType<typeof resource>[]): Promise<RestEngine> => createEngine({ entities, seed: SEED, resources })
  /** An engine with the same rules for each of the holders. */
  const ruled = (rule: (holder: typeof Inline) => ReturnType<typeof resource>): Promise<RestEngine> =>
    engineOf(...HOLDERS.map(([, holder]) => rule(holder)))
  const homes = async (engine: RestEngine, path: string, query: Record<string, string> = {}): Promise<unknown[]> => {
    const { status, body } = await engine.handle('GET', path, query)
    assert.equal(status, 200, JSON.stringify(body))
    return (body as Record<string, { home: unknown }[]>)[path.slice(4)]!.map(({ home }) => home)
  }

  it('are shown by ID at the object’s own path, whatever is expanded elsewhere, and whoever asked first', async () => {
    for (const order of [0, 1]) {
      await using engine = await ruled(holder => resource(holder, { expand: ['home.land'] }))
      for (const [path] of HOLDERS) {
        const own = async (): Promise<void> => {
          const { body } = await engine.handle('GET', `${path}/1/home`)
          assert.equal((body as { value: { land: unknown } }).value.land, 1)
        }
        const selected = async (): Promise<void> => {
          const { body } = await engine.handle('GET', `${path}/1`, { depth: 1, attributes: 'home' })
          const record = (body as Record<string, { home: { land: { name: unknown } } }>)[(body as { resource: string }).resource]!
          assert.equal(record.home.land.name, 'Open')
        }
        for (const step of order === 0 ? [own, selected] : [selected, own]) await step()
      }
    }
  })

  it('a record out of scope is null, and found as such', async () => {
    await using engine = await engineOf(resource(Land, { scope: () => ({ size: 1 }) }))
    const none = { floor: null, zone: null }
    for (const [path] of HOLDERS) {
      assert.deepEqual(await homes(engine, path), [
        { street: 'x', land: 1, second: null, spot: { floor: null, zone: 'n' } },
        { street: 'y', land: null, second: 1, spot: none },
      ])
      assert.deepEqual(await homes(engine, path, { 'home.land': 'null', attributes: 'home.land' }), [{ land: null }])
      assert.deepEqual(await homes(engine, path, { 'home.land': '2' }), [])
      assert.deepEqual(await homes(engine, path, { 'home.land.name': 'null', depth: '2', attributes: 'home.land' }), [{ land: null }])
      const answer = await engine.handle('PUT', `${path}/1`, {}, { home: { second: 2 } })
      assert.equal((answer.body as { errors: { code: string }[] }).errors[0]!.code, 'reference_not_found')
    }
  })

  it('a resource without access is not shown, and unknown', async () => {
    await using engine = await engineOf(resource(Land, { access: false }))
    await using asked = await engineOf(resource(Land, { access: ({ headers }) => headers['x-land'] === 'yes' }))
    for (const [path] of HOLDERS) {
      assert.deepEqual(await homes(engine, path, { attributes: 'home' }), [
        { street: 'x', spot: { floor: null, zone: 'n' } },
        { street: 'y', spot: { floor: null, zone: null } },
      ])
      for (const query of [{ 'home.land': '1' }, { sort: 'home.land.name' }, { expand: 'home.land' }, { attributes: 'home.land' }])
        assert.equal((await engine.handle('GET', path, query)).status, 400)
      assert.equal((await asked.handle('GET', path, { 'home.land': '1' })).status, 400)
      const open = await asked.handle('GET', path, { 'home.land': '1', depth: '2' }, undefined, { headers: { 'x-land': 'yes' } })
      assert.equal((open.body as { count: number }).count, 1)
      const made = { name: 'n', home: { street: 's', land: { name: 'Own' }, spot: {} } }
      assert.equal((await asked.handle('POST', path, {}, made)).status, 422)
    }
  })

  it('a scope of the holder speaks of what it links', async () => {
    await using engine = await ruled(holder => resource(holder, { scope: () => ({ home: { land: { region: { title: 'North' } } } }) }))
    for (const [path] of HOLDERS) {
      assert.deepEqual(await homes(engine, path, { attributes: 'home.street' }), [{ street: 'x' }])
      assert.equal((await engine.handle('PUT', `${path}/1`, {}, { home: { land: 2 } })).status, 403)
      assert.equal((await engine.handle('PUT', `${path}/1`, {}, { home: { second: 1 } })).status, 200)
    }
  })

  it('a renderer is given the object as it is shown', async () => {
    await using engine = await ruled(holder => resource(holder, { attributes: { home: { render: value => JSON.stringify(value) } } }))
    for (const [path] of HOLDERS) {
      assert.deepEqual(await homes(engine, path, { id: '1', depth: '0' }), ['{"street":"x","spot":{"floor":null}}'])
      assert.deepEqual(await homes(engine, path, { id: '1' }), ['{"street":"x","land":1,"second":2,"spot":{"floor":null,"zone":"n"}}'])
    }
  })
})

describeStores('what goes with embedded objects', () => {
  const id = p.integer().primary()
  const Card = defineEntity({ name: 'Card', properties: { id, no: p.string() } })
  const Cash = defineEntity({
    name: 'Cash',
    embeddable: true,
    abstract: true,
    discriminatorColumn: 'kind',
    properties: { kind: p.enum(['coin', 'plastic']), note: p.string().nullable() },
  })
  const Coin = defineEntity({
    name: 'Coin',
    embeddable: true,
    extends: Cash,
    discriminatorValue: 'coin',
    properties: { metal: p.string() },
  })
  const Plastic = defineEntity({
    name: 'Plastic',
    embeddable: true,
    extends: Cash,
    discriminatorValue: 'plastic',
    properties: { card: () => p.manyToOne(Card) },
  })
  const Keeper = defineEntity({
    name: 'Keeper',
    embeddable: true,
    properties: { card: () => p.manyToOne(Card).cascade(Cascade.ALL).nullable(), secret: () => p.manyToOne(Card).hidden().nullable() },
  })
  const Purse = defineEntity({
    name: 'Purse',
    properties: {
      id,
      cash: () => p.embedded([Coin, Plastic]).nullable(),
      doc: () => p.embedded([Coin, Plastic]).object().nullable(),
      kept: () => p.embedded(Keeper).nullable(),
    },
  })
  const cards = [
    { id: 1, no: 'A' },
    { id: 2, no: 'B' },
    { id: 3, no: 'C' },
  ]

  it('one of several classes has the links of its class', async () => {
    await using engine = await createEngine({ entities: [Card, Purse], seed: { cards } })
    const made = await engine.handle(
      'POST',
      '/v1/purses',
      {},
      { cash: { kind: 'plastic', card: 1 }, doc: { kind: 'plastic', card: { no: 'D' } } },
    )
    assert.equal(made.status, 200, JSON.stringify(made.body))
    await engine.handle('POST', '/v1/purses', {}, { cash: { kind: 'coin', metal: 'au' }, doc: { kind: 'coin', metal: 'ag' } })
    const { body } = await engine.handle('GET', '/v1/purses', { depth: 2, attributes: 'cash,doc' })
    const no = (card: string, at: number) => ({ kind: 'plastic', note: null, card: { id: at, no: card } })
    assert.deepEqual((body as { purses: unknown }).purses, [
      { cash: no('A', 1), doc: no('D', 4) },
      { cash: { kind: 'coin', note: null, metal: 'au' }, doc: { kind: 'coin', note: null, metal: 'ag' } },
    ])
    for (const name of ['cash', 'doc']) {
      const lacking = await engine.handle('PUT', '/v1/purses/2', {}, { [name]: { kind: 'plastic' } })
      assert.equal((lacking.body as { errors: { attribute: string }[] }).errors[0]!.attribute, `${name}.card`)
      const changed = await engine.handle('PUT', '/v1/purses/2', {}, { [name]: { kind: 'plastic', card: 2 } })
      assert.deepEqual((changed.body as { purse: Record<string, unknown> }).purse[name], { kind: 'plastic', note: null, card: 2 })
      const found = await engine.handle('GET', '/v1/purses', { [`${name}.card.no`]: 'B' })
      assert.equal((found.body as { count: number }).count, 1)
    }
  })

  it('what a record cascades to goes with it, and what is hidden is written only', async () => {
    await using engine = await createEngine({
      entities: [Card, Purse],
      seed: { cards, purses: [{ id: 1, kept: { card: 1, secret: 2 } }, { id: 2 }] },
    })
    const shown = await engine.handle('GET', '/v1/purses/1')
    assert.deepEqual((shown.body as { purse: { kept: unknown } }).purse.kept, { card: 1 })
    assert.equal((await engine.handle('GET', '/v1/purses', { 'kept.secret': '2' })).status, 400)
    const [row] = await engine.orm.em
      .fork()
      .getConnection()
      .execute<{ kept_secret_id: number }[]>('select kept_secret_id from purse where id = 1')
    assert.equal(row!.kept_secret_id, 2)
    for (const at of [1, 2]) assert.equal((await engine.handle('DELETE', `/v1/purses/${at}`)).status, 200)
    const left = await engine.handle('GET', '/v1/cards', { attributes: 'id' })
    assert.deepEqual((left.body as { cards: unknown }).cards, [{ id: 2 }, { id: 3 }])
  })

  it('a link in JSON to what SQL has taken away is an ID without a record', async () => {
    await using engine = await createEngine({
      entities: [Region, Land, Stored],
      seed: { lands: [{ id: 1, name: 'x' }], storeds: [{ id: 1, name: 'a', home: { street: 's', land: 1, spot: {} } }] },
    })
    await engine.orm.em.fork().getConnection().execute('delete from land')
    const homeOf = async (query: Record<string, number>) =>
      ((await engine.handle('GET', '/v1/storeds/1', query)).body as { stored: { home: { land: unknown } } }).stored.home.land
    assert.equal(await homeOf({}), 1)
    assert.equal(await homeOf({ depth: 2 }), null)
  })
})
