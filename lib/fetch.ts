/**
 * Fetch: the WHATWG door. A standard Request goes in, a standard Response comes out; no socket is involved.
 */
import { originForm } from './door.ts'
import type { DoorEngine, DoorResponse } from './door.ts'
import { RestError, isConnectionLost } from './errors.ts'
import { JsonBody, takesBody } from './json-body.ts'

/**
 * Answers a `Request` with the engine. Everything that a client may get wrong is an answer; the promise rejects when the request's signal
 * is aborted, when its body was read before, when the engine is closed, and, as for real, when the connection is lost.
 */
export async function answer(engine: DoorEngine, request: Request): Promise<Response> {
  const headers = Object.fromEntries(request.headers)
  let body: unknown
  if (request.body !== null && takesBody(request.method)) {
    try {
      body = await readBody(request.body, new JsonBody(headers, engine.limits.maxBodyBytes))
    } catch (error) {
      if (error instanceof RestError) return write(engine.respondError(error))
      throw error
    }
  }
  // The URL of a request keeps its fragment, which is never sent.
  const target = originForm(request.url.split('#', 1)[0] ?? '')
  try {
    return write(await engine.handle(request.method, target, undefined, body, { headers, signal: request.signal }))
  } catch (cause) {
    // As the real one says it.
    throw isConnectionLost(cause) ? new TypeError('fetch failed', { cause }) : cause
  }
}

async function readBody(stream: ReadableStream<Uint8Array>, body: JsonBody): Promise<unknown> {
  // Leaving the loop by a refusal cancels the stream: the rest of a body that is too long is never produced.
  for await (const chunk of stream) body.add(chunk)
  return body.value()
}

function write({ status, headers, body }: DoorResponse): Response {
  // Undefined for HEAD and 204, to which the constructor allows no body.
  return new Response(body === undefined ? null : JSON.stringify(body), { status, headers })
}
