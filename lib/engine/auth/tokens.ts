/**
 * Makes and verifies JSON Web Tokens (RFC 7519), signed with Ed25519 (`alg: EdDSA`, RFC 8037). Refuses with token_malformed, token_invalid,
 * token_expired, token_revoked.
 */
import type Nacl from 'tweetnacl'
import type { Clock } from '../../foundation/async/clock.ts'
import type { Claims } from '../../model/hook-context.ts'
import { restError, type ErrorCode } from '../../foundation/errors/errors.ts'
import { createTokenId, createUnmarkedId } from './user-state.ts'
import type { PublicKey } from './authentication.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'
import { secrets } from '../../foundation/runtime/secrets.ts'

let nacl: typeof Nacl

export async function loadSignatures(): Promise<void> {
  nacl ??= (await import('tweetnacl')).default
}

const utf8 = { encoder: new TextEncoder(), decoder: new TextDecoder('utf-8', { ignoreBOM: true }) }
const HEADER = encode(JSON.stringify({ alg: 'EdDSA', typ: 'JWT' }))
const MAX_VERIFIED = 1000
const PART = /^[A-Za-z0-9_-]+$/
/** In characters. Own tokens have about 300; long tokens cost work. */
const MAX_LENGTH = 8192
/** The order of the Ed25519 group (RFC 8032 section 5.1). */
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n

/**
 * Whether the second half is below the order (RFC 8032 section 5.1.7): otherwise a token could have several signatures. Not every library
 * checks.
 */
function isReduced(signature: Uint8Array): boolean {
  return BigInt(`0x${runtime.formatBytes(signature.subarray(32).toReversed(), 'hex')}`) < ORDER
}

