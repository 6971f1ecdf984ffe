/**
 * Fetch: the WHATWG transport. A standard Request goes in, a standard Response comes out; no socket is involved.
 */
import { originForm, written, type ReceivedRequest, type TransportEngine, type TransportResponse } from './transport.ts'
import { WholeClient } from '../../foundation/work/abort.ts'
import { RestError, isConnectionLost } from '../../foundation/errors/errors.ts'
import { TAKES_BODY } from '../../foundation/http/http-methods.ts'
import { splitSetCookies } from '../../foundation/http/set-cookie.ts'
import { JsonBody, rulesOf } from './json-body.ts'

/**
 * Answers a `Request` with the engine. Everything that a client may get wrong is an answer; the promise rejects when the request's signal
 * is aborted, when its body was read before, when the engine is closed, and, as for real, when the connection is lost.
 */
export async function answer(engine: TransportEngine, asked: Request | URL | string, init?: RequestInit): Promise<Response> {
  const request = typeof asked === 'string' || asked instanceof URL || init !== undefined ? toRequest(asked, init) : asked
  const headers = Object.fromEntries(request.headers)
  // The URL of a request keeps its fragment, which is never sent.
  const target = originForm(request.url.split('#', 1)[0] ?? '')
  const received = { method: request.method, path: target, headers }
  let body: unknown
  if (request.body !== null && TAKES_BODY.has(request.method)) {
    try {
      body = await readBody(request.body, new JsonBody(headers, rulesOf(engine, request.method)))
    } catch (error) {
      if (error instanceof RestError) return write(engine, engine.refuse(error, received), received)
      throw error
    }
  }
  try {
    return write(
      engine,
      await engine.ask(request.method, target, undefined, body, new WholeClient(headers, request.signal, request.url)),
      received,
    )
  } catch (cause) {
    // As the real one says it.
    throw isConnectionLost(cause) ? new TypeError('fetch failed', { cause }) : cause
  }
}

function toRequest(asked: Request | URL | string, init: RequestInit | undefined): Request {
  return new Request(typeof asked === 'string' ? new URL(asked, 'http://localhost') : asked, init)
}

async function readBody(stream: ReadableStream<Uint8Array>, body: JsonBody): Promise<unknown> {
  // Leaving the loop by a refusal cancels the stream: the rest of a body that is too long is never produced.
  for await (const chunk of stream) body.add(chunk)
  return body.value()
}

function write(engine: TransportEngine, answer: TransportResponse, request: ReceivedRequest): Response {
  const { status, headers, text, stream } = written(engine, answer, request)
  try {
    // Undefined for HEAD and 204, to which the constructor allows no body.
    const all = headers['set-cookie'] === undefined ? headers : listHeaders(headers)
    return new Response(stream === undefined ? (text ?? null) : ReadableStream.from(stream.bytes()), { status, headers: all })
  } catch (error) {
    // A status or a header that no Response takes.
    const refusal = engine.refuse(error, request)
    return new Response(JSON.stringify(refusal.body), { status: refusal.status, headers: refusal.headers })
  }
}

/** The headers as pairs: cookies are no list. */
function listHeaders(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    name === 'set-cookie' ? splitSetCookies(value).map(cookie => [name, cookie]) : [[name, value]],
  )
}
