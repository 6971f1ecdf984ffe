/** Answers `node:http` with nothing, a text (by `linger` after an unread body), or a stream. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { builtin } from '../../foundation/base/builtins.ts'
import { linger } from './http-body.ts'
import type { MountedRequest } from './mount.ts'
import type { WrittenResponse } from './transport.ts'

/**
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
