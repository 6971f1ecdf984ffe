/** What specs import of `lib/index.ts`, in a page: a test with a server, a file or PostgreSQL is left out. */
import { RestEngine as PageEngine, type EngineOptions } from '../../../lib/browser.ts'
import { LeftOut } from './test.ts'

export * from '../../../lib/browser.ts'

function create(options: EngineOptions): Promise<PageEngine> {
  if (options?.database !== undefined && options.database !== ':memory:') throw new LeftOut('a page has no files')
  return PageEngine.create(options)
}

export const RestEngine = new Proxy(PageEngine, {
  get: (target, name): unknown => (name === 'create' ? create : Reflect.get(target, name)),
})

export function createServer(): never {
  throw new LeftOut('a page has no servers')
}

export function listener(): never {
  throw new LeftOut('a page has no servers')
}
