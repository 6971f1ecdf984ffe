/** Every kind of plain property: written, read, filtered, sorted, made NULL, and refused what it cannot be. One table, through `handle`. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { entities } from './plain.ts'

interface Kind {
  /** JSON values in the order of the attribute; the second is larger, where there is an order. */
  readonly small: unknown
  readonly large: unknown
  /** What the database holds for `small`. */
  readonly stored: unknown
  /** How `small` is written in a filter; undefined for what cannot be filtered by. */
  readonly text?: string
  /** Another text that finds `small`. */
  readonly also?: string
  /** How `small` is shown, where that is another value than the one that was written. */
  readonly shown?: unknown
  readonly shownLarge?: unknown
  /** Whether values have an order; default: what can be filtered by has one. */
  readonly sorted?: boolean
  readonly bad: readonly unknown[]
  /** Texts that are no value of the type. */
  readonly badTexts?: readonly string[]
  /** Whether the attribute matches wildcards. */
  readonly wildcards?: boolean
}

const KINDS: Record<string, Kind> = {
  integer: {
    small: 1,
    large: 9_007_199_254_740_991,
    stored: 1,
    text: '1',
    bad: ['1', 1.5, true, 2 ** 53, []],
    badTexts: ['x', '01', '1.0'],
  },
  big: {
    small: '9007199254740993',
    large: '9223372036854775807',
    stored: 9007199254740993n,
    text: '9007199254740993',
    bad: ['x', '9223372036854775808', 1.5, true],
    badTexts: ['x', '9223372036854775808'],
  },
  bigText: {
    small: '-9007199254740993',
    large: '0',
    stored: -9007199254740993n,
    text: '-9007199254740993',
    bad: ['', {}],
    badTexts: ['1e3'],
  },
  bigNumber: { small: 1, large: 2, stored: 1, text: '1', bad: ['x', 1.5], badTexts: ['x'] },
  float: { small: -0.5, large: 1e300, stored: -0.5, text: '-0.5', also: '-5e-1', bad: ['1', {}], badTexts: ['x', ''] },
  double: { small: 0.1, large: 0.30000000000000004, stored: 0.1, text: '0.1', bad: ['1'], badTexts: ['x'] },
  decimal: {
    small: '1.50',
    large: '12345678.99',
    stored: 1.5,
    text: '1.5',
    also: '1.50',
    bad: ['1.555', 'x', '123456789'],
    badTexts: ['x'],
  },
  wide: {
    small: '12345678901.2345',
    large: '9007199254740991.0000',
    stored: 12345678901.2345,
    text: '12345678901.2345',
    bad: ['1234567890123456.7891', '0.12345', 'x'],
    badTexts: ['x'],
  },
  decimalNumber: { small: 1.5, large: 2.25, stored: 1.5, text: '1.5', bad: ['x', 1.555], badTexts: ['x'] },
  string: { small: 'Ann', large: 'ann', stored: 'Ann', text: 'Ann', bad: [5, 'x'.repeat(21), '\uD800'], wildcards: true },
  text: { small: 'a%', large: 'b', stored: 'a%', text: 'a%', bad: [5, ['a']], wildcards: true },
  boolean: { small: false, large: true, stored: 0, text: 'false', also: '0', bad: [0, 'true'], badTexts: ['yes'] },
  datetime: {
    small: '2020-01-31T12:00:00.123Z',
    large: '2021-01-31T12:00:00.000Z',
    stored: Date.UTC(2020, 0, 31, 12, 0, 0, 123),
    text: '2020-01-31T12:00:00.123Z',
    also: '2020-01-31T13:00:00.123+01:00',
    bad: [5, 'x', '2020-02-30T00:00:00Z'],
    badTexts: ['x'],
  },
  date: { small: '2020-01-31', large: '2020-02-01', stored: '2020-01-31', text: '2020-01-31', bad: ['2020-02-30', 5], badTexts: ['x'] },
  time: {
    small: '01:00:00',
    large: '23:59:59',
    stored: '01:00:00',
    text: '01:00:00',
    also: '01:00',
    bad: ['25:00:00', 5],
    badTexts: ['x'],
  },
  uuid: {
    small: '0a000000-0000-4000-8000-000000000000',
    large: 'ff000000-0000-4000-8000-000000000000',
    stored: '0a000000-0000-4000-8000-000000000000',
    text: '0a000000-0000-4000-8000-000000000000',
    also: '0A000000-0000-4000-8000-000000000000',
    bad: ['x', 5],
    badTexts: ['x'],
  },
  choice: { small: 'high', large: 'low', stored: 'high', text: 'high', bad: ['mid', 5], badTexts: ['mid'], wildcards: true },
  level: { small: 1, large: 3, stored: 1, text: '1', bad: [4, '1'], badTexts: ['4'] },
  json: { small: { a: [1, null, 'x'] }, large: 'text', stored: '{"a":[1,null,"x"]}', bad: [] },
  blob: { small: 'AAE=', large: 'AQ==', stored: Buffer.from([0, 1]), bad: ['?', 5] },
  bytes: { small: 'AAE=', large: '', stored: Buffer.from([0, 1]), bad: ['A', [1]] },
  tags: { small: ['a', '', 'b,"c\\', 'd e'], large: [''], stored: 'a,"","b,\\"c\\\\",d e', bad: ['a', [1], [null], [['a']], {}] },
  numbers: { small: [1, -2.5, 1e21], large: [], stored: '1,-2.5,1e+21', bad: [['1'], [null], 5] },
  choices: { small: ['a', 'c'], large: [], stored: 'a,c', bad: [['z'], 'a', [1]] },
  point: {
    small: { x: 1, y: 2 },
    large: { x: 3, y: -4.5 },
    stored: '1,2',
    text: '{"x":1\\,"y":2}',
    bad: ['abc', 5, {}, { x: 1 }, { x: 'a', y: 'b' }, [1, 2]],
    badTexts: ['abc', '5', '{"x":1}'],
  },
  money: { small: -12.5, large: 99.99, stored: -1250, text: '-12.5', bad: ['12.5', true, {}], badTexts: ['x', ''] },
  email: {
    small: 'Ann@Example.Test',
    shown: 'ann@example.test',
    large: 'bob@example.test',
    stored: 'mailto:ann@example.test',
    text: 'ann@example.test',
    also: 'ANN@example.TEST',
    bad: ['nobody', 5, {}],
    badTexts: ['nobody'],
  },
  stamp: {
    small: '2020-01-31T12:00:00.000Z',
    large: '2021-01-31T12:00:00.000Z',
    stored: '2020-01-31 12:00:00',
    text: '2020-01-31T12:00:00Z',
    also: '2020-01-31T12:00:00.000Z',
    bad: ['x', {}],
    badTexts: ['x'],
  },
  shout: { small: 'hey', shown: 'HEY!', large: 'ho', shownLarge: 'HO!', stored: 'HEY', text: 'hey', bad: [5, {}] },
  ticket: {
    small: 'T9007199254740993',
    large: 'T9223372036854775807',
    stored: 9007199254740993n,
    text: 'T9007199254740993',
    bad: ['x', 5],
    badTexts: ['9', 'Tx'],
  },
  lazy: { small: 'a', large: 'b', stored: 'a', text: 'a', bad: [5], wildcards: true },
  lazyRef: { small: 'a', large: 'b', stored: 'a', text: 'a', bad: [5], wildcards: true },
  private: { small: 'a', large: 'b', stored: 'a', text: 'a', bad: [5], wildcards: true },
  alias: { small: 'a', large: 'b', stored: 'a', text: 'a', bad: [5], wildcards: true },
  shown: {
    small: '2020-01-31T12:00:00.000Z',
    shown: 'in 2020',
    large: '2021-01-31T12:00:00.000Z',
    shownLarge: 'in 2021',
    stored: Date.UTC(2020, 0, 31, 12),
    bad: ['x', 5],
  },
}

