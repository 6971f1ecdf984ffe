/**
 * Decodes a body by its `Content-Encoding`. The limit holds for the decoded body: a kilobyte may hold a gigabyte. Refuses with
 * media_type_unsupported, body_too_large and body_invalid.
 */
import { builtin } from '../../foundation/base/builtins.ts'
import { restError } from '../../foundation/errors/errors.ts'

type Unpack = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array

const CODINGS: Readonly<Record<string, Unpack>> = {
  gzip: (bytes, options) => builtin.zlib.gunzipSync(bytes, options),
  'x-gzip': (bytes, options) => builtin.zlib.gunzipSync(bytes, options),
  // Some clients leave out zlib's frame (RFC 9110 section 8.4.1.2), whose first byte ends in 8 (RFC 1950).
  deflate: (bytes, options) =>
    ((bytes[0] ?? 0) & 0x0f) === 8 ? builtin.zlib.inflateSync(bytes, options) : builtin.zlib.inflateRawSync(bytes, options),
  br: (bytes, options) => builtin.zlib.brotliDecompressSync(bytes, options),
}

const ACCEPTED = 'gzip, deflate, br'

export function findCoding(header: string | undefined): string | undefined {
  const coding = header?.trim().toLowerCase()
  return coding === undefined || coding === '' || coding === 'identity' ? undefined : coding
}

export function unpackBody(bytes: Uint8Array, coding: string, maxBytes: number, tooLarge: () => Error): Uint8Array {
  const unpack = Object.hasOwn(CODINGS, coding) ? CODINGS[coding]! : undefined
  if (unpack === undefined)
    throw restError('media_type_unsupported', `The body has the content encoding "${coding.slice(0, 100)}"; send ${ACCEPTED}, or none.`, {
      headers: { 'accept-encoding': ACCEPTED },
    })
  try {
    // Node refuses 0.
    return unpack(bytes, { maxOutputLength: Math.max(1, maxBytes) })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
    throw restError('body_invalid', `The body is not what its content encoding "${coding}" says: ${(cause as Error).message}.`, { cause })
  }
}
