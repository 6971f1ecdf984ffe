/**
 * Whole requests of lists: filters, order, page and view together against the oracle, on both sides of every threshold
 * (lib/foundation/base/thresholds.ts). Small tables take the ways of small ones, and those of large ones while the thresholds are low.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { it } from 'node:test'
import { thresholds } from '../../lib/foundation/base/thresholds.ts'
import { check, costly } from '../helpers/check.ts'
import { lowThresholds } from '../helpers/low-thresholds.ts'
import { render, select, type FilterPair, type View } from '../helpers/oracle.ts'
import { watchStatements } from '../helpers/statements.ts'
import { resources } from './world/entities.ts'
import { eachWorld } from './world/harness.ts'
import { attributesArb, expandArb, filterArb, formArb, sortArb } from './world/queries.ts'

const text = (value: unknown): string => JSON.stringify(value, null, 1)

for (const low of [false, true]) {
  eachWorld(low ? 'lists of many' : 'lists of few', { count: 2, size: 20, low }, ({ world, rows, list, store }) => {
    const seen = new Set<string>()
    for (const resource of resources) {
      const drawn = fc.record(
        {
          depth: fc.constantFrom<(0 | 1 | 2)[]>(0, 1, 2),
          expand: expandArb(world, resource, 1),
          attributes: attributesArb(world, resource, 1),
        },
        { requiredKeys: [] },
      )
      // Records of which nothing is shown.
      const relations = Object.keys(resource.attributes).filter(name => ['one', 'many'].includes(resource.attributes[name]!.kind))
      const nothing = fc.constantFrom(...relations).map(name => ({ depth: 0 as const, attributes: [name] }))
      const view = relations.length === 0 ? drawn : fc.oneof({ weight: 4, arbitrary: drawn }, { weight: 1, arbitrary: nothing })
      const filters = fc.array(filterArb(world, resource, 2), { minLength: 1, maxLength: 2 })
      const page = fc.record({ limit: fc.integer({ min: 1, max: 30 }), offset: fc.nat({ max: 8 }) })

      it(`shows ${resource.name} as the oracle does`, () =>
        check(
          fc.asyncProperty(filters, sortArb(world, resource), view, page, formArb, async (filters, sort, drawn, page, form) => {
            const { depth, expand = [], attributes = [] } = drawn as View
            const shown: FilterPair[] = [
              ...(depth === undefined ? [] : [['depth', String(depth)] as const]),
              ...(expand.length === 0 ? [] : [['expand', expand.join()] as const]),
              ...(attributes.length === 0 ? [] : [['attributes', attributes.join()] as const]),
            ]
            const pairs: FilterPair[] = [
              ...filters,
              ['sort', sort],
              ['limit', String(page.limit)],
              ['offset', String(page.offset)],
              ...shown,
            ]
            const { result, sql } = await watchStatements(() => list(`/v1/${resource.name}`, pairs, form))
            if (sql.some(each => each.includes('mikro_found'))) seen.add('counted')
            if (sql.some(each => / offset \S+\) order by /.test(each))) seen.add('deep')
            const all = select(rows(resource), filters, sort)
            assert.equal(result.count, all.length)
            const expected = all.slice(page.offset, page.offset + page.limit).map(row => render(row, drawn as View))
            assert.equal(text(result.records), text(expected))
          }),
          { label: `${low ? 'many' : 'few'} ${resource.name}`, runs: costly(40) },
        ))
    }

    it(`took the ways of ${low ? 'large' : 'small'} tables`, () => {
      const wanted = store.name === 'postgres' ? ['deep'] : ['counted', 'deep']
      assert.deepEqual([...seen].toSorted(), low ? wanted : [])
    })
  })
}

it('lowers each threshold', () => {
  const usual = { ...thresholds }
  {
    using _ = lowThresholds()
    for (const [name, value] of Object.entries(thresholds)) {
      if (name !== 'countedMatches') assert.ok(value < usual[name as keyof typeof usual], name)
    }
  }
  assert.deepEqual(thresholds, usual)
})
