/**
 * Ties a token to a user by a mark, a hash of the stored password: a new password ends the token. The user's removal ends tokens, too, even
 * if a later user gets the same ID.
 */
import { runtime } from '../../foundation/runtime/runtime.ts'
import { secrets } from '../../foundation/runtime/secrets.ts'
import type { Claims } from '../../model/hook-context.ts'
import type { Resource, ScalarAttribute } from '../../model/model.ts'
import type { RemovalState } from './authentication.ts'

/** Older removals share one time, `#floor`. */
const MAX_REMOVALS = 10_000

const MARK_BYTES = 18

export interface StateColumns {
  readonly password: ScalarAttribute | undefined
  /** The columns of password and identifier. */
  readonly columns: readonly string[]
}

/** Leaves out attributes without a column. */
export function findStateColumns({ attributes }: Resource, password: string, identifier: string): StateColumns {
  const findColumn = (name: string): ScalarAttribute | undefined =>
    attributes.find((each): each is ScalarAttribute => each.kind === 'scalar' && each.property === name && each.source.kind === 'column')
  const hash = findColumn(password)
  const found = [hash, findColumn(identifier)].flatMap(each => (each?.source.kind === 'column' ? [each.source.column] : []))
  return { password: hash, columns: [...new Set(found)] }
}

/**
 * A text of the stored password, or, without a password, of the identifier.
 *
 * @param row the values of the columns; `undefined`: no such user
 */
export function computeState({ password, columns }: StateColumns, row: readonly unknown[] | undefined): string {
  if (row === undefined) return ''
  if (password === undefined) return `user ${formatValue(row[0])}`
  const hash = row[0] ?? ''
  return hash === '' && columns.length > 1 ? `user ${formatValue(row[1])}` : `password ${formatValue(hash)}`
}

function formatValue(value: unknown): string {
  return value instanceof Uint8Array ? runtime.formatBytes(value, 'hex') : JSON.stringify(value ?? null)
}

/** By the system's clock: tokens outlive engines, and clocks of engines may stand still. */
function readMicroseconds(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000)
}

/** Makes `<uuid>.<time>.<mark>`. */
export function createTokenId(sub: string, state: string, key: Uint8Array): string {
  const id = createUnmarkedId()
  return id + markOf(id, sub, state, key)
}

/** `<uuid>.<time>.`, for a mark kept beside the token. */
export function createUnmarkedId(): string {
  return `${runtime.randomUUID()}.${readMicroseconds().toString(36)}.`
}

export function isUnmarked({ jti }: Claims): boolean {
  return jti.endsWith('.')
}

export function markOf(unmarked: string, sub: string, state: string, key: Uint8Array): string {
  return computeMark(unmarked.slice(0, -1), sub, state, key)
}

function computeMark(id: string, sub: string, state: string, key: Uint8Array): string {
  const mark = secrets.authenticate(key, JSON.stringify([id, sub, state]))
  return runtime.formatBytes(mark.subarray(0, MARK_BYTES), 'base64url')
}

/** Remembered, since computing a mark takes longer than reading a user. */
const matchedRows = new WeakMap<Claims, readonly unknown[]>()

/**
 * @param row the values of the columns
 * @param kept the mark beside the token; default: in the token
 */
export function isOfState(claims: Claims, columns: StateColumns, row: readonly unknown[], key: Uint8Array, kept?: string): boolean {
  const matchedRow = matchedRows.get(claims)
  if (matchedRow?.length === row.length && row.every((value, at) => value === matchedRow[at])) return true
  const { sub, jti } = claims
  const state = computeState(columns, row)
  const end = jti.lastIndexOf('.')
  // The token is signed: constant time is not needed.
  const isMatch = end > 0 && (kept ?? jti.slice(end + 1)) === computeMark(jti.slice(0, end), sub, state, key)
  if (isMatch) matchedRows.set(claims, row)
  return isMatch
}

/** In microseconds since 1970; 0: none. */
export function readIssueTime({ jti }: Claims): number {
  const time = Number.parseInt(jti.split('.')[1] ?? '', 36)
  return Number.isSafeInteger(time) ? time : 0
}

/** Refuses older tokens for a later user with the same ID. */
export class Removals {
  /** By token subject, in order of removal. */
  #times = new Map<string, number>()
  /** The latest removal left out. */
  #floor = 0

  get state(): RemovalState {
    return { times: new Map(this.#times), floor: this.#floor }
  }

  restore({ times, floor }: RemovalState): void {
    this.#times = new Map(times)
    this.#floor = floor
  }

  add(sub: string): void {
    this.#times.delete(sub)
    this.#times.set(sub, readMicroseconds())
    if (this.#times.size <= MAX_REMOVALS) return
    const [oldest, time] = this.#times.entries().next().value!
    this.#times.delete(oldest)
    this.#floor = time
  }

  has(claims: Claims): boolean {
    if (this.#times.size === 0) return false
    const time = this.#times.get(claims.sub)
    if (time === undefined && this.#floor === 0) return false
    return readIssueTime(claims) <= Math.max(time ?? 0, this.#floor)
  }
}
