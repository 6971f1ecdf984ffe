/**
 * Auth module: the options of log-in, as an application gives them and as they are checked. No code: each engine knows it, and few load
 * what reads it.
 */
import type { EntityName } from '@mikro-orm/core'
import type { HookContext } from '../../model/hook-context.ts'
import type { SessionAction, SessionPaths } from '../../records/request/session-paths.ts'
import type { PropertyName } from '../../model/resource-config.ts'

/** Options of the authentication module. */
/** Options of `auth`, the authentication module. */
// oxlint-disable-next-line typescript/no-explicit-any -- of any entity
export interface AuthOptions<E extends object = any> {
  /** The entity of the users. */
  readonly entity: EntityName<E>
  /** Property by which a user logs in; must be unique. Default `email`. */
  readonly identifier?: string
  /** Property that holds the scrypt hash of the password. Default `password`. */
  readonly password?: string
  /**
   * Whether plain passwords of bodies, of `seed` and of `given` are hashed before they are stored; what is a hash of ours already is kept.
   * Default: true where the password property is hidden, there is no `authenticate`, and no hook, subscriber, setter or type of the
   * application's may hash it.
   */
  readonly hash?: boolean
  /** Life of a token, in seconds. Default 3600. */
  readonly ttl?: number
  /** The key pair follows from it, so that tokens outlive the engine. Default: a random key. */
  readonly secret?: string
  /** Replaces the check of identifier and password: gives the user (an entity, or its ID), or nothing. */
  readonly authenticate?: (credentials: unknown, ctx: HookContext) => unknown
  /**
   * Finds the credentials in the body of a log-in, for the check of identifier and password and for `authenticate`: `body => body.user`. A
   * body on which it throws is refused with 400. Default: the body itself.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- what a client sends has no type yet
  readonly credentials?: (body: any) => unknown
  /**
   * Makes the body of a log-in's answer of the user as this user sees it, and the new token; a refresh token comes fourth. Default: `{
   * auth_token, message, success, timestamp, user }`.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- a record, whose attributes follow from the model
  readonly answer?: (user: any, token: string, ctx: HookContext, refreshToken: string | undefined) => unknown
  /**
   * Where the module answers, below the version: `{ login: 'users/login', me: 'user', signUp: 'users' }`. `me` answers GET, PUT and PATCH
   * with the record of the token's user; `signUp` creates one as a POST of the resource does, without a token, and answers as a log-in
   * does. Default: `login` and `logout`, no others.
   */
  readonly paths?: Readonly<Partial<Record<SessionAction, string>>>
  /**
   * The name of a cookie that carries the token, or `{ name, sameSite, secure }`: log-in sets it (HttpOnly), log-out removes it, and it
   * counts where no header `Authorization` stands. What writes by it must come from a page of the server. `sameSite`: `'Lax'` (the
   * default), `'Strict'` or `'None'`; `secure`: whether it is sent by https alone, by default where the log-in came by https. Default: no
   * cookie.
   */
  readonly cookie?: string | { readonly name: string; readonly sameSite?: 'Lax' | 'Strict' | 'None'; readonly secure?: boolean }
  /**
   * Log-in answers a refresh token, too, of this life in seconds: `{ ttl: 30 * 24 * 3600 }`. `POST /{version}/refresh` takes it, once, and
   * gives a new pair. Default: none.
   */
  readonly refresh?: { readonly ttl: number }
  /** A name that the header `Authorization` may have before the token, beside `Bearer`: `Token`. Default: none. */
  readonly scheme?: string
  /**
   * Requests that need no token: `GET /v1/posts*`, where `*` stands for any run of characters. HEAD goes with GET. A pattern that begins
   * with `!` takes out again what others list, wherever it stands: `['GET /v1/posts*', '!GET /v1/posts/drafts']`.
   */
  readonly public?: readonly string[]
}

/**
 * Options whose `identifier` and `password` are properties of the entity. An `authenticate` may know other names, so `auth` has an overload
 * with `authenticate` before this one: tsc then answers a misspelt name with one short line, that of the last overload.
 */
export interface NamedAuthOptions<E extends object> extends Omit<AuthOptions<E>, 'identifier' | 'password'> {
  readonly identifier?: PropertyName<E>
  readonly password?: PropertyName<E>
}

/** The authentication module, for the option `auth`. */
export interface AuthModule {
  readonly options: Required<Omit<AuthOptions, Optional | 'paths' | 'cookie'>> &
    Pick<AuthOptions, Optional> & { readonly paths: SessionPaths; readonly cookie?: CookieOptions }
}

/** The option `cookie`, completed. */
export interface CookieOptions {
  readonly name: string
  readonly sameSite: 'Lax' | 'Strict' | 'None'
  /** Whether it is sent by https alone; undefined: where the log-in came by https. */
  readonly secure: boolean | undefined
}

type Optional = 'refresh' | 'hash' | 'secret' | 'authenticate' | 'credentials' | 'answer' | 'scheme'
