/**
 * Token pairs: the tokens of one log-in. With the option `refresh` it begins a family: a token, and a refresh token that is taken once for
 * another pair. The family ends with the log-out, and where a refresh token comes a second time: one of the two who have it has stolen it
 * (RFC 9700 section 4.14.2).
 */
import { builtin } from '../../foundation/base/builtins.ts'
import type { Claims } from '../../model/hook-context.ts'
import type { LogInStore } from '../../records/database/log-in-store.ts'
import type { AuthModule } from './auth-module.ts'
import type { Tokens } from './tokens.ts'

/** The tokens of a log-in. */
export interface Issued {
  readonly token: string
  readonly claims: Claims
  /** Undefined where there are none. */
  readonly refreshToken: string | undefined
}

/** The claims of a refresh token. */
interface RefreshClaims extends Claims {
  readonly fam: string
  readonly use: 'refresh'
}

export function isRefresh(claims: Claims): claims is RefreshClaims {
  return claims['use'] === 'refresh' && typeof claims['fam'] === 'string'
}

export class TokenPairs {
  readonly #options: Pick<AuthModule['options'], 'ttl' | 'refresh'>
  readonly #tokens: Tokens
  readonly #written: LogInStore | undefined

  /** @param written where ended tokens are kept; undefined where that is in memory */
  constructor(options: Pick<AuthModule['options'], 'ttl' | 'refresh'>, tokens: Tokens, written: LogInStore | undefined) {
    this.#options = options
    this.#tokens = tokens
    this.#written = written
  }

  /**
   * Issues the tokens of a user in a state.
   *
   * @param family that of the refresh token that is taken for them. Default: a new one
   */
  issue(sub: string, state: string, family?: string): Issued {
    const { ttl, refresh } = this.#options
    if (refresh === undefined) return { ...this.#tokens.mint(sub, state, ttl), refreshToken: undefined }
    const fam = family ?? `family ${builtin.crypto.randomUUID()}`
    const { token: refreshToken } = this.#tokens.mint(sub, state, refresh.ttl, { fam, use: 'refresh' })
    return { ...this.#tokens.mint(sub, state, ttl, { fam }), refreshToken }
  }

  /** Ends a token, and those of the same log-in. */
  async end({ jti, exp, fam }: Claims): Promise<void> {
    await this.#end(jti, exp)
    if (typeof fam === 'string') await this.endFamily(fam)
  }

  /** Takes a refresh token; returns whether nobody has taken it before. */
  use({ jti, exp }: RefreshClaims): Promise<boolean> {
    return this.#end(jti, exp)
  }

  /** Ends all tokens of a log-in. */
  async endFamily(fam: string): Promise<void> {
    const { ttl, refresh } = this.#options
    // The newest of them has just been issued at most.
    await this.#end(fam, this.#tokens.now() + Math.max(ttl, refresh?.ttl ?? 0))
  }

  async #end(id: string, expires: number): Promise<boolean> {
    return this.#written === undefined ? this.#tokens.revoke(id, expires) : this.#written.end(id, expires, this.#tokens.now())
  }
}
