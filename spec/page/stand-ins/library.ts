/** What specs import of `lib/index.ts`, in a page: a test that starts a server is left out. */
import { LeftOut } from './test.ts'

export * from '../../../lib/browser.ts'

export function createServer(): never {
  throw new LeftOut('a page has no servers')
}

export function listener(): never {
  throw new LeftOut('a page has no servers')
}
