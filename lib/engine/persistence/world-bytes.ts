/** Writes the state of an engine as bytes, a line of JSON before the database, and reads the bytes. */
import { isObject } from '../../foundation/json/json.ts'
import type { ContentBytes } from '../../records/database/world-store.ts'
import type { AuthState } from '../auth/authentication.ts'
import type { WorldState } from '../worlds/snapshot.ts'

export interface StoredWorld {
  readonly content: ContentBytes
  readonly state: WorldState
}

/** Begins the line. */
const FORMAT = 'mikro-rest world 1'

const LINE_FEED = 10

type Pairs<Value> = readonly (readonly [string, Value])[]

interface WorldLine {
  readonly format: typeof FORMAT
  readonly keys: Pairs<string> | null
  readonly clock: WorldState['clock']
  readonly auth: {
    readonly revoked: Pairs<number>
    readonly failures: Pairs<readonly number[]>
    readonly removals: { readonly times: Pairs<number>; readonly floor: number }
  } | null
  readonly nextSeed: number
  readonly learned: WorldState['learned']
}

export function writeWorld({ content: { bytes, keys }, state: { clock, auth, nextSeed, learned } }: StoredWorld): Uint8Array {
  const line: WorldLine = {
    format: FORMAT,
    keys: keys === undefined ? null : [...keys].map(([table, key]) => [table, String(key)]),
    clock,
    auth: auth === undefined ? null : writeAuth(auth),
    nextSeed,
    learned,
  }
  const head = new TextEncoder().encode(`${JSON.stringify(line)}\n`)
  const all = new Uint8Array(head.length + bytes.length)
  all.set(head)
  all.set(bytes, head.length)
  return all
}

function writeAuth({ revoked, failures, removals: { times, floor } }: AuthState): WorldLine['auth'] {
  return { revoked: [...revoked], failures: [...failures], removals: { times: [...times], floor } }
}

/** @throws Error for bytes of another version of the library */
export function readWorld(bytes: Uint8Array): StoredWorld {
  const end = bytes.indexOf(LINE_FEED)
  const line: unknown = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)))
  if (!isObject(line) || line['format'] !== FORMAT) throw new Error('another version of mikro-rest has written it')
  const { keys, clock, auth, nextSeed, learned } = line as unknown as WorldLine
  return {
    content: {
      bytes: bytes.subarray(end + 1),
      keys: keys === null ? undefined : new Map(keys.map(([table, key]) => [table, BigInt(key)])),
    },
    state: {
      clock: { frozen: clock.frozen, ahead: clock.ahead },
      auth: auth === null ? undefined : readAuth(auth),
      nextSeed,
      learned,
    },
  }
}

function readAuth({ revoked, failures, removals: { times, floor } }: NonNullable<WorldLine['auth']>): AuthState {
  return { revoked: new Map(revoked), failures: new Map(failures), removals: { times: new Map(times), floor } }
}
