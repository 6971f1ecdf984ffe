/** The guide of docs/browser.md, built by Vite, shows in Chromium what the guide says. */
import assert from 'node:assert/strict'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bundlePage } from '../../scripts/bundle-page.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import { markedBlocks } from '../helpers/markdown.ts'
import { servePage, type ServedPage } from './serve-page.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('the guide for pages', { skip: NO_BROWSER }, () => {
  let folder: string
  let served: ServedPage
  before(
    async () => {
      folder = await mkdtemp(join(tmpdir(), 'mikro-rest-guide-'))
      const library = join(folder, 'node_modules/mikro-rest')
      await mkdir(library, { recursive: true })
      await bundlePage(root, join(library, 'dist/browser'))
      await cp(join(root, 'package.json'), join(library, 'package.json'))
      for (const name of ['@mikro-orm', '@sqlite.org', 'kysely'])
        await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'junction')
      for (const { marker, text } of markedBlocks(await readFile(join(root, 'docs/browser.md'), 'utf8')))
        await writeFile(join(folder, marker.replace('file ', '')), text)
      await writeFile(join(folder, 'index.html'), '<!doctype html><body><script type="module" src="/main.js"></script></body>')
      const { build } = await import('vite')
      const { NODE_ENV } = process.env
      await build({ root: folder, logLevel: 'error', build: { target: 'es2024' } })
      // Vite sets the variable.
      if (NODE_ENV === undefined) delete process.env['NODE_ENV']
      served = await servePage(join(folder, 'dist'))
    },
    { timeout: 120_000 },
  )
  after(async () => {
    await served?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('shows the users that it asks for', async () => {
    const borrowed = await borrowBrowser()
    const context = await borrowed.browser.newContext()
    const page = await context.newPage()
    const failures: string[] = []
    page.on('pageerror', error => void failures.push(String(error.stack)))
    await page.goto(served.address)
    await page.waitForFunction("document.body.textContent.includes('Ann')", undefined, { timeout: 20_000 }).catch(() => {})
    assert.deepEqual(failures, [])
    assert.equal((await page.textContent('body'))?.trim(), 'Ann')
    await context.close()
    await borrowed.close()
  })
})
