/** The workbench's screen of the model, in headless Chromium: a diagram that opens data, a search, and requests that run. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { RestEngine } from '../../lib/index.ts'
import sample from '../../fixtures/sample/index.ts'
import type { Outline } from '../../lib/description/outline/outline-parts.ts'
import { matches } from '../../lib/workbench/model/match-resource.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import type { BorrowedBrowser } from '../helpers/chromium.ts'
import { DESKTOP } from '../helpers/watched-page.ts'
import { PHONE, serveWorkbench, visit } from './browser.ts'

describe('the model in the workbench', { skip: NO_BROWSER, timeout: 120_000 }, () => {
  let browser: BorrowedBrowser
  let engine: RestEngine
  before(async () => {
    browser = await borrowBrowser()
    engine = await RestEngine.create(sample)
  })
  after(() => Promise.all([browser?.close(), engine?.close()]))

  it('is a diagram whose boxes open their records', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/model`, {}, async page => {
      const box = page.getByRole('region', { name: 'Diagram' }).getByRole('link', { name: 'Records of domains' })
      await box.focus()
      await page.keyboard.press('Enter')
      await page.waitForURL(/#\/data\/domains$/)
      await page.goBack()
      await page.getByRole('searchbox', { name: 'Search' }).fill('hostname')
      await page.getByText('1 of 9').waitFor()
    })
  })

  for (const viewport of [DESKTOP, PHONE])
    it(`draws the diagram as wide as the page, and larger or smaller on demand: ${viewport.width} pixels`, async () => {
      await using server = await serveWorkbench(engine)
      await visit(browser, `${server.origin}/_ui#/model`, { viewport }, async page => {
        const box = page.getByRole('region', { name: 'Diagram' })
        await box.getByRole('link', { name: 'Records of domains' }).waitFor()
        const hidden = () => box.evaluate(element => element.scrollWidth - element.clientWidth)
        const width = () => box.locator('svg').evaluate(svg => svg.getBoundingClientRect().width)
        const fitting = await width()
        assert.ok((await hidden()) <= 0 && fitting > viewport.width * 0.5, `${await hidden()} hidden, ${fitting} wide`)
        const until = async (name: string, isReached: (now: number) => boolean): Promise<number> => {
          await page.getByRole('button', { name }).click()
          for (let tries = 0; tries < 50 && !isReached(await width()); tries++) await page.waitForTimeout(50)
          const now = await width()
          assert.ok(isReached(now), `${name}: ${now} pixels, ${fitting} before`)
          return now
        }
        const whole = await until('100 %', now => now >= fitting && now > 1000)
        await until('Larger', now => now > whole)
        assert.ok((await hidden()) > 0)
        await until('Smaller', now => now === whole)
        await until('Fit', now => now === fitting)
      })
    })

  it('has a page for each resource, with requests that open in the console and run', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/model/sites`, { viewport: PHONE, colorScheme: 'dark' }, async page => {
      await page.getByRole('rowheader', { name: 'publisher' }).waitFor()
      await page.getByRole('link', { name: /^Send: Sites whose/ }).click()
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByRole('heading', { name: '200 in' }).waitFor()
    })
  })
})

it('finds a resource by all words of a search', async () => {
  await using engine = await RestEngine.create(sample)
  await using server = await serveWorkbench(engine)
  const { resources } = (await (await fetch(`${server.origin}/_ui/outline.json`)).json()) as Outline
  const sites = resources.find(({ name }) => name === 'sites')!
  assert.deepEqual([matches(sites, 'url sit'), matches(sites, 'url hostname')], [true, false])
})
