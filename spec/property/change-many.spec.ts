/** Changes by filters against the oracle: exactly the records that match change, if `limit` at most match; else none. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { it } from 'node:test'
import { check, costly } from '../helpers/check.ts'
import { select } from '../helpers/oracle.ts'
import { sites } from './world/entities.ts'
import { eachWorld, recordIds, rowIds } from './world/harness.ts'
import { filterArb, written } from './world/queries.ts'

const MARK = 424_242

eachWorld('changes by filters', { count: 2, size: 10 }, ({ world, rows, engine, list }) => {
  const filters = fc.array(filterArb(world, sites, 2), { minLength: 1, maxLength: 2 })

  it('change what matches', () =>
    check(
      fc.asyncProperty(filters, fc.integer({ min: -1, max: 3 }), async (given, more) => {
        const expected = rowIds(select(rows(sites), given))
        const limit = Math.max(0, expected.length + more)
        const fits = expected.length <= limit
        const before = await engine().snapshot()
        const { path, query } = written('/v1/sites', [...given, ['limit', String(limit)]], 'string')
        const { status, body } = await engine().handle('PATCH', path, query, { clicks: MARK })
        assert.equal(status, fits ? 200 : 400, JSON.stringify(body))
        const changed = await list('/v1/sites', [['clicks', String(MARK)]])
        assert.deepEqual(recordIds(sites, changed.records), fits ? expected : [])
        await engine().restore(before)
      }),
      { label: 'changes by filters', runs: costly(30) },
    ))
})
