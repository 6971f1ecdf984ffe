/**
 * Ties a token to the user that it was issued for. A token carries a mark of the user's stored state, which a new password changes, and
 * its time of issue, which lies before the removal of an earlier user with the same ID.
 */
import { builtin } from '../../foundation/base/builtins.ts'
import type { Claims } from '../../model/hook-context.ts'
import type { Resource, ScalarAttribute } from '../../model/model.ts'
import type { RemovalState } from './authentication.ts'

/** Limit of the removals that are kept one by one. */
const MAX_REMOVALS = 10_000

/** Bytes of a mark. */
const MARK = 18

/** The columns that make up the state of a user. */
export interface StateColumns {
  readonly password: ScalarAttribute | undefined
  /** The columns to read: those of the password, and those that identify the user. */
  readonly columns: readonly string[]
}

/** Finds the columns of two attributes, as far as they have columns of their own. */
export function findStateColumns({ attributes }: Resource, password: string, identifier: string): StateColumns {
  const findColumn = (name: string): ScalarAttribute | undefined =>
    attributes.find((each): each is ScalarAttribute => each.kind === 'scalar' && each.property === name && each.source.kind === 'column')
  const hash = findColumn(password)
  const found = [hash, findColumn(identifier)].flatMap(each => (each?.source.kind === 'column' ? [each.source.column] : []))
  return { password: hash, columns: [...new Set(found)] }
}

/**
 * Computes the state of a user as a text: the stored password, or without one the columns that identify the user.
 *
 * @param row the values of the columns; undefined when the user does not exist
 */
export function computeState({ password, columns }: StateColumns, row: readonly unknown[] | undefined): string {
  if (row === undefined) return ''
  if (password === undefined) return `user ${formatValue(row[0])}`
  const hash = row[0] ?? ''
  return hash === '' && columns.length > 1 ? `user ${formatValue(row[1])}` : `password ${formatValue(hash)}`
}

function formatValue(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : JSON.stringify(value ?? null)
}

/** Reads the system's clock in microseconds. Tokens outlive engines, whose own clocks may stand still. */
function readMicroseconds(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000)
}

/** Creates the ID of a new token: `<uuid>.<time>.<mark>`. */
export function createTokenId(sub: string, state: string, key: Uint8Array): string {
  const id = createUnmarkedId()
  return id + markOf(id, sub, state, key)
}

/** Creates the ID of a new token whose mark is kept beside it: `<uuid>.<time>.` */
export function createUnmarkedId(): string {
  return `${builtin.crypto.randomUUID()}.${readMicroseconds().toString(36)}.`
}

/** Whether the mark of a token is kept beside it. */
export function isUnmarked({ jti }: Claims): boolean {
  return jti.endsWith('.')
}

/** Computes the mark of a user's state for an unmarked ID. */
export function markOf(unmarked: string, sub: string, state: string, key: Uint8Array): string {
  return computeMark(unmarked.slice(0, -1), sub, state, key)
}

function computeMark(id: string, sub: string, state: string, key: Uint8Array): string {
  const mark = builtin.crypto
    .createHmac('sha256', key)
    .update(JSON.stringify([id, sub, state]))
    .digest()
  return mark.subarray(0, MARK).toString('base64url')
}

/** The columns of users for which tokens are known to be made. Computing a mark takes longer than reading a user. */
const known = new WeakMap<Claims, readonly unknown[]>()

/**
 * Whether a verified token was made for a user in this state.
 *
 * @param row the values of the columns
 * @param kept the mark that is kept beside the token; undefined where it carries its own
 */
export function isOfState(claims: Claims, columns: StateColumns, row: readonly unknown[], key: Uint8Array, kept?: string): boolean {
  const before = known.get(claims)
  if (before?.length === row.length && row.every((value, at) => value === before[at])) return true
  const { sub, jti } = claims
  const state = computeState(columns, row)
  const end = jti.lastIndexOf('.')
  // The token is signed, so the comparison need not take constant time.
  const isOf = end > 0 && (kept ?? jti.slice(end + 1)) === computeMark(jti.slice(0, end), sub, state, key)
  if (isOf) known.set(claims, row)
  return isOf
}

/** Reads the time of issue, in microseconds; 0 where the token has none. */
export function readIssueTime({ jti }: Claims): number {
  const time = Number.parseInt(jti.split('.')[1] ?? '', 36)
  return Number.isSafeInteger(time) ? time : 0
}

/** Keeps the times at which users were removed, so that older tokens are refused for a later user with the same ID. */
export class Removals {
  /** The times by the subject of tokens, in the order of removal. */
  #times = new Map<string, number>()
  /** The time of the last removal that is not kept by itself any more. */
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

  /** Whether the user of a token was removed after its issue. */
  has(claims: Claims): boolean {
    if (this.#times.size === 0) return false
    const time = this.#times.get(claims.sub)
    if (time === undefined && this.#floor === 0) return false
    return readIssueTime(claims) <= Math.max(time ?? 0, this.#floor)
  }
}
