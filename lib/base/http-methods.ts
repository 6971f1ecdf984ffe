/** Refuses requests that write to a read-only engine or server, with method_not_allowed. */
import { restError } from './errors.ts'
import type { RestError } from './errors.ts'

export const READ_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS']
export const WRITE_METHODS: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE']

/** Makes the refusal of a method that writes. */
export function readOnlyError(method: string): RestError {
  return restError('method_not_allowed', `This server is read-only: ${method} is not allowed.`, {
    headers: { allow: READ_METHODS.join(', ') },
  })
}

/** Removes the writing methods from an `Allow` header. */
export function keepReadingMethods(allow: string): string {
  return allow
    .split(', ')
    .filter(method => !WRITE_METHODS.includes(method))
    .join(', ')
}
