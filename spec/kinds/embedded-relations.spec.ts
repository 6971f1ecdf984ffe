/** Relations inside embedded objects: what they answer is what relations of the record itself answer, and what the tables hold. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { RestEngine } from '../../lib/index.ts'
import { parseColumn } from '../helpers/stores.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Answer } from '../helpers/targets.ts'
import { entities } from './embedded-relations.ts'

const PEOPLE = [
  { id: 1, name: 'a', street: 'x', land: 1, second: null, zone: 'n', floor: 3 },
  { id: 2, name: 'b', street: 'y', land: 2, second: 1, zone: null, floor: null },
  { id: 3, name: 'c', street: 'x', land: 1, second: 2, zone: 's', floor: 1 },
  { id: 4, name: 'd', street: 'z', land: 3, second: 3, zone: 'n', floor: null },
]

/** A path of the flat record, as it reads where the relations are inside an object. */
function nested(path: string): string {
  return path
    .replace(/^(!?)(street|land|second)\b/, '$1home.$2')
    .replace(/^(!?)(zone|floor)\b/, '$1home.spot.$2')
    .replaceAll(/\|(street|land|second)\b/g, '|home.$1')
}

async function seed(engine: RestEngine): Promise<void> {
  const inside = PEOPLE.map(({ id, name, street, land, second, zone, floor }) => ({
    id,
    name,
    home: { street, land, second, spot: { zone, floor } },
  }))
  await engine.seed({
    // Before what they refer to, which may come in any order.
    flats: PEOPLE,
    inlines: inside,
    storeds: inside,
    lands: [
      { id: 1, name: 'Aa', size: 5, region: 'n' },
      { id: 2, name: 'Ab', size: null, region: 's' },
      { id: 3, name: 'Ba', size: 7, region: null },
    ],
    regions: [
      { code: 'n', title: 'North' },
      { code: 's', title: 'South' },
    ],
    plots: [
      { row: 1, letter: 'a', note: 'p' },
      { row: 1, letter: 'b', note: 'q' },
    ],
  })
}

const FILTERS: [string, string][] = [
  ['land', '1'],
  ['land', '1,3'],
  ['!land', '1'],
  ['land', 'null'],
  ['second', 'null'],
  ['!second', 'null'],
  ['second', 'null,3'],
  ['second.name', 'A*'],
  ['!second.name', 'A*'],
  ['second.name', 'null'],
  ['land.name', 'Ab'],
  ['land.name~=', '*a'],
  ['land.size>', '4'],
  ['land.region', 'n'],
  ['land.region', 'null'],
  ['land.region.title', 'N*'],
  ['land.region.lands.name', 'Aa'],
  ['zone', 'n'],
  ['zone', 'null'],
  ['zone.title', 'South'],
  ['zone.lands', '2'],
  ['floor>', '0'],
  ['land|second', '3'],
]
const SORTS = [
  'land',
  'land.desc',
  'second',
  'second.desc',
  'land.name.desc',
  'second.name',
  'land.region.title',
  'zone.title.desc',
  'zone.lands.desc',
  'floor',
]

const ids = (answer: Answer): number[] => {
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return (answer.body[answer.body.resource] as { id: number }[]).map(record => record.id)
}

