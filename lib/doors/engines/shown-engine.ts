/**
 * An engine in the list. The first click starts a workbench server for the engine, on a free port of 127.0.0.1. If the settings say so, the
 * engine waits at the end.
 */
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { stripVTControlCharacters } from 'node:util'
import type { Showing } from '../../engine/assembly/engine-internals.ts'
import { internalsOf } from '../../engine/assembly/internals.ts'
import { WORKBENCH } from '../../records/request/reserved-paths.ts'
import { createShownServer } from '../server/http.ts'
import type { WorldEngine } from '../server/controls/world-engine.ts'
import { formatPath } from './creation-place.ts'
import type { Settings } from './settings.ts'

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
