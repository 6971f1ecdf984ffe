/** Groups of filters against the oracle: random trees over random data find exactly what the contract says, in each spelling. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { it } from 'node:test'
import { check, costly } from '../helpers/check.ts'
import { meets, objectOf, select, textOf } from '../helpers/oracle.ts'
import { resources } from './world/entities.ts'
import { eachWorld, recordIds, rowIds } from './world/harness.ts'
import { filterArb, groupArb } from './world/queries.ts'

eachWorld('groups of filters', { count: 2, size: 12 }, ({ world, rows, engine }) => {
  for (const resource of resources) {
    const path = `/v1/${resource.name}`
    const find = async (query: unknown): Promise<(string | number)[]> => {
      const { status, body } = await engine().handle('GET', path, query as never)
      assert.equal(status, 200, `${JSON.stringify(query)}: ${JSON.stringify(body)}`)
      assert.equal(body.count, body[resource.name].length)
      return recordIds(resource, body[resource.name])
    }

    it(`finds the ${resource.name} that the oracle finds`, () =>
      check(
        fc.asyncProperty(groupArb(world, resource), filterArb(world, resource, 1), fc.boolean(), async (tree, [name, value], isEncoded) => {
          const text = textOf(tree)
          const all = select(rows(resource), [])
          const expected = rowIds(all.filter(row => meets(row, tree)))
          assert.deepEqual(await find(isEncoded ? encodeURIComponent(text) : text.replaceAll(/[%&+#]/g, encodeURIComponent)), expected)
          // Every record is in one of both.
          assert.deepEqual(
            await find(encodeURIComponent(`!${text}`)),
            rowIds(all).filter(id => !expected.includes(id)),
          )
          const query = objectOf([tree])
          if (query === undefined || Object.hasOwn(query, name)) return
          assert.deepEqual(await find(query), expected)
          const both = rowIds(select(rows(resource), [[name, value]])).filter(id => expected.includes(id))
          assert.deepEqual(await find({ ...query, [name]: value }), both)
        }),
        { label: `groups of ${resource.name}`, runs: costly(80) },
      ))
  }
})
