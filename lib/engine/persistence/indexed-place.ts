/** Indexed place: keeps the parts of a world in IndexedDB, each write a transaction. */
import type { WorldPart, WorldPlace } from './world-place.ts'

/** An object store. */
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

class StoredParts implements WorldPlace {
  readonly #database: OpenIndexedDatabase
  readonly #name: string

  constructor(database: OpenIndexedDatabase, name: string) {
    this.#database = database
    this.#name = name
  }

  read(part: WorldPart): Promise<Uint8Array | undefined> {
    return answerOf(this.#database.transaction(STORE, 'readonly').objectStore(STORE).get([this.#name, part]))
  }

  write(part: WorldPart, bytes: Uint8Array): Promise<void> {
    return this.#change(store => {
      if (part === 'origin') store.delete([this.#name, 'now'])
      store.put(bytes, [this.#name, part])
    })
  }

  remove(): Promise<void> {
    return this.#change(store => {
      for (const part of ['origin', 'now'] satisfies WorldPart[]) store.delete([this.#name, part])
    })
  }

  #change(work: (store: PartStore) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const transaction = this.#database.transaction(STORE, 'readwrite')
      transaction.addEventListener('complete', () => resolve())
      transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('IndexedDB has aborted the write.')))
      work(transaction.objectStore(STORE))
    })
  }
}

export async function findDatabase(name: string): Promise<WorldPlace | undefined> {
  const { indexedDB } = globalThis as { readonly indexedDB?: { open(name: string): IndexedRequest<OpenIndexedDatabase> } }
  if (indexedDB === undefined) return undefined
  const opening = indexedDB.open('mikro-rest')
  opening.addEventListener('upgradeneeded', () => void opening.result.createObjectStore(STORE))
  return new StoredParts(await answerOf(opening), name)
}

function answerOf<T>(request: IndexedRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error))
  })
}
