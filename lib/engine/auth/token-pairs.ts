/**
 * Issues tokens, with the option `refresh` in families: a log-in begins a family with a token and a refresh token, good for another pair. A
 * family ends at log-out, and when a refresh token comes twice: a thief has sent one (RFC 9700 section 4.14.2).
 */
import { runtime } from '../../foundation/runtime/runtime.ts'
import type { Claims } from '../../model/hook-context.ts'
import type { LogInStore } from '../../records/database/log-in-store.ts'
import type { AuthModule } from './auth-module.ts'
import type { Tokens } from './tokens.ts'

export interface Issued {
  readonly token: string
  readonly claims: Claims
  readonly refreshToken: string | undefined
}

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
  readonly #store: LogInStore | undefined

  /** @param store `undefined`: ended tokens are kept in memory */
  constructor(options: Pick<AuthModule['options'], 'ttl' | 'refresh'>, tokens: Tokens, store: LogInStore | undefined) {
    this.#options = options
    this.#tokens = tokens
    this.#store = store
  }

  /** @param family of the used refresh token. Default: a new family */
  issue(sub: string, state: string, family?: string): Issued {
    const { ttl, refresh } = this.#options
    if (refresh === undefined) return { ...this.#tokens.mint(sub, state, ttl), refreshToken: undefined }
    const fam = family ?? `family ${runtime.randomUUID()}`
    const { token: refreshToken } = this.#tokens.mint(sub, state, refresh.ttl, { fam, use: 'refresh' })
    return { ...this.#tokens.mint(sub, state, ttl, { fam }), refreshToken }
  }

  async end({ jti, exp, fam }: Claims): Promise<void> {
    await this.#end(jti, exp)
    if (typeof fam === 'string') await this.endFamily(fam)
  }

  /** @returns false for a used token */
  use({ jti, exp }: RefreshClaims): Promise<boolean> {
    return this.#end(jti, exp)
  }

  async endFamily(fam: string): Promise<void> {
    const { ttl, refresh } = this.#options
    // The newest token of the family was issued now, at the latest.
    await this.#end(fam, this.#tokens.now() + Math.max(ttl, refresh?.ttl ?? 0))
  }

  async #end(id: string, expires: number): Promise<boolean> {
    return this.#store === undefined ? this.#tokens.revoke(id, expires) : this.#store.end(id, expires, this.#tokens.now())
  }
}
