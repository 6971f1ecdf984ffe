/**
 * Keys: an engine whose resources have another key answers, stores and records what one with the primary keys does, once the keys are translated: that one is the
 * independent model. Written by statements and by the unit of work.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { it } from 'node:test'
import { check, costly } from '../helpers/check.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { Keyed, keyedNames, keyedReads, keyedWrites } from './world/keyed.ts'
import type { KeyedRequest } from './world/keyed.ts'

async function compare(one: Keyed, others: readonly Keyed[], asked: readonly KeyedRequest[]): Promise<void> {
  for (const request of asked) {
    const { told: _, ...due } = (await one.ask(request)) as { told: unknown }
    for (const other of others) {
      const { told, ...answered } = (await other.ask(request)) as { told: unknown }
      assert.deepEqual(answered, due, JSON.stringify(told))
    }
  }
}

describeStores('a resource with another key', () => {
  it('is read as one with its primary key', () =>
    check(
      fc.asyncProperty(keyedReads, keyedNames, fc.boolean(), async (asked, keyed, scoped) => {
        await using one = await Keyed.of(new Set(), { scoped, create: createEngine })
        await using other = await Keyed.of(keyed, { scoped, create: createEngine })
        await compare(one, [other], asked)
      }),
      { label: 'reading by keys', runs: costly(40) },
    ))

  it('is written as one with its primary key, by statements and by the unit of work', () =>
    check(
      fc.asyncProperty(keyedWrites, keyedNames, fc.boolean(), async (asked, keyed, scoped) => {
        await using one = await Keyed.of(new Set(), { scoped, create: createEngine })
        await using planned = await Keyed.of(keyed, { scoped, create: createEngine })
        await using flushed = await Keyed.of(keyed, { scoped, create: createEngine, flushes: true })
        await compare(one, [planned, flushed], asked)
      }),
      { label: 'writing by keys', runs: costly(30) },
    ))
})
