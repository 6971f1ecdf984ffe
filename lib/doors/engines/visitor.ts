/** Visitor: a guest, as the host has it: the engines of another process, by its connection. */
import { EventEmitter, once } from 'node:events'
import type { Duplex } from 'node:stream'
import { createLineReader, parseState, type ProcessState, type Wish } from './state.ts'

/** A process in the list: that of the host, or a visitor. */
export interface ShownProcess {
  readonly state: ProcessState
  /** @returns the address of the workbench; undefined where there is no such engine, or its process does not answer */
  open(id: string): Promise<string | undefined>
  letGo(id: string): void
}

/** Milliseconds that a process has to open an engine: one that a debugger has stopped does not. */
const PATIENCE = 5000

export class Visitor implements ShownProcess {
  readonly #socket: Duplex
  readonly #told = new EventEmitter()
  #state: ProcessState = { pid: 0, name: '', engines: [] }

  constructor(socket: Duplex) {
    this.#socket = socket
    const read = createLineReader(line => {
      this.#state = parseState(line) ?? this.#state
      this.#told.emit('state')
    })
    socket.on('data', (chunk: Buffer) => {
      if (!read(chunk)) socket.destroy()
    })
  }

  get state(): ProcessState {
    return this.#state
  }

  async open(id: string): Promise<string | undefined> {
    const signal = AbortSignal.timeout(PATIENCE)
    this.#ask({ wish: 'open', id })
    for (;;) {
      const { address } = this.#state.engines.find(engine => engine.id === id) ?? {}
      if (address !== undefined || signal.aborted) return address
      // The signal says that it takes too long.
      await once(this.#told, 'state', { signal }).catch(() => {})
    }
  }

  letGo(id: string): void {
    this.#ask({ wish: 'go', id })
  }

  #ask(wish: Wish): void {
    if (this.#socket.writable) this.#socket.write(`${JSON.stringify(wish)}\n`)
  }
}
