/** Bodies over HTTP: reads the body of a request from its socket, and answers a client that is still sending one. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LazyClient } from '../base/abort.ts'
import { JsonBody } from './json-body.ts'

/** How long a refused upload is read on. */
const LINGER_MS = 1_000

/** Reads the JSON value of a request's body. Rejects when the client goes away before the end. */
export function readBody(request: IncomingMessage, client: LazyClient, maxBytes: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const body = new JsonBody(request.headers, maxBytes)
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

/**
 * Writes an answer to a client that is still sending, and drops what it sends for a moment more. Closing at once would reset the
 * connection, and the client would lose the answer (RFC 9112 section 9.6).
 */
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
