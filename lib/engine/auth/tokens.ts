/**
 * Issues, verifies and revokes JSON Web Tokens (RFC 7519) that are signed with Ed25519 (`alg: EdDSA`, RFC 8037). Refuses with
 * token_malformed, token_invalid, token_expired, token_revoked.
 */
import type { KeyObject } from 'node:crypto'
import type Nacl from 'tweetnacl'
import { builtin } from '../../foundation/base/builtins.ts'
import type { Clock } from '../../foundation/base/clock.ts'
import type { Claims } from '../../model/hook-context.ts'
import { restError, type ErrorCode } from '../../foundation/base/errors.ts'
import { createTokenId, createUnmarkedId } from './user-state.ts'
import type { PublicKey } from './authentication.ts'

/** Made ready by `loadSignatures`, as only engines with log-in need it. */
let nacl: typeof Nacl

/** Loads what signs tokens; it must be there before the first key is made. */
export async function loadSignatures(): Promise<void> {
  nacl ??= (await import('tweetnacl')).default
}

const HEADER = Buffer.from(JSON.stringify({ alg: 'EdDSA', typ: 'JWT' })).toString('base64url')
const MAX_VERIFIED = 1000
const PART = /^[A-Za-z0-9_-]+$/
/** Limit of a token's characters. Tokens of this server have about 300, and longer ones cost work. */
const MAX_LENGTH = 8192
/** The order of the group of Ed25519 (RFC 8032 section 5.1). */
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n

/**
 * Whether the second half of a signature is below the order (RFC 8032 section 5.1.7). Not every library checks it; else one token could
 * have several signatures.
 */
function isReduced(signature: Buffer): boolean {
  return BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) < ORDER
}

