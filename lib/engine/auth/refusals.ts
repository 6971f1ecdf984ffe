/** The errors for refused tokens and log-ins, such as token_missing. */
import { restError, type RestError } from '../../foundation/errors/errors.ts'

export function missing(): RestError {
  return restError('token_missing', 'This needs a token: send the header "Authorization: Bearer <token>".', {
    headers: { 'www-authenticate': 'Bearer' },
  })
}

/** For an ended token, a token of another kind, or of a changed or removed user. */
export function refuseUser(code: 'token_invalid' | 'token_revoked', detail: string): RestError {
  return restError(code, detail, { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
}

/** Never says what is wrong: a guesser would learn. */
export function failed(): never {
  throw restError('login_failed', 'The log-in is wrong.', { headers: { 'www-authenticate': 'Bearer' } })
}

export function missingRefresh(byCookie: boolean): RestError {
  const where = byCookie ? ', or in the cookie of the log-in' : ''
  return restError('token_missing', `This needs a refresh token: send it as { "refreshToken": "..." }${where}.`, {
    headers: { 'www-authenticate': 'Bearer' },
  })
}
