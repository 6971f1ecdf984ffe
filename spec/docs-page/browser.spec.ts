/** The docs page in headless Chromium: light and dark, on a desktop and on a phone, by keyboard, and for axe. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { auth, hashPassword, RestEngine } from '../../lib/index.ts'
import sample from '../../fixtures/sample/index.ts'
import { readRequest } from '../../lib/workbench/console/sent-request.ts'
import { parsePlace } from '../../lib/workbench/state/place-text.ts'
import { findViolations } from '../helpers/axe.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import type { BorrowedBrowser } from '../helpers/chromium.ts'
import { watchPage } from '../helpers/watched-page.ts'
import { serveDocs } from './served.ts'

const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 360, height: 740 }
/** Each scheme of colours and each size, once: what axe finds of colours is the same on each size. All of them with SPEC_TARGETS=every. */
const LOOKS = [
  ['light', DESKTOP],
  ['dark', PHONE],
  ...(process.env['SPEC_TARGETS'] === 'every'
    ? ([
        ['light', PHONE],
        ['dark', DESKTOP],
      ] as const)
    : []),
] as const

describe('the docs page in a browser', { skip: NO_BROWSER, timeout: 240_000 }, () => {
  let browser: BorrowedBrowser
  let engine: RestEngine
  before(async () => {
    browser = await borrowBrowser()
    engine = await RestEngine.create(sample)
  })
  after(() => Promise.all([browser?.close(), engine?.close()]))

  for (const [colorScheme, viewport] of LOOKS) {
    it(`has no flaw that axe finds, and no line that runs out of it: ${colorScheme}, ${viewport.width} pixels`, async () => {
      await using server = await serveDocs(engine)
      await watchPage(browser, `${server.origin}/docs`, { colorScheme, viewport }, async page => {
        await page.evaluate(`document.querySelectorAll('details').forEach(details => { details.open = true })`)
        assert.deepEqual(await findViolations(page), [])
        const [scrollWidth, clientWidth] = (await page.evaluate(
          `['scrollWidth', 'clientWidth'].map(name => document.documentElement[name])`,
        )) as [number, number]
        assert.ok(scrollWidth <= clientWidth, `${scrollWidth} > ${clientWidth}`)
        const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor')
        assert.equal(ground, colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 24, 31)')
        // The rules of style reach the diagram.
        const line = await page.evaluate(`getComputedStyle(document.querySelector('.picture .line')).fill`)
        assert.equal(line, 'none')
      })
    })
  }

  it('is used by keyboard, and copies commands', async () => {
    await using server = await serveDocs(engine)
    await watchPage(browser, `${server.origin}/docs`, { viewport: DESKTOP }, async page => {
      await page.keyboard.press('Tab')
      assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content')
      await page.keyboard.press('Enter')
      assert.equal(await page.evaluate('document.activeElement.id'), 'main')
      const copy = page.getByRole('button', { name: 'Copy: List users', exact: true })
      await copy.focus()
      await page.keyboard.press('Enter')
      await page.getByText('Copied').waitFor()
      const text = await page.evaluate('navigator.clipboard.readText()')
      assert.equal(text, `curl '${server.origin}/v1/users?limit=5'`)
    })
  })

  it('lets readers log in, and out', async () => {
    const User = defineEntity({
      name: 'User',
      properties: { id: p.integer().primary(), email: p.string(), passwordHash: p.string().hidden() },
    })
    await using guarded = await RestEngine.create({
      entities: [User],
      auth: auth({ entity: User, identifier: 'email', password: 'passwordHash' }),
      seed: { users: [{ email: 'ann@example.com', passwordHash: await hashPassword('secret') }] },
    })
    await using server = await serveDocs(guarded)
    const refusals = /status of 401/
    await watchPage(browser, `${server.origin}/docs`, { viewport: PHONE, allowed: refusals }, async page => {
      const shown = page.locator('#resource-users')
      assert.deepEqual(await findViolations(page), [])
      await page.getByLabel('email').fill('ann@example.com')
      await page.getByLabel('passwordHash').fill('wrong')
      await page.keyboard.press('Enter')
      await page.locator('.problem:not(:empty)').waitFor()
      await page.getByLabel('passwordHash').fill('secret')
      await page.keyboard.press('Enter')
      await shown.waitFor()
      await page.reload()
      await shown.waitFor()
      await page.getByRole('button', { name: 'Log out', exact: true }).click()
      await page.getByRole('heading', { name: 'Log in' }).waitFor()
    })
  })

  it('is whole without script, and leads into the workbench where there is one', async () => {
    await using server = await serveDocs(engine, { workbench: true })
    await watchPage(browser, `${server.origin}/docs`, { viewport: DESKTOP, javaScriptEnabled: false }, async page => {
      await page.getByRole('heading', { name: 'sites', exact: true }).waitFor()
      assert.equal(await page.getByRole('button').count(), 0)
      const link = page.getByRole('region', { name: 'sites', exact: true }).getByRole('link', { name: /^Send: Change a site/ })
      const address = new URL((await link.getAttribute('href'))!, server.origin)
      assert.equal(address.pathname, '/_ui')
      const { method, target, body } = readRequest(parsePlace(address.hash), '/v1')
      assert.deepEqual([method, target], ['PATCH', '/v1/sites/1'])
      assert.ok(Object.keys(JSON.parse(body) as object).length === 1)
    })
    await watchPage(browser, `${server.origin}/docs`, { viewport: DESKTOP }, async page => {
      await page.getByRole('link', { name: 'Send: List users' }).first().click()
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByRole('heading', { name: '200 in' }).waitFor()
      await page.goBack()
      await page.getByRole('link', { name: 'The diagram in the workbench' }).click()
      await page.getByRole('region', { name: 'Diagram' }).getByRole('link', { name: 'Records of domains' }).waitFor()
    })
  })
})
