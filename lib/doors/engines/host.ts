/** Serves the list of engines on the loopback address. Refuses pages of other sites, as a workbench does. */
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { builtin } from '../../foundation/base/builtins.ts'
import { restError, type RestError } from '../../foundation/errors/errors.ts'
import { OriginGuard } from '../server/origin-guard.ts'
import { PAGE_POLICY } from '../server/page-policy.ts'
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

const LIST_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Engines · mikro-rest</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/list.css">
<script type="module" src="/list.js"></script>
</head>
<body>
<main>
<h1>Engines of the tests that run</h1>
<p id="state" role="status"></p>
<div id="list"></div>
<noscript><p>The list is a page of scripts, and this browser runs none: /engines.json has the same.</p></noscript>
</main>
</body>
</html>
`

const LIST_STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { margin: 0; background: Canvas; color: CanvasText }
main { max-width: 60rem; margin: 0 auto; padding: 1rem }
h1 { font-size: 1.4rem }
h2 { font-size: 1rem; margin: 1.5rem 0 0.25rem; overflow-wrap: anywhere }
ul { list-style: none; margin: 0; padding: 0 }
li { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; align-items: baseline; padding: 0.5rem 0; overflow-wrap: anywhere }
li { border-top: 1px solid GrayText }
li a { font-weight: 600; flex: 1 1 20rem }
li p { flex: 1 0 100%; margin: 0; white-space: pre-wrap }
button { font: inherit; padding: 0.1rem 0.75rem }
`

const LIST_SCRIPT = `
const list = document.getElementById('list')
const state = document.getElementById('state')
const QUIET = 'No engine is open now. A test that is quick ends before one looks: ' +
  'MIKRO_REST_WORKBENCH_WAIT=1 has each engine wait at its end.'
let shown = ''

const add = (parent, name, text = '', attributes = {}) => {
  const made = document.createElement(name)
  made.textContent = text
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  parent.append(made)
  return made
}

const tell = text => {
  if (state.textContent !== text) state.textContent = text
}

const letGo = async id => {
  await fetch('/go/' + id, { method: 'POST' }).catch(() => {})
  await update()
}

const draw = ({ pid, name, engines }) => {
  const focused = document.activeElement?.dataset.key
  list.replaceChildren()
  if (engines.length > 0) add(list, 'h2', name + ', process ' + pid)
  const items = add(list, 'ul')
  for (const engine of engines) {
    const item = add(items, 'li')
    add(item, 'a', engine.name, { href: '/open/' + engine.id, 'data-key': engine.id })
    add(item, 'span', engine.place)
    add(item, 'span', engine.requests === 1 ? '1 request' : engine.requests + ' requests', { 'data-requests': engine.id })
    if (engine.waits)
      add(item, 'button', 'Let it go', {
        type: 'button', 'aria-label': 'Let go: ' + engine.name, 'data-key': 'go ' + engine.id,
      }).onclick = () => letGo(engine.id)
    if (engine.failure !== undefined) add(item, 'p', 'Failed: ' + engine.failure)
  }
  if (focused !== undefined) for (const each of list.querySelectorAll('[data-key]')) if (each.dataset.key === focused) each.focus()
}

const update = async () => {
  const answer = await fetch('/engines.json').then(found => found.json()).catch(() => undefined)
  const process = answer ?? { engines: [] }
  const text = JSON.stringify(process)
  if (text !== shown) draw(process)
  shown = text
  const waiting = process.engines.filter(({ waits }) => waits).length
  tell(
    answer === undefined
      ? 'The process does not answer: its tests are over.'
      : process.engines.length === 0
        ? QUIET
        : waiting === 0
          ? ''
          : waiting === 1
            ? '1 engine waits at its end, and its test with it, until it is let go.'
            : waiting + ' engines wait at their end, and their tests with them, until they are let go.',
  )
}

for (;;) {
  await update()
  await new Promise(resolve => setTimeout(resolve, 700))
}
`

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
