/**
 * Bodies against the oracle at every depth, expand and attributes, as JSON text, so that the order of the keys counts; and the same record
 * in the same words wherever it is asked for: in a list, alone, behind a relation.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { it } from 'node:test'
import { check, costly } from '../helpers/check.ts'
import { isRow, ordered, render, select, type FilterPair, type Row, type View } from '../helpers/oracle.ts'
import { resources } from './world/entities.ts'
import { eachWorld, itemPath } from './world/harness.ts'
import { attributesArb, expandArb, formArb } from './world/queries.ts'

function viewPairs(view: View): FilterPair[] {
  const pairs: FilterPair[] = []
  if (view.depth !== undefined) pairs.push(['depth', String(view.depth)])
  if (view.expand?.length) pairs.push(['expand', view.expand.join(',')])
  if (view.attributes?.length) pairs.push(['attributes', view.attributes.join(',')])
  return pairs
}

const text = (value: unknown): string => JSON.stringify(value, null, 1)

eachWorld('rendering', { count: 3, size: 8 }, ({ world, rows, get, list }) => {
  for (const resource of resources) {
    const depth = fc.constantFrom<(0 | 1 | 2)[]>(0, 1, 2)
    const view = fc
      .record({ depth, expand: expandArb(world, resource), attributes: attributesArb(world, resource) }, { requiredKeys: [] })
      .map(drawn => drawn as View)

    it(`shows ${resource.name} as the oracle does`, () =>
      check(
        fc.asyncProperty(view, formArb, async (view, form) => {
          const found = await list(`/v1/${resource.name}`, viewPairs(view), form)
          const expected = select(rows(resource), []).map(row => render(row, view))
          assert.equal(text(found.records), text(expected))
        }),
        { label: `show ${resource.name}`, runs: costly(60) },
      ))

    it(`shows one of the ${resource.name}, and what it is related to, in the same way`, () =>
      check(
        fc.asyncProperty(fc.nat(), view, formArb, async (pick, view, form) => {
          const all = rows(resource)
          const row = all[pick % all.length]
          if (!row) return
          const body = await get(itemPath(row), viewPairs(view), form)
          assert.equal(body['resource'], resource.singular)
          assert.equal(text(body[resource.singular]), text(render(row, view)))
          assert.deepEqual(JSON.parse(JSON.stringify(body)), body)
        }),
        { label: `show one of ${resource.name}`, runs: costly(40) },
      ))

    it(`answers each attribute of ${resource.name} by its own path`, () =>
      check(
        fc.asyncProperty(fc.nat(), fc.constantFrom(...Object.keys(resource.attributes)), depth, async (pick, name, depth) => {
          const all = rows(resource)
          const row = all[pick % all.length]
          const attribute = resource.attributes[name]
          if (!row || !attribute) return
          const path = `${itemPath(row)}/${name}`
          const shown: FilterPair[] = [['depth', String(depth)]]
          if (attribute.kind !== 'one' && attribute.kind !== 'many') {
            const body = await get(path)
            assert.equal(body['resource'], resource.singular)
            assert.equal(body['attribute'], name)
            assert.equal(text(body['value']), text(render(row, {})[name]))
          } else if (attribute.kind === 'one') {
            const target = attribute.target()
            const related = row.values[name]
            const body = await get(path, shown)
            assert.equal(body['resource'], target.singular)
            assert.equal(text(body[target.singular]), text(isRow(related) ? render(related, { depth }) : null))
          } else {
            const target = attribute.target()
            const [key = ''] = target.key
            // A list of its own has the order that `sort` says; a list inside a record has the model's.
            const sort: FilterPair[] = target.key.length === 1 ? [['sort', key]] : []
            const found = await list(path, [...shown, ...sort])
            assert.equal(found.resource, target.name)
            const related = ordered(row.values[name] as Row[])
            assert.equal(text(found.records), text(related.map(each => render(each, { depth }))))
            assert.equal(found.count, related.length)
          }
        }),
        { label: `attributes of ${resource.name}`, runs: costly(50) },
      ))
  }
})
