/** The page of `engine.spec.ts`: puts what the spec asks for into the window. */
import { RestEngine, auth, loadSqlite, resource } from '../../lib/browser.ts'
import { Event, Tag, askShop, logInWith, makeShop, readHash, useMembers, type Library } from './shop.ts'

const library: Library = { RestEngine, auth, resource }

const inPage = {
  RestEngine,
  Event,
  Tag,
  loadSqlite,
  library,
  makeShop,
  ask: async (): Promise<string[]> => askShop(await makeShop(library)),
  useMembers: async (): Promise<Record<string, unknown>> => useMembers(await makeShop(library)),
  readHash: async (): Promise<string> => readHash(await makeShop(library)),
  logInWith: async (hash: string): Promise<number> => logInWith(await makeShop(library), hash),
  /** What `work` throws. */
  failure: async (work: () => Promise<unknown>): Promise<string> => {
    try {
      await work()
      return 'nothing'
    } catch (error) {
      return String(error)
    }
  },
}

export type InPage = typeof inPage

Object.assign(globalThis, { inPage, ready: true })
