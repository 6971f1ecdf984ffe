/** Recent: the bounded cache, against a plain list of what was used last. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, it } from 'node:test'
import { LruCache } from '../../lib/foundation/base/lru-cache.ts'
import { check } from '../helpers/check.ts'

describe('a bounded cache', () => {
  it('keeps what was used last, forgets what was not for long, and never mistakes one for another', () =>
    check(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 200 }), (size, keys) => {
        const cache = new LruCache<number>(size)
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

  it('keeps what was used last as far as it is no heavier than allowed, and never twice as much', () =>
    check(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 200 }), (bytes, keys) => {
        const cache = new LruCache<number>(1000, { bytes, weigh: value => value })
        let used: number[] = []
        for (const key of keys) {
          if (cache.get(String(key)) === undefined) cache.set(String(key), key)
          used = [key, ...used.filter(other => other !== key)]
        }
        let weight = 0
        for (const key of used.slice(0, 12)) {
          weight += key
          if (weight > bytes - 20) break
          assert.equal(cache.get(String(key)), key)
        }
        const held = [...new Set(keys)].filter(key => cache.get(String(key)) !== undefined)
        assert.ok(held.every(key => key <= bytes))
        // To ask is to use, which may make room for some that were asked before: each has come by at most once more.
        assert.ok(held.reduce((sum, key) => sum + key, 0) <= 3 * bytes)
      }),
      { label: 'weights of recent' },
    ))

  it('counts a key that is set again once, and forgets what has become too heavy', () => {
    const cache = new LruCache<number>(2, { bytes: 10, weigh: value => value })
    cache.set('a', 4)
    for (let time = 0; time < 5; time++) cache.set('b', 5)
    cache.set('b', 6)
    assert.deepEqual([cache.get('a'), cache.get('b')], [4, 6])
    cache.set('a', 11)
    assert.equal(cache.get('a'), undefined)
  })
})
