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
import type { Browser, BrowserContextOptions, ConsoleMessage, Page, Request } from '@playwright/test'
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

/** A page that is kept, and the origins that it may remember something of. */
interface Kept {
  readonly page: Page
  readonly origins: Set<string>
}

/** Pages by the options of their visits, for the next visit to another origin: a context and its process cost as much as a visit. */
const kept = new WeakMap<Browser, Map<string, Kept>>()

/** Returns a page that knows nothing of the origin, and takes it out of those that are kept. */
async function takePage(browser: Browser, options: BrowserContextOptions, origin: string): Promise<Kept> {
  const key = JSON.stringify(options)
  const found = kept.get(browser)?.get(key)
  kept.get(browser)?.delete(key)
  if (found?.origins.has(origin) === false) return { ...found, origins: found.origins.add(origin) }
  await found?.page.context().close()
  const context = await browser.newContext({ viewport: DESKTOP, ...options, permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await context.newPage()
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', event => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`,
  )
  return { page, origins: new Set([origin]) }
}

/** Opens a page and uses it. */
export async function visit(
  browser: Browser,
  address: string,
  { allowed = /^$/, ...options }: Visit,
  use: (page: Page) => Promise<void>,
): Promise<void> {
  const { origin } = new URL(address)
  const taken = await takePage(browser, options, origin)
  const { page } = taken
  const complaints: string[] = []
  const hear = (message: ConsoleMessage): void => {
    if (['error', 'warning'].includes(message.type()) && !allowed.test(message.text())) complaints.push(message.text())
  }
  const fail = (error: Error): void => void complaints.push(String(error))
  const look = (request: Request): void => {
    const url = new URL(request.url())
    if (url.protocol !== 'data:' && url.origin !== origin) complaints.push(`asks ${request.url()}`)
    // Requests of the journal are no records.
    if (!url.pathname.includes('/_test/') && Number(url.searchParams.get('limit')) > 50)
      complaints.push(`asks for more than a page: ${request.url()}`)
  }
  page.on('console', hear).on('pageerror', fail).on('request', look)
  try {
    await page.goto(address)
    await use(page)
    assert.deepEqual(await findFlaws(page), [])
    assert.deepEqual(complaints, [])
  } catch (error) {
    await page.context().close()
    throw error
  }
  page.off('console', hear).off('pageerror', fail).off('request', look)
  // It asks nothing more.
  await page.goto('about:blank')
  if (!kept.has(browser)) kept.set(browser, new Map())
  kept.get(browser)!.set(JSON.stringify(options), taken)
}

/** What axe finds, and whether the page scrolls sideways. */
export async function findFlaws(page: Page): Promise<unknown[]> {
  const flaws = await findViolations(page)
  const overhang = (await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')) as number
  return overhang > 0 ? [...flaws, `the page is ${overhang} pixels too wide`] : flaws
}
