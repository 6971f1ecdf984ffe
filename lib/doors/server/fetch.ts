/** `engine.fetch`: answers a WHATWG `Request` with a `Response`, without a socket. */
import { originForm, written, type ReceivedRequest, type TransportEngine, type TransportResponse } from './transport.ts'
import { WholeClient } from '../../foundation/async/abort.ts'
import { RestError, isConnectionLost } from '../../foundation/errors/errors.ts'
import { TAKES_BODY } from '../../foundation/http/http-methods.ts'
import { splitSetCookies } from '../../foundation/http/set-cookie.ts'
import { JsonBody, rulesOf } from './json-body.ts'

/** Rejects for an aborted signal, a used body, a closed engine, a lost connection. */
export async function answer(engine: TransportEngine, asked: Request | URL | string, init?: RequestInit): Promise<Response> {
  const request = typeof asked === 'string' || asked instanceof URL || init !== undefined ? toRequest(asked, init) : asked
  const isEndless = (typeof asked === 'string' || asked instanceof URL) && !init?.signal
  const signal = isEndless ? undefined : request.signal
  const headers = Object.fromEntries(request.headers)
  // A fragment is never sent.
  const target = originForm(request.url.split('#', 1)[0] ?? '')
  const { wire } = engine
  const received = { method: request.method, path: target, headers, wire }
  let body: unknown
  const stream = TAKES_BODY.has(request.method) ? (request.body ?? (await findBody(request))) : null
  if (stream !== null) {
    try {
      body = await readBody(stream, new JsonBody(headers, rulesOf(engine, request.method, wire)))
    } catch (error) {
      if (error instanceof RestError) return write(engine, engine.refuse(error, received), received)
      throw error
    }
  }
  try {
    const client = new WholeClient(headers, signal, request.url, wire)
    return write(engine, await engine.ask(request.method, target, undefined, body, client), received)
  } catch (cause) {
    // As the real `fetch` rejects.
    throw isConnectionLost(cause) ? new TypeError('fetch failed', { cause }) : cause
  }
}

function toRequest(asked: Request | URL | string, init: RequestInit | undefined): Request {
  return new Request(typeof asked === 'string' ? new URL(asked, 'http://localhost') : asked, init)
}

/** Firefox has no `Request.body`. */
async function findBody(request: Request): Promise<ReadableStream<Uint8Array> | null> {
  if (request.body === null) return null
  const blob = await request.blob()
  return blob.size === 0 ? null : blob.stream()
}

/** Some browsers do not iterate streams. */
async function readBody(stream: ReadableStream<Uint8Array>, body: JsonBody): Promise<unknown> {
  const reader = stream.getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) body.add(part.value)
  } catch (error) {
    await reader.cancel()
    throw error
  }
  return body.value()
}

function write(engine: TransportEngine, answer: TransportResponse, request: ReceivedRequest): Response {
  const { status, headers, text, stream } = written(engine, answer, request)
  try {
    const all = headers['set-cookie'] === undefined ? headers : listHeaders(headers)
    // For HEAD and 204, the constructor allows no body.
    return new Response(stream === undefined ? (text ?? null) : toStream(stream.bytes()), { status, headers: all })
  } catch (error) {
    const refusal = engine.refuse(error, { ...request, wire: undefined })
    return new Response(JSON.stringify(refusal.body), { status: refusal.status, headers: refusal.headers })
  }
}

function toStream(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}

/** Each cookie needs an own header. */
function listHeaders(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    name === 'set-cookie' ? splitSetCookies(value).map(cookie => [name, cookie]) : [[name, value]],
  )
}
