/** Main: starts an engine in the page, and the workbench on it. The data are those of a link, of the tab, or of the sample. */
import wasm from '@sqlite.org/sqlite-wasm/sqlite3.wasm'
import { loadSqlite } from '../lib/databases/sqlite/wasm/load-page-sqlite.ts'
import { isLink, keepData, readKept, readLink, type GivenData } from './given-data.ts'
import { PageEventSource } from './page-event-source.ts'
import { PageServer } from './page-server.ts'
import { openWorld, type PlayedWorld } from './played-world.ts'
import { saveByFetch } from './save-file.ts'

interface OpenedWorld {
  readonly world: PlayedWorld
  /** Data that cannot be served: the world is another. */
  readonly refused?: { readonly data: GivenData | undefined; readonly error: Error }
}

async function open(): Promise<OpenedWorld> {
  const { hash, pathname, search } = location
  let data: GivenData | undefined
  try {
    data = isLink(hash) ? await readLink(hash) : readKept()
    const world = await openWorld(data)
    keepData(data)
    return { world }
  } catch (error) {
    return { world: await openWorld(isLink(hash) ? readKept() : undefined), refused: { data, error: error as Error } }
  } finally {
    // The fragment is the reader's place in the workbench.
    if (isLink(hash)) history.replaceState(null, '', pathname + search)
  }
}

async function start(): Promise<void> {
  await loadSqlite(new URL(wasm, import.meta.url))
  const { world, refused } = await open()
  const { engine, title } = world
  globalThis.fetch = new PageServer(engine, title, document.body.dataset['origin']!).fetch
  globalThis.EventSource = PageEventSource as unknown as typeof EventSource
  addEventListener('click', saveByFetch)
  // In a tab that has the page already, a link changes the fragment alone.
  addEventListener('hashchange', () => {
    if (isLink(location.hash)) location.reload()
  })
  document.body.replaceChildren()
  const [{ showBar }] = await Promise.all([import('./bar.tsx'), import('../lib/workbench/main.tsx')])
  showBar(world, refused)
}

try {
  await start()
} catch (error) {
  document.body.textContent = `The playground cannot start: ${(error as Error).message}`
  throw error
}
