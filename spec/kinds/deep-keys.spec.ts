/** Keys that lie in each other, the innermost of which the database counts up: whole chains are made at once, from either end. */
import assert from 'node:assert/strict'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { it } from 'node:test'
import { createEngine, testStores } from '../helpers/stores.ts'
import { describeTargets } from '../helpers/targets.ts'

const Tree = defineEntity({
  name: 'Tree',
  properties: { id: p.integer().primary(), name: p.string(), boughs: () => p.oneToMany(Bough).mappedBy('tree') },
})
const Bough = defineEntity({
  name: 'Bough',
  properties: {
    tree: () => p.manyToOne(Tree).primary(),
    no: p.integer().primary(),
    twigs: () => p.oneToMany(Twig).mappedBy('bough'),
  },
})
const Twig = defineEntity({
  name: 'Twig',
  properties: {
    bough: () => p.manyToOne(Bough).primary(),
    letter: p.string().primary(),
    leaves: () => p.oneToMany(Leaf).mappedBy('twig'),
  },
})
const Leaf = defineEntity({
  name: 'Leaf',
  properties: {
    twig: () => p.manyToOne(Twig).primary(),
    no: p.integer().primary(),
    colour: p.string(),
    vein: () => p.oneToOne(Vein).mappedBy('leaf').nullable(),
  },
})
const Vein = defineEntity({
  name: 'Vein',
  properties: { leaf: () => p.oneToOne(Leaf).primary(), width: p.integer(), beside: () => p.manyToOne(Leaf).nullable() },
})
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), leaf: () => p.manyToOne(Leaf).nullable() } })

