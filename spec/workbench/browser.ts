/** The workbench in headless Chromium, for specs: a page that is watched, and in which axe finds no flaw at all at the end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'
import { createServer } from '../../lib/index.ts'
import type { RestEngine, ServerOptions } from '../../lib/index.ts'
import { findViolations } from '../helpers/axe.ts'
import type { BorrowedBrowser } from '../helpers/chromium.ts'
import { watchPage } from '../helpers/watched-page.ts'
import type { Visit } from '../helpers/watched-page.ts'

export const PHONE = { width: 390, height: 844 }

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

/** Opens a page and uses it; at the end axe finds no flaw, and nothing runs out of the page sideways. */
export async function visit(borrowed: BorrowedBrowser, address: string, options: Visit, use: (page: Page) => Promise<void>): Promise<void> {
  await watchPage(borrowed, address, options, async page => {
    await use(page)
    assert.deepEqual(await findFlaws(page), [])
  })
}

/** What axe finds, and whether the page scrolls sideways. */
export async function findFlaws(page: Page): Promise<unknown[]> {
  const flaws = await findViolations(page)
  const overhang = (await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')) as number
  return overhang > 0 ? [...flaws, `the page is ${overhang} pixels too wide`] : flaws
}
