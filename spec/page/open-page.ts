/** Opens a page in Chromium that runs a file, with the library as pages have it. */
import type { Page } from '@playwright/test'
import { borrowBrowser } from '../helpers/chromium.ts'
import { serveEntry, type PageOptions } from './serve-entry.ts'

export interface OpenedPage {
  readonly page: Page
  /** What the page has loaded, by path. */
  readonly loaded: ReadonlyMap<string, Buffer>
  /** What the console and the window have complained of. */
  readonly complaints: readonly string[]
  close(): Promise<void>
}

/** @param entry a file that ends its work by `globalThis.ready = true` */
export async function openPage(entry: string, options?: PageOptions): Promise<OpenedPage> {
  const served = await serveEntry(entry, options)
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
    loaded: served.loaded,
    complaints,
    async close() {
      await context.close()
      await borrowed.close()
      await served.close()
    },
  }
}