describeTargets('keys four levels deep', { entities: [Tree, Bough, Twig, Leaf, Vein, Tag], fresh: 'test' }, target => {
  const rows = (sql: string): Promise<unknown[]> => target.engine.orm.em.fork().getConnection().execute(sql)
  const veins = 'select leaf_twig_bough_tree_id as tree, leaf_twig_bough_no as bough, leaf_twig_letter as twig, leaf_no as no from vein'
  const ok = async (method: string, path: string, body?: unknown, query?: Record<string, string>) => {
    const answer = await target.call(method, path, query, body)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body
  }

  it('are made with all that lies below', async () => {
    const body = {
      name: 'oak',
      boughs: [
        {
          no: 7,
          twigs: [
            {
              letter: 'a',
              leaves: [
                { no: 1, colour: 'green', vein: { width: 3 } },
                { no: 2, colour: 'red' },
              ],
            },
          ],
        },
        { no: 8, twigs: [{ letter: 'a', leaves: [{ no: 1, colour: 'red' }] }] },
      ],
    }
    await ok('POST', '/v1/trees', { name: 'first' })
    const { tree } = await ok('POST', '/v1/trees', body)
    assert.deepEqual([tree.id, tree.boughs], [2, ['2~7', '2~8']])
    const { leaves } = await ok('GET', '/v1/leaves', undefined, { sort: 'colour', 'twig.bough.tree.name': 'oak' })
    assert.deepEqual(
      leaves.map(({ twig, no }: { twig: string; no: number }) => `${twig}~${no}`),
      ['2~7~a~1', '2~7~a~2', '2~8~a~1'],
    )
    assert.deepEqual(await rows(veins), [{ tree: 2, bough: 7, twig: 'a', no: 1 }])
  })

  it('are made with all that lies above, and linked elsewhere', async () => {
    const twig = { letter: 'z', bough: { no: 5, tree: { name: 'elm' } } }
    const { leaf } = await ok('POST', '/v1/leaves', { no: 4, colour: 'gold', twig })
    assert.deepEqual([leaf.twig, leaf.no], ['1~5~z', 4])
    const { vein } = await ok('POST', '/v1/veins', {
      width: 1,
      leaf: { no: 9, colour: 'x', twig: { letter: 'y', bough: { no: 6, tree: { name: 'fir' } } } },
      beside: '1~5~z~4',
    })
    assert.deepEqual(vein, { leaf: '2~6~y~9', width: 1, beside: '1~5~z~4' })
    const changed = await ok('PUT', '/v1/veins/2~6~y~9', {
      beside: { no: 1, colour: 'new', twig: { letter: 'n', bough: { no: 1, tree: { name: 'new' } } } },
    })
    assert.equal(changed.vein.beside, '3~1~n~1')
    assert.equal((await ok('PUT', '/v1/veins/2~6~y~9', { beside: null, width: 8 })).vein.width, 8)
    assert.equal((await ok('PUT', '/v1/veins/2~6~y~9', { beside: '1~5~z~4' })).vein.beside, '1~5~z~4')
    assert.equal((await ok('PUT', '/v1/leaves/1~5~z~4', { colour: 'grey' })).leaf.colour, 'grey')
    const wrong = await target.call('POST', '/v1/veins', {}, { width: 1, leaf: '9~9~y~9' })
    assert.deepEqual([wrong.status, wrong.body.errors[0].code], [422, 'reference_not_found'])
    await ok('DELETE', '/v1/veins/2~6~y~9')
    await ok('DELETE', '/v1/leaves/1~5~z~4')
    assert.deepEqual(await rows('select no from leaf order by no'), [{ no: 1 }, { no: 9 }])
  })

  it('are linked by a record that is written alone', async () => {
    const twig = { letter: 'z', bough: { no: 5, tree: { name: 'elm' } } }
    await ok('POST', '/v1/leaves', { no: 4, colour: 'gold', twig })
    await ok('POST', '/v1/leaves', { no: 6, colour: 'red', twig: '1~5~z' })
    assert.equal((await ok('POST', '/v1/tags', { leaf: '1~5~z~4' })).tag.leaf, '1~5~z~4')
    assert.equal((await ok('PUT', '/v1/tags/1', { leaf: '1~5~z~6' })).tag.leaf, '1~5~z~6')
    assert.deepEqual((await ok('GET', '/v1/tags', undefined, { 'leaf.colour': 'red' })).tags, [{ id: 1, leaf: '1~5~z~6' }])
    await ok('DELETE', '/v1/tags/1')
  })

  it('are made up, and seeded', async () => {
    const vein = await target.engine.given('vein', { width: 2 }, { seed: 1 })
    assert.match(vein['leaf'], /^1~-?\d+~[^~]+~-?\d+$/)
    await target.engine.seed({
      trees: [{ name: 'ash', boughs: [{ no: 1, twigs: [{ letter: 'b', leaves: [{ no: 1, colour: 'c', vein: { width: 1 } }] }] }] }],
    })
    assert.equal((await rows(veins)).length, 2)
    assert.equal((await ok('GET', '/v1/veins', undefined, { 'leaf.twig.bough.tree.name': 'ash' })).veins[0].leaf, '2~1~b~1')
  })
})

testStores('a record that links what has a relation to a key of several parts for its key is shown, and cannot be changed', async () => {
  const Part = defineEntity({ name: 'Part', properties: { a: p.integer().primary(), b: p.integer().primary() } })
  const Spare = defineEntity({ name: 'Spare', properties: { part: () => p.oneToOne(Part).primary() } })
  const Holder = defineEntity({ name: 'Holder', properties: { id: p.integer().primary(), spare: () => p.manyToOne(Spare).nullable() } })
  await using engine = await createEngine({
    entities: [Part, Spare, Holder],
    seed: { parts: [{ a: 1, b: 2 }], spares: [{ part: '1~2' }] },
  })
  const columns = 'id, spare_part_a, spare_part_b'
  await engine.orm.em.fork().getConnection().execute(`insert into holder (${columns}) values (1, 1, 2), (2, null, null)`)
  const { body } = await engine.handle('GET', '/v1/holders?spare.part=1~2&depth=2')
  assert.deepEqual(body.holders, [{ id: 1, spare: { part: '1~2' } }])
  for (const [method, path] of [
    ['POST', '/v1/holders'],
    ['PUT', '/v1/holders/1'],
    ['PUT', '/v1/holders/1/spare'],
    ['DELETE', '/v1/holders/1'],
  ] as const) {
    assert.equal((await engine.handle(method, path, undefined, { spare: '1~2' })).status, 405, `${method} ${path}`)
  }
})

