/** Lists in the workbench, in headless Chromium: lists without records, typing errors, cells that stay where they are, and date-times. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from '@playwright/test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { readableTime, readPicked, writePicked } from '../../lib/workbench/data/date-text.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import type { BorrowedBrowser } from '../helpers/chromium.ts'
import { PHONE, serveWorkbench, visit } from './browser.ts'

const LONG = 'A title that goes on and on, as titles of articles do, until there is no room for it in a cell'
const Article = defineEntity({
  name: 'Article',
  properties: {
    id: p.integer().primary(),
    title: p.string(),
    state: p.enum(['draft', 'published']),
    at: p.datetime().nullable(),
    views: p.integer().default(0),
    ...Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`note${index}`, p.string().default('a note')])),
  },
})

describe('lists in the workbench', { skip: NO_BROWSER, timeout: 240_000 }, () => {
  let browser: BorrowedBrowser
  let engine: RestEngine
  before(async () => {
    browser = await borrowBrowser()
    engine = await RestEngine.create({
      entities: [Article],
      seed: {
        articles: [
          { id: 1, title: LONG, state: 'draft', at: '2026-01-05T10:00:00Z' },
          { id: 2, title: 'Short', state: 'draft', at: '2026-02-05T10:20:30.120Z' },
          { id: 3, title: 'Third', state: 'draft' },
        ],
      },
    })
  })
  after(() => Promise.all([browser?.close(), engine?.close()]))

  const cell = (page: Page, id: number, column: number) =>
    page
      .locator('table.records tbody tr')
      .filter({ has: page.getByRole('link', { name: `Open article ${id}`, exact: true }) })
      .locator('> *')
      .nth(column)

  it('says what a record of an empty list would need, and makes such a record', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/articles?state=published&title=S*`, { viewport: PHONE }, async page => {
      await page.getByText('No record meets the filters').waitFor()
      await page.getByText('A record of this list has: state=published and title=S*.').waitFor()
      await page.getByRole('columnheader', { name: 'title' }).waitFor()
      await page.getByRole('listitem').filter({ hasText: 'state=published: 1 record' }).waitFor()
      await page.getByRole('listitem').filter({ hasText: 'title=S*: none either' }).waitFor()
      await page.getByRole('button', { name: 'Import CSV' }).last().waitFor()
      await page.getByRole('button', { name: 'New article' }).last().click()
      assert.equal(await page.getByLabel('state', { exact: true }).inputValue(), 'published')
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('link', { name: 'state=published' }).click()
      await page.waitForURL(/#\/data\/articles\?title=S\*$/)
      await cell(page, 2, 1).waitFor()
    })
  })

  it('keeps a mistyped request in the bar, and suggests the right one', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/articles`, { allowed: /status of 404/ }, async page => {
      const request = page.getByRole('combobox', { name: 'Request' })
      await request.fill('/v1/artikles?state=draft')
      await request.press('Enter')
      await page.getByRole('alert').getByText('Did you mean "articles"?').waitFor()
      assert.equal(await request.inputValue(), '/v1/artikles?state=draft')
      await request.fill('/v2/articles')
      await request.press('Enter')
      await page.getByRole('alert').getByText('A path of this version begins with /v1/').waitFor()
      assert.equal(await request.inputValue(), '/v2/articles')
      await page.getByRole('link', { name: '/v1/articles?state=draft' }).click()
      await cell(page, 3, 1).waitFor()
      assert.equal(await request.inputValue(), '/v1/articles?state=draft')
      // A path that is no list is answered, too.
      await request.fill('articles/2/title')
      await request.press('Enter')
      await page.getByText('"Short"').waitFor()
    })
  })

  it('edits a cell without moving anything, cuts long titles, and shows where the table goes on', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/articles`, { viewport: { width: 1000, height: 700 } }, async page => {
      await cell(page, 2, 3).waitFor()
      const places = () =>
        page.evaluate(`JSON.stringify([...document.querySelectorAll('table.records :is(th, td), .hint')].map(cell => {
          const { x, y, width, height } = cell.getBoundingClientRect()
          return [x, y, width, height].map(Math.round)
        }))`)
      const before = await places()
      for (const column of [1, 2, 3]) {
        await cell(page, 2, column).dblclick()
        await page.locator('.edit-cell :is(input, select)').first().waitFor()
        assert.equal(await places(), before, `column ${column}`)
        await page.keyboard.press('Escape')
      }
      const title = cell(page, 1, 1)
      assert.equal(await page.evaluate(`getComputedStyle(document.querySelector('tbody td')).textOverflow`), 'ellipsis')
      assert.ok(await title.evaluate(element => element.scrollWidth > element.clientWidth))
      assert.equal(await title.locator('span').getAttribute('title'), LONG)
      assert.equal(await page.locator('.edges[data-more]').count(), 1)
      // Both cells of the first column stay.
      await page.evaluate(`document.querySelector('.scroll').scrollLeft = 10_000`)
      await page.locator('.edges:not([data-more])').waitFor()
      const [box, head, first] = await Promise.all(
        ['.scroll', 'thead th', 'tbody th'].map(name =>
          page
            .locator(name)
            .first()
            .evaluate(element => element.getBoundingClientRect().x),
        ),
      )
      assert.ok(Math.abs(head! - box!) < 3 && Math.abs(first! - box!) < 3, `${box} ${head} ${first}`)
    })
  })

  it('hides and sizes columns, and keeps the choice by resource', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/articles`, { viewport: { width: 1280, height: 800 } }, async page => {
      const heads = () =>
        page
          .locator('table.records thead th')
          .evaluateAll(all => all.map(head => (head as unknown as { dataset: { column: string } }).dataset.column))
      const width = (column: string) =>
        page.locator(`th[data-column="${column}"]`).evaluate(head => Math.round(head.getBoundingClientRect().width))
      await cell(page, 1, 1).waitFor()
      await page.getByText('Columns', { exact: true }).click()
      assert.ok(await page.getByRole('checkbox', { name: 'id', exact: true }).isDisabled())
      for (const name of ['views', 'note1']) await page.getByRole('checkbox', { name, exact: true }).uncheck()
      await page.getByText('Columns: 2 hidden').waitFor()
      assert.ok(!(await heads()).includes('views'))
      await page.getByLabel('Width of title in pixels').fill('200')
      await page.keyboard.press('Tab')
      assert.equal(await width('title'), 200)
      const state = await width('state')
      await page.keyboard.press('Escape')
      const grip = (await page.locator('th[data-column="title"] .grip').boundingBox())!
      await page.mouse.move(grip.x + 3, grip.y + 10)
      await page.mouse.down()
      await page.mouse.move(grip.x + 63, grip.y + 10, { steps: 3 })
      await page.mouse.up()
      assert.deepEqual([await width('title'), await width('state')], [260, state])
      await page.reload()
      await cell(page, 1, 1).waitFor()
      assert.deepEqual([await width('title'), (await heads()).slice(0, 5)], [260, ['id', 'title', 'state', 'at', 'note0']])
      await page.getByText('Columns: 2 hidden').click()
      await page.getByRole('button', { name: 'All columns, usual widths' }).click()
      assert.ok((await heads()).includes('views'))
      assert.notEqual(await width('title'), 260)
    })
  })

  it('shows date-times as people read them, and the exact value on hover, in the editor and in its picker', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/articles`, {}, async page => {
      await cell(page, 1, 3).getByText('5 Jan 2026, 10:00 UTC', { exact: true }).waitFor()
      await cell(page, 2, 3).getByText('5 Feb 2026, 10:20:30.12 UTC', { exact: true }).waitFor()
      assert.equal(await cell(page, 2, 3).locator('time').getAttribute('title'), '2026-02-05T10:20:30.120Z')
      await cell(page, 2, 3).dblclick()
      const field = page.getByLabel('at of article 2', { exact: true })
      assert.equal(await field.inputValue(), '2026-02-05T10:20:30.120Z')
      const picker = page.locator('.picker input')
      assert.equal(await picker.inputValue(), '2026-02-05T10:20:30.12')
      await page.getByRole('button', { name: 'at of article 2: pick a time, in UTC' }).click()
      await page.waitForTimeout(300)
      // Closes the picker alone.
      await page.keyboard.press('Escape')
      await picker.evaluate((element: { value: string; dispatchEvent: (event: unknown) => void }) => {
        element.value = '2026-03-01T08:00'
        element.dispatchEvent(new Event('input', { bubbles: true }))
      })
      assert.equal(await field.inputValue(), '2026-03-01T08:00:00Z')
      await field.press('Enter')
      await cell(page, 2, 3).getByText('1 Mar 2026, 08:00 UTC', { exact: true }).waitFor()
    })
  })
})

it('writes a date-time with as much as there is in it', () => {
  assert.deepEqual(
    ['2026-12-31T23:59:59Z', '2026-01-05T10:00:00.000+02:00', '2026-01-05T10:00', '2026-13-05T10:00:00Z', '2026-01-05', 'never'].map(
      readableTime,
    ),
    ['31 Dec 2026, 23:59:59 UTC', '5 Jan 2026, 10:00 +02:00', '5 Jan 2026, 10:00', undefined, undefined, undefined],
  )
  assert.equal(readPicked(writePicked('2026-01-05T10:00:00.250+02:00', 'datetime'), 'datetime'), '2026-01-05T08:00:00.250Z')
  assert.deepEqual(
    [writePicked('never', 'datetime'), readPicked('10:00', 'time'), readPicked('2026-01-05', 'date')],
    ['', '10:00:00', '2026-01-05'],
  )
})
