/**
 * Filters against the oracle: random filters over random data find exactly what the contract says, whichever way the query is written.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { it } from 'node:test'
import { check, costly } from '../helpers/check.ts'
import { select, type FilterPair, type Row } from '../helpers/oracle.ts'
import { resources } from './world/entities.ts'
import { eachWorld, itemPath, recordIds, rowIds } from './world/harness.ts'
import { filterArb, formArb, refusedArb, sortArb } from './world/queries.ts'

/** The same filter, negated once more. */
const negate = ([name, value]: FilterPair): FilterPair => [name.startsWith('!') ? name.slice(1) : `!${name}`, value]

eachWorld('filtering', { count: 3, size: 12 }, ({ world, rows, engine, list }) => {
  for (const resource of resources) {
    const path = `/v1/${resource.name}`
    const filter = filterArb(world, resource)

    it(`finds the ${resource.name} that the oracle finds`, () =>
      check(
        fc.asyncProperty(filter, formArb, async (pair, form) => {
          const found = await list(path, [pair], form)
          assert.deepEqual(recordIds(resource, found.records), rowIds(select(rows(resource), [pair])))
          assert.equal(found.count, found.records.length)
          assert.deepEqual(found.filter, [pair])
        }),
        { label: `filter ${resource.name}`, runs: costly(250) },
      ))

    it(`parts the ${resource.name} into those that match and those that do not`, () =>
      check(
        fc.asyncProperty(filter, async pair => {
          const found = recordIds(resource, (await list(path, [pair])).records)
          const others = recordIds(resource, (await list(path, [negate(pair)])).records)
          assert.equal(new Set([...found, ...others]).size, found.length + others.length)
          assert.equal(found.length + others.length, rows(resource).length)
        }),
        { label: `complement ${resource.name}`, runs: costly(60) },
      ))

    it(`takes several filters on ${resource.name} as the intersection of each`, () =>
      check(
        fc.asyncProperty(fc.array(filter, { minLength: 2, maxLength: 4 }), formArb, async (pairs, form) => {
          const found = await list(path, pairs, form)
          const each = await Promise.all(pairs.map(async pair => recordIds(resource, (await list(path, [pair])).records)))
          const expected = rowIds(select(rows(resource), [])).filter(id => each.every(ids => ids.includes(id)))
          assert.deepEqual(recordIds(resource, found.records), expected)
          assert.equal(found.count, expected.length)
        }),
        { label: `intersection ${resource.name}`, runs: costly(30) },
      ))

    // "a list that takes **every** list parameter, rooted at the related resource"
    const lists = Object.entries(resource.attributes).flatMap(([name, attribute]) =>
      attribute.kind === 'many' ? [{ name, attribute }] : [],
    )
    if (lists.length > 0) {
      const request = fc.constantFrom(...lists).chain(({ name, attribute }) => {
        const target = attribute.target()
        const parameters = { pairs: fc.array(filterArb(world, target, 2), { maxLength: 2 }), sort: sortArb(world, target) }
        const page = { offset: fc.nat({ max: 3 }), limit: fc.nat({ max: 4 }) }
        return fc.record({ name: fc.constant(name), target: fc.constant(target), pick: fc.nat(), ...parameters, ...page, form: formArb })
      })
      it(`filters, sorts and pages the lists of ${resource.name}`, () =>
        check(
          fc.asyncProperty(request, async ({ name, target, pick, pairs, sort, offset, limit, form }) => {
            const owner = rows(resource)[pick % rows(resource).length]
            if (!owner) return
            const page: FilterPair[] = [
              ['sort', sort],
              ['offset', String(offset)],
              ['limit', String(limit)],
            ]
            const found = await list(`${itemPath(owner)}/${name}`, [...pairs, ...page], form)
            const expected = rowIds(select(owner.values[name] as Row[], pairs, sort))
            assert.deepEqual(recordIds(target, found.records), expected.slice(offset, offset + limit))
            assert.equal(found.count, expected.length)
            assert.equal(found.resource, target.name)
          }),
          { label: `lists of ${resource.name}`, runs: costly(50) },
        ))
    }

    it(`answers 400 to what no filter on ${resource.name} can be`, () =>
      check(
        fc.asyncProperty(refusedArb({}, resource), async ([name, value]) => {
          const response = await engine().handle('GET', path, { [name]: value })
          assert.equal(response.status, 400, `${name} = ${value}: ${JSON.stringify(response.body)}`)
        }),
        { label: `refused ${resource.name}`, runs: costly(60) },
      ))
  }
})
