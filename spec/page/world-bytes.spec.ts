/** The bytes of a kept world hold the whole state of an engine. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readWorld, writeWorld } from '../../lib/engine/persistence/world-bytes.ts'

describe('the bytes of a world', () => {
  it('give back what was written: data, keys, clock, log-ins, names', () => {
    const auth = {
      revoked: new Map([['a', 5]]),
      failures: new Map([['ann', [1, 2]]]),
      removals: { times: new Map([['1', 7]]), floor: 3 },
    }
    for (const frozen of [undefined, 12])
      for (const keys of [undefined, new Map([['note', 2n ** 60n]])]) {
        const state = {
          clock: { frozen, ahead: 4 },
          auth: frozen === undefined ? undefined : auth,
          nextSeed: 9,
          learned: { Note: ['x\n'] },
        }
        const world = { content: { bytes: Uint8Array.of(0, 10, 255), keys }, state }
        assert.deepEqual(readWorld(writeWorld(world)), world)
      }
  })

  it('of another version are refused', () => {
    assert.throws(() => readWorld(new TextEncoder().encode('{"format":"mikro-rest world 2"}\n')), /another version of mikro-rest/)
  })
})
