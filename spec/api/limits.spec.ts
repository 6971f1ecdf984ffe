/**
 * Limits of a request: at each it is answered, over it is refused by name; and what no statement of the database can hold is refused, too.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'
import { leastTime } from '../helpers/least.ts'
import { createEngine, describeStores, suiteEngine } from '../helpers/stores.ts'

const Node = defineEntity({
  name: 'Node',
  properties: {
    id: p.integer().primary(),
    name: p.string().nullable(),
    data: p.json<unknown>().nullable(),
    a: () => p.manyToOne(Node).nullable(),
    b: () => p.manyToOne(Node).nullable(),
    c: () => p.manyToOne(Node).nullable(),
    pair: () => p.manyToOne(Pair).nullable(),
  },
})
const Pair = defineEntity({
  name: 'Pair',
  properties: {
    x: p.integer().primary(),
    y: p.integer().primary(),
    name: p.string().nullable(),
    nodes: () => p.oneToMany(Node).mappedBy('pair'),
  },
})

const times = (count: number, text: (index: number) => string, separator = ','): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(separator)
/** Paths of five relations, each another one. */
const chain = (index: number, end: string): string =>
  [...Array.from({ length: 5 }, (_, place) => 'abc'[Math.floor(index / 3 ** place) % 3]!), end].join('.')

describe('limits of a request', () => {
  let engine: RestEngine
  const causes: unknown[] = []
  before(async () => {
    engine = await RestEngine.create({
      entities: [Node, Pair],
      seed: {
        pairs: [{ x: 1, y: 2, name: 'p' }],
        nodes: [
          { id: 1, name: 'Ann', data: { list: [[[['deep']]]], 0: { 0: 'zero' }, n: 5 }, pair: '1~2' },
          { id: 2, name: 'Bob', a: 1 },
        ],
      },
      onError: error => causes.push(error),
    })
  })
  after(() => engine.close())

  const ask = async (query: Record<string, string>, path = '/v1/nodes') => {
    const { status, body } = (await engine.handle('GET', path, query)) as { status: number; body: Record<string, unknown> }
    assert.ok(status < 500, `${JSON.stringify(body)} ${causes.join()}`)
    return { status, body, ids: (body['nodes'] as { id: number }[] | undefined)?.map(({ id }) => id) }
  }
  const refuse = async (query: Record<string, string>, parameter: string | undefined, detail: RegExp) => {
    const { status, body } = await ask(query)
    const [fault] = body['errors'] as { code: string; parameter?: string; detail: string }[]
    assert.equal(status, 400)
    assert.deepEqual({ code: fault?.code, parameter: fault?.parameter }, { code: 'limit_exceeded', parameter })
    assert.match(fault!.detail, detail)
  }

  it('takes twenty sort keys and refuses twenty-one', async () => {
    assert.equal((await ask({ sort: times(20, () => 'name') })).status, 200)
    await refuse({ sort: times(21, () => 'name') }, 'sort', /at most 20 keys; this one has 21/)
    await refuse({ sort: times(2000, () => 'name') }, 'sort', /at most 20 keys/)
  })

  it('takes twenty paths in a filter and refuses twenty-one', async () => {
    assert.deepEqual((await ask({ [times(20, () => 'name', '|')]: 'Ann' })).ids, [1])
    const name = times(1000, () => 'name', '|')
    await refuse({ [name]: 'Ann' }, name, /at most 20 paths/)
  })

  it('takes twenty names inside a JSON value and refuses twenty-one', async () => {
    assert.equal((await ask({ [`data.${times(20, () => 'x', '.')}`]: 'Ann' })).status, 200)
    for (const name of ['x', '0']) {
      const path = `data.${times(21, () => name, '.')}`
      await refuse({ [path]: '1' }, path, /has 21 names inside a JSON value; at most 20/)
      await refuse({ sort: path }, 'sort', /has 21 names inside a JSON value; at most 20/)
    }
  })

  it('goes by numbers into lists and objects inside a JSON value, twenty in a row in no time', async () => {
    assert.deepEqual((await ask({ 'data.list.0.0.0.0': 'deep' })).ids, [1])
    assert.deepEqual((await ask({ 'data.list.0.0.0.0': 'deep,5' })).ids, [1])
    assert.deepEqual((await ask({ 'data.0.0': 'zero' })).ids, [1])
    assert.deepEqual((await ask({ 'data.0.1': 'null' })).ids, [1, 2])
    const path = `data.${times(20, () => '0', '.')}`
    const duration = await leastTime(async () => {
      assert.deepEqual((await ask({ [path]: 'null', sort: `${path}.desc` })).ids, [1, 2])
    }, 1000)
    assert.ok(duration < 1000, `${duration} ms`)
  })

  it('takes fifty filters and names the one that is too many', async () => {
    const query = times(51, index => `${index === 50 ? 'name' : '!id'}=${index}`, '&')
    const { body } = (await engine.handle('GET', '/v1/nodes', query)) as { body: { errors: { parameter: string }[] } }
    assert.equal(body.errors[0]?.parameter, 'name')
  })

  it('takes a thousand names in attributes, fifty paths in expand and a query of a million characters', async () => {
    assert.equal((await ask({ attributes: times(1000, () => 'name'), expand: times(50, () => 'a') })).status, 200)
    await refuse({ attributes: times(1001, () => 'name') }, 'attributes', /at most 1000 names/)
    await refuse({ expand: times(51, () => 'a') }, 'expand', /at most 50 paths/)
    await refuse({ name: 'x'.repeat(1_048_576) }, 'name', /at most 1048576 characters together; these have 1048580/)
  })

  it('finds by lists of a thousand values and patterns, in fifty filters', async () => {
    const numbers = times(1000, index => String(index))
    const words = `Ann,${times(999, index => `x${index}`)}`
    const patterns = `A*n,${times(999, index => `x${index}*`)}`
    assert.deepEqual((await ask({ id: numbers, name: words, a: `null,${times(999, index => String(index + 1))}` })).ids, [1])
    assert.deepEqual((await ask({ name: patterns })).ids, [1])
    assert.deepEqual((await ask({ '!name': patterns })).ids, [2])
    assert.deepEqual((await ask({ 'name~=': patterns.toLowerCase() })).ids, [1])
    assert.deepEqual((await ask({ 'data.n': numbers })).ids, [1])
    assert.deepEqual((await ask({ pair: `1~2,${times(999, index => `7~${index}`)}` })).ids, [1])
    for (const value of [`name=${words}`, `id=${numbers}`, `data.n=${numbers}`, `name=${patterns}`]) {
      const { status, body } = await engine.handle(
        'GET',
        '/v1/nodes',
        times(50, () => value, '&'),
      )
      assert.equal(status, 200, JSON.stringify(body).slice(0, 300))
    }
  })

  it('refuses what no statement can hold', async () => {
    await refuse({ sort: times(20, index => chain(index * 7, 'name')) }, 'sort', /more than one statement of the database can hold/)
    const filters = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [chain(index * 3, 'name'), 'x']))
    await refuse(filters, Object.keys(filters)[0], /use fewer filters, sort keys, paths or values/)
    assert.equal((await engine.handle('DELETE', '/v1/pairs/1~2/nodes', filters)).status, 400)
    const pairs = times(50, () => `pair=${times(1000, index => `7~${index}`)}`, '&')
    assert.equal((await engine.handle('GET', '/v1/nodes', pairs)).status, 400)
  })
})

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text() } })

