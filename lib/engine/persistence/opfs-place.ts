/** OPFS place: keeps the parts of a world as private files of the origin (fs.spec.whatwg.org). A write replaces a whole file. */
import type { WorldPart, WorldPlace } from './world-place.ts'

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

/** To read a file. */
const MAX_TRIES = 3

class Files implements WorldPlace {
  readonly #worlds: FolderHandle
  readonly #name: string

  constructor(worlds: FolderHandle, name: string) {
    this.#worlds = worlds
    this.#name = name
  }

  async read(part: WorldPart): Promise<Uint8Array | undefined> {
    for (let tries = 1; ; tries++)
      try {
        const folder = await orMissing(this.#worlds.getDirectoryHandle(this.#name))
        const file = folder && (await orMissing(folder.getFileHandle(part)))
        const bytes = file === undefined ? undefined : new Uint8Array(await (await file.getFile()).arrayBuffer())
        // A write fills the file at the end: until then, a new file is empty.
        return bytes?.length === 0 ? undefined : bytes
      } catch (error) {
        // The last save of a page may replace the file behind the end of the page.
        if (tries === MAX_TRIES) throw error
      }
  }

  async write(part: WorldPart, bytes: Uint8Array): Promise<void> {
    const folder = await this.#worlds.getDirectoryHandle(this.#name, { create: true })
    // Otherwise a new world would get the state of a removed world.
    if (part === 'origin') await orMissing(folder.removeEntry('now'))
    const file = await folder.getFileHandle(part, { create: true })
    const stream = await file.createWritable!()
    await stream.write(bytes)
    // Only now the file is replaced.
    await stream.close()
  }

  async remove(): Promise<void> {
    const folder = await orMissing(this.#worlds.getDirectoryHandle(this.#name))
    if (folder === undefined) return
    // Without an origin nobody reads the rest.
    await orMissing(folder.removeEntry('origin'))
    await this.#worlds.removeEntry(this.#name, { recursive: true })
  }
}

/** @returns undefined where files cannot be replaced */
export async function findFiles(name: string): Promise<WorldPlace | undefined> {
  const { navigator, FileSystemFileHandle } = globalThis as unknown as {
    readonly navigator: { readonly storage?: { readonly getDirectory?: () => Promise<FolderHandle> } }
    readonly FileSystemFileHandle?: { readonly prototype: FileHandle }
  }
  const { storage } = navigator
  if (storage?.getDirectory === undefined || !(FileSystemFileHandle && 'createWritable' in FileSystemFileHandle.prototype)) return undefined
  const root = await storage.getDirectory()
  return new Files(await root.getDirectoryHandle(FOLDER, { create: true }), name)
}

async function orMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if ((error as Error).name === 'NotFoundError') return undefined
    throw error
  }
}
