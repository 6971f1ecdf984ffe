/**
 * PostgreSQL as WebAssembly, in memory or in a folder, with a single session. Throws Error in one line for a missing package, and
 * for a folder that is missing, broken, of something else, or in use.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { Duplex } from 'node:stream'
import type { PoolConfig } from 'pg'
import { PGLITE, isPglite, pgliteFolder } from '../../../records/database/describe-database.ts'
import { formatInstall } from '../../../records/database/install-line.ts'

/** Names the process that has a folder open: a second process would destroy the folder. */
const OWNER = 'mikro-rest.pid'

const openFolders = new Set<string>()

interface PglitePackage {
  readonly PGlite: { create(folder?: string): Promise<Pglite> }
}

export class PgliteDatabase {
  readonly #pglite: Pglite
  readonly #folder: string | undefined

  constructor(pglite: Pglite, folder?: string) {
    this.#pglite = pglite
    this.#folder = folder
  }

  get config(): PoolConfig {
    return {
      stream: () => new PgliteStream(this.#pglite),
      user: 'postgres',
      database: 'postgres',
      ssl: false,
      max: 1,
      // Ended sessions lose prepared statements; idle sessions cost nothing.
      idleTimeoutMillis: 0,
    }
  }

  /** Copies into memory. Only while nobody uses the session. */
  async clone(): Promise<PgliteDatabase> {
    return new PgliteDatabase(await this.#pglite.clone())
  }

  async close(): Promise<void> {
    await this.#pglite.close()
    if (this.#folder !== undefined) await leaveFolder(this.#folder)
  }
}

/**
 * Opens `pglite:` or `pglite:DIR`; `undefined` for the URL of a server.
 *
 * @param mayCreate makes a missing folder
 */
export async function openPglite(url: string, mayCreate: boolean): Promise<PgliteDatabase | undefined> {
  if (!isPglite(url)) return undefined
  const given = pgliteFolder(url)
  const folder = given === undefined ? undefined : resolve(given)
  const { PGlite } = await loadPackage()
  if (folder !== undefined) await takeFolder(folder, url, mayCreate)
  try {
    return new PgliteDatabase(await PGlite.create(folder), folder)
  } catch (error) {
    if (folder !== undefined) await leaveFolder(folder)
    // Errors of WebAssembly may have no message.
    const { message = '', name } = error as Partial<Error>
    throw new Error(`The database ${url} cannot be opened: ${message === '' ? name : message.split('\n', 1)[0]}.`, { cause: error })
  }
}

/** Copies into a temporary folder. PostgreSQL recovers a copy taken amid a write. */
export async function copyPglite(url: string): Promise<{ readonly url: string; readonly remove: () => void }> {
  const folder = resolve(pgliteFolder(url)!)
  const copy = mkdtempSync(join(tmpdir(), 'mikro-rest-trial-'))
  const remove = (): void => rmSync(copy, { recursive: true, force: true })
  const isKept = (path: string): boolean => ![OWNER, 'postmaster.pid'].includes(basename(path))
  try {
    // The engine makes a missing folder.
    if (existsSync(folder)) await cp(folder, copy, { recursive: true, filter: isKept })
  } catch (error) {
    remove()
    throw error
  }
  return { url: `pglite:${copy}`, remove }
}

async function loadPackage(): Promise<PglitePackage> {
  try {
    return (await import(PGLITE)) as PglitePackage
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Error(`A PGlite database needs one more package: ${formatInstall(PGLITE)}`, { cause: error })
  }
}

async function takeFolder(folder: string, url: string, mayCreate: boolean): Promise<void> {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new Error(`The database ${url} cannot be opened: ${error.code === 'ENOTDIR' ? 'it is not a folder' : error.message}.`, {
      cause: error,
    })
  })
  // A process killed before making the database leaves the pid file alone.
  const isNew = found === undefined || found.every(each => each === OWNER)
  if (isNew && !mayCreate) throw new Error(`The database ${url} does not exist.`)
  if (!isNew && !found.includes('PG_VERSION')) throw new Error(`The database ${url} cannot be opened: the folder holds something else.`)
  await mkdir(folder, { recursive: true })
  const owner = join(folder, OWNER)
  const holder = Number(await readFile(owner, 'utf8').catch(() => '0'))
  // A pid may be reused, as in a container: the mark may have our own number.
  if (holder === process.pid ? openFolders.has(folder) : isRunning(holder))
    throw new Error(`The database ${url} is open already (process ${holder}): a folder of PGlite serves one engine at a time.`)
  // Left behind by a killed process.
  await rm(owner, { force: true })
  await writeFile(owner, String(process.pid), { flag: 'wx' })
  openFolders.add(folder)
}

async function leaveFolder(folder: string): Promise<void> {
  openFolders.delete(folder)
  await rm(join(folder, OWNER), { force: true })
}

function isRunning(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

interface Pglite {
  execProtocolRaw(messages: Uint8Array): Promise<Uint8Array>
  exec(sql: string): Promise<unknown>
  clone(): Promise<Pglite>
  close(): Promise<void>
}

/** Ends a client's connection, but PGlite's backend must go on. */
const TERMINATE = 0x58

type StreamDone = (error?: Error | null) => void

class PgliteStream extends Duplex {
  readonly #pglite: Pglite
  #hasBegun = false

  constructor(pglite: Pglite) {
    super({ allowHalfOpen: false })
    this.#pglite = pglite
  }

  /** `pg` passes port and host; neither matters. */
  connect(): this {
    process.nextTick(() => this.emit('connect'))
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  /** No handle keeps the process running. */
  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: StreamDone): void {
    void this.#forward(chunk, done)
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: StreamDone): void {
    void this.#forward(Buffer.concat(chunks.map(({ chunk }) => chunk)), done)
  }

  override _final(done: StreamDone): void {
    this.push(null)
    done()
  }

  async #forward(messages: Buffer, done: StreamDone): Promise<void> {
    let failed: unknown
    try {
      await this.#send(messages)
    } catch (error) {
      failed = error
    }
    done(failed as Error | undefined)
  }

  async #send(messages: Buffer): Promise<void> {
    let sent = messages
    if (this.#hasBegun) sent = withoutTerminate(messages)
    else {
      // The first message has no type.
      this.#hasBegun = true
      await this.#pglite.exec('rollback')
      await this.#pglite.exec('discard all')
    }
    if (sent.length === 0) return
    const answer = await this.#pglite.execProtocolRaw(sent)
    if (answer.length > 0) this.push(answer)
  }
}

/** Cuts off TERMINATE, and all later messages. */
function withoutTerminate(messages: Buffer): Buffer {
  for (let at = 0; at < messages.length; at += 1 + messages.readInt32BE(at + 1))
    if (messages[at] === TERMINATE) return messages.subarray(0, at)
  return messages
}