describeStores('the length of a pattern', () => {
  const engineOf = suiteEngine({ entities: [Note], seed: { notes: [{ text: 'Ann' }, { text: 'Bob' }] } })
  const ask = async (query: Record<string, string>, engine = engineOf()): Promise<unknown> => {
    const { status, body } = await engine.handle('GET', '/v1/notes', query)
    if (status === 200) return (body as { notes: { id: number }[] }).notes.map(({ id }) => id)
    const [fault] = (body as { errors: { code: string; detail: string }[] }).errors
    return [status, fault!.code, fault!.detail]
  }
  const refused = (label: string) => [400, 'limit_exceeded', `The pattern of "${label}" is longer than 10000 characters.`]

  it('is that of each pattern, not of the other values of the filter', async () => {
    const long = 'x'.repeat(9_999)
    const words = times(900, index => `Bob${index}${'x'.repeat(10)}`)
    assert.ok(words.length > 10_000)
    for (const label of ['text', 'text~=', 'text~~=']) {
      assert.deepEqual(await ask({ [label]: `A*,${words}` }), [1], label)
      assert.deepEqual(await ask({ [label]: `A*,${long}*,B*,*${long}` }), [1, 2], label)
      assert.deepEqual(await ask({ [label]: `A*,${words},${long}x*` }), refused(label), label)
      assert.deepEqual(await ask({ [label]: `A*,${long}x*` }), refused(label), label)
    }
    assert.deepEqual(await ask({ text: `A*,${long}${long}` }), [1], 'no pattern')
    assert.deepEqual(await ask({ 'text~=': `A*,${long}${long}` }), refused('text~='))
  })

  it('counts no backslash of an escaped character', async () => {
    const notes = [{ text: '*'.repeat(9_999) }, { text: '[é'.repeat(5_000) }]
    await using engine = await createEngine({ entities: [Note], seed: { notes } })
    for (const label of ['text', 'text~=', 'text~~=']) {
      assert.deepEqual(await ask({ [label]: `${String.raw`\*`.repeat(9_999)}*` }, engine), [1], label)
      assert.deepEqual(await ask({ [label]: `*${'[é'.repeat(4_999)}*` }, engine), [2], label)
      assert.deepEqual(await ask({ [label]: `*${'é['.repeat(4_998)}*é*` }, engine), [2], label)
    }
  })
})
