/** Opens a page in Chromium that runs a file, with the library as pages have it: the bundle of `npm run build`. */
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { build, type Plugin } from 'esbuild'
import { bundledPage } from '../helpers/bundled-page.ts'
import { borrowBrowser } from '../helpers/chromium.ts'
import { serveFiles } from './serve-page.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const WASM = fileURLToPath(import.meta.resolve('@sqlite.org/sqlite-wasm/sqlite3.wasm'))

export interface OpenedPage {
  readonly page: Page
  /** What the page has loaded, by path. */
  readonly loaded: ReadonlyMap<string, Buffer>
  /** What the console and the window have complained of. */
  readonly complaints: readonly string[]
  close(): Promise<void>
}

/** Puts the bundle in the place of the entries in `lib/`, which the types of specs come from. */
const asBuilt = (folder: string): Plugin => ({
  name: 'as built',
  setup({ onResolve }) {
    onResolve({ filter: /\/lib\/browser\.ts$/ }, () => ({ path: join(folder, 'index.js') }))
    onResolve({ filter: /\/lib\/doors\/page\/ask-port\.ts$/ }, () => ({ path: join(folder, 'port.js') }))
  },
})

/**
 * @param entry a file that ends its work by `globalThis.ready = true`
 * @param policy the page's Content-Security-Policy
 * @param worker a file for `/worker.js`
 */
export async function openPage(
  entry: string,
  { policy, worker }: { readonly policy?: string; readonly worker?: string } = {},
): Promise<OpenedPage> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { page: entry, ...(worker === undefined ? {} : { worker }) },
    outdir: '/',
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    plugins: [asBuilt(await bundledPage())],
    nodePaths: [join(root, 'node_modules')],
    logLevel: 'warning',
  })
  const files = new Map<string, Buffer>(outputFiles.map(({ path, contents }) => [`/${basename(path)}`, Buffer.from(contents)]))
  files.set('/sqlite3.wasm', await readFile(WASM))
  const meta = policy === undefined ? '' : `<meta http-equiv="Content-Security-Policy" content="${policy}">`
  files.set('/index.html', Buffer.from(`<!doctype html><title>shop</title>${meta}<script type="module" src="/page.js"></script>`))
  const loaded = new Map<string, Buffer>()
  const served = await serveFiles(files, (path, content) => loaded.set(path, content))
  const borrowed = await borrowBrowser()
  const context = await borrowed.browser.newContext()
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', message => void complaints.push(message.text()))
  page.on('pageerror', error => void complaints.push(String(error.stack)))
  await page.goto(served.address)
  await page.waitForFunction('globalThis.ready === true', undefined, { timeout: 30_000 })
  return {
    page,
    loaded,
    complaints,
    async close() {
      await context.close()
      await borrowed.close()
      await served.close()
    },
  }
}
