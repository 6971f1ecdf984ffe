/**
 * User state: what ties a token to the very user that it was made for. A token carries a mark of what is stored of the user, which a new password changes, and
 * the time of its making, which lies before the removal of a user whose ID another one has now.
 */
import { builtin } from '../base/builtins.ts'
import type { Claims } from '../request/hook-context.ts'
import type { Resource, ScalarAttribute } from '../model/model.ts'

/** Removals that are remembered one by one. */
const MAX_REMOVALS = 10_000

/** Bytes of a mark. */
const MARK = 18

/** The columns that tell one state of a user from another. */
export interface StateColumns {
  readonly password: ScalarAttribute | undefined
  /** In the order in which they are read: of the password, and of what identifies the user. */
  readonly columns: readonly string[]
}

/** Those of the properties with these names, as far as they are stored in columns of their own. */
export function findStateColumns({ attributes }: Resource, password: string, identifier: string): StateColumns {
  const columnOf = (name: string): ScalarAttribute | undefined =>
    attributes.find((each): each is ScalarAttribute => each.kind === 'scalar' && each.property === name && each.source.kind === 'column')
  const hash = columnOf(password)
  const found = [hash, columnOf(identifier)].flatMap(each => (each?.source.kind === 'column' ? [each.source.column] : []))
  return { password: hash, columns: [...new Set(found)] }
}

/**
 * The state of a user as a text: the stored password; where there is none, what identifies them.
 *
 * @param row the values of the columns; undefined when there is no such user
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

/** Microseconds of the system's clock: tokens outlive engines, whose own clocks may stand still. */
function readMicroseconds(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000)
}

/** A new token's own ID: `<uuid>.<time>.<mark>`. */
export function createTokenId(sub: string, state: string, key: Uint8Array): string {
  const id = `${builtin.crypto.randomUUID()}.${readMicroseconds().toString(36)}`
  return `${id}.${computeMark(id, sub, state, key)}`
}

function computeMark(id: string, sub: string, state: string, key: Uint8Array): string {
  const mark = builtin.crypto
    .createHmac('sha256', key)
    .update(JSON.stringify([id, sub, state]))
    .digest()
  return mark.subarray(0, MARK).toString('base64url')
}

/** The states for which tokens are known to have been made: to work out a mark takes longer than to read a user. */
const known = new WeakMap<Claims, string>()

/** Whether a verified token was made for a user in this state. */
export function isOfState(claims: Claims, state: string, key: Uint8Array): boolean {
  if (known.get(claims) === state) return true
  const { sub, jti } = claims
  const end = jti.lastIndexOf('.')
  // Signed as it is, it needs no comparison in constant time.
  const isOf = end > 0 && jti.slice(end + 1) === computeMark(jti.slice(0, end), sub, state, key)
  if (isOf) known.set(claims, state)
  return isOf
}

/** When a token was made, in microseconds; 0 where it does not say. */
function readIssueTime({ jti }: Claims): number {
  const time = Number.parseInt(jti.split('.')[1] ?? '', 36)
  return Number.isSafeInteger(time) ? time : 0
}

/** When users were removed, as a snapshot keeps it. */
export interface RemovalState {
  readonly times: ReadonlyMap<string, number>
  readonly floor: number
}

/** When users were removed: no older token is one of a later user with the same ID. */
export class Removals {
  /** By what tokens call the user, in the order of removal. */
  #times = new Map<string, number>()
  /** The last removal that is not remembered by itself any more. */
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

  /** Whether the user of a token has been removed since it was made. */
  has(claims: Claims): boolean {
    if (this.#times.size === 0) return false
    const time = this.#times.get(claims.sub)
    if (time === undefined && this.#floor === 0) return false
    return readIssueTime(claims) <= Math.max(time ?? 0, this.#floor)
  }
}