/** The column of an attribute. */
const COLUMNS: Record<string, string> = { alias: 'aka' }
const column = (name: string): string => COLUMNS[name] ?? name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

type Body = Record<string, unknown> & { resource: string; errors?: { code: string; attribute?: string; parameter?: string }[] }

describeStores('kinds of plain properties', store => {
  let engine: RestEngine
  const causes: unknown[] = []
  before(async () => {
    engine = await createEngine({ entities, onError: error => causes.push(error) })
  })
  after(() => engine.close())
  const call = async (
    method: string,
    path: string,
    query?: Record<string, unknown>,
    body?: unknown,
  ): Promise<{ status: number; body: Body }> => {
    const response = await engine.handle(method, path, query as never, body)
    assert.ok(response.status < 500, `${method} ${path} ${JSON.stringify(query)}: ${causes.splice(0).join()}`)
    assert.deepEqual(JSON.parse(JSON.stringify(response.body)), response.body)
    return response
  }
  const ids = async (query: Record<string, unknown>): Promise<unknown[]> => {
    const { status, body } = await call('GET', '/v1/plains', query)
    assert.equal(status, 200, JSON.stringify({ query, body }))
    return (body['plains'] as { id: unknown }[]).map(({ id }) => id)
  }
  const rows = (sql: string): Promise<Record<string, unknown>[]> => engine.orm.em.getConnection().execute(sql)
  const clear = (): Promise<unknown> => engine.orm.em.getConnection().execute('delete from plain')

  for (const [name, kind] of Object.entries(KINDS)) {
    describe(name, store.except(name === 'integer' && '32 bits'), () => {
      const shown = 'shown' in kind ? kind.shown : kind.small
      const shownLarge = 'shownLarge' in kind ? kind.shownLarge : kind.large
      const nothing = name === 'shown' ? 'never' : null
      before(async () => {
        await clear()
        for (const [id, value] of [
          [1, kind.large],
          [2, null],
          [3, kind.small],
        ]) {
          const { status, body } = await call('POST', '/v1/plains', {}, { id, [name]: value })
          assert.equal(status, 200, JSON.stringify(body))
        }
      })

      it('is stored as MikroORM stores it, and shown as it was written', async () => {
        const found = await rows(`select "${column(name)}" as value from plain order by id`)
        assert.equal(found[1]!['value'], null)
        const { value } = found[2]!
        // How PostgreSQL stores values: spec/postgres/stored-forms.spec.ts.
        if (store.name === 'memory' && typeof kind.stored === 'bigint') {
          const [row] = await rows(
            `select cast("${column(name)}" as text) as text, typeof("${column(name)}") as type from plain where id = 3`,
          )
          assert.deepEqual({ ...row }, { text: String(kind.stored), type: 'integer' })
        } else if (store.name === 'memory') {
          assert.deepEqual(Buffer.isBuffer(value) ? Buffer.from(value) : value, kind.stored)
        }
        const { body } = await call('GET', '/v1/plains', { attributes: `id,${name}` })
        assert.deepEqual(body['plains'], [
          { id: 1, [name]: shownLarge },
          { id: 2, [name]: nothing },
          { id: 3, [name]: shown },
        ])
        const one = await call('GET', `/v1/plains/3/${name}`)
        assert.deepEqual(one.body['value'], shown)
      })

      it('is what MikroORM itself reads, and what it writes is shown', async () => {
        const em = engine.orm.em.fork()
        const property = COLUMNS[name] ?? name
        const entity = (await em.findOneOrFail(entities[0] as never, 3, { populate: [property] as never })) as Record<string, unknown>
        const value = entity[property]
        const bare = value instanceof Object && 'unwrap' in value ? (value as { unwrap(): unknown }).unwrap() : value
        em.create(entities[0] as never, { id: 4, [property]: bare } as never)
        await em.flush()
        const { body } = await call('GET', '/v1/plains/4', { attributes: name })
        const expected = name === 'shout' ? 'HEY!!' : shown
        assert.deepEqual((body['plain'] as Record<string, unknown>)[name], expected)
        await call('DELETE', '/v1/plains/4')
      })

      it('is changed and made NULL by PUT', async () => {
        const written = await call('PUT', '/v1/plains/2', { attributes: name }, { [name]: kind.small })
        assert.deepEqual(written.body['plain'], { [name]: shown })
        const bare = await call('PUT', `/v1/plains/2/${name}`, { attributes: name }, kind.large)
        assert.deepEqual(bare.body['plain'], { [name]: shownLarge })
        const emptied = await call('PUT', `/v1/plains/2/${name}`, { attributes: name }, null)
        assert.deepEqual(emptied.body['plain'], { [name]: nothing })
      })

      it(
        'is refused what it cannot be',
        store.except(name === 'wide' ? 'long decimals' : ['tags', 'numbers'].includes(name) && 'NULL in lists'),
        async () => {
          for (const bad of kind.bad) {
            for (const [method, path] of [
              ['POST', '/v1/plains'],
              ['PUT', '/v1/plains/3'],
            ] as const) {
              const { status, body } = await call(method, path, {}, { [name]: bad })
              assert.equal(status, 422, `${method} ${JSON.stringify(bad)}: ${JSON.stringify(body)}`)
              assert.equal(body.errors?.[0]?.attribute, name)
            }
          }
          const { body } = await call('GET', '/v1/plains', { attributes: name, limit: 1, offset: 2 })
          assert.deepEqual(body['plains'], [{ [name]: shown }])
        },
      )

      if (kind.text === undefined) {
        it('cannot be filtered or sorted by', async () => {
          const filters = [{ [name]: 'x' }, { [`!${name}`]: 'x' }, { [`${name}>=`]: 'x' }, { [`${name}~=`]: 'x' }]
          // How JSON is filtered by: json-paths.spec.ts.
          for (const query of [...(name === 'json' ? [] : filters), { sort: name }]) {
            const { status, body } = await call('GET', '/v1/plains', query)
            assert.equal(status, 400, JSON.stringify({ query, body }))
          }
        })
        return
      }

      it('is filtered by', async () => {
        const text = kind.text!
        assert.deepEqual(await ids({ [name]: text }), [3])
        if (kind.also !== undefined) assert.deepEqual(await ids({ [name]: kind.also }), [3])
        assert.deepEqual(await ids({ [`!${name}`]: text }), [1, 2])
        assert.deepEqual(await ids({ [name]: 'null' }), [2])
        assert.deepEqual(await ids({ [`${name}!=`]: 'null' }), [1, 3])
        assert.deepEqual(await ids({ [name]: `null,${text}` }), [2, 3])
        assert.deepEqual(await ids({ [`${name}>=`]: text }), [1, 3])
        assert.deepEqual(await ids({ [`${name}>`]: text }), [1])
        assert.deepEqual(await ids({ [`${name}<=`]: text }), [3])
        assert.deepEqual(await ids({ [`${name}<`]: text }), [])
        for (const bad of kind.badTexts ?? []) {
          const { status, body } = await call('GET', '/v1/plains', { [name]: bad })
          assert.equal(status, 400, `${bad}: ${JSON.stringify(body)}`)
        }
        const { status } = await call('GET', '/v1/plains', { [name]: 'x*' })
        assert.equal(status, kind.wildcards === true ? 200 : 400)
      })

      it('is sorted by', async () => {
        assert.deepEqual(await ids({ sort: name }), [2, 3, 1])
        assert.deepEqual(await ids({ sort: `${name}.desc` }), [1, 3, 2])
      })
    })
  }

  describe('generated columns', () => {
    before(async () => {
      await clear()
      await call('POST', '/v1/plains', {}, { id: 1, string: 'b', integer: 4 })
      await call('POST', '/v1/plains', {}, { id: 2, string: 'a', integer: 5 })
    })

    it('are read, filtered, sorted, follow a change, and cannot be written', async () => {
      const { body } = await call('PUT', '/v1/plains/1', { attributes: 'upper,twice' }, { string: 'c', integer: 3 })
      assert.deepEqual(body['plain'], { upper: 'C', twice: 6 })
      assert.deepEqual(await ids({ upper: 'A' }), [2])
      assert.deepEqual(await ids({ 'twice>=': 6, sort: 'upper.desc' }), [1, 2])
      const refused = await call('POST', '/v1/plains', {}, { upper: 'X', twice: 1 })
      assert.deepEqual(
        refused.body.errors?.map(({ code }) => code),
        ['read_only', 'read_only'],
      )
    })
  })

  describe('getters', () => {
    before(async () => {
      await clear()
      await call('POST', '/v1/plains', {}, { id: 1, string: 'Ann', datetime: '2020-06-01' })
    })

    it('are asked on the values of the record, whatever else is shown of it', async () => {
      assert.deepEqual((await call('GET', '/v1/plains/1', { attributes: 'label' })).body['plain'], { label: 'Ann of 2020' })
      assert.equal((await call('GET', '/v1/plains/1/label')).body['value'], 'Ann of 2020')
      const changed = await call('PUT', '/v1/plains/1', { attributes: 'label' }, { datetime: null })
      assert.deepEqual(changed.body['plain'], { label: 'Ann of no year' })
    })

    it('cannot be written, filtered or sorted by', async () => {
      assert.equal((await call('PUT', '/v1/plains/1', {}, { label: 'x' })).status, 422)
      assert.equal((await call('GET', '/v1/plains', { label: 'x' })).status, 400)
      assert.equal((await call('GET', '/v1/plains', { sort: 'label' })).status, 400)
    })
  })
})
