/** PATCH with `application/json-patch+json` changes a record by the operations of RFC 6902. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { resource, type RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Size = defineEntity({
  name: 'Size',
  embeddable: true,
  properties: { width: p.integer().nullable(), height: p.integer().nullable(), secret: p.string().nullable().hidden() },
})
const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary() } })
const Product = defineEntity({
  name: 'Product',
  properties: {
    id: p.integer().primary(),
    name: p.string().default(''),
    note: p.string().nullable().hidden(),
    image: p.json<unknown>().nullable(),
    shown: p.json<unknown>().nullable(),
    size: () => p.embedded(Size).nullable(),
    main: () => p.manyToOne(Tag).nullable(),
    tags: () => p.manyToMany(Tag),
  },
})
const headers = { 'content-type': 'application/json-patch+json' }

interface Answer {
  readonly status: number
  readonly product: Readonly<Record<string, unknown>>
  readonly code?: string
  readonly detail?: string
}

async function patch(engine: RestEngine, operations: unknown, path = '1', options: { readonly token?: string } = {}): Promise<Answer> {
  const authorization = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }
  const { status, body } = await engine.handle('PATCH', `/v1/products/${path}`, {}, operations, {
    headers: { ...headers, ...authorization },
  })
  return { status, ...(body as unknown as Omit<Answer, 'status'>) }
}

async function imageAfter(image: unknown, ...operations: readonly object[]): Promise<unknown> {
  await using engine = await createEngine({ entities: [Product], seed: { products: [{ id: 1, image }] } })
  const { status, product, detail } = await patch(engine, operations)
  return status === 200 ? product['image'] : `${status}: ${detail}`
}

/** The examples of RFC 6902, appendix A, inside of the attribute `image`. */
const EXAMPLES: readonly (readonly [title: string, image: unknown, operations: readonly object[], after: unknown])[] = [
  ['A.1', { foo: 'bar' }, [{ op: 'add', path: '/image/baz', value: 'qux' }], { baz: 'qux', foo: 'bar' }],
  ['A.2', { foo: ['bar', 'baz'] }, [{ op: 'add', path: '/image/foo/1', value: 'qux' }], { foo: ['bar', 'qux', 'baz'] }],
  ['A.3', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/image/baz' }], { foo: 'bar' }],
  ['A.4', { foo: ['bar', 'qux', 'baz'] }, [{ op: 'remove', path: '/image/foo/1' }], { foo: ['bar', 'baz'] }],
  ['A.5', { baz: 'qux', foo: 'bar' }, [{ op: 'replace', path: '/image/baz', value: 'boo' }], { baz: 'boo', foo: 'bar' }],
  [
    'A.6',
    { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
    [{ op: 'move', from: '/image/foo/waldo', path: '/image/qux/thud' }],
    { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
  ],
  [
    'A.7',
    { foo: ['all', 'grass', 'cows', 'eat'] },
    [{ op: 'move', from: '/image/foo/1', path: '/image/foo/3' }],
    { foo: ['all', 'cows', 'eat', 'grass'] },
  ],
  [
    'A.8',
    { baz: 'qux', foo: ['a', 2] },
    [
      { op: 'test', path: '/image/baz', value: 'qux' },
      { op: 'test', path: '/image/foo/1', value: 2 },
    ],
    { baz: 'qux', foo: ['a', 2] },
  ],
  ['A.10', { foo: 'bar' }, [{ op: 'add', path: '/image/child', value: { grandchild: {} } }], { foo: 'bar', child: { grandchild: {} } }],
  ['A.11', { foo: 'bar' }, [{ op: 'add', path: '/image/baz', value: 'qux', xyz: 123 }], { foo: 'bar', baz: 'qux' }],
  ['A.14', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/image/~01', value: 10 }], { '/': 9, '~1': 10 }],
  ['A.16', { foo: ['bar'] }, [{ op: 'add', path: '/image/foo/-', value: ['abc', 'def'] }], { foo: ['bar', ['abc', 'def']] }],
  ['copy', { a: [1], b: 2 }, [{ op: 'copy', from: '/image/a', path: '/image/b' }], { a: [1], b: [1] }],
  [
    'several',
    { a: [] },
    [
      { op: 'add', path: '/image/a/-', value: 1 },
      { op: 'add', path: '/image/a/0', value: 0 },
    ],
    { a: [0, 1] },
  ],
  [
    '__proto__ and constructor are names',
    {},
    [
      { op: 'add', path: '/image/constructor', value: {} },
      { op: 'add', path: '/image/constructor/a', value: 1 },
    ],
    { constructor: { a: 1 } },
  ],
]

/** What the record, as it is, does not allow. */
const CONFLICTS: readonly (readonly [title: string, operation: object, detail: RegExp])[] = [
  ['A.9', { op: 'test', path: '/image/baz', value: 'bar' }, /finds another value/],
  ['A.12', { op: 'add', path: '/image/none/bat', value: 1 }, /finds no "none"/],
  ['A.15', { op: 'test', path: '/image/list/0', value: '1' }, /finds another value/],
  ['an index behind the end', { op: 'add', path: '/image/list/3', value: 1 }, /no item "3" in a list of 2/],
  ['replace behind the end', { op: 'replace', path: '/image/list/2', value: 1 }, /no item "2"/],
  ['a leading zero', { op: 'add', path: '/image/list/01', value: 1 }, /no item "01"/],
  ['an inherited name', { op: 'replace', path: '/image/toString', value: 1 }, /finds no "toString"/],
  ['into a text', { op: 'add', path: '/image/baz/x', value: 1 }, /neither an object nor a list/],
  ['into itself', { op: 'move', from: '/image/list', path: '/image/list/0' }, /into the value itself/],
]

const MALFORMED: readonly (readonly [title: string, body: unknown, attribute: string | undefined])[] = [
  ['no array', { op: 'add' }, undefined],
  ['no object', [null], '0'],
  ['another op', [{ op: 'append', path: '/image/a', value: 1 }], '0.op'],
  ['no value', [{ op: 'add', path: '/image/a' }], '0.value'],
  ['no path', [{ op: 'remove' }], '0.path'],
  ['the whole record', [{ op: 'replace', path: '', value: {} }], '0.path'],
  ['no pointer', [{ op: 'remove', path: 'image' }], '0.path'],
  ['a lonely tilde', [{ op: 'remove', path: '/image/~2' }], '0.path'],
  ['no from', [{ op: 'copy', path: '/image/a' }], '0.from'],
  ['into a plain attribute', [{ op: 'add', path: '/name/x', value: 1 }], 'name'],
  ['into a list of links', [{ op: 'add', path: '/tags/-', value: 1 }], 'tags'],
  ['a test of a link', [{ op: 'test', path: '/main', value: 1 }], 'main'],
  [
    'copies without end',
    [
      { op: 'add', path: '/image/a', value: ['x'.repeat(10_000)] },
      ...Array.from({ length: 30 }, () => ({ op: 'copy', from: '/image/a', path: '/image/a/-' })),
    ],
    undefined,
  ],
  ['more operations than limits.maxBulk', Array.from({ length: 1001 }, () => ({ op: 'remove', path: '/name' })), undefined],
]

describeStores('JSON Patch', () => {
  for (const [title, image, operations, after] of EXAMPLES)
    it(`changes JSON as in ${title}`, async () => assert.deepEqual(await imageAfter(image, ...operations), after))

  it('changes nothing where the record is not as an operation needs it', async () => {
    const image = { baz: 'qux', list: [1, 2] }
    await using engine = await createEngine({ entities: [Product], seed: { products: [{ id: 1, image }] } })
    for (const [title, operation, detail] of CONFLICTS) {
      const refused = await patch(engine, [{ op: 'replace', path: '/name', value: 'other' }, operation])
      assert.deepEqual([refused.status, refused.code], [409, 'version_conflict'], title)
      assert.match(refused.detail!, detail, title)
    }
    const { product } = await patch(engine, [])
    assert.deepEqual([product['name'], product['image']], ['', image])
  })

  it('refuses what is no JSON Patch, and says where', async () => {
    await using engine = await createEngine({ entities: [Product], seed: { products: [{ id: 1, image: {}, tags: [] }] } })
    for (const [title, body, attribute] of MALFORMED) {
      const answer = await engine.handle('PATCH', '/v1/products/1', {}, body, { headers })
      const { code, errors } = answer.body as unknown as { code: string; errors?: readonly { attribute?: string }[] }
      assert.deepEqual([answer.status, code, errors?.[0]?.attribute], [400, 'body_invalid', attribute], title)
    }
    const unknown = await patch(engine, [{ op: 'add', path: '/nam', value: 'x' }])
    assert.equal(unknown.status, 422)
    assert.match(JSON.stringify(unknown), /"suggestion":"name"/)
  })

  it('changes attributes, links and embedded objects as PATCH does', async () => {
    const size = { width: 1, height: 2, secret: 's' }
    await using engine = await createEngine({
      entities: [Product],
      seed: { tags: [{ id: 1 }, { id: 2 }], products: [{ id: 1, size, main: 1 }] },
    })
    const { status, product } = await patch(engine, [
      { op: 'test', path: '/name', value: '' },
      { op: 'replace', path: '/name', value: 'new' },
      { op: 'remove', path: '/size/height' },
      { op: 'copy', from: '/name', path: '/image' },
      { op: 'replace', path: '/main', value: 2 },
      { op: 'add', path: '/tags', value: [1, 2] },
    ])
    assert.equal(status, 200)
    assert.deepEqual(product, { id: 1, name: 'new', image: 'new', shown: null, size: { width: 1, height: null }, main: 2, tags: [1, 2] })
    const [row] = await engine.orm.em.fork().getConnection().execute<{ size_secret: string }[]>('select size_secret from product')
    assert.equal(row!.size_secret, 's')
    assert.deepEqual((await patch(engine, [{ op: 'replace', path: '/size', value: { width: 5 } }])).product['size'], {
      width: 5,
      height: null,
    })
    assert.equal((await patch(engine, [{ op: 'remove', path: '/main' }])).product['main'], null)
  })

  it('changes one attribute by its path', async () => {
    await using engine = await createEngine({ entities: [Product], seed: { products: [{ id: 1, image: { tags: ['a'] } }] } })
    assert.deepEqual((await patch(engine, [{ op: 'add', path: '/tags/-', value: 'b' }], '1/image')).product['image'], { tags: ['a', 'b'] })
    assert.deepEqual((await patch(engine, [{ op: 'replace', path: '', value: [1] }], '1/image')).product['image'], [1])
  })

  it('appends twenty at once, each of them', async () => {
    await using engine = await createEngine({ entities: [Product], seed: { products: [{ id: 1, image: [] }] } })
    const numbers = Array.from({ length: 20 }, (_, index) => index)
    const answers = await Promise.all(numbers.map(value => patch(engine, [{ op: 'add', path: '/image/-', value }])))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const { product } = await patch(engine, [])
    assert.deepEqual(
      (product['image'] as number[]).toSorted((one, other) => one - other),
      numbers,
    )
  })

  it('tells nothing of what the caller may not see', async () => {
    await using engine = await createEngine({
      entities: [Product],
      seed: {
        products: [
          { id: 1, note: 'secret', shown: { real: 1 } },
          { id: 2, image: { a: 1 } },
        ],
      },
      resources: [resource(Product, { scope: () => ({ id: 1 }), attributes: { shown: { render: () => ({ masked: true }) } } })],
    })
    assert.equal((await patch(engine, [{ op: 'test', path: '/note', value: 'secret' }])).status, 404)
    assert.equal((await patch(engine, [{ op: 'test', path: '/shown/real', value: 1 }])).status, 400)
    assert.equal((await patch(engine, [{ op: 'test', path: '/image/a', value: 2 }], '2')).status, 404)
    assert.equal((await patch(engine, [{ op: 'replace', path: '/shown', value: { real: 2 } }])).status, 200)
  })

  it('is taken by PATCH alone', async () => {
    await using engine = await createEngine({ entities: [Product], seed: { products: [{ id: 1, image: [] }] } })
    const send = (method: string): Promise<Response> =>
      engine.fetch(
        new Request('http://x.test/v1/products/1', { method, headers, body: '[{ "op": "add", "path": "/image/-", "value": 1 }]' }),
      )
    assert.equal((await send('PATCH')).status, 200)
    assert.equal((await send('PUT')).status, 415)
  })
})
