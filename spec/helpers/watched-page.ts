/**
 * Pages of the browser that are watched while they are used: nothing may be complained of in the console, nothing asked elsewhere, no list
 * asked for of more than 50 records, and nothing may violate the policy of the page.
 */
import assert from 'node:assert/strict'
import type { Browser, BrowserContextOptions, ConsoleMessage, Page, Request } from '@playwright/test'
import type { BorrowedBrowser } from './chromium.ts'

export const DESKTOP = { width: 1440, height: 900 }

export interface Visit extends Pick<BrowserContextOptions, 'javaScriptEnabled'> {
  /** By default `DESKTOP`. */
  readonly viewport?: { readonly width: number; readonly height: number }
  /** By default `light`. */
  readonly colorScheme?: 'light' | 'dark'
  /** What the console may say: the browser complains of each answer of 400 and above by itself. */
  readonly allowed?: RegExp
}

/** A page that is kept, and the origins that it may remember something of. */
interface Kept {
  readonly page: Page
  readonly origins: Set<string>
}

/** Pages that have script, for the next visit to another origin: a page and its context cost as much as a visit. */
const kept = new WeakMap<Browser, Kept>()

/** Returns a page that knows nothing of the origin, and takes it out of those that are kept. */
async function takePage(browser: Browser, javaScriptEnabled: boolean, origin: string): Promise<Kept> {
  if (javaScriptEnabled) {
    const found = kept.get(browser)
    kept.delete(browser)
    if (found?.origins.has(origin) === false) return { ...found, origins: found.origins.add(origin) }
    await found?.page.context().close()
  }
  const context = await browser.newContext({ javaScriptEnabled, permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await context.newPage()
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', event => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`,
  )
  return { page, origins: new Set([origin]) }
}

/** Opens a page and uses it. */
export async function watchPage(
  { browser }: BorrowedBrowser,
  address: string,
  { allowed = /^$/, viewport = DESKTOP, colorScheme = 'light', javaScriptEnabled = true }: Visit,
  use: (page: Page) => Promise<void>,
): Promise<void> {
  const { origin } = new URL(address)
  const taken = await takePage(browser, javaScriptEnabled, origin)
  const { page } = taken
  const complaints: string[] = []
  const hear = (message: ConsoleMessage): void => {
    if (['error', 'warning'].includes(message.type()) && !allowed.test(message.text())) complaints.push(message.text())
  }
  const fail = (error: Error): void => void complaints.push(String(error))
  const look = (request: Request): void => void complaints.push(...findFaults(new URL(request.url()), origin))
  page.on('console', hear).on('pageerror', fail).on('request', look)
  try {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.goto(address)
    await use(page)
    assert.deepEqual(complaints, [])
  } catch (error) {
    await page.context().close()
    throw error
  }
  if (!javaScriptEnabled) return page.context().close()
  page.off('console', hear).off('pageerror', fail).off('request', look)
  // It asks nothing more.
  await page.goto('about:blank')
  kept.set(browser, taken)
}

function findFaults(url: URL, origin: string): string[] {
  if (url.protocol !== 'data:' && url.origin !== origin) return [`asks ${url.href}`]
  // Requests of the journal are no records.
  const isList = !url.pathname.includes('/_test/')
  return isList && Number(url.searchParams.get('limit')) > 50 ? [`asks for more than a page: ${url.href}`] : []
}
