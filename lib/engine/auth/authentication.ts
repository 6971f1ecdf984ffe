/** The interface of log-in for the engine. The code (auth.ts) is loaded on demand. */
import type { MikroORM } from '@mikro-orm/core'
import type { DescribedLogin } from '../../description/openapi/source.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { Notes } from '../../foundation/errors/notes.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'
import type { PathMeaning } from '../../records/access/path-meaning.ts'
import type { Route } from '../../records/request/custom-routes.ts'
import type { Request } from '../../records/request/parse-request.ts'
import type { Principal } from '../../records/request/request-context.ts'
import type { SessionPaths } from '../../records/request/session-paths.ts'
import type { UserPasswords } from '../../records/validate/password-hashes.ts'
import type { AuthModule } from './auth-module.ts'
import type { AuthServices } from './services.ts'

/** The meaning of paths, for `PublicRequests`. */
export interface KnownPaths {
  readonly routes: readonly { readonly method: string; readonly path: string }[]
  /** `/v1/user*` as `/v1/users*`, the name in links. */
  readonly rename: (path: string) => readonly string[]
  readonly split: (path: string) => readonly string[]
  readonly isRoute: (method: string, segments: readonly string[]) => boolean
  /** `undefined`: the application's look-up fails. */
  readonly meaning: (method: string, segments: readonly string[]) => PathMeaning | undefined
  /** @throws TypeError for a pattern no request can meet */
  readonly check: (pattern: string, where: string) => void
}

/** A JSON Web Key (RFC 8037 section 2). */
export interface PublicKey {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly alg: 'EdDSA'
  readonly use: 'sig'
  /** base64url */
  readonly x: string
}

export interface AuthState {
  readonly revoked: ReadonlyMap<string, number>
  readonly failures: FailedLogins
  readonly removals: RemovalState
}

export interface Authentication {
  /** Revoked tokens, failed log-ins and removals, unless the database keeps all of these. */
  readonly state: AuthState
  readonly table: string
  readonly paths: SessionPaths
  readonly publicKey: PublicKey
  /** @param state of a snapshot, or of the forked engine */
  restore(state: AuthState): void
  whenRevoked(listener: () => void): void
  /** A later user with the same ID must not use a removed user's tokens. */
  removed(id: string | number): void
  /** Resolves when minted tokens are kept. */
  settled(): Promise<void>
  /** Log-in, log-out or refresh, which write no data. The first segment is the version. */
  isSession(method: string, segments: readonly string[]): boolean
  answersAt(method: string, segments: readonly string[]): boolean
  routes(): Route[]
  /**
   * The meaning of paths decides on public requests.
   *
   * @throws TypeError for a pattern of `public` no request can meet
   */
  knowPaths(paths: KnownPaths): void
  describe(version: string): DescribedLogin
  /** @returns `undefined` for a log-in, and for a public request without a token */
  authenticate(request: Request): Awaitable<Principal | undefined>
  /**
   * @param user an entity or ID
   * @param options `ttl` in seconds; default: the module's
   * @throws TypeError, RangeError
   */
  mint(user: unknown, options: { readonly ttl?: number }): string
}

export interface HashingParts {
  readonly auth?: AuthModule | undefined
  readonly resources: readonly ResourceDefinition[]
  readonly orm: { readonly subscribers?: Iterable<unknown> }
}

export interface LoadedAuthentication {
  /**
   * @param parent the forked engine's; a fork signs with the same key
   * @throws TypeError for a module not made by `auth`, or an entity that is not served or lacks the properties
   */
  create(services: AuthServices, parent: Authentication | undefined): Authentication
  /**
   * `undefined`: no passwords are hashed.
   *
   * @throws TypeError where hashing is required but impossible
   */
  findPasswordKind(parts: HashingParts, orm: MikroORM, notes: Notes): UserPasswords | undefined
}
/** Times by identifier, in milliseconds since 1970. */
export type FailedLogins = ReadonlyMap<string, readonly number[]>
export interface RemovalState {
  readonly times: ReadonlyMap<string, number>
  readonly floor: number
}
