/** The page of `persist.spec.ts`: opens engines that keep their world. */
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth, loadSqlite, removeWorld, type EngineOptions } from '../../lib/browser.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text() } })
const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), email: p.string(), password: p.string().hidden() } })
const LongerNote = defineEntity({
  name: 'Note',
  properties: { id: p.integer().primary(), text: p.text(), stars: p.integer().nullable() },
})

interface PageGlobals {
  readonly FileSystemWritableFileStream: { readonly prototype: SaveStream }
  readonly location: { replace(address: string): void }
}

type SaveStream = Record<'write' | 'close', (...given: unknown[]) => Promise<void>>

interface Folder {
  getDirectoryHandle(name: string): Promise<Folder>
  entries(): AsyncIterable<[string, { getFile(): Promise<Blob> }]>
}

/** In one transaction. */
const ROWS = 20

const inPage = {
  removeWorld,
  engine: undefined as unknown as RestEngine,
  failures: [] as string[],
  /** Opens the notes of a world. */
  async open(persist: string, options: Partial<EngineOptions> = {}): Promise<RestEngine> {
    inPage.engine = await RestEngine.create({
      entities: [Note],
      persist,
      seed: { notes: [{ text: 'of the seed' }] },
      onError: error => void inPage.failures.push(String(error)),
      ...options,
    })
    return inPage.engine
  },
  openLonger: (persist: string): Promise<RestEngine> => inPage.open(persist, { entities: [LongerNote] }),
  openUsers: (persist: string): Promise<RestEngine> =>
    inPage.open(persist, {
      entities: [User],
      auth: auth({ entity: User, secret: 'of the specs of a page, which nobody keeps' }),
      seed: { users: [{ email: 'ann@example.test', password: 'pass of ann' }] },
    }),
  async add(text: string): Promise<number> {
    return (await inPage.engine.handle('POST', '/v1/notes', undefined, { text })).body['note'].id as number
  },
  async texts(): Promise<string[]> {
    const { body } = await inPage.engine.handle('GET', '/v1/notes', { sort: 'id' })
    return (body['notes'] as { text: string }[]).map(({ text }) => text)
  },
  /** Writes without an end. */
  write(): void {
    const next = async (): Promise<void> => {
      const rows = Array.from({ length: ROWS }, () => ({ text: 'x'.repeat(2000) }))
      await inPage.engine.handle('POST', '/v1/notes', undefined, rows)
      setTimeout(() => void next(), 5)
    }
    void next()
  },
  /** Leaves the page within the next save: as soon as the bytes are on their way, or the file is to be replaced. */
  leaveWithin(step: 'write' | 'close'): void {
    const { FileSystemWritableFileStream, location } = globalThis as unknown as PageGlobals
    const own = FileSystemWritableFileStream.prototype[step]
    FileSystemWritableFileStream.prototype[step] = function (...given: unknown[]) {
      const done = own.apply(this, given)
      location.replace('about:blank')
      return done
    }
  },
  async count(): Promise<number> {
    return (await inPage.engine.handle('GET', '/v1/notes', { limit: 0 })).body['count'] as number
  },
  /** What SQLite finds wrong with the database. */
  async integrity(): Promise<unknown> {
    return inPage.engine.orm.em.fork().getConnection().execute('pragma integrity_check')
  },
  /** The files of a world in OPFS, by name. */
  async files(name: string): Promise<Record<string, string>> {
    const root = await (navigator as unknown as { storage: { getDirectory(): Promise<Folder> } }).storage.getDirectory()
    const folder = await (await root.getDirectoryHandle('mikro-rest')).getDirectoryHandle(name)
    const texts: Record<string, string> = {}
    for await (const [file, handle] of folder.entries()) texts[file] = await (await handle.getFile()).text()
    return texts
  },
  /** Whether the stored world holds a text. */
  isStored: async (name: string, text: string): Promise<boolean> => (await inPage.files(name))['now']?.includes(text) === true,
  failure: async (work: () => unknown): Promise<string> => {
    try {
      await work()
      return 'nothing'
    } catch (error) {
      return String(error)
    }
  },
}

export type PersistPage = typeof inPage

await loadSqlite('/sqlite3.wasm')
Object.assign(globalThis, { inPage, ready: true })
