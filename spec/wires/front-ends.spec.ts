/** Front ends of other backends, unchanged but for the address, in a browser and from another origin. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Page } from '@playwright/test'
import { build } from 'esbuild'
import { NO_BROWSER, borrowBrowser, type BorrowedBrowser } from '../helpers/chromium.ts'
import { Command, ROOT } from '../helpers/command.ts'

const FRONTS = join(ROOT, 'fixtures/fronts')

const DATA = {
  users: [
    { id: 1, name: 'Ann', email: 'ann@x.test', password: 'secret1' },
    { id: 2, name: 'Bob', email: 'bob@x.test', password: 'secret2' },
  ],
  todos: ['Tea', 'Bread', 'Milk', 'Rice', 'Salt'].map((title, index) => ({
    id: index + 1,
    title,
    done: index === 1,
    userId: 1 + (index % 2),
  })),
}

async function servePage(text: string): Promise<{ readonly origin: string; readonly server: Server }> {
  const server = createHttpServer((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

describe('front ends in a browser', { skip: NO_BROWSER }, () => {
  let folder = ''
  let borrowed: BorrowedBrowser
  before(async () => {
    borrowed = await borrowBrowser()
    folder = await mkdtemp(join(tmpdir(), 'front-ends-'))
    await writeFile(join(folder, 'db.json'), JSON.stringify(DATA))
  })
  after(async () => {
    await borrowed?.close()
    await rm(folder, { recursive: true })
  })

  /** Fails where the page says an error, or the console of the browser does. */
  async function use(
    html: string,
    api: string,
    work: (page: Page, shown: (...lines: string[]) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const { origin, server } = await servePage(html)
    const page = await borrowed.browser.newPage()
    const errors: string[] = []
    page.on('pageerror', error => errors.push(String(error)))
    page.on('console', message => {
      if (message.type() === 'error' && !message.text().includes('favicon')) errors.push(message.text())
    })
    try {
      await page.goto(`${origin}/?api=${encodeURIComponent(api)}`)
      await work(page, async (...lines) => {
        const wanted = lines.join('\n')
        const read = async (): Promise<string> => {
          const items = await page
            .locator('li')
            .evaluateAll(all => all.map(item => `${item.className} ${item.firstChild!.textContent!.trim()}`))
          return [await page.locator('#total').textContent(), ...items].join('\n')
        }
        for (let tries = 0; tries < 100 && (await read()) !== wanted; tries++) await page.waitForTimeout(50)
        assert.equal(await read(), wanted, (await page.locator('#error').textContent()) ?? '')
      })
      assert.equal(await page.locator('#error').textContent(), '')
      assert.deepEqual(errors, [])
    } finally {
      await page.close()
      server.closeAllConnections()
      server.close()
    }
  }

  const press = (page: Page, id: number, name: string): Promise<void> => page.locator(`#todo-${id}`).getByRole('button', { name }).click()

  it('of json-server list, search, sort, page, and write, and the file has it all', async () => {
    await using command = new Command(folder, 'db.json', '--as', 'json-server', '--save=sync', '--port', '0', '--quiet')
    const html = await readFile(join(FRONTS, 'json-server.html'), 'utf8')
    await use(html, await command.origin(), async (page, shown) => {
      await shown('3 of 5', 'open Tea (Ann)', 'done Bread (Bob)', 'open Milk (Ann)')
      await page.getByRole('button', { name: 'Next' }).click()
      await shown('2 of 5', 'open Rice (Bob)', 'open Salt (Ann)')
      assert.ok(await page.getByRole('button', { name: 'Next' }).isDisabled())
      await page.getByRole('button', { name: 'Back' }).click()
      await page.getByLabel('Sort').selectOption('Z to A')
      await shown('3 of 5', 'open Tea (Ann)', 'open Salt (Ann)', 'open Rice (Bob)')
      await page.getByLabel('Search').fill('a')
      await shown('3 of 3', 'open Tea (Ann)', 'open Salt (Ann)', 'done Bread (Bob)')
      await press(page, 2, 'Toggle')
      await shown('3 of 3', 'open Tea (Ann)', 'open Salt (Ann)', 'open Bread (Bob)')
      await press(page, 2, 'Replace')
      await shown('3 of 3', 'open Tea (Ann)', 'open Salt (Ann)', 'open Bread! (Ann)')
      await press(page, 1, 'Remove')
      await shown('2 of 2', 'open Salt (Ann)', 'open Bread! (Ann)')
      await page.getByLabel('New').fill('Apples')
      await page.getByRole('button', { name: 'Add' }).click()
      await shown('3 of 3', 'open Salt (Ann)', 'open Bread! (Ann)', 'open Apples (Bob)')
    })
    const saved = JSON.parse(await readFile(join(folder, 'db.json'), 'utf8')) as { todos: { id: number; notes?: string }[] }
    assert.deepEqual(
      saved.todos.map(({ id }) => id),
      [2, 3, 4, 5, 6],
    )
    assert.equal(saved.todos.at(-1)!.notes, 'a new key')
    assert.deepEqual(saved.todos[0], { id: 2, title: 'Bread!', userId: 1 })
    assert.equal(await command.stop(), 0)
  })

  it('of Supabase log in, list with an embedded table, and write', async () => {
    await writeFile(join(folder, 'project.json'), JSON.stringify(DATA))
    await using command = new Command(folder, 'project.json', '--as', 'supabase', '--login', 'users', '--port', '0', '--quiet')
    const { outputFiles } = await build({
      entryPoints: [join(FRONTS, 'supabase.js')],
      bundle: true,
      format: 'iife',
      platform: 'browser',
      write: false,
      logLevel: 'silent',
    })
    const html = `<!doctype html><meta charset="utf-8" /><body><script>${outputFiles[0]!.text.replaceAll('</script', String.raw`<\/script`)}</script>`
    await use(html, await command.origin(), async (page, shown) => {
      await page.getByLabel('Email').fill('ann@x.test')
      await page.getByLabel('Password').fill('secret1')
      await page.getByRole('button', { name: 'Log in' }).click()
      await shown('3 of 5', 'open Tea (Ann)', 'done Bread (Bob)', 'open Milk (Ann)')
      assert.equal(await page.locator('#user').textContent(), 'ann@x.test')
      await press(page, 2, 'Toggle')
      await shown('3 of 5', 'open Tea (Ann)', 'open Bread (Bob)', 'open Milk (Ann)')
      await press(page, 2, 'Upsert')
      await shown('3 of 5', 'open Tea (Ann)', 'open Bread! (Bob)', 'open Milk (Ann)')
      await press(page, 1, 'Remove')
      await shown('3 of 4', 'open Bread! (Bob)', 'open Milk (Ann)', 'open Rice (Bob)')
      await page.getByLabel('New').fill('Apples')
      await page.getByRole('button', { name: 'Add' }).click()
      await shown('3 of 5', 'open Bread! (Bob)', 'open Milk (Ann)', 'open Rice (Bob)')
      await page.getByLabel('Search').fill('appl')
      await shown('1 of 1', 'open Apples (Ann)')
    })
    assert.equal(await command.stop(), 0)
  })
})
