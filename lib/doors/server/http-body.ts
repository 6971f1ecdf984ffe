/** Reads the body of a `node:http` request, and answers a client that still sends a body. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LazyClient } from '../../foundation/async/abort.ts'
import { JsonBody, rulesOf, type BodyTaker } from './json-body.ts'
import type { Wire } from '../../foundation/base/wire.ts'
import type { MountedRequest } from './mount.ts'

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
