/** The frame of the workbench, in headless Chromium: a server that goes away and comes back as another, much to choose from, a phone. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import sample from '../../fixtures/sample/index.ts'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import { RestEngine } from '../../lib/index.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import type { BorrowedBrowser } from '../helpers/chromium.ts'
import { PHONE, serveWorkbench, visit, type Served } from './browser.ts'

const Trip = defineEntity({ name: 'Trip', properties: { id: p.integer().primary(), city: p.string(), days: p.integer() } })
const Journey = defineEntity({ name: 'Journey', properties: { id: p.integer().primary(), city: p.string() } })
const place = (name: string) => p.string().name(name)
const Stop = defineEntity({ name: 'Stop', properties: { id: p.integer().primary(), town: place('town'), rank: p.integer().default(1) } })
const NewStop = defineEntity({ name: 'Stop', properties: { id: p.integer().primary(), village: place('village') } })

describe('the frame of the workbench', { skip: NO_BROWSER, timeout: 240_000 }, () => {
  let browser: BorrowedBrowser
  before(async () => {
    browser = await borrowBrowser()
  })
  after(() => browser?.close())

  it('says that the server is away, and what another model has changed: no resource and no column of before', async () => {
    await using first = await RestEngine.create({
      entities: [Trip, Stop],
      seed: { trips: [{ city: 'Rome', days: 3 }], stops: [{ town: 'Ostia' }] },
    })
    await using second = await RestEngine.create({ entities: [Journey, NewStop], seed: { stops: [{ village: 'Tivoli' }] } })
    let server: Served | undefined = await serveWorkbench(first)
    const close = async (): Promise<void> => {
      const open = server
      server = undefined
      await open?.[Symbol.asyncDispose]()
    }
    try {
      const { origin } = server
      const port = Number(new URL(origin).port)
      const allowed = /Failed to load resource|ERR_/
      await visit(browser, `${origin}/_ui#/data/stops`, { allowed }, async page => {
        const navigation = page.getByRole('navigation', { name: 'Parts' })
        await page.getByRole('gridcell', { name: 'Ostia' }).waitFor()
        await close()
        await page.getByText('Start the server again').waitFor()
        server = await serveWorkbench(second, {}, port)
        await page.getByText('gone: trips, stops.town, stops.rank; new: journeys, stops.village.').waitFor()
        assert.equal(await page.getByText('Start the server again').count(), 0)
        await page.getByRole('gridcell', { name: 'Tivoli' }).waitFor()
        assert.deepEqual(
          await page
            .locator('table.records thead th')
            .evaluateAll(heads => heads.map(head => head.querySelector('button')?.firstChild?.textContent)),
          ['id', 'village'],
        )
        await navigation.getByRole('link', { name: 'journeys' }).waitFor()
        assert.equal(await navigation.getByRole('link', { name: 'trips' }).count(), 0)
        await page.getByRole('button', { name: 'Close', exact: true }).click()
        await page.goto(`${origin}/_ui#/data/trips`)
        await page.getByRole('alert').getByText('There is no resource "trips".').waitFor()
        // A model that was changed, but is refused, is told on every screen.
        internalsOf(second).refuseModel('Journey.days: a required property needs a value for 1 row.')
        for (const screen of ['data', 'requests', 'world', 'console', 'model']) {
          await page.goto(`${origin}/_ui#/${screen}`)
          await page.getByText('Journey.days: a required property needs a value for 1 row.').waitFor()
        }
        internalsOf(second).refuseModel(undefined)
        await page.getByText('Journey.days').waitFor({ state: 'detached' })
      })
    } finally {
      await close()
    }
  })

  it('shows rows of a skeleton until a slow server answers', async () => {
    await using engine = await RestEngine.create(sample)
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data`, {}, async page => {
      let answer = (): void => {}
      const held = new Promise<void>(resolve => (answer = resolve))
      await page.route(/\/v1\/sites\?/, async route => {
        await held
        await route.continue()
      })
      await page.getByRole('region', { name: 'Resources' }).getByRole('link', { name: 'sites' }).click()
      await page.locator('.skeleton div').nth(9).waitFor()
      await page.getByText('Reading …').waitFor()
      answer()
      await page.getByRole('link', { name: 'Open site 1', exact: true }).waitFor()
      assert.equal(await page.locator('.skeleton').count(), 0)
    })
  })

  it('stays on the screen that was chosen before the server told its state', async () => {
    await using engine = await RestEngine.create(sample)
    await using server = await serveWorkbench(engine)
    await using context = await browser.browser.newContext()
    const page = await context.newPage()
    let answer = (): void => {}
    const held = new Promise<void>(resolve => (answer = resolve))
    await page.route('**/_test/clock', async route => {
      await held
      await route.continue()
    })
    await page.goto(`${server.origin}/_ui`)
    await page.getByRole('link', { name: 'Requests', exact: true }).click()
    const told = page.waitForResponse('**/_test/clock')
    answer()
    await told
    await page.getByText('No requests yet').waitFor()
    // The start screen is chosen in a task after the answer.
    await page.evaluate(() => new Promise(resolve => setTimeout(resolve, 200)))
    assert.equal(new URL(page.url()).hash, '#/requests')
  })

  it('keeps Tools in sight beside many resources, and the head of a phone low', async () => {
    const entities = Array.from({ length: 60 }, (_, index) =>
      defineEntity({ name: `Part${index}`, properties: { id: p.integer().primary() } }),
    )
    await using engine = await RestEngine.create({ entities })
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/part55s`, { viewport: { width: 1280, height: 700 } }, async page => {
      const inSight = (name: string) =>
        page
          .getByRole('navigation', { name: 'Parts' })
          .getByRole('link', { name })
          .first()
          .evaluate(link => {
            const { top, bottom } = link.getBoundingClientRect()
            return top >= 0 && bottom <= 700
          })
      await page.getByText('There are no part55s yet').waitFor()
      assert.deepEqual([await inSight('Requests'), await inSight('Model'), await inSight('part55s')], [true, true, true])
      assert.ok(await page.locator('.resources').evaluate(list => list.scrollHeight > list.clientHeight && list.scrollTop > 0))
      await page.getByRole('searchbox', { name: 'Narrow the resources' }).fill('part7')
      assert.equal(await page.locator('.resources li').count(), 1)
    })
    engine.clock.set('2026-01-01T00:00:00Z')
    engine.fail('GET /v1/part1s', { status: 503 })
    await visit(browser, `${server.origin}/_ui#/data/part55s`, { viewport: PHONE }, async page => {
      await page.getByText('Clock stands').waitFor()
      const height = await page.getByRole('banner').evaluate(head => head.getBoundingClientRect().height)
      assert.ok(height <= 64, `${height} pixels`)
    })
  })
})