function refuseToken(code: ErrorCode & `token_${string}`, detail: string) {
  return restError(code, detail, { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
}

/** A key pair, and the verified tokens that it signed. */
export class SigningKey {
  readonly publicKey: PublicKey
  readonly secretKey: Uint8Array
  /** The public key as `node:crypto` takes it: it verifies some seventy times as fast as tweetnacl, which signs. */
  readonly verifyKey: KeyObject
  /** The key for the marks of a user's state in tokens. */
  readonly markKey: Uint8Array
  /** Tokens with a verified signature. Verifying one takes longer than to read a record. */
  readonly verified = new Map<string, Claims>()
  /** The marks of tokens that do not carry them, by their IDs. */
  readonly marks = new Map<string, Promise<string>>()

  /** @param secret determines the key pair; undefined: a random one */
  constructor(secret: string | undefined) {
    const seed =
      secret === undefined
        ? builtin.crypto.randomBytes(32)
        : Buffer.from(builtin.crypto.hkdfSync('sha256', secret, '', 'mikro-rest ed25519', 32))
    const pair = nacl.sign.keyPair.fromSeed(seed)
    this.markKey = new Uint8Array(builtin.crypto.hkdfSync('sha256', seed, '', 'mikro-rest mark', 32))
    this.secretKey = pair.secretKey
    this.publicKey = Object.freeze({
      kty: 'OKP',
      crv: 'Ed25519',
      alg: 'EdDSA',
      use: 'sig',
      x: Buffer.from(pair.publicKey).toString('base64url'),
    })
    this.verifyKey = builtin.crypto.createPublicKey({ key: { ...this.publicKey }, format: 'jwk' })
  }
}

/** A token and its claims. */
interface Minted {
  readonly token: string
  readonly claims: Claims
}

/** Claims beyond those of every token. */
interface MoreClaims {
  /** The family of tokens that began with one log-in, and end together. */
  readonly fam?: string
  /** A refresh token says so, and is no other. */
  readonly use?: 'refresh'
}

export class Tokens {
  readonly key: SigningKey
  readonly #clock: Clock
  /** Revoked tokens by their ID, with their expiry. */
  readonly #revoked = new Map<string, number>()

  constructor(clock: Clock, key: SigningKey) {
    this.key = key
    this.#clock = clock
  }

  /** The revoked tokens, for snapshots. */
  get revoked(): ReadonlyMap<string, number> {
    return new Map(this.#revoked)
  }

  /** Applies the revoked tokens of a snapshot. */
  restore(revoked: ReadonlyMap<string, number>): void {
    this.#revoked.clear()
    for (const [jti, exp] of revoked) this.#revoked.set(jti, exp)
  }

  /** The time in seconds. */
  now(): number {
    return Math.floor(this.#clock.time() / 1000)
  }

  /**
   * Issues a token.
   *
   * @param state the state of the user; the token is refused once it differs
   * @param ttl seconds; a negative one makes an expired token
   */
  mint(sub: string, state: string, ttl: number, more: MoreClaims = {}): Minted {
    return this.#sign(sub, createTokenId(sub, state, this.key.markKey), ttl, more)
  }

  /** Issues a token for a user whose state is about to be read: its mark is kept beside it. */
  mintUnmarked(sub: string, ttl: number): Minted {
    return this.#sign(sub, createUnmarkedId(), ttl, {})
  }

  #sign(sub: string, jti: string, ttl: number, more: MoreClaims): Minted {
    const iat = this.now()
    const claims: Claims = Object.freeze({ sub, iat, exp: iat + ttl, jti, ...more })
    const signed = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
    const token = `${signed}.${Buffer.from(nacl.sign.detached(Buffer.from(signed), this.key.secretKey)).toString('base64url')}`
    this.#remember(token, claims)
    return { token, claims }
  }

  verify(token: string): Claims {
    const claims = this.read(token)
    if (this.hasEnded(claims)) throw refuseToken('token_revoked', 'The token has been revoked: log in again.')
    return claims
  }

  /** Whether a token, or its family, has ended, as far as that is kept here. */
  hasEnded({ jti, fam }: Claims): boolean {
    return this.#revoked.has(jti) || (typeof fam === 'string' && this.#revoked.has(fam))
  }

  /** Verifies a token that may have ended before its time. */
  read(token: string): Claims {
    if (token.length > MAX_LENGTH) throw refuseToken('token_malformed', `The token is longer than ${MAX_LENGTH} characters.`)
    let claims = this.key.verified.get(token)
    if (claims === undefined) {
      claims = this.#check(token)
      this.#remember(token, claims)
    }
    const now = this.now()
    if (claims.exp <= now) throw refuseToken('token_expired', 'The token has expired: log in again.')
    // The clock was set back, or the token is of an engine whose clock is ahead.
    if (claims.iat > now) throw refuseToken('token_invalid', 'The token was issued in the future.')
    return claims
  }

  #remember(token: string, claims: Claims): void {
    const { verified } = this.key
    if (verified.size >= MAX_VERIFIED) verified.delete(verified.keys().next().value!)
    verified.set(token, claims)
  }

  #check(token: string): Claims {
    const parts = token.split('.')
    if (parts.length !== 3 || !parts.every(part => PART.test(part)))
      throw refuseToken('token_malformed', 'The token is not a JSON Web Token.')
    const [header, payload, signature] = parts as [string, string, string]
    const head = jsonObject(header)
    const claims = jsonObject(payload)
    if (head === undefined || claims === undefined) throw refuseToken('token_malformed', 'The token is not a JSON Web Token.')
    // The server determines the algorithm, never the token (RFC 8725 section 3.1).
    const bytes = Buffer.from(signature, 'base64url')
    // Unused bits of the last character would give one token several spellings.
    if (
      head['alg'] !== 'EdDSA' ||
      bytes.length !== nacl.sign.signatureLength ||
      bytes.toString('base64url') !== signature ||
      !isReduced(bytes)
    )
      throw refuseToken('token_invalid', 'The token is not signed by this server.')
    if (!builtin.crypto.verify(null, Buffer.from(`${header}.${payload}`), this.key.verifyKey, bytes)) {
      throw refuseToken('token_invalid', 'The token is not signed by this server.')
    }
    const { sub, iat, exp, jti } = claims
    if (typeof sub !== 'string' || typeof iat !== 'number' || typeof exp !== 'number' || typeof jti !== 'string') {
      throw refuseToken('token_invalid', 'The token lacks claims.')
    }
    return Object.freeze({ ...claims, sub, iat, exp, jti })
  }

  /**
   * Ends a token, or a family of tokens.
   *
   * @param expires when it would end by itself, in seconds since 1970
   * @returns whether it had not ended before
   */
  revoke(id: string, expires: number): boolean {
    const now = this.now()
    for (const [other, end] of this.#revoked) if (end <= now) this.#revoked.delete(other)
    const isNew = !this.#revoked.has(id)
    this.#revoked.set(id, expires)
    return isNew
  }
}

function jsonObject(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
