/**
 * The workbench on much: a table of a million rows, which says what index it lacks, and a model of 300 tables, in which one finds a
 * resource by its name.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import type { BorrowedBrowser } from '../helpers/chromium.ts'
import { PHONE, serveWorkbench, visit } from './browser.ts'

const ROWS = 1_000_000
const TABLES = 300

describe('the workbench on much', { skip: NO_BROWSER, timeout: 240_000 }, () => {
  let browser: BorrowedBrowser
  before(async () => {
    browser = await borrowBrowser()
  })
  after(() => browser?.close())

  it('shows a million rows by pages, and says which index a slow request lacks', async () => {
    const Reading = defineEntity({
      name: 'Reading',
      properties: { id: p.integer().primary(), device: p.integer(), level: p.integer(), note: p.string().nullable() },
    })
    await using engine = await RestEngine.create({ entities: [Reading] })
    await engine.orm.em
      .getConnection()
      .execute(
        'insert into reading (id, device, level) select value, value % 997, value * 31 % 1009 ' +
          `from (with recursive n (value) as (select 1 union all select value + 1 from n where value < ${ROWS}) select value from n)`,
      )
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/readings`, {}, async page => {
      const rows = page.locator('table.records tbody tr')
      await page.getByText('1 to 50 of 1,000,000').waitFor()
      assert.equal(await rows.count(), 50)
      await page.getByRole('link', { name: 'Last page' }).click()
      await page.getByText('999,951 to 1,000,000 of 1,000,000').waitFor()
      await page.getByRole('link', { name: 'Open reading 1000000', exact: true }).waitFor()
      const request = page.getByRole('combobox', { name: 'Request' })
      await request.fill('/v1/readings?device=7&sort=level')
      await request.press('Enter')
      await page.getByText('1 to 50 of 1,004').waitFor()
      await page.getByRole('button', { name: 'Explain' }).click()
      await page
        .getByText(/\.index\(\)/)
        .first()
        .waitFor()
    })
  })

  it('finds a resource of 300 by its name, narrows their list, and draws them when it is asked to', async () => {
    const entities = Array.from({ length: TABLES }, (_, index) =>
      defineEntity({
        name: `Table${String.fromCharCode(97 + (index % 26))}${index}`,
        properties: { id: p.integer().primary(), [`field${index}`]: p.string() },
      }),
    )
    await using engine = await RestEngine.create({ entities })
    await using server = await serveWorkbench(engine)
    const name = 'tablel271s'
    await visit(browser, `${server.origin}/_ui`, { viewport: PHONE }, async page => {
      await page.getByRole('searchbox', { name: 'Narrow the resources' }).fill('271')
      await page.getByRole('navigation', { name: 'Parts' }).getByRole('link', { name }).waitFor()
      assert.equal(await page.locator('.resources li').count(), 1)
      await page.keyboard.press('Control+k')
      await page.keyboard.type('271')
      await page.getByRole('option', { name: new RegExp(name) }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(new RegExp(`#/data/${name}$`))
      await page.goto(`${server.origin}/_ui#/model`)
      await page.getByRole('searchbox', { name: 'Search' }).fill('field271')
      await page.getByText('1 of 300').waitFor()
      await page.getByRole('button', { name: 'Draw the diagram of 300 resources' }).click()
      await page
        .getByRole('region', { name: 'Diagram' })
        .getByRole('link', { name: `Records of ${name}` })
        .waitFor()
    })
  })
})
