/** The trials of the bench: those of `bench/trials.ts` that it shares, with the goals that are set for PostgreSQL. */
import type { ByHand as SqliteByHand } from '../by-hand.ts'
import { LARGE, TRIALS } from '../trials.ts'
import type { Request } from '../trials.ts'
import type { ByHand } from './by-hand.ts'

/** What hand-written code answers. Code that does not answer all of it has no figure for the rest. */
export type Api = Omit<ByHand, 'close'>

export interface PostgresTrial {
  readonly name: string
  /** Limit of the engine's time as a multiple of the hand-written code. */
  readonly aim: number
  /** Calls of each contender before the measurement, and of a round. */
  readonly warmUp: number
  readonly calls: number
  /** What it calls of the hand-written code. */
  readonly asks: keyof Api
  readonly request: (call: number) => Request
  readonly byHand: (api: Api, call: number) => Promise<string>
}

/** A write runs more of the engine than a reading does, which V8 optimizes later. */
const WRITING: ReadonlySet<string> = new Set(['create', 'update', 'delete'])

/** A trial of SQLite: its hand-written code is called by the same names here, and answers by promises. */
function take(name: string, asks: keyof Api, aim: number): PostgresTrial {
  const trial = [...TRIALS, ...LARGE].find(each => each.name === name)!
  const { request, byHand } = trial
  const [warmUp, calls] = LARGE.includes(trial) ? [5, 2] : name.startsWith('one') ? [600, 150] : WRITING.has(name) ? [1500, 30] : [300, 30]
  return {
    name,
    asks,
    aim,
    warmUp,
    calls,
    request,
    byHand: (api, call) => byHand(api as unknown as SqliteByHand, call) as unknown as Promise<string>,
  }
}

export const READINGS: readonly PostgresTrial[] = [
  take('list of 100, depth 0', 'listUsers', 0.8),
  take('list of 100, depth 1', 'listUsers', 0.8),
  take('list of 100, depth 2', 'listUsers', 0.9),
  take('one record, depth 0', 'getUser', 1.1),
  take('one record, depth 1', 'getUser', 1.1),
  take('filter that many meet, sort', 'listActiveUsers', 1),
]

export const WRITES: readonly PostgresTrial[] = [
  take('create', 'createUser', 1.3),
  take('update', 'renameUser', 1.3),
  take('delete', 'deleteSite', 1.3),
]

/**
 * The same where an engine has made the database, and its journal has the rows that change: triggers note each of them there, which
 * hand-written code does without.
 */
export const NOTED_WRITES: readonly PostgresTrial[] = WRITES.map(trial => ({ ...trial, name: `${trial.name}, with the journal`, aim: 1.5 }))

/** On a million rows, in the time of hand-written code. */
export const LARGE_READINGS: readonly PostgresTrial[] = [
  take('of a million: a first page', 'listUsers', 1.1),
  take('of a million: at 900,000', 'listUsers', 1.1),
  take('of a million: by an index', 'listUsersByEmail', 1.1),
  {
    name: 'of a million: sorted by an index',
    asks: 'listUsersInOrder',
    aim: 1.1,
    warmUp: 5,
    calls: 2,
    request: call => ({ method: 'GET', path: '/v1/users', query: { sort: 'email', depth: 0, offset: call % 10 } }),
    byHand: (api, call) => api.listUsersInOrder(call % 10),
  },
  take('of a million: few, sorted', 'listUsersScored', 1.1),
]

/** A list whose count goes through the whole table. */
export const LISTS = take('list of 100, depth 1', 'listUsers', 1)
