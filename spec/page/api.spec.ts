/** The specs of the API hold for an engine in a page of Chromium, as for an engine on Node. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { NO_BROWSER } from '../helpers/chromium.ts'
import { openSpecs, type OpenedSpecs } from './open-specs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = globSync('spec/api/*.spec.ts', { cwd: root }).toSorted()

/** Tests that a page cannot pass, by a part of their titles, each with the reason. Tests that start a server are left out, too. */
const NOT_IN_PAGE: Readonly<Record<string, string>> = {
  'a hook that calls the engine [': 'hooks of MikroORM have no context of a request, so behind a wait nothing shows their transaction',
  'in a transaction that the caller has opened with MikroORM': 'so has the work of em.transactional',
  'a signal [file]': 'a page has no files',
}

const MOST_LEFT_OUT = 45

describe('the specs of the API in a page', { skip: NO_BROWSER }, () => {
  let opened: OpenedSpecs
  const counts = { passed: 0, skipped: 0 }
  before(
    async () => {
      opened = await openSpecs(files)
    },
    { timeout: 120_000 },
  )
  after(() => opened?.close())

  for (const file of files)
    it(`${file} passes`, { timeout: 120_000 }, async () => {
      const { passed, skipped, failures } = await opened.run(file, Object.keys(NOT_IN_PAGE))
      assert.deepEqual(failures, [])
      assert.ok(passed + skipped > 0)
      counts.passed += passed
      counts.skipped += skipped
    })

  it('leave out no more than is known', () => {
    console.log(`# in a page: ${counts.passed} tests passed, ${counts.skipped} were left out`)
    assert.ok(counts.passed > 2500 && counts.skipped <= MOST_LEFT_OUT, JSON.stringify(counts))
  })
})
