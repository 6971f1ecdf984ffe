/** The workbench on a JSON file, in headless Chromium: an object as a form, a list without records, and what asks before it writes. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fromJson, RestEngine } from '../../lib/index.ts'
import { Command } from '../helpers/command.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import type { BorrowedBrowser } from '../helpers/chromium.ts'
import { PHONE, serveWorkbench, visit } from './browser.ts'

const DATA = {
  settings: { theme: 'dark', pageSize: 20 },
  posts: [{ id: 1, title: 'One', at: '2026-01-05T10:00:00.000Z' }],
  comments: [],
}

describe('a JSON file in the workbench', { skip: NO_BROWSER, timeout: 240_000 }, () => {
  let browser: BorrowedBrowser
  const folder = mkdtempSync(join(tmpdir(), 'workbench-json-'))
  before(async () => {
    browser = await borrowBrowser()
  })
  after(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('shows an object as a form: saves the difference, follows what others change, and offers nothing that cannot be done', async () => {
    await using engine = await RestEngine.create(fromJson(DATA))
    await using server = await serveWorkbench(engine)
    const settings = async () => (await engine.send('GET /v1/settings')).body['settings' as never] as Record<string, unknown>
    await visit(browser, `${server.origin}/_ui#/data/settings`, { viewport: PHONE, colorScheme: 'dark' }, async page => {
      const form = page.getByRole('region', { name: 'settings' })
      await form.getByRole('textbox', { name: 'pageSize' }).waitFor()
      assert.equal(await form.locator('[data-field]').count(), 2, 'no field for an ID, which the file does not have')
      await form.getByRole('textbox', { name: 'theme' }).fill('light')
      await form.getByRole('button', { name: 'Save' }).click()
      await form.getByText('Saved.').waitFor()
      assert.deepEqual([(await settings())['theme'], (await settings())['pageSize']], ['light', 20])
      assert.deepEqual(engine.requests.find(({ method }) => method === 'PATCH')!.body, { theme: 'light' })
      await engine.send('PATCH /v1/settings', { body: { pageSize: 30 } })
      for (let tries = 0; tries < 50 && (await form.getByRole('textbox', { name: 'pageSize' }).inputValue()) !== '30'; tries++)
        await page.waitForTimeout(100)
      // What is being written stays.
      await form.getByRole('textbox', { name: 'pageSize' }).fill('many')
      await engine.send('PATCH /v1/settings', { body: { theme: 'blue' } })
      await page.waitForTimeout(600)
      assert.equal(await form.getByRole('textbox', { name: 'pageSize' }).inputValue(), 'many')
      await form.getByRole('button', { name: 'Cancel' }).click()
      assert.deepEqual(
        [
          await form.getByRole('textbox', { name: 'pageSize' }).inputValue(),
          await form.getByRole('textbox', { name: 'theme' }).inputValue(),
        ],
        ['30', 'blue'],
      )
      for (const name of [/^New/, /^Make up/, /^Import/]) assert.equal(await page.getByRole('button', { name }).count(), 0)
    })
  })

  it('gives a list without records its first names by a form or a CSV file, and makes up nothing without names', async () => {
    await using engine = await RestEngine.create(fromJson({ comments: [], notes: [] }))
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/comments`, { allowed: /status of 422/ }, async page => {
      await page.getByText('There are no comments yet').waitFor()
      await page.getByRole('columnheader', { name: 'id' }).waitFor()
      assert.equal(await page.getByRole('button', { name: /^Make up/ }).count(), 0)
      await page.getByRole('button', { name: 'New comment' }).last().click()
      const more = page.getByRole('textbox', { name: 'more attributes' })
      await more.fill('["no object"]')
      await page.getByRole('button', { name: 'Create' }).click()
      await page.getByText('write an object of names and values').waitFor()
      await more.fill('{ "text": "Hello", "stars": 5 }')
      await page.getByRole('button', { name: 'Create' }).click()
      await page.getByRole('columnheader', { name: 'stars' }).waitFor()
      await page.getByRole('button', { name: 'Make up 10' }).waitFor()
      assert.deepEqual((await engine.send('GET /v1/comments/1?attributes=text,stars')).body['comment' as never], {
        text: 'Hello',
        stars: 5,
      })

      await page.goto(`${server.origin}/_ui#/data/notes`)
      await page.getByRole('button', { name: 'Import CSV' }).last().click()
      await page
        .getByLabel('CSV file')
        .setInputFiles({ name: 'notes.csv', mimeType: 'text/csv', buffer: Buffer.from('text,done,stars\nOne,true,5\nTwo,false,\n') })
      await page.getByRole('button', { name: 'Try it' }).click()
      await page.getByText('All 2 records can be imported.').waitFor()
      await page.getByRole('button', { name: 'Import 2 records' }).click()
      await page.getByRole('columnheader', { name: 'done' }).waitFor()
      assert.deepEqual((await engine.send('GET /v1/notes?attributes=text,done,stars')).body['notes' as never], [
        { text: 'One', done: true, stars: 5 },
        { text: 'Two', done: false, stars: null },
      ])
    })
  })

  it('asks before it makes up records of a file that is saved', async () => {
    const file = join(folder, 'db.json')
    writeFileSync(file, JSON.stringify(DATA))
    await using command = new Command(folder, 'db.json', '--port', '0', '--save')
    await visit(browser, `${await command.origin()}/_ui#/data/posts`, {}, async page => {
      await page.getByRole('button', { name: 'Make up 10' }).click()
      await page.getByRole('button', { name: /^Really write 10 made-up records into db\.json/ }).waitFor()
      await page.getByText('posts: 1 to 1 of 1').waitFor()
      await page.getByRole('button', { name: /^Really write 10/ }).click()
      await page.getByText('posts: 1 to 11 of 11').waitFor()
    })
    for (let tries = 0; tries < 50 && JSON.parse(readFileSync(file, 'utf8')).posts.length < 11; tries++)
      await new Promise(resolve => setTimeout(resolve, 100))
    assert.equal(JSON.parse(readFileSync(file, 'utf8')).posts.length, 11)
  })
})
