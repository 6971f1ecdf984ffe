/** The page of `places.spec.ts`: posts what it has found. The second load, `?again`, finds the world of the first. */
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth, loadSqlite, removeWorld, resource } from '../../lib/browser.ts'
import { connect } from '../../lib/doors/page/ask-port.ts'
import { askShop, logInWith, makeShop, readHash, useMembers, type Library } from './shop.ts'

const library: Library = { RestEngine, auth, resource }

const API = 'https://api.example.test'

interface XhrLike {
  readonly status: number
  onloadend: (() => void) | null
  open(method: string, address: string): void
  send(): void
}
declare const XMLHttpRequest: new () => XhrLike
declare const Worker: new (address: string, options: { readonly type: 'module' }) => Parameters<typeof connect>[0]
declare const location: { readonly search: string; replace(address: string): void }

/** What the page posts at its first load. */
export interface FoundInPage {
  readonly answers: readonly string[]
  readonly members: Readonly<Record<string, unknown>>
  readonly hash: string
  readonly loggedIn: number
  readonly intercepted: readonly number[]
  readonly worker: number
  readonly place: string
  readonly agent: string
}

/** What the page posts at its second load. */
export interface FoundAgain {
  readonly kept: readonly string[]
  readonly afterReset: readonly string[]
}

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text() } })

const openNotes = (): Promise<RestEngine> =>
  RestEngine.create({ entities: [Note], persist: 'places', seed: { notes: [{ text: 'of the seed' }] } })

async function readTexts(engine: RestEngine): Promise<string[]> {
  const { body } = await engine.handle('GET', '/v1/notes', { sort: 'id' })
  return (body['notes'] as { text: string }[]).map(({ text }) => text)
}

async function intercept(shop: RestEngine): Promise<number[]> {
  using _ = shop.intercept(API)
  const response = await fetch(`${API}/v1/tags`)
  const request = new XMLHttpRequest()
  request.open('GET', `${API}/v1/missing`)
  const ended = new Promise<void>(resolve => (request.onloadend = resolve))
  request.send()
  await ended
  return [response.status, request.status]
}

async function askWorker(): Promise<number> {
  const engine = await connect(new Worker('/worker.js', { type: 'module' }))
  const response = await engine.fetch(`${API}/v1/notes?limit=0`)
  return ((await response.json()) as { readonly count: number }).count
}

async function findFirst(): Promise<FoundInPage> {
  const shop = await makeShop(library)
  const [hash, loggedIn] = [await readHash(shop), await logInWith(shop, await readHash(await makeShop(library)))]
  await removeWorld('places')
  const notes = await openNotes()
  await notes.handle('POST', '/v1/notes', undefined, { text: 'kept' })
  await notes.close()
  const { FileSystemFileHandle: files } = globalThis as { FileSystemFileHandle?: { readonly prototype: object } }
  return {
    answers: await askShop(await makeShop(library)),
    members: await useMembers(await makeShop(library)),
    hash,
    loggedIn,
    intercepted: await intercept(shop),
    worker: await askWorker(),
    agent: navigator.userAgent,
    place: files !== undefined && 'createWritable' in files.prototype ? 'OPFS' : 'IndexedDB',
  }
}

async function findAgain(): Promise<FoundAgain> {
  const engine = await openNotes()
  const kept = await readTexts(engine)
  await engine.reset()
  const afterReset = await readTexts(engine)
  await engine.close()
  return { kept, afterReset }
}

const post = async (found: object): Promise<unknown> => fetch('/found', { method: 'POST', body: JSON.stringify(found) })

try {
  await loadSqlite('/sqlite3.wasm')
  const isAgain = location.search === '?again'
  await post(isAgain ? await findAgain() : await findFirst())
  if (!isAgain) location.replace('/?again')
} catch (error) {
  await post({ failed: `${String(error)}\n${(error as Error).stack}` })
}
