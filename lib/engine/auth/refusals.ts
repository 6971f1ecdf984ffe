/** Refusals: the errors of requests that need a token, and of log-ins. */
import { restError, type RestError } from '../../foundation/base/errors.ts'

/** Returns the error for a request without a token. */
export function missing(): RestError {
  return restError('token_missing', 'This needs a token: send the header "Authorization: Bearer <token>".', {
    headers: { 'www-authenticate': 'Bearer' },
  })
}

/** Returns the error for a token whose user is another one by now. */
export function refuseUser(code: 'token_invalid' | 'token_revoked', detail: string): RestError {
  return restError(code, detail, { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
}

/** Refuses a log-in. It says no more than that, whatever is wrong. */
export function failed(): never {
  throw restError('login_failed', 'The log-in is wrong.', { headers: { 'www-authenticate': 'Bearer' } })
}

/** Returns the error for a refresh without a token. */
export function missingRefresh(byCookie: boolean): RestError {
  const where = byCookie ? ', or in the cookie of the log-in' : ''
  return restError('token_missing', `This needs a refresh token: send it as { "refreshToken": "..." }${where}.`, {
    headers: { 'www-authenticate': 'Bearer' },
  })
}
