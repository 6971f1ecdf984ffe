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

/** Files of the guide, each with a page that loads the file. */
const PAGES = ['main', 'page', 'msw']

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
      for (const name of ['@mikro-orm', '@sqlite.org', 'kysely', 'msw'])
        await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'junction')
      for (const { marker, text } of markedBlocks(await readFile(join(root, 'docs/browser.md'), 'utf8')))
        await writeFile(join(folder, marker.replace('file ', '')), text)
      for (const name of PAGES) {
        const page = `<!doctype html><body><script type="module" src="/${name}.js"></script></body>`
        await writeFile(join(folder, `${name}.html`), page)
      }
      await cp(join(root, 'node_modules/msw/lib/mockServiceWorker.js'), join(folder, 'public/mockServiceWorker.js'))
      const { build } = await import('vite')
      const { NODE_ENV } = process.env
      const input = PAGES.map(name => join(folder, `${name}.html`))
      await build({ root: folder, logLevel: 'error', worker: { format: 'es' }, build: { target: 'es2024', rolldownOptions: { input } } })
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

  for (const name of PAGES)
    it(`shows the users that it asks for: ${name}.js`, { timeout: 60_000 }, async () => {
      const borrowed = await borrowBrowser()
      const context = await borrowed.browser.newContext()
      const page = await context.newPage()
      const failures: string[] = []
      page.on('pageerror', error => void failures.push(String(error.stack)))
      await page.goto(`${served.address}${name}.html`)
      await page.waitForFunction("document.body.textContent.includes('Ann')", undefined, { timeout: 20_000 }).catch(() => {})
      assert.deepEqual(failures, [])
      assert.equal((await page.textContent('body'))?.trim(), 'Ann')
      await context.close()
      await borrowed.close()
    })
})
