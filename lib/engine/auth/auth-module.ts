/** The types of log-in options, without code: every engine knows the types, few load log-in. */
import type { EntityName } from '@mikro-orm/core'
import type { HookContext } from '../../model/hook-context.ts'
import type { SessionAction, SessionPaths } from '../../records/request/session-paths.ts'
import type { PropertyName } from '../../model/resource-config.ts'

/** Options of `auth`, the authentication module. */
// oxlint-disable-next-line typescript/no-explicit-any -- of any entity
export interface AuthOptions<E extends object = any> {
  /** The entity of the users. */
  readonly entity: EntityName<E>
  /** Unique property for log-in. Default `email`. */
  readonly identifier?: string
  /** Property with the password's scrypt hash. Default `password`. */
  readonly password?: string
  /**
   * Whether to hash plain passwords in bodies, `seed` and `given`; hashes are kept. Default: true if the password property is hidden and
   * long enough, without `authenticate`, and no hook, subscriber, setter or type may hash.
   */
  readonly hash?: boolean
  /** Whether a stored text may be the password itself. Default: true if the property is not hidden, and `hash` not given. */
  readonly plain?: boolean
  /** Life of a token, in seconds. Default 3600. */
  readonly ttl?: number
  /** Determines the key pair, so tokens outlive the engine. Default: random. */
  readonly secret?: string
  /** Replaces the check of identifier and password: returns the user (an entity, or an ID), or nothing. */
  readonly authenticate?: (credentials: unknown, ctx: HookContext) => unknown
  /** Finds the credentials in a log-in's body, also for `authenticate`: `body => body.user`. A throw is a 400. Default: the body itself. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what a client sends has no type yet
  readonly credentials?: (body: any) => unknown
  /**
   * Makes the body of a log-in's answer from the user's record as shown to the user, the new token, the context and any refresh token.
   * Default: `{ auth_token, message, success, timestamp, user }`.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- a record, whose attributes follow from the model
  readonly answer?: (user: any, token: string, ctx: HookContext, refreshToken: string | undefined) => unknown
  /**
   * Paths below the version: `{ login: 'users/login', me: 'user', signUp: 'users' }`. `me` reads and changes the record of the token's
   * user; `signUp` creates a user like POST of the resource, without a token, and answers like a log-in. Default: only `login` and
   * `logout`.
   */
  readonly paths?: Readonly<Partial<Record<SessionAction, string>>>
  /**
   * A cookie for the token, by name or as `{ name, sameSite, secure }`. Log-in sets, log-out removes the HttpOnly cookie. Counts where a
   * request has no `Authorization`; writes by cookie must come from pages of the server, or of origins by `corsCredentials`. `sameSite`:
   * `'Lax'` (default), `'Strict'` or `'None'`; `secure`: only by https; default: if the log-in came by https. Default: no cookie.
   */
  readonly cookie?: string | { readonly name: string; readonly sameSite?: 'Lax' | 'Strict' | 'None'; readonly secure?: boolean }
  /**
   * Adds a refresh token with a life in seconds: `{ ttl: 30 * 24 * 3600 }`. `POST /{version}/refresh` takes each refresh token once, and
   * gives a new pair. Default: none.
   */
  readonly refresh?: { readonly ttl: number }
  /** A name beside `Bearer` before the token in `Authorization`: `Token`. Default: none. */
  readonly scheme?: string
  /**
   * Requests without a token: `GET /v1/posts*`, where `*` stands for any characters; GET includes HEAD. `!` takes requests out again:
   * `['GET /v1/posts*', '!GET /v1/posts/drafts']`.
   */
  readonly public?: readonly string[]
}

/**
 * Knows property names. An `authenticate` may know others, so `auth` has an overload with `authenticate` first: tsc answers a misspelt name
 * with one short line, from the last overload.
 */
export interface NamedAuthOptions<E extends object> extends Omit<AuthOptions<E>, 'identifier' | 'password'> {
  readonly identifier?: PropertyName<E>
  readonly password?: PropertyName<E>
}

/** The result of `auth()`: checked options, with defaults. */
export interface AuthModule {
  readonly options: Required<Omit<AuthOptions, Optional | 'paths' | 'cookie'>> &
    Pick<AuthOptions, Optional> & { readonly paths: SessionPaths; readonly cookie?: CookieOptions }
}

export interface CookieOptions {
  readonly name: string
  readonly sameSite: 'Lax' | 'Strict' | 'None'
  /** Only by https; undefined: if the log-in came by https. */
  readonly secure: boolean | undefined
}

type Optional = 'refresh' | 'hash' | 'plain' | 'secret' | 'authenticate' | 'credentials' | 'answer' | 'scheme'