describeTargets('relations inside embedded objects', { entities, prepare: seed }, target => {
  const get = (path: string, query?: Record<string, string>): Promise<Answer> => target.call('GET', path, query)
  const rows = (sql: string): Promise<Record<string, unknown>[]> => target.engine.orm.em.fork().getConnection().execute(sql)
  const record = async (path: string, query?: Record<string, string>) => {
    const { status, body } = await get(path, query)
    assert.equal(status, 200, JSON.stringify(body))
    return body[body.resource]
  }
  const code = async (answer: Promise<Answer>, status: number, expected: string, attribute?: string): Promise<void> => {
    const { status: given, body } = await answer
    assert.equal(given, status, JSON.stringify(body))
    const faults = [body, ...(body.errors ?? [])].map(({ code: one }: { code: string }) => one)
    assert.ok(faults.includes(expected), `${faults.join()} instead of ${expected}`)
    if (attribute !== undefined) assert.equal(body.errors[0].attribute, attribute)
  }

  for (const path of ['inlines', 'storeds']) {
    it(`${path}: filters and sorts as relations of the record itself do`, async () => {
      for (const [name, value] of FILTERS) {
        assert.deepEqual(
          ids(await get(`/v1/${path}`, { [nested(name)]: value })),
          ids(await get('/v1/flats', { [name]: value })),
          `${name}=${value}`,
        )
      }
      for (const sort of SORTS)
        assert.deepEqual(ids(await get(`/v1/${path}`, { sort: nested(sort) })), ids(await get('/v1/flats', { sort })), sort)
      const all = SORTS.map(sort => nested(sort.replace('.desc', ''))).join()
      assert.equal((await get(`/v1/${path}`, { sort: all, limit: '2', offset: '1' })).body.count, 4)
    })

    it(`${path}: shows IDs, objects or nothing, by depth, expand and attributes`, async () => {
      const at = `/v1/${path}/3`
      const spot = { floor: 1, zone: 's' }
      assert.deepEqual((await record(at)).home, { street: 'x', land: 1, second: 2, spot })
      assert.deepEqual((await record(at, { depth: '0' })).home, { street: 'x', spot: { floor: 1 } })
      const land = { id: 1, name: 'Aa', size: 5, region: 'n' }
      const second = { id: 2, name: 'Ab', size: null, region: 's' }
      const zone = { code: 's', title: 'South', lands: [2] }
      assert.deepEqual((await record(at, { depth: '2' })).home, { street: 'x', land, second, spot: { floor: 1, zone } })
      assert.deepEqual((await record(at, { expand: 'home.land' })).home, { street: 'x', land, second: 2, spot })
      assert.deepEqual((await record(at, { depth: '0', expand: 'home.spot.zone' })).home, {
        street: 'x',
        spot: { floor: 1, zone: { code: 's', title: 'South' } },
      })
      assert.deepEqual((await record(at, { expand: 'home.land.region' })).home.land.region, { code: 'n', title: 'North', lands: [1] })
      assert.deepEqual(await record(at, { attributes: 'home.second,home.spot.floor' }), { home: { second: 2, spot: { floor: 1 } } })
      assert.deepEqual(await record(at, { attributes: 'home.land.name', depth: '2' }), { home: { land: { name: 'Aa' } } })
      assert.deepEqual((await record(at, { attributes: 'home,!home.spot', depth: '2' })).home, { street: 'x', land, second })
      const list = await record(`/v1/${path}`, { depth: '2' })
      assert.deepEqual(
        list.map((one: { home: { land: object; second: object } }) => [one.home.land, one.home.second]),
        (await record('/v1/flats', { depth: '2' })).map((one: { land: object; second: object }) => [one.land, one.second]),
      )
      assert.ok(list.every((one: { holiday: unknown }) => one.holiday === null))
      assert.equal((await record(at, { depth: '0', attributes: 'home.land' })).home.land, undefined)
      await code(get(at, { expand: 'home' }), 400, 'not_a_relation')
      await code(get(at, { expand: 'home.lamd' }), 400, 'attribute_unknown')
      await code(get(`/v1/${path}`, { 'home.land': 'x' }), 400, 'value_invalid')
      await code(get(`/v1/${path}`, { 'home.land>': '1' }), 400, 'operator_invalid')
      await code(get(`/v1/${path}`, { 'home.land.nome': 'x' }), 400, 'attribute_unknown')
    })

    it(`${path}: is made, merged, linked, unlinked and emptied`, async () => {
      const made = await target.call('POST', `/v1/${path}`, undefined, {
        name: 'new',
        home: { street: 's', land: { name: 'Made', region: { code: 'w', title: 'West' } }, spot: { zone: 'n' } },
        holiday: { street: 'h', land: 2, spot: {} },
      })
      assert.equal(made.status, 200, JSON.stringify(made.body))
      const { id, home, holiday } = made.body[made.body.resource]
      const at = `/v1/${path}/${id}`
      const land = home.land as number
      assert.deepEqual(home, { street: 's', land, second: null, spot: { floor: null, zone: 'n' } })
      // A nullable object in columns is null when all of them are.
      const empty = { floor: null, zone: null }
      assert.deepEqual(holiday, { street: 'h', land: 2, second: null, spot: empty })
      assert.deepEqual(await record(`/v1/lands/${land}`), { id: land, name: 'Made', size: null, region: 'w' })
      const put = async (body: unknown, sub = '') => {
        const answer = await target.call('PUT', at + sub, undefined, body)
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        return answer.body[answer.body.resource]
      }
      assert.deepEqual((await put({ home: { second: 3 } })).home, { street: 's', land, second: 3, spot: { floor: null, zone: 'n' } })
      assert.deepEqual((await put({ land: 1, spot: { zone: null, floor: 2 } }, '/home')).home, {
        street: 's',
        land: 1,
        second: 3,
        spot: { floor: 2, zone: null },
      })
      assert.deepEqual((await put({ home: { second: null, street: 't' } })).home.second, null)
      const { second } = (await put({ home: { second: { name: 'Nested' } } })).home
      assert.equal((await record(`/v1/lands/${second}`)).name, 'Nested')
      assert.equal((await put({ holiday: null })).holiday, null)
      assert.deepEqual((await put({ holiday: { street: 'i', land: 3, spot: { zone: 's' } } })).holiday, {
        street: 'i',
        land: 3,
        second: null,
        spot: { floor: null, zone: 's' },
      })
      assert.deepEqual((await get(`${at}/home`)).body.value, { street: 't', land: 1, second, spot: { floor: 2, zone: null } })
      const [row] = await rows(`select * from "${path.replace(/s$/, '')}" where id = ${id}`)
      if (path === 'inlines')
        assert.deepEqual([row!['home_land_id'], row!['home_second_id'], row!['away_spot_zone_code']], [1, second, 's'])
      else
        assert.deepEqual(parseColumn(row!['home']), {
          street: 't',
          land_id: 1,
          second_id: second,
          spot: { floor: 2, zone_code: null },
        })
    })

    it(`${path}: names what is wrong in a body`, async () => {
      const at = `/v1/${path}/1`
      const put = (body: unknown): Promise<Answer> => target.call('PUT', at, undefined, body)
      await code(put({ home: { land: null } }), 422, 'null_not_allowed', 'home.land')
      await code(put({ home: { land: 99 } }), 422, 'reference_not_found', 'home.land')
      await code(put({ home: { land: 'x' } }), 422, 'value_invalid', 'home.land')
      await code(put({ home: { land: [1] } }), 422, 'value_invalid', 'home.land')
      await code(put({ home: { spot: { zone: { code: 'z' } } } }), 422, 'required', 'home.spot.zone.title')
      await code(put({ home: { spot: { zone: { code: 'n', title: 'taken' } } } }), 409, 'not_unique', 'home.spot.zone.code')
      await code(put({ home: { lamd: 1 } }), 422, 'attribute_unknown', 'home.lamd')
      await code(put({ holiday: { street: 'h', spot: {} } }), 422, 'required', 'holiday.land')
      await code(target.call('POST', `/v1/${path}`, undefined, { name: 'n', home: { street: 's' } }), 422, 'required', 'home.land')
      await code(target.call('POST', `${at}/home`, undefined, {}), 400, 'action_not_possible')
      assert.deepEqual((await record(at)).home, { street: 'x', land: 1, second: null, spot: { floor: 3, zone: 'n' } })
    })

    it(`${path}: a linked record stays as long as it is needed`, async () => {
      await code(target.call('DELETE', '/v1/lands/2'), 409, 'owner_required')
      const { body } = await target.call('DELETE', '/v1/lands/2')
      assert.match(body.detail, new RegExp(`1 ${path.slice(0, -1)} by "home.land"`))
      assert.equal((await target.call('DELETE', `/v1/${path}/2`)).status, 200)
      assert.equal((await get(`/v1/${path}/2`)).status, 404)
      // A record of its own must not be lost with what refers to it.
      assert.equal((await get('/v1/lands/2')).status, 200)
    })

    it(`${path}: is in the journal and made up by given`, async () => {
      const watch = target.engine.requests.length
      await target.call('PUT', `/v1/${path}/1`, undefined, { home: { land: 3 } })
      const [change] = target.engine.requests.slice(watch).flatMap(({ changes }) => changes)
      assert.deepEqual([change!.type, change!.id, change!.before.home.land, change!.after.home.land], ['update', 1, 1, 3])
      const given = await target.engine.given(path, { name: 'g' }, { seed: 5 })
      const land = await record(`/v1/lands/${given['home'].land}`)
      assert.equal(typeof land.name, 'string')
      assert.equal(given['home'].second, null)
      const linked = await target.engine.given(path, { home: { land: { size: 42 }, spot: { zone: 's' } } }, { seed: 6 })
      assert.equal((await record(`/v1/lands/${linked['home'].land}`)).size, 42)
      assert.equal(linked['home'].spot.zone, 's')
      const twin = await target.engine.given(path, { holiday: { land: 1 } }, { seed: 7 })
      assert.equal(twin['holiday'].land, 1)
    })
  }

  it('the database empties a link that may be empty, and the journal tells', async () => {
    await target.call('PUT', '/v1/inlines/1', undefined, { home: { spot: { zone: 's' } } })
    await code(target.call('DELETE', '/v1/regions/n'), 409, 'owner_required')
    for (const { id } of await record('/v1/storeds')) assert.equal((await target.call('DELETE', `/v1/storeds/${id}`)).status, 200)
    const answer = await target.call('DELETE', '/v1/regions/n')
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const told = target.engine.requests.at(-1)!.changes!.filter(({ resource }) => resource === 'inlines')
    assert.equal((await record('/v1/inlines/4')).home.spot.zone, null)
    assert.deepEqual(
      told.map(({ id, after }) => [id, after.home.spot.zone]),
      [[4, null]],
    )
  })

  it('holds composite keys, unique links and bare keys', async () => {
    const post = (body: unknown): Promise<Answer> => target.call('POST', '/v1/holdings', undefined, body)
    const made = await post({ deed: { plot: '1~a', owned_by: 1, keyed: 2, plotKey: '1~b' } })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    const { id } = made.body.holding
    assert.deepEqual(made.body.holding, { id, deed: { plot: '1~a', owned_by: 1, keyed: 2, plotKey: '1~b' }, other: null })
    const [row] = await rows('select * from holding')
    assert.deepEqual(
      [row!['deed_plot_row'], row!['deed_plot_letter'], row!['deed_owner_id'], row!['deed_keyed_id'], row!['deed_plot_key_letter']],
      [1, 'a', 1, 2, 'b'],
    )
    await code(post({ deed: { owned_by: 1 } }), 409, 'not_unique', 'deed.owned_by')
    const other = await post({
      deed: { keyed: { name: 'By its key' }, plotKey: { row: 7, letter: 'z', note: 'n' } },
      other: { owned_by: 1 },
    })
    assert.equal(other.status, 200, JSON.stringify(other.body))
    assert.equal((await record(`/v1/lands/${other.body.holding.deed.keyed}`)).name, 'By its key')
    assert.equal(other.body.holding.deed.plotKey, '7~z')
    const deep = (await record(`/v1/holdings/${id}`, { depth: '2' })).deed
    assert.deepEqual(deep.plot, { row: 1, letter: 'a', note: 'p' })
    assert.deepEqual(deep.plotKey, { row: 1, letter: 'b', note: 'q' })
    assert.deepEqual(ids(await get('/v1/holdings', { 'deed.plot': '1~a' })), [id])
    assert.deepEqual(ids(await get('/v1/holdings', { 'deed.plotKey.note': 'q' })), [id])
    assert.deepEqual(ids(await get('/v1/holdings', { 'deed.plot': 'null' })), [other.body.holding.id])
    assert.deepEqual(ids(await get('/v1/holdings', { 'other.owned_by': '1' })), [other.body.holding.id])
    const changed = await target.call('PUT', `/v1/holdings/${id}`, undefined, {
      deed: { plot: '1~b', plotKey: null, keyed: 3, owned_by: null },
    })
    assert.deepEqual(changed.body.holding.deed, { plot: '1~b', owned_by: null, keyed: 3, plotKey: null })
    await code(target.call('PUT', `/v1/holdings/${id}`, undefined, { deed: { plot: '1' } }), 422, 'value_invalid', 'deed.plot')
    await code(target.call('PUT', `/v1/holdings/${id}`, undefined, { deed: { plot: '9~z' } }), 422, 'reference_not_found', 'deed.plot')
    await target.engine.seed({ holdings: [{ id: 50, deed: { keyed: 1, plotKey: '1~a', plot: '1~a' }, other: { plot: '1~b' } }] })
    assert.deepEqual(await record('/v1/holdings/50'), {
      id: 50,
      deed: { plot: '1~a', owned_by: null, keyed: 1, plotKey: '1~a' },
      other: { plot: '1~b', owned_by: null, keyed: null, plotKey: null },
    })
  })
})
