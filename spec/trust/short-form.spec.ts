/** The short form of `npm run trust`: every check that it makes by itself, at a small part of its size. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHECKS } from './checks.ts'
import { listPlaces, onServer, ownFile } from './places.ts'
import { placed, tallyOf } from './tally.ts'
import { seed } from '../helpers/check.ts'

const { server, skip } = await listPlaces()

describe('trust', () => {
  // Without a server they are named, and skipped.
  for (const check of placed(CHECKS, ownFile, server ?? onServer)) {
    it(check.name, { skip: check.place === onServer && skip }, async () => {
      const { tried, failed, failures } = await tallyOf(check, { seed, scale: 0.01 })
      console.log(`# ${check.name}: seed ${seed}, ${tried} ${check.what}`)
      assert.equal(failed, 0, failures.join('\n'))
    })
  }
})
