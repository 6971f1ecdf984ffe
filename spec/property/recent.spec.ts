/** Recent: the bounded cache, against a plain list of what was used last. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, it } from 'node:test'
import { Recent } from '../../lib/recent.ts'
import { check } from '../helpers/check.ts'

describe('a bounded cache', () => {
  it('keeps what was used last, forgets what was not for long, and never mistakes one for another', () =>
    check(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 200 }), (size, keys) => {
        const cache = new Recent<number>(size)
        /** The keys by their last use, the latest first. */
        let used: number[] = []
        for (const key of keys) {
          const found = cache.get(String(key))
          const at = used.indexOf(key)
          if (at >= 0 && at < size) assert.equal(found, key)
          else if (at < 0 || at >= size * 2) assert.equal(found, undefined)
          else assert.ok(found === undefined || found === key)
          if (found === undefined) cache.set(String(key), key)
          used = [key, ...used.filter(other => other !== key)]
        }
        cache.clear()
        for (const key of keys) assert.equal(cache.get(String(key)), undefined)
      }),
      { label: 'recent' },
    ))
})
