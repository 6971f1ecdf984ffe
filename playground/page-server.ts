/**
 * Page server: answers the scripts of the page in which the engine runs, as `createServer` answers over HTTP: the API, the test controls and
 * the data of the workbench. Other origins are asked over the network.
 */
import { internalsOf } from '../lib/engine/assembly/internals.ts'
import type { RestEngine } from '../lib/engine.ts'
import { LazyClient } from '../lib/foundation/async/abort.ts'
import { HTTP_TIMEOUT } from '../lib/foundation/base/limits.ts'
import { isConnectionLost } from '../lib/foundation/errors/errors.ts'
import { TestControls } from '../lib/doors/server/controls/test-controls.ts'
import { answer } from '../lib/doors/server/fetch.ts'
import type { TransportEngine, TransportResponse } from '../lib/doors/server/transport.ts'
import { answerWorkbench, isLook, isOfWorkbench, isWorkbenchPath } from '../lib/doors/server/workbench-pages.ts'

const { fetch: askNetwork } = globalThis

export class PageServer {
  readonly #engine: RestEngine
  readonly #title: string
  readonly #controls: TestControls
  readonly #origin: string

  /** @param origin of the server for which texts to copy are */
  constructor(engine: RestEngine, title: string, origin: string) {
    this.#origin = origin
    this.#engine = engine
    this.#title = title
    this.#controls = new TestControls(engine, true, false)
  }

  readonly fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init)
    const { origin, pathname } = new URL(request.url)
    return origin === location.origin ? answer(this.#serve(request, pathname), request) : askNetwork(request)
  }

  #serve(request: Request, path: string): TransportEngine {
    const internals = internalsOf(this.#engine)
    const { signal } = request
    const headers = Object.fromEntries(request.headers)
    const isPlain = TestControls.isControl(path) || isOfWorkbench(headers, path)
    return {
      limits: internals.limits,
      takesForms: internals.takesForms,
      wire: isPlain ? undefined : internals.wire,
      refuse: (error, received) => internals.refuse(error, received),
      ask: async (method, target, _, body) => {
        try {
          return await this.#ask({ method, target, body, headers, signal, isPlain })
        } catch (error) {
          if (isConnectionLost(error) || signal.aborted) throw error
          return internals.refuse(error, { method, path: target, headers })
        }
      },
    }
  }

  async #ask(sent: SentInPage): Promise<TransportResponse> {
    const { method, target, body, headers, signal, isPlain } = sent
    const origin = this.#origin
    if (TestControls.isControl(target)) return this.#controls.answer({ method, target, base: '', body, headers, signal, origin })
    const world = await this.#controls.findWorld(headers)
    const internals = internalsOf(world.engine)
    const client = new LazyClient({ headers }, { budget: HTTP_TIMEOUT, isPlain, wire: internals.wire })
    signal.addEventListener('abort', () => client.leave(signal.reason), { once: true })
    return world.use(async () => {
      if (isWorkbenchPath(target)) {
        const shown = { readOnly: false, title: this.#title, home: undefined, docs: false }
        return answerWorkbench(internals, { method, target, base: '', origin, body, client, ...shown })
      }
      return isLook(method, headers) ? internals.look(target, client) : internals.ask(method, target, undefined, body, client)
    })
  }
}

interface SentInPage {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Whether the answer has the engine's own grammar, whatever clients speak. */
  readonly isPlain: boolean
}
