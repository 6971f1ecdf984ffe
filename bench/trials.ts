/** The trials as data: a request for the engine, and its hand-written equal. Both vary with the number of the call. */
import type { QueryInput } from '../lib/index.ts'
import type { ByHand, NewUser, NewUserWithSites } from './by-hand.ts'
import type { HttpRequest } from './load.ts'
import { FIRST_NAMES, TEAMS } from './seed.ts'
import type { Size } from './seed.ts'

/** A request to the engine. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly query?: QueryInput
  readonly body?: unknown
}

export interface Trial {
  readonly name: string
  /** The engine's time is to be at most this multiple of that of the hand-written code; undefined: measured only. */
  readonly aim: number | undefined
  /** Whether the floor answers it, too: `floor.ts`. */
  readonly floor?: boolean
  /** Whether the processes are timed while they are young, after so few calls that V8 has not compiled much. */
  readonly isYoung?: boolean
  /** Whether the engine keeps its journal during the trial. */
  readonly journal?: boolean
  /** Calls before the measurement, at least. */
  readonly warmUp: number
  /** Calls of a process at most, where they change the data. */
  readonly most?: number
  /** The rows, where the usual ones are too few for so many calls. */
  readonly size?: Size
  /** Calls that are timed together, about a hundredth of a second. */
  readonly calls: number
  /** Returns the request of a call. Calls are numbered from 0, without a gap. */
  readonly request: (call: number) => Request
  readonly byHand: (api: ByHand, call: number) => string
}

const offsetOf = (call: number): number => (call * 70) % 900
const idOf = (call: number): number => 1 + ((call * 37) % 1000)
const nameOf = (call: number): string => FIRST_NAMES[call % FIRST_NAMES.length]!
const scoreOf = (call: number): number => ((call * 91 + 1) * 7919) % 10_007
const patternOf = (call: number): string => `site-0${call % 10}*`

const newUser = (call: number): NewUser => ({
  name: `New ${call}`,
  email: `new${call}@example.test`,
  active: call % 2 === 0,
  score: call,
  created_at: new Date(1767225600000 + call * 1000).toISOString(),
})

const withSites = (call: number): NewUserWithSites => ({
  ...newUser(call),
  sites: Array.from({ length: 5 }, (_each, index) => ({ url: `new-${call}-${index}.example.test` })),
})

const teamOf = (call: number): number => 1 + (call % TEAMS)
/** Twenty users, other ones each time that the same team is asked. */
const usersOf = (call: number): number[] => Array.from({ length: 20 }, (_each, index) => 1 + ((call * 37 + index * 3) % 1000))

const list = (depth: 0 | 1 | 2, calls: number): Trial => ({
  name: `list of 100, depth ${depth}`,
  aim: [1.15, 1.2, 1.25][depth],
  warmUp: 1000,
  calls,
  request: call => ({ method: 'GET', path: '/v1/users', query: { depth, offset: offsetOf(call) } }),
  byHand: (api, call) => api.listUsers(depth, offsetOf(call)),
})

const record = (depth: 0 | 1): Trial => ({
  name: `one record, depth ${depth}`,
  aim: [1.3, 1.4][depth],
  floor: true,
  warmUp: 60_000,
  calls: 4000,
  request: call => ({ method: 'GET', path: `/v1/users/${idOf(call)}`, query: { depth } }),
  byHand: (api, call) => api.getUser(idOf(call), depth),
})

const CREATE: Trial = {
  name: 'create',
  aim: 2,
  floor: true,
  warmUp: 8000,
  most: 100_000,
  calls: 1000,
  request: call => ({ method: 'POST', path: '/v1/users', body: newUser(call) }),
  byHand: (api, call) => api.createUser(newUser(call)),
}

const UPDATE: Trial = {
  name: 'update',
  aim: 2.5,
  floor: true,
  warmUp: 8000,
  calls: 1000,
  request: call => ({ method: 'PUT', path: `/v1/users/${idOf(call)}`, body: { name: `Name ${call}` } }),
  byHand: (api, call) => api.renameUser(idOf(call), `Name ${call}`),
}

const DELETE: Trial = {
  name: 'delete',
  aim: 2,
  floor: true,
  warmUp: 8000,
  size: { users: 10_000, sites: 200_000 },
  most: 200_000,
  calls: 500,
  request: call => ({ method: 'DELETE', path: `/v1/sites/${1 + call}` }),
  byHand: (api, call) => api.deleteSite(1 + call),
}

/** The same by processes that have done little yet, as those of tests have. */
const young = (trial: Trial): Trial => ({ ...trial, name: `${trial.name}, young process`, aim: 3, isYoung: true, warmUp: 8000, calls: 200 })

