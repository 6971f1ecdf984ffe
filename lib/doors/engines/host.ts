/**
 * Host: the process that has the port: shows the list of the engines of all processes, as a page, on the loopback address alone. Pages of
 * other sites reach it as little as a workbench. Each answer is short, and nothing of it keeps the process.
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { builtin } from '../../foundation/base/builtins.ts'
import { restError, type RestError } from '../../foundation/base/errors.ts'
import { OriginGuard } from '../server/origin-guard.ts'
import { PAGE_POLICY } from '../server/page-policy.ts'
import { PROTOCOL } from './guest.ts'
import { LIST_PAGE, LIST_SCRIPT, LIST_STYLE } from './list-page.ts'
import { Visitor, type ShownProcess } from './visitor.ts'

const TEXTS: Readonly<Record<string, readonly [type: string, text: string] | undefined>> = {
  '/': ['text/html', LIST_PAGE],
  '/list.js': ['text/javascript', LIST_SCRIPT],
  '/list.css': ['text/css', LIST_STYLE],
}
/** What is asked of one engine: `/open/2.7` is the engine 7 of the process 2. */
const ENGINE_PATH = /^\/(open|go)\/(\d{1,9})\.(\d{1,9})$/

const ENDED = 'This engine has been closed: its test is over. Or a debugger holds its process, which answers nobody meanwhile.'

interface PageAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text?: string | undefined
}

export class Host {
  readonly #processes = new Map<number, ShownProcess>()
  readonly #guard = new OriginGuard(undefined, undefined)
  #count = 0

  /**
   * Takes the port.
   *
   * @param own the process of the host itself
   * @throws the error of the server: of code EADDRINUSE where another process has it
   */
  static async listen(port: number, own: ShownProcess): Promise<Host> {
    const host = new Host(own)
    const server = new builtin.http.Server()
    server.on('connection', socket => socket.unref())
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void host.#receive(request, response))
    server.on('upgrade', (request: IncomingMessage, socket: Duplex) => host.#welcome(request, socket))
    server.listen(port, '127.0.0.1').unref()
    await once(server, 'listening')
    host.#guard.listen(server.address())
    return host
  }

  private constructor(own: ShownProcess) {
    this.#processes.set(0, own)
  }

  #welcome(request: IncomingMessage, socket: Duplex): void {
    socket.on('error', () => {})
    if (request.headers.upgrade !== PROTOCOL) {
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
      return
    }
    const number = ++this.#count
    this.#processes.set(number, new Visitor(socket))
    socket.on('close', () => this.#processes.delete(number))
    socket.write(`HTTP/1.1 101 ${PROTOCOL}\r\nConnection: Upgrade\r\nUpgrade: ${PROTOCOL}\r\n\r\n`)
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
    const [, wish, process = '', id = ''] = ENGINE_PATH.exec(path) ?? []
    const text = path === '/engines.json' ? ['application/json', JSON.stringify(this.#list())] : TEXTS[path]
    if (text === undefined && wish === undefined)
      throw restError('path_unknown', `There is nothing at ${path.slice(0, 200)}: the list is at /.`)
    const allowed = wish === 'go' ? ['POST'] : ['GET', 'HEAD']
    if (!allowed.includes(method)) throw restError('method_not_allowed', `${path} takes ${allowed.join(' and ')}.`)
    if (text !== undefined) return { status: 200, headers: { 'content-type': `${text[0]}; charset=UTF-8` }, text: text[1] }
    const found = this.#processes.get(Number(process))
    if (found === undefined) throw restError('path_unknown', 'The process of this engine has ended.')
    if (wish === 'go') {
      found.letGo(id)
      return { status: 204, headers: {} }
    }
    const address = await found.open(id)
    if (address === undefined) throw restError('path_unknown', ENDED)
    return { status: 302, headers: { location: address } }
  }

  #list(): object {
    const processes = [...this.#processes].map(([number, { state }]) => ({
      ...state,
      engines: state.engines.map(engine => ({ ...engine, address: undefined, id: `${number}.${engine.id}` })),
    }))
    return { processes: processes.filter(({ engines }) => engines.length > 0) }
  }
}
