/** Texts and bytes in columns of numbers, which SQLite sorts behind each number: they are neither more nor less than a number. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import * as fc from 'fast-check'
import { RestEngine } from '../../../lib/index.ts'
import { check } from '../../helpers/check.ts'
import { fileOf, serve } from '../introspect/world.ts'

const Item = defineEntity({
  name: 'Item',
  tableName: 'item',
  properties: {
    id: p.integer().primary(),
    whole: p.integer().nullable(),
    big: p.bigint().nullable(),
    real: p.double().nullable(),
    price: p.decimal().precision(10).scale(2).nullable(),
    parts: () => p.oneToMany(Item).mappedBy('owner'),
    owner: () => p.manyToOne(Item).nullable(),
  },
})
const COLUMNS = ['whole', 'big', 'real', 'price'] as const
const STORED = fc.constantFrom('null', '-3', '0', '2', '7', "'n/a'", "''", "'zz'", "x'31'")
const OPERATORS: Record<string, (a: number, b: number) => boolean> = {
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
}

/** A file with the values in every column, where an index has the columns or none has. */
function tableOf(values: readonly string[], isIndexed: boolean): string {
  const columns = 'whole integer, big bigint, real double, price numeric(10,2)'
  const rows = values.map((value, index) => `(${index + 1}, ${COLUMNS.map(() => value).join()}, ${index === 0 ? 'null' : '1'})`)
  const indexes = COLUMNS.map(column => `create index item_${column} on item (${column});`).join('')
  return `create table item (id integer primary key, ${columns}, owner_id integer references item (id));
    insert into item values ${rows.join()}; ${isIndexed ? indexes : ''}`
}

describe('texts among numbers', () => {
  it('are neither more nor less than a number, whatever the column, and in the complement of each such filter', () =>
    check(
      fc.asyncProperty(
        fc.array(STORED, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: -4, max: 8 }),
        fc.boolean(),
        fc.boolean(),
        async (values, bound, isIndexed, hasEntities) => {
          const path = fileOf(tableOf(values, isIndexed))
          await using engine = await RestEngine.create({ database: path, ...(hasEntities ? { entities: [Item], schema: 'keep' } : {}) })
          const ids = async (query: Record<string, string | number>): Promise<number[]> => {
            const { body, status } = await engine.handle('GET', '/v1/items', query)
            assert.equal(status, 200, JSON.stringify(body))
            return (body as { items: { id: number }[] }).items.map(({ id }) => id)
          }
          for (const column of COLUMNS)
            for (const [operator, compare] of Object.entries(OPERATORS)) {
              const isFound = (value: string): boolean => /^-?\d+$/.test(value) && compare(Number(value), bound)
              const expected = values.flatMap((value, index) => (isFound(value) ? [index + 1] : []))
              const others = values.flatMap((value, index) => (isFound(value) ? [] : [index + 1]))
              assert.deepEqual(await ids({ [`${column}${operator}`]: bound }), expected, `${column}${operator}${bound}`)
              assert.deepEqual(await ids({ [`!${column}${operator}`]: bound }), others, `!${column}${operator}${bound}`)
              if (!hasEntities) continue
              const hasPart = expected.some(id => id > 1)
              assert.deepEqual(await ids({ [`parts.${column}${operator}`]: bound }), hasPart ? [1] : [])
            }
        },
      ),
      { label: 'texts among numbers', runs: 40 },
    ))

  it('leave the index to the comparison', async () => {
    const numbers = Array.from({ length: 2000 }, (_, index) => String(index % 500))
    await using file = await serve(`${tableOf([...numbers, "'n/a'"], true)} analyze;`)
    const { statements } = await file.engine.explain('GET', '/v1/items', { 'whole>': 498 })
    assert.ok(
      statements.some(({ plan }) => /USING (?:COVERING )?INDEX item_whole \(whole>\?\)/.test(JSON.stringify(plan))),
      JSON.stringify(statements.map(({ plan }) => plan)),
    )
  })
})