export const TRIALS: readonly Trial[] = [
  list(0, 200),
  list(1, 60),
  list(2, 40),
  {
    name: 'filter with wildcard, sort',
    aim: 1.15,
    warmUp: 200,
    calls: 20,
    request: call => ({
      method: 'GET',
      path: '/v1/users',
      query: { name: `${nameOf(call)}*`, sort: 'score.desc', depth: 0, offset: offsetOf(call) % 100 },
    }),
    byHand: (api, call) => api.listUsersNamed(`${nameOf(call)}*`, offsetOf(call) % 100),
  },
  {
    name: 'filter that many meet, sort',
    aim: 1.1,
    warmUp: 200,
    calls: 10,
    request: call => ({ method: 'GET', path: '/v1/users', query: { active: 'true', sort: 'score', depth: 0, offset: offsetOf(call) } }),
    byHand: (api, call) => api.listActiveUsers(offsetOf(call)),
  },
  {
    name: 'filter through a relation',
    aim: 1.15,
    warmUp: 50,
    calls: 4,
    request: call => ({
      method: 'GET',
      path: '/v1/users',
      query: { 'sites.url': patternOf(call), depth: 0, offset: offsetOf(call) % 100 },
    }),
    byHand: (api, call) => api.listUsersWithSite(patternOf(call), offsetOf(call) % 100),
  },
  {
    // The other way of asking a list: by hand one would ask the few records that the first filter leaves.
    name: 'filter through it, and more',
    aim: 1.15,
    warmUp: 500,
    calls: 40,
    request: call => ({
      method: 'GET',
      path: '/v1/users',
      query: { score: scoreOf(call), 'sites.url': patternOf(call), depth: 0 },
    }),
    byHand: (api, call) => api.listUsersScoredWithSite(scoreOf(call), patternOf(call)),
  },
  {
    name: 'sort by count',
    aim: 1.15,
    warmUp: 50,
    calls: 4,
    request: call => ({ method: 'GET', path: '/v1/users', query: { sort: 'sites.desc', depth: 0, offset: offsetOf(call) } }),
    byHand: (api, call) => api.listUsersBySiteCount(offsetOf(call)),
  },
  {
    name: 'sort by a dotted path',
    aim: 1.15,
    warmUp: 50,
    calls: 3,
    request: call => ({ method: 'GET', path: '/v1/sites', query: { sort: 'user.name', offset: offsetOf(call) } }),
    byHand: (api, call) => api.listSitesByUser(offsetOf(call)),
  },
  record(0),
  record(1),
  { ...record(1), name: 'the same, with the journal', aim: undefined, floor: false, journal: true },
  {
    name: 'count with a filter',
    aim: 1.2,
    warmUp: 500,
    calls: 40,
    request: call => ({ method: 'GET', path: '/v1/users', query: { 'score>=': (call * 91) % 10_000, limit: 0 } }),
    byHand: (api, call) => api.countUsers((call * 91) % 10_000),
  },
  CREATE,
  {
    name: 'nested create (1 + 5)',
    aim: 3,
    warmUp: 4000,
    most: 40_000,
    calls: 300,
    request: call => ({ method: 'POST', path: '/v1/users', body: withSites(call) }),
    byHand: (api, call) => api.createUserWithSites(withSites(call)),
  },
  {
    name: 'PUT of a list of 20 IDs',
    aim: 3,
    warmUp: 4000,
    calls: 300,
    request: call => ({ method: 'PUT', path: `/v1/teams/${teamOf(call)}`, body: { users: usersOf(call) } }),
    byHand: (api, call) => api.replaceUsers(teamOf(call), usersOf(call)),
  },
  UPDATE,
  DELETE,
  ...[CREATE, UPDATE, DELETE].map(young),
]

/** The trial of memory: most pages are cut out by ID, every tenth is one of the whole table, whose count reads all of it. */
export const MEMORY: Trial = {
  name: 'memory',
  aim: undefined,
  // Until the size of the heap is stable.
  warmUp: 1000,
  calls: 1000,
  request: call =>
    call % 10 === 0
      ? { method: 'GET', path: '/v1/users', query: { depth: 1, offset: offsetOf(call) } }
      : { method: 'GET', path: '/v1/users', query: { 'id>=': idOf(call), 'id<': idOf(call) + 200, depth: 1 } },
  byHand: (api, call) => (call % 10 === 0 ? api.listUsers(1, offsetOf(call)) : api.listUsersBetween(idOf(call), idOf(call) + 200)),
}

/** Returns the beginning of a hundred and eleven addresses of a million. */
const emailsOf = (call: number): string => `user${1000 + ((call * 37) % 9000)}*`

