/** Records with a key of several parts that others link: by a list, and by a one-to-one seen from its other side. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

type Answer = Record<string, unknown>

async function serve(entities: readonly unknown[]) {
  const failures: unknown[] = []
  const engine = await createEngine({ entities: entities as never, onError: error => failures.push(error) })
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await engine.handle(method, `/v1/${path}`, undefined, body)
    const given = answer.body as Answer
    assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(given)} ${String(failures[0])}`)
    return given[given['resource'] as string]
  }
  const changes = (): unknown[] => engine.requests.at(-1)!.changes!.map(({ resource, type }) => [resource, type])
  return { engine, ask, changes, [Symbol.asyncDispose]: () => engine.close() }
}

describeStores('a record whose key contains a key of several parts', () => {
  const Area = defineEntity({
    name: 'Area',
    properties: { x: p.integer().primary(), y: p.string().primary(), plots: () => p.oneToMany(Plot).mappedBy('area') },
  })
  // oxlint-disable-next-line typescript/no-explicit-any -- entities that refer to each other
  const Plot: any = defineEntity({
    name: 'Plot',
    properties: {
      area: () => p.manyToOne(Area).primary(),
      number: p.integer().primary(),
      title: p.string().nullable(),
      trees: () => p.oneToMany(Tree).mappedBy('plot'),
      deed: () => p.oneToOne(Deed).mappedBy('plot').nullable(),
    },
  })
  // oxlint-disable-next-line typescript/no-explicit-any -- entities that refer to each other
  const Tree: any = defineEntity({
    name: 'Tree',
    properties: { id: p.integer().primary(), plot: () => p.manyToOne(Plot).nullable(), kind: p.string() },
  })
  // oxlint-disable-next-line typescript/no-explicit-any -- entities that refer to each other
  const Deed: any = defineEntity({
    name: 'Deed',
    properties: { id: p.integer().primary(), plot: () => p.oneToOne(Plot).owner().nullable(), text: p.string() },
  })

  it('is changed with what links it', async () => {
    await using world = await serve([Area, Plot, Tree, Deed])
    const { ask } = world
    await ask('POST', 'areas', { x: 1, y: 'k', plots: [{ number: 1, trees: [{ kind: 'oak' }], deed: { text: 'first' } }] })
    const plot = { area: '1~k', number: 1, title: null, trees: [1], deed: 1 }
    assert.deepEqual(await ask('PUT', 'plots/1~k~1', { trees: [1, { kind: 'elm' }] }), { ...plot, trees: [1, 2] })
    assert.deepEqual(await ask('PUT', 'plots/1~k~1', { trees: [2] }), { ...plot, trees: [2] })
    assert.deepEqual(await ask('PUT', 'plots/1~k~1', { deed: { text: 'second' } }), { ...plot, trees: [2], deed: 2 })
    assert.deepEqual(await ask('PUT', 'plots/1~k~1', { deed: 1 }), { ...plot, trees: [2], deed: 1 })
    assert.deepEqual(await ask('PUT', 'plots/1~k~1', { deed: null }), { ...plot, trees: [2], deed: null })
    assert.deepEqual(await ask('GET', 'trees'), [
      { id: 1, plot: null, kind: 'oak' },
      { id: 2, plot: '1~k~1', kind: 'elm' },
    ])
  })

  it('is changed alone where it is changed alone', async () => {
    await using world = await serve([Area, Plot, Tree, Deed])
    const { ask, changes } = world
    await ask('POST', 'areas', { x: 1, y: 'k', plots: [{ number: 1, deed: { text: 'first' } }] })
    await ask('PUT', 'plots/1~k~1', { title: 'new' })
    assert.deepEqual(changes(), [['plots', 'update']])
  })
})

describeStores('a record with a key of several parts that is the key of another, one to one', () => {
  const Place = defineEntity({
    name: 'Place',
    properties: {
      x: p.integer().primary(),
      y: p.integer().primary(),
      name: p.string().nullable(),
      sign: () => p.oneToOne(Sign).mappedBy('place').nullable(),
    },
  })
  // oxlint-disable-next-line typescript/no-explicit-any -- entities that refer to each other
  const Sign: any = defineEntity({
    name: 'Sign',
    properties: { place: () => p.oneToOne(Place).owner().primary(), text: p.string().nullable() },
  })

  it('is changed, with the other one and without, and deleted', async () => {
    await using world = await serve([Place, Sign])
    const { ask, changes } = world
    await ask('POST', 'places', { x: 1, y: 2, sign: { text: 'a' } })
    const place = { x: 1, y: 2, name: null, sign: '1~2' }
    assert.deepEqual(await ask('PUT', 'places/1~2', { name: 'b' }), { ...place, name: 'b' })
    assert.deepEqual(changes(), [['places', 'update']])
    assert.deepEqual(await ask('PUT', 'places/1~2', { ...place, name: 'c' }), { ...place, name: 'c' })
    await ask('PUT', 'places/1~2/sign', { text: 'd' })
    assert.deepEqual(await ask('GET', 'signs'), [{ place: '1~2', text: 'd' }])
    await ask('DELETE', 'places/1~2')
    assert.deepEqual(await ask('GET', 'places'), [])
  })
})