function refuseToken(code: ErrorCode & `token_${string}`, detail: string) {
  return restError(code, detail, { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
}

/** A key pair, with verified tokens. */
export class SigningKey {
  readonly publicKey: PublicKey
  readonly secretKey: Uint8Array
  /** `node:crypto` verifies some seventy times as fast as tweetnacl, the signer. */
  readonly isSigned: (text: string, signature: Uint8Array) => boolean
  readonly markKey: Uint8Array
  /** Verifying takes longer than reading a record. */
  readonly verified = new Map<string, Claims>()
  /** By token ID, for tokens without a mark inside. */
  readonly marks = new Map<string, Promise<string>>()

  /** @param secret determines the key pair; `undefined`: random */
  constructor(secret: string | undefined) {
    const seed = secret === undefined ? secrets.randomBytes(32) : secrets.deriveKey(secret, 'mikro-rest ed25519')
    const pair = nacl.sign.keyPair.fromSeed(seed)
    this.markKey = secrets.deriveKey(seed, 'mikro-rest mark')
    this.secretKey = pair.secretKey
    this.publicKey = Object.freeze({
      kty: 'OKP',
      crv: 'Ed25519',
      alg: 'EdDSA',
      use: 'sig',
      x: runtime.formatBytes(pair.publicKey, 'base64url'),
    })
    const verify = (text: string, signature: Uint8Array): boolean =>
      signature.length === 64 && nacl.sign.detached.verify(utf8.encoder.encode(text), signature, pair.publicKey)
    this.isSigned = secrets.verifier?.(this.publicKey.x) ?? verify
  }
}

interface Minted {
  readonly token: string
  readonly claims: Claims
}

interface MoreClaims {
  /** All tokens of a log-in end together. */
  readonly fam?: string
  /** Refresh tokens give no access. */
  readonly use?: 'refresh'
}

export class Tokens {
  readonly key: SigningKey
  readonly #clock: Clock
  /** By ID: the time of expiry. */
  readonly #revoked = new Map<string, number>()
  whenRevoked: () => void = () => {}

  constructor(clock: Clock, key: SigningKey) {
    this.key = key
    this.#clock = clock
  }

  get revoked(): ReadonlyMap<string, number> {
    return new Map(this.#revoked)
  }

  restore(revoked: ReadonlyMap<string, number>): void {
    this.#revoked.clear()
    for (const [jti, exp] of revoked) this.#revoked.set(jti, exp)
  }

  /** In seconds. */
  now(): number {
    return Math.floor(this.#clock.time() / 1000)
  }

  /**
   * @param state another state later refuses the token
   * @param ttl in seconds; negative: already expired
   */
  mint(sub: string, state: string, ttl: number, more: MoreClaims = {}): Minted {
    return this.#sign(sub, createTokenId(sub, state, this.key.markKey), ttl, more)
  }

  /** For a state still being read: the mark is kept beside the token. */
  mintUnmarked(sub: string, ttl: number): Minted {
    return this.#sign(sub, createUnmarkedId(), ttl, {})
  }

  #sign(sub: string, jti: string, ttl: number, more: MoreClaims): Minted {
    const iat = this.now()
    const claims: Claims = Object.freeze({ sub, iat, exp: iat + ttl, jti, ...more })
    const signed = `${HEADER}.${encode(JSON.stringify(claims))}`
    const signature = nacl.sign.detached(utf8.encoder.encode(signed), this.key.secretKey)
    const token = `${signed}.${runtime.formatBytes(signature, 'base64url')}`
    this.#remember(token, claims)
    return { token, claims }
  }

  verify(token: string): Claims {
    const claims = this.read(token)
    if (this.hasEnded(claims)) throw refuseToken('token_revoked', 'The token has been revoked: log in again.')
    return claims
  }

  hasEnded({ jti, fam }: Claims): boolean {
    return this.#revoked.has(jti) || (typeof fam === 'string' && this.#revoked.has(fam))
  }

  /** Reads a revoked token, too. */
  read(token: string): Claims {
    if (token.length > MAX_LENGTH) throw refuseToken('token_malformed', `The token is longer than ${MAX_LENGTH} characters.`)
    let claims = this.key.verified.get(token)
    if (claims === undefined) {
      claims = this.#check(token)
      this.#remember(token, claims)
    }
    const now = this.now()
    if (claims.exp <= now) throw refuseToken('token_expired', 'The token has expired: log in again.')
    // The clock was set back, or another engine's clock is ahead.
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
    const bytes = runtime.parseBytes(signature, 'base64url')
    // The server determines the algorithm, never the token (RFC 8725 section 3.1). Unused bits of the last character would allow several
    // spellings.
    if (
      head['alg'] !== 'EdDSA' ||
      bytes.length !== nacl.sign.signatureLength ||
      runtime.formatBytes(bytes, 'base64url') !== signature ||
      !isReduced(bytes)
    )
      throw refuseToken('token_invalid', 'The token is not signed by this server.')
    if (!this.key.isSigned(`${header}.${payload}`, bytes)) {
      throw refuseToken('token_invalid', 'The token is not signed by this server.')
    }
    const { sub, iat, exp, jti } = claims
    if (typeof sub !== 'string' || typeof iat !== 'number' || typeof exp !== 'number' || typeof jti !== 'string') {
      throw refuseToken('token_invalid', 'The token lacks claims.')
    }
    return Object.freeze({ ...claims, sub, iat, exp, jti })
  }

  /**
   * @param expires natural end, in seconds since 1970
   * @returns false for an ended token
   */
  revoke(id: string, expires: number): boolean {
    const now = this.now()
    for (const [other, end] of this.#revoked) if (end <= now) this.#revoked.delete(other)
    const isNew = !this.#revoked.has(id)
    this.#revoked.set(id, expires)
    this.whenRevoked()
    return isNew
  }
}

function encode(text: string): string {
  return runtime.formatBytes(utf8.encoder.encode(text), 'base64url')
}

function jsonObject(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decoder.decode(runtime.parseBytes(part, 'base64url')))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
