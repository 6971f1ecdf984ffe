/** The worker of `worker.spec.ts`: an engine with many notes. */
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, loadSqlite, serveOn } from '../../lib/browser.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text() } })

const NOTES = Array.from({ length: 20_000 }, (_, index) => ({ text: `${'lorem ipsum '.repeat(20)}${index}` }))

async function start(): Promise<RestEngine> {
  await loadSqlite('/sqlite3.wasm')
  const engine: RestEngine = await RestEngine.create({
    entities: [Note],
    seed: { notes: NOTES },
    limits: { maxLimit: 20_000 },
    routes: [
      {
        method: 'GET',
        path: '/{version}/seen',
        handler: () => ({ body: engine.requests.map(({ path, status }) => `${path} ${status}`) }),
      },
    ],
  })
  engine.delay('GET /v1/notes/2', 60_000)
  engine.drop('GET /v1/notes/3')
  return engine
}

type SharedEnd = NonNullable<Parameters<typeof serveOn>[1]>

interface WorkerGlobals extends EventTarget {
  readonly location: { readonly search: string }
  postMessage(message: unknown, transfer: object[]): void
}

const worker = globalThis as unknown as WorkerGlobals

const engine = worker.location.search === '?fails' ? Promise.reject(new Error('no database')) : start()
if ('onconnect' in worker)
  worker.addEventListener('connect', event => serveOn(engine, (event as Event & { readonly ports: readonly [SharedEnd] }).ports[0]))
else serveOn(engine)
// Messages of the application stand beside those of the engine.
worker.addEventListener('message', event => {
  if ((event as Event & { readonly data: unknown }).data === 'hello') worker.postMessage('hello from the worker', [])
})
