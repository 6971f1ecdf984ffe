/** Options that are read by a table: names, rules and defaults. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { anything, flag, integer, oneOf, readOptions } from '../../lib/foundation/base/option-table.ts'
import { RestEngine } from '../../lib/index.ts'

interface Cup {
  readonly size?: number
  readonly lid?: boolean
  readonly drink?: 'tea' | 'coffee'
  readonly owner?: object
}

const TABLE = { size: [integer(1, 3), 2], lid: [flag, false], drink: [oneOf('tea', 'coffee')], owner: [anything] } as const

const read = (given: Cup): Cup => readOptions(given, TABLE, 'cup', { top: 'lid' })

describe('options by a table', () => {
  it('have their defaults where they are not given, and are absent without one', () => {
    assert.deepEqual(read({}), { size: 2, lid: false })
    assert.deepEqual(read({ size: undefined, drink: undefined, lid: true } as object), { size: 2, lid: true })
  })

  it('are refused by their rule, and by name', () => {
    const cases: [object, string, ErrorConstructor][] = [
      [{ lid: null }, 'cup: "lid" must be true or false, got null.', TypeError],
      [{ size: 4 }, 'cup: "size" must be an integer from 1 to 3, got 4.', RangeError],
      [{ drink: 'milk' }, 'cup: "drink" must be one of "tea", "coffee", got "milk".', RangeError],
      [{ siz: 1 }, 'cup: unknown option "siz". Did you mean "size"?', TypeError],
      [{ top: 1 }, 'cup: unknown option "top". Did you mean "lid"?', TypeError],
    ]
    for (const [given, message, type] of cases) assert.throws(() => read(given), { name: type.name, message })
  })
})

describe('a limit', () => {
  const Cup = defineEntity({ name: 'Cup', properties: { id: p.integer().primary() } })

  it('that is undefined has its default', async () => {
    await using engine = await RestEngine.create({ entities: [Cup], limits: { maxLimit: undefined, defaultLimit: 7 } as object })
    assert.deepEqual([engine.limits.maxLimit, engine.limits.defaultLimit], [1000, 7])
  })
})
