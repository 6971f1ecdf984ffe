/** Expanded lists with parameters of their own against the oracle: filters, order, page, counts, at every level, as text and as objects. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { it } from 'node:test'
import { check, costly } from '../helpers/check.ts'
import { render, select, type FilterPair, type ListView, type Resource, type View } from '../helpers/oracle.ts'
import type { World } from './world/data.ts'
import { resources } from './world/entities.ts'
import { eachWorld } from './world/harness.ts'
import { filterArb, pathsOf, sortArb } from './world/queries.ts'

function listsArb(world: World, resource: Resource): Arbitrary<ListView[]> {
  const relations = pathsOf(world, resource, 3).flatMap(({ path, end }) => (end.kind === 'plain' ? [] : [{ path, end }]))
  const one = fc.constantFrom(...relations).chain(({ path, end }): Arbitrary<ListView> => {
    const target = end.target()
    const filters = fc.array(filterArb(world, target, 2), { maxLength: 2 })
    if (end.kind === 'one') return filters.map(given => ({ path, filters: given }))
    const limit = fc.integer({ min: 0, max: 4 })
    const page = fc.record({ sort: sortArb(world, target, 1), limit, offset: fc.nat({ max: 3 }) }, { requiredKeys: [] })
    return fc
      .tuple(filters, page, fc.nat(4))
      .map(([given, cut, counts]) => ({ path, filters: given, ...(counts === 0 ? { count: true } : cut) }))
  })
  return fc.uniqueArray(one, { selector: ({ path }) => path, minLength: 1, maxLength: 3 })
}

const escapeEnds = (value: string): string => value.replaceAll(/\\[^]|[;()]/g, found => (found.length > 1 ? found : `\\${found}`))

function textOfFilter([name, value]: FilterPair): string {
  const text = escapeEnds(/[<>]$/.test(name) && value.startsWith('=') ? `\\${value}` : value)
  return /[<>=]$/.test(name) ? name + text : `${name}=${text}`
}

function textOf({ path, filters, sort, limit, offset, count }: ListView): string {
  const items = [
    ...(count === true ? ['count'] : []),
    ...filters.map(textOfFilter),
    ...(sort === undefined ? [] : [`sort=${sort}`]),
    ...(limit === undefined ? [] : [`limit=${limit}`]),
    ...(offset === undefined ? [] : [`offset=${offset}`]),
  ]
  return items.length === 0 ? path : `${path}(${items.join(';')})`
}

/** A name given twice means both, which an object cannot say. */
function objectOf(list: ListView): object | string {
  const { path, filters, sort, limit, offset, count } = list
  if (new Set(filters.map(([name]) => name)).size < filters.length) return textOf(list)
  const own = { ...Object.fromEntries(filters), sort, limit, offset, ...(count === true ? { count } : {}) }
  return { [path]: own }
}

eachWorld('expanded lists', { count: 2, size: 12 }, ({ world, rows, engine }) => {
  for (const resource of resources) {
    const view = fc.record({ depth: fc.constantFrom<(0 | 1 | 2)[]>(0, 1, 2), lists: listsArb(world, resource) })
    it(`shows lists of ${resource.name} as the oracle does`, () =>
      check(
        fc.asyncProperty(view, fc.constantFrom('text', 'object'), async ({ depth, lists }, form) => {
          const expand = form === 'text' ? lists.map(textOf).join(',') : lists.map(objectOf)
          const { status, body } = await engine().handle('GET', `/v1/${resource.name}`, { depth, expand } as never)
          assert.equal(status, 200, JSON.stringify(body))
          const shown: View = { depth, lists, expand: lists.map(({ path }) => path) }
          const expected = select(rows(resource), []).map(row => render(row, shown))
          assert.equal(JSON.stringify((body as never)[resource.name], null, 1), JSON.stringify(expected, null, 1))
        }),
        { label: `lists of ${resource.name}`, runs: costly(60) },
      ))
  }
})
