/** Sends requests of a page to an engine in a worker: the entry `mikro-rest/port`. The page loads no engine. */
import type { WorldEngine } from '../server/controls/world-engine.ts'
import type { Origins } from '../server/intercept/addresses.ts'
import type { InterceptOptions, Interception } from '../server/intercept/intercept.ts'
import { intercept } from './intercept-page.ts'
import { readMessage, sendMessage, type EngineAddress, type MessageEnd, type PortAnswer, type RequestPort } from './port-messages.ts'

export type { InterceptOptions, Interception } from '../server/intercept/intercept.ts'

/** An engine in a worker. */
export interface ConnectedEngine {
  /** Like `engine.fetch`. */
  readonly fetch: (input: Request | URL | string, init?: RequestInit) => Promise<Response>
  /** Like `engine.intercept`. */
  intercept(origin: string | URL | readonly (string | URL)[], options?: Pick<InterceptOptions, 'strict'>): Interception
}

/**
 * Waits for the engine of a worker that calls `serveOn`.
 *
 * @param worker a worker, or the port of a shared worker
 * @throws Error where the engine of the worker cannot be made
 * @example const engine = await connect(new Worker(new URL('./backend.js', import.meta.url), { type: 'module' }))
 */
export async function connect(worker: MessageEnd): Promise<ConnectedEngine> {
  const facts = await greet(worker)
  const fetch: ConnectedEngine['fetch'] = (input, init) => new PortRequest(worker, new Request(input, init)).answer
  const place = { ...facts, fetch } as unknown as WorldEngine
  return { fetch, intercept: (origin: Origins, options = {}) => intercept(place, origin, options, () => {}) }
}

function greet(worker: MessageEnd): Promise<EngineAddress> {
  return new Promise((resolve, reject) => {
    worker.addEventListener('message', ({ data }) => {
      const message = readMessage(data)
      if (message === undefined || typeof message === 'string') return
      if ('base' in message) resolve(message)
      else if ('failure' in message) reject(new Error(`connect: the worker could not make its engine: ${message.failure}`))
    })
    worker.addEventListener('error', event => {
      const { message = 'is the address of the script right?' } = event as { readonly message?: string }
      reject(new Error(`connect: the worker has failed: ${message}`))
    })
    worker.start?.()
    sendMessage(worker, 'greeting')
  })
}

class PortRequest {
  readonly answer: Promise<Response>
  readonly #signal: AbortSignal
  readonly #port: RequestPort
  readonly #other: RequestPort
  #resolve!: (response: Response) => void
  #reject!: (error: unknown) => void
  #body: ReadableStreamDefaultController<Uint8Array> | undefined
  #pulled: (() => void) | undefined
  readonly #abort = (): void => this.#end(this.#signal.reason)

  constructor(worker: MessageEnd, request: Request) {
    this.#signal = request.signal
    const { port1, port2 } = new MessageChannel() as unknown as Readonly<Record<'port1' | 'port2', RequestPort>>
    this.#port = port1
    this.#other = port2
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    port1.addEventListener('message', ({ data }) => this.#take(data as PortAnswer))
    port1.start()
    this.#send(worker, request).catch(this.#reject)
  }

  async #send(worker: MessageEnd, request: Request): Promise<void> {
    this.#signal.throwIfAborted()
    const { url, method } = request
    const bytes = await request.arrayBuffer()
    this.#signal.throwIfAborted()
    this.#signal.addEventListener('abort', this.#abort)
    const body = bytes.byteLength === 0 ? undefined : bytes
    const transfer = body === undefined ? [this.#other] : [this.#other, body]
    sendMessage(worker, { url, method, headers: [...request.headers], body, port: this.#other }, transfer)
  }

  #take(answer: PortAnswer): void {
    if ('status' in answer) {
      const { status, headers, hasBody } = answer
      this.#resolve(new Response(hasBody ? this.#stream() : null, { status, headers: headers as [string, string][] }))
      if (!hasBody) this.#close()
    } else if ('error' in answer) {
      const { name, message } = answer.error
      this.#end(name === 'TypeError' ? new TypeError(message) : Object.assign(new Error(message), { name }))
    } else if (answer.piece === undefined) {
      this.#close()
      this.#body?.close()
    } else {
      this.#body?.enqueue(answer.piece)
      this.#pulled?.()
    }
  }

  #stream(): ReadableStream<Uint8Array> {
    return new ReadableStream({
      start: controller => {
        this.#body = controller
      },
      // The engine makes a piece on demand.
      pull: () => {
        this.#port.postMessage('more', [])
        return new Promise<void>(resolve => (this.#pulled = resolve))
      },
      cancel: () => this.#end(undefined),
    })
  }

  #end(error: unknown): void {
    this.#port.postMessage('end', [])
    this.#close()
    this.#reject(error)
    if (error !== undefined) this.#body?.error(error)
  }

  #close(): void {
    this.#signal.removeEventListener('abort', this.#abort)
    this.#pulled?.()
    this.#port.close()
  }
}
