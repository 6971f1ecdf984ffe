/** Authentication: what the engine asks of the authentication module. The module itself (auth.ts) is loaded where an engine has log-in. */
import type { MikroORM } from '@mikro-orm/core'
import type { DescribedLogin } from '../../description/openapi/source.ts'
import type { Awaitable } from '../../foundation/base/awaitable.ts'
import type { Notes } from '../../foundation/base/notes.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'
import type { Route } from '../../records/request/custom-routes.ts'
import type { Request } from '../../records/request/parse-request.ts'
import type { Principal } from '../../records/request/request-context.ts'
import type { SessionPaths } from '../../records/request/session-paths.ts'
import type { PasswordKind } from '../../records/write/hash-passwords.ts'
import type { AuthModule } from './auth-module.ts'
import type { KnownPaths } from './public-requests.ts'
import type { AuthServices } from './services.ts'

/** A public key as a JSON Web Key (RFC 8037 section 2). */
export interface PublicKey {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly alg: 'EdDSA'
  readonly use: 'sig'
  /** base64url */
  readonly x: string
}

/** The state of the module. */
export interface AuthState {
  readonly revoked: ReadonlyMap<string, number>
  readonly failures: FailedLogins
  readonly removals: RemovalState
}

/** The authentication module of an engine. */
export interface Authentication {
  /**
   * The state for a snapshot: the revoked tokens, the failed log-ins, and when users were removed, as far as the database does not keep
   * them.
   */
  readonly state: AuthState
  /** The table of the users. */
  readonly table: string
  /** Where the module answers. */
  readonly paths: SessionPaths
  /** Verifies the tokens of the engine. */
  readonly publicKey: PublicKey
  /** Takes the state of a snapshot, or of the engine that is forked. */
  restore(state: AuthState): void
  /** A user has been removed: their tokens are not those of a later one with the same ID. */
  removed(id: string | number): void
  /** Resolves when all that is to be kept of the tokens that have been minted is kept. */
  settled(): Promise<void>
  /** Whether a request logs in or out, which writes nothing to the data. The first segment is the version. */
  isSession(method: string, segments: readonly string[]): boolean
  /** Whether the module answers a request. */
  answersAt(method: string, segments: readonly string[]): boolean
  /** The routes of the module. */
  routes(): Route[]
  /**
   * Takes the paths of the engine, which decide what is public.
   *
   * @throws TypeError for a pattern of `public` that no request can meet
   */
  knowPaths(paths: KnownPaths): void
  /** Describes the log-in for the OpenAPI document. */
  describe(version: string): DescribedLogin
  /** Who sends the request. Without a token nobody, where that is allowed. */
  authenticate(request: Request): Awaitable<Principal | undefined>
  /**
   * Mints a token for a user.
   *
   * @param user an entity, or the ID of one
   * @param options `ttl` in seconds; default: that of the module
   * @throws TypeError, RangeError
   */
  mint(user: unknown, options: { readonly ttl?: number }): string
}

/** What it depends on whether passwords are hashed. */
export interface HashingParts {
  readonly auth?: AuthModule | undefined
  readonly resources: readonly ResourceDefinition[]
  readonly orm: { readonly subscribers?: Iterable<unknown> }
}

/** The code of log-in, which is loaded for engines that have it. */
export interface LoadedAuthentication {
  /**
   * Makes the module of an engine.
   *
   * @param parent that of the engine which is forked: the fork signs with the same key
   * @throws TypeError when the module was not made by `auth`, or the entity is not served or has no such properties.
   */
  create(services: AuthServices, parent: Authentication | undefined): Authentication
  /**
   * Returns whose passwords are hashed, and how; undefined where none are.
   *
   * @throws TypeError where they are to be, and cannot
   */
  findPasswordKind(parts: HashingParts, orm: MikroORM, notes: Notes): PasswordKind | undefined
}
/** The times of failed log-ins by identifier, in milliseconds. */
export type FailedLogins = ReadonlyMap<string, readonly number[]>
/** The removals of users, for snapshots. */
export interface RemovalState {
  readonly times: ReadonlyMap<string, number>
  readonly floor: number
}
