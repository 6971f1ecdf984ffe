/** The guide of docs/browser.md, built by Vite, shows in Chromium what the guide says. */
import assert from 'node:assert/strict'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bundledPage } from '../helpers/bundled-page.ts'
import { NO_BROWSER, borrowBrowser } from '../helpers/chromium.ts'
import { markedBlocks } from '../helpers/markdown.ts'
import { servePage, type ServedPage } from './serve-page.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Files of the guide, each with a page that loads the file, and the path of the page: MSW looks for its worker at the root. */
const PAGES = { main: '/demo', page: '/demo', msw: '' } as const

describe('the guide for pages', { skip: NO_BROWSER }, () => {
  let folder: string
  const served = new Map<string, ServedPage>()
  before(
    async () => {
      folder = await mkdtemp(join(tmpdir(), 'mikro-rest-guide-'))
      const library = join(folder, 'node_modules/mikro-rest')
      await mkdir(library, { recursive: true })
      await cp(await bundledPage(), join(library, 'dist/browser'), { recursive: true })
      await cp(join(root, 'package.json'), join(library, 'package.json'))
      for (const name of ['@mikro-orm', '@sqlite.org', 'kysely', 'msw'])
        await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'junction')
      for (const { marker, text } of markedBlocks(await readFile(join(root, 'docs/browser.md'), 'utf8')))
        await writeFile(join(folder, marker.replace('file ', '')), text)
      for (const name of Object.keys(PAGES)) {
        const page = `<!doctype html><body><script type="module" src="/${name}.js"></script></body>`
        await writeFile(join(folder, `${name}.html`), page)
      }
      await cp(join(root, 'node_modules/msw/lib/mockServiceWorker.js'), join(folder, 'public/mockServiceWorker.js'))
      const { build } = await import('vite')
      const { NODE_ENV } = process.env
      const input = Object.keys(PAGES).map(name => join(folder, `${name}.html`))
      await build({ root: folder, logLevel: 'error', build: { rolldownOptions: { input } } })
      // Vite sets the variable.
      if (NODE_ENV === undefined) delete process.env['NODE_ENV']
      for (const base of ['', '/demo']) served.set(base, await servePage(join(folder, 'dist'), base))
    },
    { timeout: 120_000 },
  )
  after(async () => {
    for (const each of served.values()) await each.close()
    await rm(folder, { recursive: true, force: true })
  })

  for (const [name, base] of Object.entries(PAGES))
    it(`shows the users that it asks for: ${name}.js at ${base}/`, { timeout: 60_000 }, async () => {
      const borrowed = await borrowBrowser()
      const context = await borrowed.browser.newContext()
      const page = await context.newPage()
      const failures: string[] = []
      page.on('pageerror', error => void failures.push(String(error.stack)))
      await page.goto(new URL(`${base}/${name}.html`, served.get(base)!.address).href)
      await page.waitForFunction("document.body.textContent.includes('Ann')", undefined, { timeout: 20_000 }).catch(() => {})
      assert.deepEqual(failures, [])
      assert.equal((await page.textContent('body'))?.trim(), 'Ann')
      await context.close()
      await borrowed.close()
    })
})
