/** Integers beyond 2^53 in a column of a file: exact in answers, filters and bodies, as texts, whatever reads and writes the file. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import * as fc from 'fast-check'
import { RestEngine } from '../../../lib/index.ts'
import { check } from '../../helpers/check.ts'
import { fileOf, rowsOf } from '../introspect/world.ts'

const Box = defineEntity({ name: 'Box', embeddable: true, properties: { size: p.integer().nullable() } })
const Item = defineEntity({
  name: 'Item',
  tableName: 'item',
  properties: { id: p.integer().primary(), n: p.integer().nullable(), name: p.string().nullable(), box: () => p.embedded(Box) },
})

const INT64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const NEAR = fc.bigInt({ min: -3n, max: 3n }).chain(off => fc.constantFrom(2n ** 53n + off, -(2n ** 53n) + off, off))

/** As the API shows an integer. */
function shown(value: bigint): number | string {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}

async function open(values: readonly bigint[], hasEntities = true) {
  const rows = values.map((value, index) => `(${index + 1}, ${value}, ${value})`)
  const path = fileOf(
    'create table item (id integer primary key, n integer, name text, box_size integer); ' +
      `insert into item (id, n, box_size) values ${rows.join()};`,
  )
  const engine = await RestEngine.create({ database: path, ...(hasEntities ? { entities: [Item] } : {}) })
  const ask = async (method: string, at: string, query?: Record<string, string>, body?: unknown) => {
    const answer = await engine.handle(method, `/v1/items${at}`, query, body)
    return {
      status: answer.status,
      body: answer.body as { items: { id: number; n: unknown; box: unknown }[]; item: Record<string, unknown> },
    }
  }
  const stored = (): string[] =>
    rowsOf(path, 'select cast(n as text) as n, typeof(n) as type from item order by id').map(
      ({ n, type }) => `${String(type)} ${String(n)}`,
    )
  return { ask, stored, [Symbol.asyncDispose]: () => engine.close() }
}

describe('integers beyond 2^53 in a file', () => {
  it('are shown, filtered and written with all their digits, inside inline objects too', () =>
    check(
      fc.asyncProperty(fc.array(fc.oneof(INT64, NEAR), { minLength: 1, maxLength: 6 }), fc.oneof(INT64, NEAR), async (values, other) => {
        await using world = await open(values)
        const { ask, stored } = world
        const list = await ask('GET', '')
        assert.deepEqual(
          list.body.items.map(({ n, box }) => [n, box]),
          values.map(value => [shown(value), { size: shown(value) }]),
        )
        const ids = (isFound: (value: bigint) => boolean): number[] => values.flatMap((value, index) => (isFound(value) ? [index + 1] : []))
        const tests: Record<string, (value: bigint, bound: bigint) => boolean> = {
          n: (a, b) => a === b,
          '!n': (a, b) => a !== b,
          'n>': (a, b) => a > b,
          'n>=': (a, b) => a >= b,
          'n<': (a, b) => a < b,
          'box.size<=': (a, b) => a <= b,
        }
        for (const bound of [values[0]!, other])
          for (const [name, isFound] of Object.entries(tests)) {
            const found = await ask('GET', '', { [name]: String(bound) })
            assert.equal(found.status, 200, JSON.stringify(found.body))
            assert.deepEqual(
              found.body.items.map(({ id }) => id),
              ids(value => isFound(value, bound)),
              `${name} ${bound}`,
            )
          }
        const several = await ask('GET', '', { n: `${values[0]},${other}` })
        assert.deepEqual(
          several.body.items.map(({ id }) => id),
          ids(value => value === values[0] || value === other),
        )
        const body = { n: shown(other), box: { size: shown(other) } }
        assert.deepEqual((await ask('PUT', '/1', {}, body)).body.item, { id: 1, name: null, ...body })
        assert.deepEqual((await ask('PUT', '/1/name', {}, 'a')).body.item, { id: 1, ...body, name: 'a' })
        const made = await ask('POST', '', {}, body)
        assert.deepEqual(made.body.item, { id: values.length + 1, name: null, ...body })
        assert.deepEqual(
          stored(),
          [other, ...values.slice(1), other].map(value => `integer ${value}`),
        )
      }),
      { label: 'integers beyond 2^53', runs: 60 },
    ))

  it('are refused as JSON numbers, which have lost digits, and beyond 64 bits', async () => {
    await using world = await open([1n])
    for (const n of [2 ** 53, 1e300, '9223372036854775808', '1e3', '01', 1.5])
      assert.equal((await world.ask('PUT', '/1', {}, { n })).status, 422, String(n))
    for (const n of ['9223372036854775808', '1e3']) assert.equal((await world.ask('GET', '', { n })).status, 400)
    assert.equal((await world.ask('PUT', '/1', {}, { n: '5' })).status, 422)
  })

  it('have no place in memory, where the model alone says what there is', async () => {
    await using engine = await RestEngine.create({ entities: [Item] })
    assert.equal((await engine.handle('POST', '/v1/items', undefined, { n: '9007199254740995', box: {} })).status, 422)
  })
})