const deep = (name: string, offset: (call: number) => number): Trial => ({
  name,
  aim: 1.15,
  warmUp: 10,
  calls: 2,
  request: call => ({ method: 'GET', path: '/v1/users', query: { depth: 0, offset: offset(call) } }),
  byHand: (api, call) => api.listUsers(0, offset(call)),
})

/** Trials on tables with a million rows each, in a file. */
export const LARGE: readonly Trial[] = [
  {
    // Three hundred of a million: two statements by hand.
    name: 'of a million: few, sorted',
    aim: 0.6,
    warmUp: 5,
    calls: 1,
    request: call => ({
      method: 'GET',
      path: '/v1/users',
      query: { 'score>=': scoreOf(call), 'score<': scoreOf(call) + 3, sort: 'created_at.desc', depth: 0 },
    }),
    byHand: (api, call) => api.listUsersScored(scoreOf(call), scoreOf(call) + 3),
  },
  deep('of a million: a first page', call => call % 10),
  deep('of a million: at 900,000', call => 900_000 + (call % 10)),
  {
    name: 'of a million: by an index',
    aim: 1.15,
    warmUp: 1000,
    calls: 100,
    request: call => ({ method: 'GET', path: '/v1/users', query: { email: emailsOf(call), depth: 0 } }),
    byHand: (api, call) => api.listUsersByEmail(emailsOf(call)),
  },
]

/**
 * A trial over HTTP, whose figure is requests a second. The engine should reach at least `aim` times that of the hand-written server.
 */
export interface HttpTrial {
  readonly name: string
  readonly aim: number
  readonly trial: Trial
  /** The database of each server. `own`: a file that the server makes; `others`: a file that was there before. */
  readonly place?: FilePlace
}

export type FilePlace = 'own' | 'others'

/** The same with an answer that shows no relations, without the floor. */
const bare = (trial: Trial, byHand: Trial['byHand']): Trial => ({
  ...trial,
  floor: false,
  request: call => ({ ...trial.request(call), query: { depth: 0 } }),
  byHand,
})

const onFiles = (place: FilePlace, where: string): HttpTrial[] => [
  { name: `HTTP, ${where}: one record, depth 0`, aim: 0.8, trial: { ...record(0), floor: false }, place },
  { name: `HTTP, ${where}: create, depth 0`, aim: 0.8, trial: bare(CREATE, (api, call) => api.createUser(newUser(call), 0)), place },
  {
    name: `HTTP, ${where}: update, depth 0`,
    aim: 0.7,
    trial: bare(UPDATE, (api, call) => api.renameUser(idOf(call), `Name ${call}`, 0)),
    place,
  },
]

export const HTTP: readonly HttpTrial[] = [
  { name: 'HTTP: list of 100, depth 0', aim: 0.9, trial: list(0, 1) },
  { name: 'HTTP: list of 100, depth 1', aim: 0.9, trial: list(1, 1) },
  { name: 'HTTP: one record, depth 0', aim: 0.92, trial: record(0) },
  { name: 'HTTP: one record, depth 1', aim: 0.92, trial: record(1) },
  { name: 'HTTP: create', aim: 0.8, trial: CREATE },
  { name: 'HTTP: update', aim: 0.8, trial: UPDATE },
  ...onFiles('own', 'own file'),
  ...onFiles('others', 'file of others'),
]

/** Returns the request of a call as it is sent. */
export function sentBy(trial: Trial, call: number): HttpRequest {
  const { method, path, query, body } = trial.request(call)
  const text = new URLSearchParams(query as Record<string, string> | undefined).toString()
  return { method, target: text === '' ? path : `${path}?${text}`, body }
}

const SORTS = ['id', 'name', 'email', 'active', 'score'].flatMap(name => [name, `${name}.desc`])
const ATTRIBUTES = ['id', 'name', 'id,name', 'id,email', 'id,active', 'id,score', 'id,sites', 'name,sites', '!email', '!sites']
const FILTERS: readonly Readonly<Record<string, string>>[] = [
  { 'score>': '0' },
  { 'score>=': '0' },
  { 'score<': '100000' },
  { 'created_at<': '2040-01-01' },
  { active: 'true,false' },
  { 'name!=': 'x' },
  { '!name': 'x*' },
  { name: 'A*,B*,C*' },
  { email: '*e*' },
  { 'email~=': 'U*' },
]

/** The number of different request shapes. */
export const SHAPES = SORTS.length * ATTRIBUTES.length * FILTERS.length

/** Returns a request of each shape, which finds a few records. */
export function shapeOf(index: number): Request {
  const [sort, attributes, filter] = [SORTS[index % 10]!, ATTRIBUTES[Math.floor(index / 10) % 10]!, FILTERS[Math.floor(index / 100) % 10]!]
  return { method: 'GET', path: '/v1/users', query: { 'id>=': '100', 'id<': '120', sort, attributes, ...filter } }
}
