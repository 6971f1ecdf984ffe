/** Several records in the workbench, in headless Chromium: chosen, changed and deleted together; what is refused; and the way back. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import type { BorrowedBrowser } from '../helpers/chromium.ts'
import { findNoServer, ownDatabase } from '../postgres/server-database.ts'
import { DESKTOP } from '../helpers/watched-page.ts'
import { PHONE, serveWorkbench, visit } from './browser.ts'

const Product = defineEntity({
  name: 'Product',
  properties: { id: p.integer().primary(), name: p.string(), state: p.enum(['new', 'old']).default('new'), price: p.integer().nullable() },
})
const Review = defineEntity({
  name: 'Review',
  properties: { id: p.integer().primary(), text: p.string(), product: () => p.manyToOne(Product) },
})
const SEED = {
  products: [1, 2, 3, 4].map(id => ({ id, name: `Product ${id}`, price: id })),
  reviews: [{ id: 1, text: 'Good', product: 3 }],
}
const NO_SERVER = await findNoServer()

describe('several records in the workbench', { skip: NO_BROWSER, timeout: 240_000 }, () => {
  let browser: BorrowedBrowser
  let engine: RestEngine
  const folder = mkdtempSync(join(tmpdir(), 'workbench-several-'))
  before(async () => {
    browser = await borrowBrowser()
    engine = await RestEngine.create({ entities: [Product, Review], seed: SEED })
  })
  beforeEach(() => engine.reset())
  after(async () => {
    await Promise.all([browser?.close(), engine?.close()])
    rmSync(folder, { recursive: true, force: true })
  })

  const states = async (of: RestEngine) =>
    ((await of.send('GET /v1/products')).body['products' as never] as { state: string }[]).map(({ state }) => state).join(' ')

  for (const [colorScheme, viewport] of [
    ['light', DESKTOP],
    ['dark', PHONE],
  ] as const)
    it(`sets a value of the chosen records, deletes them, tells which are refused, and goes back: ${colorScheme}, ${viewport.width} pixels`, async () => {
      await using server = await serveWorkbench(engine)
      await visit(browser, `${server.origin}/_ui#/data/products`, { colorScheme, viewport, allowed: /status of 4(09|22)/ }, async page => {
        const chosen = page.getByRole('group', { name: 'Chosen records' })
        await page.getByRole('checkbox', { name: 'Choose product 2' }).check()
        // By keyboard, too.
        await page
          .getByRole('link', { name: 'Open product 3' })
          .evaluate(link => (link.parentElement as unknown as { focus(): void }).focus())
        await page.keyboard.press('Space')
        await chosen.getByText('2 products chosen').waitFor()
        await chosen.getByRole('button', { name: 'Set a value …' }).click()
        const dialog = page.getByRole('dialog', { name: 'Set a value of 2 products' })
        await dialog.getByLabel('Attribute').selectOption('price')
        await dialog.getByLabel('Value of price', { exact: true }).fill('much')
        await dialog.getByRole('button', { name: 'Set' }).click()
        await dialog.getByText('product 3: "price" must be').waitFor()
        await dialog.getByLabel('Attribute').selectOption('state')
        await dialog.getByLabel('Value of state').selectOption('old')
        await dialog.getByRole('button', { name: 'Set' }).click()
        await page.getByText('2 products changed.').waitFor()
        assert.equal(await states(engine), 'new old old new')
        await page.getByRole('button', { name: 'Undo' }).click()
        await page.getByText('Undone: 2 products changed.').waitFor()
        assert.equal(await states(engine), 'new new new new')

        await page.getByRole('checkbox', { name: 'Choose all products of this page' }).check()
        await chosen.getByRole('button', { name: 'Delete …' }).click()
        const asks = page.getByRole('dialog', { name: 'Delete 4 products?' })
        await asks.getByText('1 review needs them (by product).').waitFor()
        await asks.getByRole('button', { name: 'Delete' }).click()
        await asks.getByText(/^product 3: /).waitFor()
        await asks.getByRole('button', { name: 'Keep' }).click()
        await page.getByText('products: 1 to 1 of 1').waitFor()
        await page.getByRole('button', { name: 'Undo' }).click()
        await page.getByText('products: 1 to 4 of 4').waitFor()
      })
    })

  it('says why a record cannot be deleted, and undoes no change of others', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/products/3`, { allowed: /status of 405/ }, async page => {
      const record = page.getByRole('complementary')
      await record.getByRole('link', { name: '1 review needs it (by product).' }).waitFor()
      assert.ok(await record.getByRole('button', { name: 'Delete …' }).isDisabled())
      await engine.send('DELETE /v1/reviews/1')
      await record.getByRole('link', { name: '1 review needs it (by product).' }).waitFor({ state: 'detached' })
      await record.getByRole('button', { name: 'Delete …' }).click()
      await page.getByText('No other record changes.').waitFor()
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByText('product 3 deleted.').waitFor()
      await engine.send('PATCH /v1/products/1', { body: { name: 'Theirs' } })
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText(/^PATCH \/v1\/products\/1 \(request \d+\) has changed data since/).waitFor()
      assert.equal((await engine.send('GET /v1/products')).body['count' as never], 3)
      // A clock that has moved since would move back, too.
      await page.getByRole('gridcell', { name: 'Product 2' }).dblclick()
      await page.getByLabel('name of product 2').fill('Mine')
      await page.keyboard.press('Enter')
      await page.getByText('products 2 changed.').waitFor()
      engine.clock.advance('1d')
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Since then the clock has moved').waitFor()
      engine.clock.reset()
    })
  })

  for (const [kind, skip, database] of [
    ['a SQLite file', false, async () => ({ database: join(folder, 'several.sqlite'), [Symbol.asyncDispose]: async () => {} })],
    ['PostgreSQL', NO_SERVER, ownDatabase],
  ] as const)
    it(`asks before it undoes a change of ${kind}`, { skip }, async () => {
      await using own = await database()
      await using stored = await RestEngine.create({ entities: [Product, Review], database: own.database, seed: SEED })
      await using server = await serveWorkbench(stored)
      await visit(browser, `${server.origin}/_ui#/data/products`, {}, async page => {
        await page.getByRole('checkbox', { name: 'Choose product 2' }).check()
        await page.getByRole('button', { name: 'Set a value …' }).click()
        await page.getByLabel('Attribute').selectOption('state')
        await page.getByLabel('Value of state').selectOption('old')
        await page.getByRole('button', { name: 'Set', exact: true }).click()
        await page.getByText('product 2 changed.').waitFor()
        await page.getByRole('button', { name: 'Undo' }).click()
        assert.equal(await states(stored), 'new old new new')
        await page.getByRole('button', { name: /^Really\?/ }).click()
        await page.getByText('Undone: product 2 changed.').waitFor()
        assert.equal(await states(stored), 'new new new new')
      })
    })
})
