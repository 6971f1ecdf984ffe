/**
 * Sorting against the oracle's comparator: paths, counts, lists, NULLs, text by code point, and a total order always.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { it } from 'node:test'
import { check, costly } from '../helpers/check.ts'
import { select } from '../helpers/oracle.ts'
import { resources } from './world/entities.ts'
import { eachWorld, recordIds, rowIds } from './world/harness.ts'
import { filterArb, formArb, pathsOf, sortArb } from './world/queries.ts'

eachWorld('sorting', { count: 3, size: 16 }, ({ world, rows, list }) => {
  for (const resource of resources) {
    const path = `/v1/${resource.name}`

    it(`sorts ${resource.name} as the oracle does`, () =>
      check(
        fc.asyncProperty(sortArb(world, resource, 3), formArb, async (sort, form) => {
          const found = await list(path, [['sort', sort]], form)
          assert.deepEqual(recordIds(resource, found.records), rowIds(select(rows(resource), [], sort)))
          // "`sort` with directions spelled out, without the tiebreak"
          assert.equal(
            found.sort,
            sort
              .split(',')
              .map(key => (/\.(asc|desc)$/.test(key) ? key : `${key}.asc`))
              .join(','),
          )
        }),
        { label: `sort ${resource.name}`, runs: costly(200) },
      ))

    it(`sorts ${resource.name} by what paths through several relations reach, each once`, () => {
      const paths = pathsOf(world, resource, 4).filter(({ end, relations }) => end.kind !== 'plain' && relations >= 2)
      if (paths.length === 0) return undefined
      const sortArb = fc.tuple(fc.constantFrom(...paths.map(({ path: found }) => found)), fc.constantFrom('asc', 'desc'))
      return check(
        fc.asyncProperty(sortArb, async ([found, direction]) => {
          const sort = `${found}.${direction}`
          assert.deepEqual(recordIds(resource, (await list(path, [['sort', sort]])).records), rowIds(select(rows(resource), [], sort)))
        }),
        { label: `sort ${resource.name} by counts`, runs: costly(60) },
      )
    })

    it(`sorts filtered ${resource.name} without adding or losing one`, () =>
      check(
        fc.asyncProperty(filterArb(world, resource, 2), sortArb(world, resource), async (pair, sort) => {
          const found = await list(path, [pair, ['sort', sort]])
          assert.deepEqual(recordIds(resource, found.records), rowIds(select(rows(resource), [pair], sort)))
          assert.equal(found.count, found.records.length)
        }),
        { label: `filter and sort ${resource.name}`, runs: costly(40) },
      ))
  }
})
