/**
 * Serves the floor over node:http, and keeps of HTTP what any engine must keep: one `Host`, which is a local name; a body of JSON by its
 * type, in UTF-8, within a limit; the requests of a connection in their order; no answer to a client that has gone; a condition
 * (`If-None-Match`), a time budget, and errors in JSON.
 */
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { refuse } from './floor.ts'
import type { Floor } from './floor.ts'
import type { Request } from './trials.ts'

const MAX_BYTES = 1 << 20
const BUDGET_MS = 5000
const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i
const WITH_BODY = ['POST', 'PUT']
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The requests of a connection: one is answered, the others wait. */
interface Queue {
  isBusy: boolean
  readonly waiting: (() => void)[]
}

export function serveFloor(floor: Floor): Server {
  const queues = new WeakMap<Socket, Queue>()
  return createServer({ requireHostHeader: false }, (request, response) => {
    const queue = queues.get(request.socket) ?? { isBusy: false, waiting: [] }
    queues.set(request.socket, queue)
    const begin = (): void => {
      queue.isBusy = true
      void answer(floor, request, response)
    }
    response.on('close', () => {
      queue.isBusy = false
      queue.waiting.shift()?.()
    })
    if (queue.isBusy) queue.waiting.push(begin)
    else begin()
  })
}

async function answer(floor: Floor, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.socket.destroyed) return
  const started = performance.now()
  let status = 200
  let text: string
  try {
    const host = headerOf(request, 'host')
    if (host === undefined || !LOCAL.test(host)) refuse('a local name as the Host')
    if (headerOf(request, 'if-none-match') === '*') refuse('an entity tag')
    const body = WITH_BODY.includes(request.method!) ? await readBody(request) : undefined
    text = await floor.answer(cut(request, body))
    if (performance.now() - started > BUDGET_MS) status = 503
  } catch (error) {
    status = error instanceof TypeError ? 400 : 500
    text = JSON.stringify({ success: false, timestamp: new Date().toISOString(), status, detail: String(error) })
  }
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8', 'content-length': Buffer.byteLength(text) }).end(text)
}

/** The one header of a name; the object of all headers is not made for it. */
function headerOf({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  let found: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]!.toLowerCase() !== name) continue
    if (found !== undefined) refuse(`one header ${name}`)
    found = rawHeaders[index + 1]
  }
  return found
}

/** Cuts a request into path and query, which may have each name once. */
function cut({ method = '', url = '' }: IncomingMessage, body: unknown): Request {
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const given = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1))
  const query = Object.fromEntries(given)
  if (Object.keys(query).length < given.size) refuse('each parameter once')
  return { method, path, query, body }
}

function readBody(request: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\b/i.test(headerOf(request, 'content-type') ?? '')) refuse('JSON')
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= MAX_BYTES) chunks.push(chunk)
    })
    request.on('end', () => {
      try {
        if (bytes > MAX_BYTES) refuse('a shorter body')
        resolve(JSON.parse(utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))))
      } catch (error) {
        reject(error)
      }
    })
    request.on('close', () => reject(new Error('The client has gone.')))
  })
}
