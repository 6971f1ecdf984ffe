/** Serves the list of engines on the loopback address. Refuses pages of other sites, as a workbench does. */
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { builtin } from '../../foundation/base/builtins.ts'
import { restError, type RestError } from '../../foundation/errors/errors.ts'
import { OriginGuard } from '../server/origin-guard.ts'
import { PAGE_POLICY } from '../server/page-policy.ts'
import { LIST_PAGE, LIST_SCRIPT, LIST_STYLE } from './list-page.ts'
import type { EngineFacts } from './shown-engine.ts'

export interface ListedProcess {
  readonly pid: number
  /** `test/orders.test.js` */
  readonly name: string
  readonly engines: readonly EngineFacts[]
}

export interface HostedProcess {
  readonly state: ListedProcess
  /** `undefined`: the engine is closed. */
  open(id: string): Promise<string | undefined>
  letGo(id: string): void
}

/** Further ports to try: each process of a test runner has a list. */
const MORE_PORTS = 64
const LAST_PORT = 65_535

const TEXTS: Readonly<Record<string, readonly [type: string, text: string] | undefined>> = {
  '/': ['text/html', LIST_PAGE],
  '/list.js': ['text/javascript', LIST_SCRIPT],
  '/list.css': ['text/css', LIST_STYLE],
}
/** `/open/7` opens the workbench of engine 7, `/go/7` lets the engine end. */
const ENGINE_PATH = /^\/(open|go)\/(\d{1,9})$/

const ENDED = 'This engine has been closed: its test is over.'

interface PageAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text?: string | undefined
}

export class Host {
  readonly #process: HostedProcess
  readonly #guard = new OriginGuard(undefined, undefined)

  private constructor(process: HostedProcess) {
    this.#process = process
  }

  /**
   * Takes the next free port, if need be.
   *
   * @throws the server's EADDRINUSE where no port is free
   */
  static async listen(port: number, process: HostedProcess): Promise<number> {
    const host = new Host(process)
    const server = new builtin.http.Server()
    server.on('connection', socket => socket.unref())
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void host.#receive(request, response))
    await listenAtFree(server, port)
    host.#guard.listen(server.address())
    return (server.address() as AddressInfo).port
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, headers, text } = await this.#answer(request).catch((error: unknown) => {
      const { status: refused = 500, message } = error as Partial<RestError>
      return { status: refused, headers: { 'content-type': 'text/plain; charset=UTF-8' }, text: `${message}\n` }
    })
    response.writeHead(status, { ...PAGE_POLICY, ...headers, 'cache-control': 'no-store' })
    response.end(request.method === 'HEAD' ? undefined : text)
  }

  async #answer(request: IncomingMessage): Promise<PageAnswer> {
    this.#guard.check(request, 'control')
    const { method = '', url = '/' } = request
    const [path = ''] = url.split('?', 1)
    const [, wish, id = ''] = ENGINE_PATH.exec(path) ?? []
    const text = path === '/engines.json' ? ['application/json', JSON.stringify(this.#process.state)] : TEXTS[path]
    if (text === undefined && wish === undefined)
      throw restError('path_unknown', `There is nothing at ${path.slice(0, 200)}: the list is at /.`)
    const allowed = wish === 'go' ? ['POST'] : ['GET', 'HEAD']
    if (!allowed.includes(method)) throw restError('method_not_allowed', `${path} takes ${allowed.join(' and ')}.`)
    if (text !== undefined) return { status: 200, headers: { 'content-type': `${text[0]}; charset=UTF-8` }, text: text[1] }
    if (wish === 'go') {
      this.#process.letGo(id)
      return { status: 204, headers: {} }
    }
    const address = await this.#process.open(id)
    if (address === undefined) throw restError('path_unknown', ENDED)
    return { status: 302, headers: { location: address } }
  }
}

async function listenAtFree(server: Server, first: number): Promise<void> {
  for (let port = first; ; port++) {
    server.listen(port, '127.0.0.1').unref()
    try {
      await once(server, 'listening')
      return
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (!isTaken || port === Math.min(first + MORE_PORTS, LAST_PORT)) throw error
    }
  }
}
