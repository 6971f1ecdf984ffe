/**
 * An engine in the list. The first click starts a workbench server for the engine, on a free port of 127.0.0.1. If the settings say so, the
 * engine waits at the end.
 */
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isAbsolute, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import type { Showing } from '../../engine/assembly/engine-internals.ts'
import { internalsOf } from '../../engine/assembly/internals.ts'
import { WORKBENCH } from '../../records/request/reserved-paths.ts'
import type { WorldEngine } from '../server/controls/world-engine.ts'
import { createShownServer } from '../server/http.ts'

export interface EngineFacts {
  readonly id: string
  readonly name: string
  /** File and line of the making; of a test, the file. */
  readonly place: string
  readonly requests: number
  readonly waits: boolean
  readonly failure?: string
}

export interface Audience {
  readonly settings: Settings
  readonly home: string
  changed(): void
  left(engine: ShownEngine): void
}

const MAX_TEXT = 300

export class ShownEngine implements Showing {
  readonly id: string
  readonly #engine: WorldEngine
  readonly #audience: Audience
  #name: string
  #place: string
  #failure: string | undefined
  #isHidden = false
  #release: (() => void) | undefined
  #server: Promise<Server> | undefined

  constructor(id: string, engine: WorldEngine, made: { readonly name: string; readonly place: string }, audience: Audience) {
    this.id = id
    this.#engine = engine
    this.#audience = audience
    this.#name = made.name
    this.#place = made.place
  }

  get isHidden(): boolean {
    return this.#isHidden
  }

  get waits(): boolean {
    return this.#release !== undefined
  }

  get facts(): EngineFacts {
    return {
      id: this.id,
      name: this.#name.slice(0, MAX_TEXT),
      place: this.#place,
      requests: internalsOf(this.#engine).parts.journal?.position ?? 0,
      waits: this.waits,
      ...(this.#failure === undefined ? {} : { failure: this.#failure.slice(0, MAX_TEXT) }),
    }
  }

  rename(name: string, place: string | undefined): void {
    this.#name = name
    this.#place = place === undefined ? this.#place : formatPath(place, process.cwd())
  }

  hide(): void {
    this.#isHidden = true
  }

  fail(reason: string): void {
    // Runners colour their messages.
    this.#failure = stripVTControlCharacters(reason)
  }

  async open(): Promise<string> {
    const server = await (this.#server ??= this.#listen())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}${this.#engine.base}/${WORKBENCH}`
  }

  async #listen(): Promise<Server> {
    const server = createShownServer(this.#engine, { title: this.#name.slice(0, MAX_TEXT), home: this.#audience.home })
    // Keeps no process of tests running.
    server.on('connection', socket => socket.unref())
    server.listen(0, '127.0.0.1').unref()
    await once(server, 'listening')
    return server
  }

  leave(): Promise<void> | undefined {
    const { waiting } = this.#audience.settings
    const isWaiting = !this.#isHidden && (waiting === 'all' || (waiting === 'failed' && this.#failure !== undefined))
    if (!isWaiting && this.#server === undefined) {
      this.#audience.left(this)
      return undefined
    }
    return this.#end(isWaiting)
  }

  async #end(isWaiting: boolean): Promise<void> {
    if (isWaiting) await this.wait()
    this.#audience.left(this)
    const server = await this.#server?.catch(() => undefined)
    if (server === undefined) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  async wait(): Promise<void> {
    await new Promise<void>(resolve => {
      this.#release = resolve
      this.#audience.changed()
    })
    this.#release = undefined
    this.#audience.changed()
  }

  letGo(): void {
    this.#release?.()
  }
}

/** A frame of a file: `at name (file:///a/b.ts:12:3)`, `at /a/b.ts:12:3`. */
const FRAME = /(?:\(|at (?:async )?)((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/]).+?):(\d+):\d+\)?$/

/** This package's folder: `lib/`, or `dist/lib/`. */
const PACKAGE = import.meta.url.slice(0, import.meta.url.lastIndexOf('/lib/') + 5)

/** @returns the application's line of the creation, `test/orders.test.js:12`; empty without a frame of a file */
export function findPlace(stack: string, folder: string): string {
  for (const line of stack.split('\n').slice(1)) {
    const [, file = '', row = ''] = FRAME.exec(line.trim()) ?? []
    if (file === '' || file.startsWith(PACKAGE) || file.startsWith(fileURLToPath(PACKAGE))) continue
    return `${formatPath(file.startsWith('file:') ? fileURLToPath(file) : file, folder)}:${row}`
  }
  return ''
}

export function formatPath(path: string, folder: string): string {
  if (!isAbsolute(path)) return path
  const below = relative(folder, path)
  return (below === '' || below.startsWith('..') ? path : below).replaceAll(sep, '/')
}

/** Engines kept open at the end, until the reader of the list lets go. */
type Waiting = 'none' | 'all' | 'failed'

export interface Settings {
  readonly port: number
  readonly waiting: Waiting
}

const WAITING: Readonly<Record<string, Waiting>> = { '': 'none', '0': 'none', '1': 'all', failed: 'failed' }

/** Reads `MIKRO_REST_WORKBENCH`, the port of the list of engines, and `MIKRO_REST_WORKBENCH_WAIT`. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const { MIKRO_REST_WORKBENCH: text = '', MIKRO_REST_WORKBENCH_WAIT: wait = '' } = env
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535)
    throw new RangeError(`MIKRO_REST_WORKBENCH must be a port from 1 to 65535, such as 3999, got ${JSON.stringify(text.slice(0, 100))}.`)
  const waiting = Object.hasOwn(WAITING, wait) ? WAITING[wait] : undefined
  if (waiting === undefined)
    throw new RangeError(
      'MIKRO_REST_WORKBENCH_WAIT must be "1", so that each engine waits at its end, or "failed", so that those of failed tests do, ' +
        `got ${JSON.stringify(wait.slice(0, 100))}.`,
    )
  return { port, waiting }
}
