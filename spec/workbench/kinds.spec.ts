/** The workbench on other models than the sample: JSON files, many tables, many rows, answers of another form, PostgreSQL. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Database from 'better-sqlite3'
import type { Browser, Page } from '@playwright/test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { Command } from '../helpers/command.ts'
import { NO_SERVER, WITH_POSTGRES, newSchema } from '../helpers/stores.ts'
import { NO_BROWSER, PHONE, launch, serveWorkbench, visit } from './browser.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })
const NOTES = { notes: Array.from({ length: 60 }, (_, index) => ({ text: `note ${index}` })) }

describe('the workbench on other models', { skip: NO_BROWSER, timeout: 240_000 }, () => {
  let browser: Browser
  let folder: string
  before(async () => {
    browser = await launch()
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-workbench-'))
  })
  after(async () => {
    await browser?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const rows = (page: Page) => page.locator('table.records tbody tr')

  it('shows a JSON file that the command serves, with IDs under their own name', async () => {
    const file = join(folder, 'db.json')
    await writeFile(
      file,
      JSON.stringify({ users: [{ id: 1, name: 'Ann' }], posts: [{ id: 1, title: 'Hello', userId: 1, tags: ['a', { b: null }] }] }),
    )
    await using command = new Command(folder, file, '--port', '0')
    const origin = await command.origin()
    await visit(browser, `${origin}/`, {}, async page => {
      await page.getByRole('navigation', { name: 'Parts' }).getByRole('link', { name: 'posts 1' }).click()
      await page.getByRole('link', { name: '1 Ann' }).waitFor()
      await page.getByText('[{"b":null}]').or(page.getByText('["a",{"b":null}]')).first().waitFor()
      await page.getByRole('link', { name: '1 Ann' }).click()
      await page.getByRole('complementary').getByRole('link', { name: '1 record' }).waitFor()
    })
  })

  it('narrows a list of 300 tables, on a phone, too', async () => {
    const file = join(folder, 'many.db')
    const database = new Database(file)
    for (let index = 0; index < 300; index++)
      database.exec(`create table t${index} (id integer primary key, name text); insert into t${index} values (1, 'x')`)
    database.close()
    await using engine = await RestEngine.create({ database: file })
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui`, {}, async page => {
      await page.getByRole('searchbox', { name: 'Narrow the resources' }).fill('t29')
      await page
        .getByRole('navigation', { name: 'Parts' })
        .getByRole('link', { name: /^t299s? 1$/ })
        .click()
      await rows(page).first().waitFor()
      assert.equal(await page.getByRole('navigation', { name: 'Parts' }).getByRole('link', { name: /^t/ }).count(), 11)
    })
    await visit(browser, `${server.origin}/_ui`, { viewport: PHONE, colorScheme: 'dark' }, async page => {
      await page.getByRole('region', { name: 'Resources' }).waitFor()
    })
  })

  it('shows pages of large tables, and counts lists of hundreds of thousands without reading them', async () => {
    const file = join(folder, 'large.db')
    const database = new Database(file)
    database.exec(`create table authors (id integer primary key, name text not null);
      create table books (id integer primary key, title text not null, author_id integer not null references authors(id)); create index by_author on books(author_id);
      insert into authors values (1, 'Prolific');
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000) insert into books select i, 'Book ' || i, 1 from n`)
    database.close()
    await using engine = await RestEngine.create({ database: file })
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/_ui#/data/authors`, {}, async page => {
      await page.getByRole('link', { name: /^200,?000 books of author 1$/ }).click()
      await page.getByText('books: 1 to 50 of 200,000').waitFor()
      await page.getByRole('link', { name: 'Last page' }).click()
      await page.getByText('books: 199,951 to 200,000 of 200,000').waitFor()
      assert.equal(await rows(page).count(), 50)
      await page.getByRole('combobox', { name: 'Request' }).fill('/v1/books?sort=title&limit=3')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Explain' }).click()
      await page.getByText('An index is missing').waitFor()
      await page.getByText('create index').first().waitFor()
    })
  })

  it('reads and writes where answers have the form of another backend, and parameters other names', async () => {
    await using engine = await RestEngine.create({
      entities: [Note],
      seed: NOTES,
      base: '/api',
      versions: [],
      envelope: {
        list: { data: 'records', meta: { total: 'count' } },
        record: { data: 'record' },
        error: ({ detail }) => ({ oops: detail }),
      },
      parameters: { limit: 'per_page', offset: 'skip', sort: 'order' },
    })
    await using server = await serveWorkbench(engine)
    await visit(browser, `${server.origin}/`, { allowed: /status of 400/ }, async page => {
      await page.waitForURL(/\/api\/_ui/)
      await page.getByRole('navigation', { name: 'Parts' }).getByRole('link', { name: 'notes 60' }).click()
      await page.getByRole('link', { name: 'Next page' }).click()
      await page.getByText('notes: 51 to 60 of 60').waitFor()
      await page.getByRole('button', { name: 'text', exact: true }).click()
      await page.waitForURL(/#\/data\/notes\?order=text$/)
      await page.getByText('notes: 1 to 50 of 60').waitFor()
      await page.getByRole('combobox', { name: 'Request' }).fill('/api/notes?txt=1')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').getByText('Did you mean "text"?').waitFor()
    })
    // Apps are answered in the form that they know.
    assert.deepEqual(Object.keys((await (await fetch(`${server.origin}/api/notes`)).json()) as object), ['data', 'meta'])
  })

  it(
    'shows what is on a PostgreSQL server, and leaves its tables as they are until a test is made of them',
    { skip: WITH_POSTGRES ? NO_SERVER : 'PostgreSQL is left out' },
    async () => {
      await using schema = await newSchema()
      await using engine = await RestEngine.create({ entities: [Note], seed: NOTES, database: schema.database })
      await using server = await serveWorkbench(engine)
      await visit(browser, `${server.origin}/_ui#/data/notes?text~=*9`, {}, async page => {
        await rows(page).first().waitFor()
        assert.equal(await rows(page).count(), 6)
        await page.getByText('PostgreSQL').first().waitFor()
        await engine.handle('PATCH', '/v1/notes/10', undefined, { text: 'changed 9' })
        await page.getByText('changed 9').waitFor()
      })
    },
  )

  it('says that the server does not answer, and goes on when it does again', async () => {
    await using engine = await RestEngine.create({ entities: [Note], seed: NOTES })
    const first = await serveWorkbench(engine)
    const port = Number(new URL(first.origin).port)
    await visit(browser, `${first.origin}/_ui#/data/notes`, { allowed: /ERR_(?:CONNECTION|INCOMPLETE|EMPTY)/ }, async page => {
      await rows(page).first().waitFor()
      await first[Symbol.asyncDispose]()
      await page.getByText('No answer').waitFor()
      await engine.handle('DELETE', '/v1/notes/1')
      const second = await serveWorkbench(engine, {}, port)
      await page.getByText('Live').waitFor()
      await page.getByText('notes: 1 to 50 of 59').waitFor()
      await second[Symbol.asyncDispose]()
    })
  })

  it('keeps its edges where the system forces colours, and is read at twice the size', async () => {
    await using engine = await RestEngine.create({ entities: [Note], seed: NOTES })
    await using server = await serveWorkbench(engine)
    // Twice the size: half of the pixels of a style.
    await visit(
      browser,
      `${server.origin}/_ui#/data/notes/2`,
      { forcedColors: 'active', viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 },
      async page => {
        await page.getByRole('complementary').waitFor()
        const outline = await page.evaluate(`getComputedStyle(document.querySelector('.side a[aria-current]')).outlineStyle`)
        assert.equal(outline, 'solid')
      },
    )
  })
})