testStores('a key of several relations, each to a key of several parts, is that of a record like any other', async () => {
  const Left = defineEntity({ name: 'Left', properties: { a: p.integer().primary(), b: p.integer().primary() } })
  const Right = defineEntity({ name: 'Right', properties: { a: p.integer().primary(), b: p.integer().primary() } })
  const Tie = defineEntity({
    name: 'Tie',
    properties: {
      left: () => p.manyToOne(Left).primary(),
      right: () => p.manyToOne(Right).primary(),
      note: p.string(),
      other: () => p.manyToOne(Right).nullable(),
    },
  })
  const both = [
    { a: 1, b: 2 },
    { a: 3, b: 4 },
  ]
  await using engine = await createEngine({ entities: [Left, Right, Tie], seed: { lefts: both, rights: both } })
  const ok = async (method: string, path: string, body?: unknown) => {
    const answer = await engine.handle(method, path, undefined, body)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return (answer.body as Record<string, unknown>)['tie']
  }
  await ok('POST', '/v1/ties', { left: '1~2', right: '3~4', note: 'x' })
  await ok('POST', '/v1/ties', { left: '3~4', right: '3~4', note: 'y' })
  assert.deepEqual(await ok('PUT', '/v1/ties/1~2~3~4', { note: 'z', other: '1~2' }), { left: '1~2', right: '3~4', note: 'z', other: '1~2' })
  await ok('DELETE', '/v1/ties/3~4~3~4')
  const { body } = await engine.handle('GET', '/v1/ties')
  assert.deepEqual((body as { ties: unknown }).ties, [{ left: '1~2', right: '3~4', note: 'z', other: '1~2' }])
})

const Owner = defineEntity({ name: 'Owner', properties: { a: p.integer().primary(), b: p.integer().primary(), name: p.string() } })
const Label = defineEntity({ name: 'Label', properties: { id: p.integer().primary(), text: p.string() } })
const Pair = defineEntity({
  name: 'Pair',
  properties: { owner: () => p.manyToOne(Owner).primary(), label: () => p.manyToOne(Label).primary() },
})
const Note = defineEntity({
  name: 'Note',
  properties: { pair: () => p.manyToOne(Pair).primary(), no: p.integer().primary(), beside: () => p.manyToOne(Pair).nullable() },
})
const options = { entities: [Owner, Label, Pair, Note], orm: { subscribers: [{ afterFlush() {} }] }, fresh: 'test' as const }

describeTargets('a key of links to new records, one with a given key and one with a counted one', options, target => {
  const pair = { owner: { a: 1, b: 2, name: 'x' }, label: { text: 't' } }

  it('is made with the record that has it in its own key', async () => {
    const made = await target.call('POST', '/v1/notes', undefined, { pair, no: 3 })
    assert.deepEqual(made.body.note, { pair: '1~2~1', no: 3, beside: null })
    const other = { owner: { a: 3, b: 4, name: 'y' }, label: { text: 'u' } }
    const changed = await target.call('PUT', '/v1/notes/1~2~1~3', undefined, { beside: other })
    assert.deepEqual(changed.body.note, { pair: '1~2~1', no: 3, beside: '3~4~2' })
  })

  it('is seeded, and made up', async () => {
    await target.engine.seed({ notes: [{ pair, no: 3, beside: { owner: { a: 3, b: 4, name: 'y' }, label: { text: 'u' } } }] })
    const { body } = await target.call('GET', '/v1/notes')
    assert.deepEqual(body.notes, [{ pair: '1~2~1', no: 3, beside: '3~4~2' }])
    const note = await target.engine.given('note', { pair: { owner: '1~2' } })
    assert.equal(note['pair'], '1~2~3')
  })
})
