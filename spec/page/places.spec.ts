/** The engine in the page of Firefox and of WebKit, where the machine has them: answers as on Node, in the same bytes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as library from '../../lib/index.ts'
import { OTHER_BROWSERS } from '../helpers/other-browsers.ts'
import type { FoundAgain, FoundInPage } from './places-in-page.ts'
import { serveEntry } from './serve-entry.ts'
import { askShop, logInWith, makeShop, useMembers } from './shop.ts'

type Failed = { readonly failed: string }

describe('the engine in other browsers', () => {
  for (const browser of OTHER_BROWSERS)
    it(
      `answers in ${browser.name} as on Node, intercepts, works in a worker, and keeps a world`,
      { skip: browser.missing, timeout: 180_000 },
      async () => {
        const [first, again] = [Promise.withResolvers<FoundInPage | Failed>(), Promise.withResolvers<FoundAgain | Failed>()]
        const waiting = [first.resolve, again.resolve]
        const served = await serveEntry('spec/page/places-in-page.ts', {
          worker: 'spec/page/worker.ts',
          posted: body => {
            waiting.shift()?.(JSON.parse(body) as FoundInPage & FoundAgain)
            return ''
          },
        })
        const opened = await browser.open(served.address)
        try {
          const found = await first.promise
          if ('failed' in found) assert.fail(found.failed)
          console.log(`# ${found.agent}, which keeps worlds in ${found.place}`)
          const [shop, other, third] = [await makeShop(library), await makeShop(library), await makeShop(library)]
          const answers = await askShop(shop)
          for (const [index, answer] of answers.entries()) assert.equal(found.answers[index], answer)
          assert.equal(found.answers.length, answers.length)
          const members = JSON.parse(JSON.stringify(await useMembers(other))) as Record<string, unknown>
          for (const [member, value] of Object.entries(members)) assert.deepEqual([member, found.members[member]], [member, value])
          assert.deepEqual([found.loggedIn, await logInWith(third, found.hash)], [200, 200])
          assert.deepEqual([found.intercepted, found.worker], [[200, 404], 20_000])
          await Promise.all([shop, other, third].map(each => each.close()))
          assert.deepEqual(await again.promise, { kept: ['of the seed', 'kept'], afterReset: ['of the seed'] })
        } finally {
          await opened.close()
          await served.close()
        }
      },
    )
})
