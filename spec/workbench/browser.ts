/**
 * The workbench in headless Chromium, for specs. A page that is opened here is watched until its end: nothing may be complained of in the
 * console, nothing asked elsewhere, no list asked for of more than 50 records, and nothing may violate its policy; at the end axe finds no
 * flaw at all, and nothing runs out of the page sideways.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { chromium } from '@playwright/test'
import type { Browser, BrowserContextOptions, Page } from '@playwright/test'
import { createServer } from '../../lib/index.ts'
import type { RestEngine, ServerOptions } from '../../lib/index.ts'
import { findViolations } from '../helpers/axe.ts'

const BROWSERS = [process.env['CHROMIUM'] ?? '', 'chromium', 'chromium-browser', 'google-chrome']
const found = BROWSERS.find(name => name !== '' && spawnSync(name, ['--version']).status === 0)

/** Why there is no browser; false where there is one. */
export const NO_BROWSER: string | false = found === undefined ? 'there is no Chromium' : false

export const DESKTOP = { width: 1440, height: 900 }
export const PHONE = { width: 390, height: 844 }

export async function launch(): Promise<Browser> {
  const executablePath = spawnSync('sh', ['-c', `command -v ${found}`], { encoding: 'utf8' }).stdout.trim()
  // As root, where continuous integration often is, Chromium does not run in its sandbox.
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync']
  return chromium.launch({ executablePath, args })
}

export interface Served extends AsyncDisposable {
  readonly origin: string
}

export async function serveWorkbench(engine: RestEngine, options: ServerOptions = {}, port = 0): Promise<Served> {
  const server = createServer(engine, { workbench: true, ...options }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

interface Visit extends BrowserContextOptions {
  /** What the console may say: the browser complains of each answer of 400 and above by itself. */
  readonly allowed?: RegExp
}

/** Opens a page and uses it. */
export async function visit(
  browser: Browser,
  address: string,
  { allowed = /^$/, ...options }: Visit,
  use: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ viewport: DESKTOP, ...options, permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await context.newPage()
  const complaints: string[] = []
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', event => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`,
  )
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type()) && !allowed.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('request', request => {
    const url = new URL(request.url())
    if (url.protocol !== 'data:' && url.origin !== new URL(address).origin) complaints.push(`asks ${request.url()}`)
    // Requests of the journal are no records.
    if (!url.pathname.includes('/_test/') && Number(url.searchParams.get('limit')) > 50)
      complaints.push(`asks for more than a page: ${request.url()}`)
  })
  try {
    await page.goto(address)
    await use(page)
    assert.deepEqual(await findFlaws(page), [])
    assert.deepEqual(complaints, [])
  } finally {
    await context.close()
  }
}

/** What axe finds, and whether the page scrolls sideways. */
export async function findFlaws(page: Page): Promise<unknown[]> {
  const flaws = await findViolations(page)
  const overhang = (await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')) as number
  return overhang > 0 ? [...flaws, `the page is ${overhang} pixels too wide`] : flaws
}
