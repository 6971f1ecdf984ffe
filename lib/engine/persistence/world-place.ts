/** Keeps the parts of a world in the browser, as private files of the origin (OPFS), or in IndexedDB. */

/** The state for `reset`, and the present state. */
type WorldPart = 'origin' | 'now'

export interface WorldPlace {
  /** Undefined: the part was never written whole. */
  read(part: WorldPart): Promise<Uint8Array | undefined>
  /** When the page ends during a write, the old part stays. */
  write(part: WorldPart, bytes: Uint8Array): Promise<void>
  remove(): Promise<void>
}

/**
 * Finds the place with the world. A new world gets OPFS, where the browser has OPFS.
 *
 * @throws Error where the browser has no place
 */
export async function findPlace(name: string): Promise<WorldPlace> {
  let first: WorldPlace | undefined
  let reason: unknown
  for (const find of [findFiles, findDatabase]) {
    try {
      const place = await find(name)
      if (place === undefined) continue
      if ((await place.read('origin')) !== undefined) return place
      first ??= place
    } catch (error) {
      // A private window may refuse one place alone.
      reason ??= error
    }
  }
  if (first !== undefined) return first
  throw new Error('"persist" needs OPFS or IndexedDB, and this page has neither: private windows may refuse both.', { cause: reason })
}

interface FileHandle {
  getFile(): Promise<Blob>
  /** Missing in Safari before version 26. */
  readonly createWritable?: () => Promise<{ write(bytes: Uint8Array): Promise<void>; close(): Promise<void> }>
}

interface FolderHandle {
  getDirectoryHandle(name: string, options?: { readonly create: boolean }): Promise<FolderHandle>
  getFileHandle(name: string, options?: { readonly create: boolean }): Promise<FileHandle>
  removeEntry(name: string, options?: { readonly recursive: boolean }): Promise<void>
}

const FOLDER = 'mikro-rest'

const MAX_TRIES = 3

/** Keeps each part in a private file of the origin (OPFS, fs.spec.whatwg.org). A write replaces a whole file. */
function placeInFiles(worlds: FolderHandle, name: string): WorldPlace {
  return {
    async read(part) {
      for (let tries = 1; ; tries++)
        try {
          const folder = await orMissing(worlds.getDirectoryHandle(name))
          const file = folder && (await orMissing(folder.getFileHandle(part)))
          const bytes = file === undefined ? undefined : new Uint8Array(await (await file.getFile()).arrayBuffer())
          // A write fills the file at the end: until then, a new file is empty.
          return bytes?.length === 0 ? undefined : bytes
        } catch (error) {
          // The last save of an ended page may still replace the file.
          if (tries === MAX_TRIES) throw error
        }
    },
    async write(part, bytes) {
      const folder = await worlds.getDirectoryHandle(name, { create: true })
      // Otherwise a new world would get the state of a removed world.
      if (part === 'origin') await orMissing(folder.removeEntry('now'))
      const file = await folder.getFileHandle(part, { create: true })
      const stream = await file.createWritable!()
      await stream.write(bytes)
      // Only now the file is replaced.
      await stream.close()
    },
    async remove() {
      const folder = await orMissing(worlds.getDirectoryHandle(name))
      if (folder === undefined) return
      // Without an origin nobody reads the rest.
      await orMissing(folder.removeEntry('origin'))
      await worlds.removeEntry(name, { recursive: true })
    },
  }
}

/** @returns undefined where files cannot be replaced */
async function findFiles(name: string): Promise<WorldPlace | undefined> {
  const { navigator, FileSystemFileHandle } = globalThis as unknown as {
    readonly navigator: { readonly storage?: { readonly getDirectory?: () => Promise<FolderHandle> } }
    readonly FileSystemFileHandle?: { readonly prototype: FileHandle }
  }
  const { storage } = navigator
  if (storage?.getDirectory === undefined || !(FileSystemFileHandle && 'createWritable' in FileSystemFileHandle.prototype)) return undefined
  const root = await storage.getDirectory()
  return placeInFiles(await root.getDirectoryHandle(FOLDER, { create: true }), name)
}

async function orMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if ((error as Error).name === 'NotFoundError') return undefined
    throw error
  }
}

interface PartStore {
  get(key: string[]): IndexedRequest<Uint8Array | undefined>
  put(bytes: Uint8Array, key: string[]): IndexedRequest<unknown>
  delete(key: string[]): IndexedRequest<unknown>
}

interface IndexedRequest<T> {
  readonly result: T
  readonly error: Error | null
  addEventListener(event: 'success' | 'error' | 'upgradeneeded', listener: () => void): void
}

interface IndexedTransaction {
  readonly error: Error | null
  addEventListener(event: 'complete' | 'abort', listener: () => void): void
  objectStore(name: string): PartStore
}

interface OpenIndexedDatabase {
  createObjectStore(name: string): unknown
  transaction(store: string, mode: 'readonly' | 'readwrite'): IndexedTransaction
}

const STORE = 'worlds'

/** Keeps the parts in IndexedDB: each write is a transaction. */
function placeInDatabase(database: OpenIndexedDatabase, name: string): WorldPlace {
  const change = (work: (store: PartStore) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, 'readwrite')
      transaction.addEventListener('complete', () => resolve())
      transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('IndexedDB has aborted the write.')))
      work(transaction.objectStore(STORE))
    })
  return {
    read: part => answerOf(database.transaction(STORE, 'readonly').objectStore(STORE).get([name, part])),
    write: (part, bytes) =>
      change(store => {
        if (part === 'origin') store.delete([name, 'now'])
        store.put(bytes, [name, part])
      }),
    remove: () =>
      change(store => {
        for (const part of ['origin', 'now'] satisfies WorldPart[]) store.delete([name, part])
      }),
  }
}

async function findDatabase(name: string): Promise<WorldPlace | undefined> {
  const { indexedDB } = globalThis as { readonly indexedDB?: { open(name: string): IndexedRequest<OpenIndexedDatabase> } }
  if (indexedDB === undefined) return undefined
  const opening = indexedDB.open('mikro-rest')
  opening.addEventListener('upgradeneeded', () => void opening.result.createObjectStore(STORE))
  return placeInDatabase(await answerOf(opening), name)
}

function answerOf<T>(request: IndexedRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error))
  })
}
