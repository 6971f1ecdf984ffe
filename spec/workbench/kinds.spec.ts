/** Writing in the workbench on databases of other kinds: a SQLite file of another program, a JSON file, PostgreSQL. */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { Command } from '../helpers/command.ts'
import { findNoServer, ownDatabase } from '../postgres/server-database.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import type { BorrowedBrowser } from '../helpers/chromium.ts'
import { serveWorkbench, visit } from './browser.ts'

const CHINOOK = fileURLToPath(new URL('../../../shared/data/chinook.sqlite', import.meta.url))
const NO_SERVER = await findNoServer()

describe('writing in the workbench on other databases', { skip: NO_BROWSER, timeout: 180_000 }, () => {
  let browser: BorrowedBrowser
  const folder = mkdtempSync(join(tmpdir(), 'workbench-'))
  before(async () => {
    browser = await borrowBrowser()
  })
  after(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Writes into the cell of a record, and waits until it is saved. */
  const write = async (page: Page, label: string, value: string): Promise<void> => {
    const [column, , singular, id] = label.split(' ') as [string, string, string, string]
    const row = page
      .locator('table.records tbody tr')
      .filter({ has: page.getByRole('link', { name: `Open ${singular} ${id}`, exact: true }) })
    await row.waitFor()
    const place = await page
      .locator('table.records thead th')
      .evaluateAll((heads, name) => heads.findIndex(head => head.textContent.startsWith(name)), column)
    await row.locator('> *').nth(place).dblclick()
    await page.getByLabel(label, { exact: true }).fill(value)
    await page.keyboard.press('Enter')
    await page.getByLabel(label, { exact: true }).waitFor({ state: 'detached' })
  }

  it(
    'changes a SQLite file of another program, and says what goes with a record',
    { skip: existsSync(CHINOOK) ? false : 'there is no chinook.sqlite' },
    async () => {
      const database = join(folder, 'chinook.sqlite')
      copyFileSync(CHINOOK, database)
      await using engine = await RestEngine.create({ database })
      await using server = await serveWorkbench(engine)
      await visit(browser, `${server.origin}/_ui#/data/artists?limit=5`, {}, async page => {
        await write(page, 'name of artist 1', 'AC/DC and others')
        await page.getByRole('link', { name: 'Open artist 1', exact: true }).click()
        await page.getByRole('link', { name: '2 albums need it (by artist).' }).waitFor()
        assert.ok(await page.getByRole('button', { name: 'Delete …' }).isDisabled())
      })
      assert.equal(
        ((await engine.send('GET /v1/artists/1')).body as unknown as { artist: { name: string } }).artist.name,
        'AC/DC and others',
      )
    },
  )

  it('changes a JSON file, and makes up records of it', async () => {
    const file = join(folder, 'db.json')
    writeFileSync(file, JSON.stringify({ authors: [{ id: 1, name: 'Ann' }], posts: [{ id: 1, title: 'One', authorId: 1, tags: ['a'] }] }))
    await using command = new Command(folder, 'db.json', '--port', '0', '--save')
    await visit(browser, `${await command.origin()}/_ui#/data/posts`, {}, async page => {
      await write(page, 'title of post 1', 'Two')
      await page.getByRole('button', { name: 'Make up 10' }).click()
      await page.getByRole('button', { name: /^Really write 10/ }).click()
      await page.locator('tr.fresh').nth(9).waitFor()
    })
    for (let tries = 0; tries < 50 && !readFileSync(file, 'utf8').includes('"Two"'); tries++)
      await new Promise(resolve => setTimeout(resolve, 100))
    assert.equal((JSON.parse(readFileSync(file, 'utf8')) as { posts: { title: string }[] }).posts[0]!.title, 'Two')
  })

  it('changes a database of PostgreSQL, and tries a CSV file in a copy of it', { skip: NO_SERVER }, async () => {
    const Book = defineEntity({
      name: 'Book',
      properties: { id: p.integer().primary(), title: p.string().unique(), price: p.decimal().precision(8).scale(2).nullable() },
    })
    await using own = await ownDatabase()
    await using engine = await RestEngine.create({
      entities: [Book],
      database: own.database,
      seed: { books: [{ title: 'One', price: '1.00' }] },
    })
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/books`, { allowed: /status of 4(09|22)/ }, async page => {
      await write(page, 'price of book 1', '2.50')
      await page.getByRole('button', { name: 'Import CSV' }).click()
      await page
        .getByLabel('CSV file')
        .setInputFiles({ name: 'books.csv', mimeType: 'text/csv', buffer: Buffer.from('title,price\nTwo,3\nOne,\n') })
      await page.getByRole('button', { name: 'Try it' }).click()
      await page.getByText(/Line 3: /).waitFor()
      await page.getByRole('button', { name: 'Cancel' }).click()
    })
    const { books } = (await engine.send('GET /v1/books')).body as unknown as { books: { price: string }[] }
    assert.deepEqual(
      books.map(({ price }) => price),
      ['2.50'],
    )
  })
})
