/** The workbench's screen of requests, in headless Chromium: live, why one was answered so, sent again, compared, copied. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Page } from '@playwright/test'
import { RestEngine } from '../../lib/index.ts'
import sample from '../../fixtures/sample/index.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import type { BorrowedBrowser } from '../helpers/chromium.ts'
import { DESKTOP } from '../helpers/watched-page.ts'
import { PHONE, serveWorkbench, visit } from './browser.ts'

describe('requests in the workbench', { skip: NO_BROWSER, timeout: 240_000 }, () => {
  let browser: BorrowedBrowser
  let engine: RestEngine
  before(async () => {
    browser = await borrowBrowser()
    engine = await RestEngine.create({ ...sample, serverTiming: true })
  })
  beforeEach(async () => {
    await engine.reset()
    engine.clearRequests()
  })
  after(() => Promise.all([browser?.close(), engine?.close()]))

  const lines = (page: Page) => page.locator('.timeline a')

  it('shows them as they come, what faults did to them, and marks in between', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/requests`, {}, async page => {
      await page.getByText('reset to the seed').waitFor()
      await engine.handle('GET', '/v1/sites?limit=1')
      await lines(page).filter({ hasText: '/v1/sites?limit=1' }).waitFor()
      engine.mark('the order is placed')
      const fault = engine.fail('POST /v1/categories', { status: 503, times: 1 })
      await engine.handle('POST', '/v1/categories', undefined, { name: 'New' })
      await engine.handle('POST', '/v1/categories', undefined, { name: 'New' })
      await page.getByText('the order is placed').waitFor()
      await lines(page)
        .filter({ hasText: '503' })
        .filter({ hasText: /fault f\d+/ })
        .waitFor()
      await lines(page).filter({ hasText: '+1' }).waitFor()
      fault.dispose()
      // It stands still while somebody reads, and says what waits.
      await page.getByRole('button', { name: 'Pause' }).click()
      await engine.handle('GET', '/v1/users/1')
      await page.getByRole('button', { name: 'Go on (1 more)' }).click()
      await lines(page).filter({ hasText: '/v1/users/1' }).waitFor()
      await page.getByRole('button', { name: 'Failures' }).click()
      await page.waitForFunction(`document.querySelectorAll('.timeline a').length === 1`)
      assert.match(page.url(), /#\/requests\?only=failures$/)
      await page.getByRole('button', { name: 'Failures' }).click()
      await page.getByRole('searchbox', { name: 'Show requests' }).fill('post 2xx')
      await page.waitForFunction(`document.querySelectorAll('.timeline a').length === 1`)
    })
  })

  for (const [colorScheme, viewport] of [
    ['light', DESKTOP],
    ['dark', PHONE],
  ] as const) {
    it(`says why: the rows before and after, the refusal, the statements, the time: ${colorScheme}, ${viewport.width} pixels`, async () => {
      await using server = await serveWorkbench(engine)
      await engine.handle('PATCH', '/v1/sites/2', undefined, { name: 'Harbour Post' })
      await engine.handle('POST', '/v1/users', undefined, { name: 'Zoe', role: 'king' })
      // From the failed assertion to the row: the page, the request, its changes.
      await visit(browser, `${server.origin}/_ui#/requests`, { colorScheme, viewport }, async page => {
        await lines(page).filter({ hasText: 'PATCH' }).click()
        const detail = page.getByRole('region', { name: /PATCH \/v1\/sites\/2/ })
        await detail.getByText('Island Forum').waitFor()
        assert.match((await detail.locator('tr', { hasText: 'name' }).textContent())!, /Island Forum → Harbour Post/)
        await detail.getByRole('tab', { name: /Statements \d+/ }).click()
        await detail.getByText(/update "site" set "name" = \?/).waitFor()
        await page.keyboard.press('ArrowRight')
        await detail.getByText(/ms in all/).waitFor()
        await detail.getByRole('rowheader', { name: 'sql' }).waitFor()
        await detail.getByRole('link', { name: 'Close the request' }).click()
        await lines(page).filter({ hasText: '/v1/users' }).click()
        await page.getByText('"role" must be one of').first().waitFor()
      })
    })
  }

  it('sends again, edited or not, compares the two, and copies', async () => {
    await using server = await serveWorkbench(engine)
    await engine.handle('PATCH', '/v1/sites/2', undefined, { name: 'Harbour Post' })
    await visit(browser, `${server.origin}/_ui#/requests`, {}, async page => {
      await lines(page).first().click()
      await page.getByRole('button', { name: 'Send again' }).click()
      await page.waitForURL(/#\/requests\/\d+\?.*with=\d+/)
      await page.getByRole('tab', { name: 'Compare', selected: true }).waitFor()
      // The name is the same now, so nothing of it has changed again.
      await page
        .getByRole('rowheader', { name: /^changes\.update sites 2/ })
        .first()
        .waitFor()
      assert.equal(engine.requests.length, 2)
      await page.getByRole('button', { name: 'Edit and send' }).click()
      await page.getByRole('textbox', { name: 'Body' }).fill('{ "name": ')
      await page.getByText('Not JSON').waitFor()
      assert.ok(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled())
      await page.getByRole('textbox', { name: 'Body' }).fill('{ "name": "Third" }')
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByText('Third').first().waitFor()
      assert.deepEqual(engine.requests.at(-1)!.body, { name: 'Third' })
      await page.getByRole('button', { name: 'test', exact: true }).click()
      await page.getByText('Copied as test').waitFor()
      const text = (await page.evaluate('navigator.clipboard.readText()')) as string
      assert.match(text, /engine\.expect\(\{ sites: \{ updated: 1 \}, '\*': \{\} \}/)
      assert.equal(await page.locator('.copied pre').textContent(), text)
    })
  })

  it('goes back to before one that came while it was open, and says why it cannot to before others', async () => {
    await using own = await RestEngine.create(sample)
    await own.handle('DELETE', '/v1/domains/1')
    await using server = await serveWorkbench(own)
    const nameNow = async (): Promise<unknown> => ((await own.handle('GET', '/v1/sites/2')).body as { site: { name: string } }).site.name
    const name = await nameNow()
    await visit(browser, `${server.origin}/_ui#/requests`, {}, async page => {
      await lines(page).filter({ hasText: 'DELETE' }).click()
      await page.getByText('There is no way back to before this request. No state of the data was kept at that time').waitFor()
      assert.ok(await page.getByRole('button', { name: 'Go back to before it' }).isDisabled())
      await own.handle('PATCH', '/v1/sites/2', undefined, { name: 'Harbour Post' })
      await lines(page).filter({ hasText: 'PATCH' }).click()
      await page.getByRole('heading', { name: /^PATCH/ }).waitFor()
      await page.getByRole('button', { name: 'Go back to before it' }).click()
      await page.getByText('The data are as they were before this request.').waitFor()
      await page.getByText('went back to the snapshot “before request 3”').waitFor()
      assert.equal(await nameNow(), name)
    })
  })

  it('asks before it goes back where the data are those of a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'workbench-back-'))
    try {
      await using own = await RestEngine.create({ ...sample, database: join(folder, 'a.sqlite') })
      await using server = await serveWorkbench(own)
      await visit(browser, `${server.origin}/_ui#/requests`, {}, async page => {
        await page.getByText('Live', { exact: true }).waitFor()
        await page.waitForTimeout(500)
        await own.handle('POST', '/v1/categories', undefined, { name: 'New' })
        await lines(page).filter({ hasText: 'POST' }).click()
        await page.getByRole('button', { name: 'Go back to before it' }).click()
        await page.getByRole('button', { name: 'Really? Everything since then is lost' }).click()
        await page.getByText('The data are as they were before this request.').waitFor()
        assert.deepEqual(((await own.handle('GET', '/v1/categories?name=New')).body as { count: number }).count, 0)
      })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
