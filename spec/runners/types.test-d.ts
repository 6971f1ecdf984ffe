/** Types of the fixtures, against those of the runners. */
import { test as playwright } from '@playwright/test'
import { test as nodeTest } from 'node:test'
import { test as vitest } from 'vitest'
import { withEngine as ofNode } from '../../lib/doors/runners/node-test.ts'
import { withEngine as ofPlaywright } from '../../lib/doors/runners/playwright.ts'
import { withEngine as ofVitest } from '../../lib/doors/runners/vitest.ts'
import type { JournalEntry } from '../../lib/index.ts'

export function compile(): void {
  const inVitest = ofVitest(vitest, {}, { intercept: 'https://api.example.test' })
  inVitest('a test', ({ engine, task }) => {
    const requests: JournalEntry[] = engine.requests
    return void [requests, task.name]
  })
  const inPlaywright = ofPlaywright(playwright, () => Promise.resolve({}), { recordings: false, unmet: 'fail' })
  inPlaywright('a test', async ({ engine, page }) => {
    const requests: JournalEntry[] = engine.requests
    await page.setContent(String(requests.length))
  })
  const engineTest = ofNode({})
  void nodeTest(
    'a test',
    engineTest(({ engine, t }) => void [engine.requests, t.name]),
  )
  // @ts-expect-error -- there is no such option
  ofVitest(vitest, {}, { interceptt: 'x' })
  // @ts-expect-error -- there is no such choice
  ofVitest(vitest, {}, { unmet: 'warn' })
}
