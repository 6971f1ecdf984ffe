/** Reads the body of a `node:http` request, and writes the answer, also to a client that still sends a body. */
import type { IncomingMessage, ServerResponse, OutgoingHttpHeaders } from 'node:http'
import type { LazyClient } from '../../foundation/async/abort.ts'
import { builtin } from '../../foundation/base/builtins.ts'
import type { Wire } from '../../foundation/base/wire.ts'
import { JsonBody, rulesOf, type BodyTaker } from './json-body.ts'
import type { MountedRequest } from './mount.ts'
import type { WrittenResponse } from './transport.ts'

const LINGER_MS = 1_000

export function readBody(request: MountedRequest, client: LazyClient, taker: BodyTaker): Promise<unknown> {
  // A body parser in front may end an empty body without reading.
  if (request.readableDidRead || request.readableEnded) return takeParsed(request, taker, client.wire)
  return new Promise((resolve, reject) => {
    const body = new JsonBody(request.headers, rulesOf(taker, request.method, client.wire))
    const add = (chunk: Uint8Array): void => {
      try {
        body.add(chunk)
      } catch (error) {
        request.off('data', add)
        reject(error)
      }
    }
    request.on('data', add)
    request.once('end', () => {
      try {
        resolve(body.value())
      } catch (error) {
        reject(error)
      }
    })
    client.onDisconnect(() => reject(client.reason))
  })
}

/** Takes what a body parser has made: JSON texts, or JSON values. */
async function takeParsed({ body, headers, method }: MountedRequest, taker: BodyTaker, wire: Wire | undefined): Promise<unknown> {
  const { 'content-encoding': _, ...decoded } = headers
  const json = new JsonBody(decoded, rulesOf(taker, method, wire))
  if (body instanceof Uint8Array || typeof body === 'string') {
    json.add(typeof body === 'string' ? Buffer.from(body) : body)
    return json.value()
  }
  if (body !== undefined) return json.take(body)
  // Without a length the request has no body (RFC 9112 section 6.3).
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return undefined
  throw new Error('The body has been read before the listener got the request: mount it in front, or leave the JSON value in request.body.')
}

/** Reads on for a moment: closing at once would reset the connection, and the client would lose the answer (RFC 9112 section 9.6). */
export function linger(request: IncomingMessage, response: ServerResponse, text: string): void {
  response.write(text)
  request.resume()
  const end = (): void => {
    response.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  request.once('end', end)
  response.once('close', () => clearTimeout(timer))
}

/**
 * Answers with nothing, a text (by `linger` after an unread body), or a stream.
 *
 * @param unread whether the body was refused before it was read to its end
 * @returns the status
 */
export function writeResponse(
  { request, response }: { readonly request: MountedRequest; readonly response: ServerResponse },
  { status, text, stream }: WrittenResponse,
  headers: OutgoingHttpHeaders,
  unread: boolean,
): number {
  if (stream !== undefined) {
    response.writeHead(status, headers)
    // A failure breaks the connection: otherwise a client takes a part for the whole.
    builtin.stream.pipeline(builtin.stream.Readable.from(stream.bytes(), { objectMode: false }), response, () => {})
    return status
  }
  if (text === undefined) {
    if (request.method !== 'HEAD' && status !== 204 && status !== 304) headers['content-length'] = 0
    response.writeHead(status, headers).end()
    return status
  }
  headers['content-length'] = Buffer.byteLength(text)
  response.writeHead(status, headers)
  if (unread && !request.readableEnded) linger(request, response, text)
  else response.end(text)
  return status
}
