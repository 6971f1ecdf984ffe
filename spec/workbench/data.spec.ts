/**
 * The workbench's screen of data, in headless Chromium: on the sample, wide, narrow and dark, by keyboard, and on models of other kinds.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page, Request } from '@playwright/test'
import { defineEntity, p } from '@mikro-orm/core'
import { auth, hashPassword, RestEngine } from '../../lib/index.ts'
import sample from '../../fixtures/sample/index.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import type { BorrowedBrowser } from '../helpers/chromium.ts'
import { DESKTOP } from '../helpers/watched-page.ts'
import { PHONE, serveWorkbench, visit } from './browser.ts'

describe('data in the workbench', { skip: NO_BROWSER, timeout: 240_000 }, () => {
  let browser: BorrowedBrowser
  let engine: RestEngine
  before(async () => {
    browser = await borrowBrowser()
    engine = await RestEngine.create(sample)
  })
  after(() => Promise.all([browser?.close(), engine?.close()]))

  const firstRow = (page: Page) => page.locator('table.records tbody tr').first()

  for (const [colorScheme, viewport, maxLimit] of [
    ['light', DESKTOP, 50],
    ['dark', PHONE, 40],
  ] as const) {
    it(`shows what is served, and a page of at most ${maxLimit}: ${colorScheme}, ${viewport.width} pixels`, async () => {
      await using limited = await RestEngine.create({ ...sample, limits: { maxLimit } })
      await using server = await serveWorkbench(limited, { workbench: { title: 'the sample' } })
      await visit(browser, `${server.origin}/`, { colorScheme, viewport }, async page => {
        await page.getByText('the sample').waitFor()
        assert.equal(new URL(page.url()).pathname, '/_ui')
        // The list of all, and the navigation.
        await page.getByRole('region', { name: 'Resources' }).getByRole('link', { name: 'sites' }).click()
        await firstRow(page).waitFor()
        assert.equal(await page.getByRole('status').filter({ hasText: 'sites' }).textContent(), `sites: 1 to ${maxLimit} of 60`)
        await page.getByRole('link', { name: 'Next page' }).click()
        await page.getByText(`${maxLimit + 1} to 60 of 60`).waitFor()
        assert.equal(await page.locator('table.records tbody tr').count(), 60 - maxLimit)
        // No ID is cut.
        assert.ok(await page.locator('tbody th').evaluateAll(cells => cells.every(cell => cell.scrollWidth <= cell.clientWidth)))
        assert.equal(
          await page.evaluate('getComputedStyle(document.body).backgroundColor'),
          colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(18, 22, 28)',
        )
      })
    })
  }

  it('sorts by a head, filters by the grammar of the API, and says what it does not understand in its words', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/sites`, { allowed: /status of 400/ }, async page => {
      const request = page.getByRole('combobox', { name: 'Request' })
      await page.getByRole('button', { name: 'name', exact: true }).click()
      await page.locator('th[aria-sort="ascending"]').waitFor()
      assert.equal(await request.inputValue(), '/v1/sites?sort=name')
      await page.getByRole('button', { name: 'name', exact: true }).click()
      await page.locator('th[aria-sort="descending"]').waitFor()
      await request.fill('/v1/sites?category.name=Coffee&sort=name')
      await request.press('Enter')
      await page.getByText(/1 to (\d+) of \1/).waitFor()
      assert.equal(new URL(page.url()).hash, '#/data/sites?category.name=Coffee&sort=name')
      const names = await page.locator('table.records tbody tr td:nth-child(2)').allTextContents()
      assert.deepEqual(names, names.toSorted())
      assert.ok(names.length > 0)
      await request.fill('/v1/sites?nme=A*')
      await request.press('Enter')
      await page.getByRole('alert').getByText('Did you mean "name"?').waitFor()
      await page.goBack()
      await page.getByRole('alert').waitFor({ state: 'detached' })
      assert.equal(await request.inputValue(), '/v1/sites?category.name=Coffee&sort=name')
    })
  })

  it('completes names along relations, operators and values, by keyboard', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/sites`, {}, async page => {
      const request = page.getByRole('combobox', { name: 'Request' })
      await request.click()
      await request.press('End')
      await request.pressSequentially('?sta')
      await page.getByRole('option', { name: /^status/ }).waitFor()
      await request.press('ArrowDown')
      // Who writes on at once finds the caret behind what was taken.
      const written = await page.evaluate(`(async () => {
        const field = document.activeElement
        field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Tab', bubbles: true, cancelable: true }))
        for (const letter of '=bl') {
          document.execCommand('insertText', false, letter)
          await new Promise(resolve => requestAnimationFrame(resolve))
        }
        return field.value
      })()`)
      assert.equal(written, '/v1/sites?status=bl')
      await page.getByRole('option', { name: /^blocked/ }).waitFor()
      await request.press('ArrowDown')
      await request.press('Enter')
      assert.equal(await request.inputValue(), '/v1/sites?status=blocked')
      await request.press('Enter')
      await page.waitForURL(/#\/data\/sites\?status=blocked$/)
      await page
        .getByRole('status')
        .filter({ hasText: /sites: 1 to (\d+) of \1/ })
        .waitFor()
    })
  })

  it('opens a record, what it links by name, and its lists as numbers', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/sites?id=2`, {}, async page => {
      await page.getByRole('link', { name: 'Open site 2' }).click()
      const record = page.getByRole('complementary')
      await record.getByRole('heading', { name: 'site 2' }).waitFor()
      await record.getByRole('link', { name: '9 Amber Media' }).waitFor()
      await record.getByRole('link', { name: '2 records' }).click()
      await page.waitForURL(/#\/data\/domains\?site=2$/)
      await page.getByText('domains: 1 to 2 of 2').waitFor()
    })
  })

  it('goes anywhere by Ctrl K', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui`, {}, async page => {
      await page.getByRole('region', { name: 'Resources' }).waitFor()
      await page.keyboard.press('Control+k')
      await page.keyboard.type('publi')
      await page.getByRole('option', { name: /publishers/ }).waitFor()
      // Opened again before the browser has told that it was closed.
      await page.evaluate(`(async () => {
        const press = (key, ctrlKey) =>
          document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey, bubbles: true, cancelable: true }))
        press('Enter', false)
        while (document.querySelector('.palette').open) await null
        press('k', true)
      })()`)
      await page.waitForURL(/#\/data\/publishers$/)
      await page.keyboard.type('site 7')
      await page.keyboard.press('Enter')
      await page.waitForURL(/#\/data\/sites\/7$/)
      await page.keyboard.press('Control+k')
      await page.keyboard.type('nothing of the kind')
      await page.getByText('Nothing has this name').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    })
  })

  it('is used by keyboard: the first step skips to the content', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/users`, {}, async page => {
      await firstRow(page).waitFor()
      await page.keyboard.press('Tab')
      assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content')
      await page.keyboard.press('Enter')
      assert.equal(await page.evaluate('document.activeElement.id'), 'main')
      assert.match(page.url(), /#\/data\/users$/)
    })
  })

  it('looks at worlds, reads once what it shows, and shows what others change', async () => {
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/users`, {}, async page => {
      await firstRow(page).waitFor()
      await page.getByLabel('World').selectOption({ label: 'New …' })
      await page.getByLabel('World').fill('mine')
      await page.keyboard.press('Enter')
      await page.waitForURL(/_ui\?world=mine#\/data\/users$/)
      const answer = await fetch(`${server.origin}/v1/users/1`, { method: 'DELETE', headers: { 'x-world': 'mine' } })
      assert.equal(answer.status, 200)
      await page.getByText('1 to 23 of 23').waitFor()
      const asked: string[] = []
      const note = (request: Request): void => void asked.push(new URL(request.url()).pathname)
      page.on('request', note)
      // The page before may ask until it has gone.
      page.once('framenavigated', () => void asked.splice(0))
      await page.reload()
      await page.getByText('1 to 23 of 23').waitFor()
      // Longer than changes are gathered before they are read.
      await page.waitForTimeout(400)
      page.off('request', note)
      assert.equal(asked.filter(path => path === '/v1/users').length, 1, asked.join(' '))
      await page.getByLabel('World').selectOption({ label: 'main' })
      await page.getByText('1 to 24 of 24').waitFor()
    })
  })

  it('looks as a user, by a token of its own', async () => {
    const User = defineEntity({
      name: 'User',
      properties: { id: p.integer().primary(), email: p.string(), passwordHash: p.string().hidden() },
    })
    await using guarded = await RestEngine.create({
      entities: [User],
      auth: auth({ entity: User, identifier: 'email', password: 'passwordHash' }),
      seed: { users: [{ email: 'ann@example.com', passwordHash: await hashPassword('secret') }] },
    })
    await using server = await serveWorkbench(guarded)
    await visit(browser, `${server.origin}/_ui#/data/users`, { allowed: /status of 401/ }, async page => {
      await page.getByText('A token is needed').waitFor()
      await page.getByLabel('As user').fill('1')
      await page.keyboard.press('Enter')
      await page.getByText('ann@example.com').waitFor()
      await page.waitForURL(/\?as=1#/)
    })
    assert.deepEqual(guarded.requests, [])
  })
})
