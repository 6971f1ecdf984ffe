/** The growths as data: sizes, the database at each size, and the measured requests with their hand-written equals. */
import type Database from 'better-sqlite3'
import { DEFAULT_LIMITS } from '../../lib/foundation/base/limits.ts'
import { ByHand } from '../by-hand.ts'
import { FIRST_NAMES } from '../seed.ts'
import type { Request } from '../trials.ts'
import { CHAIN, COLUMNS, USUAL_USERS, WIDE, listLinks, listThings, listWide, parents, things, users } from './models.ts'
import type { Filter, World } from './models.ts'

/** A request whose cost may grow. Calls are numbered from 0. */
export interface GrowthTrial {
  readonly name: string
  /** The smallest size that it supports; undefined: all. */
  readonly from?: number
  readonly request: (size: number, call: number) => Request
  /** What the engine's time is to be beside that by hand at the largest size. */
  readonly aim?: number
  /** The hand-written equal, on a database of its own. */
  readonly byHand: (db: Database.Database) => (size: number, call: number) => string
}

export interface Growth {
  readonly name: string
  /** The label of an axis. */
  readonly label: string
  readonly sizes: readonly number[]
  readonly world: (size: number) => World
  readonly trials: readonly GrowthTrial[]
}

const get = (path: string, query: Record<string, string | number> = {}): Request => ({ method: 'GET', path, query })
const idOf = (call: number): number => 1 + ((call * 37) % 1000)
const nameOf = (call: number): string => FIRST_NAMES[call % FIRST_NAMES.length]!
const addressOf = (call: number): string => `user${100 + (call % 900)}@*`

const page = (depth: 0 | 1 | 2): GrowthTrial => ({
  name: `a page at depth ${depth}`,
  request: size => get('/v1/users', { depth, limit: size }),
  byHand: db => {
    const api = new ByHand(db)
    return size => api.listUsersBy(size, depth)
  },
})

/** Comparisons of an attribute of WIDE that every record meets. */
const PASSES: readonly (readonly [Filter[1], string])[] = [
  ['>=', '0'],
  ['>', '0'],
  ['<=', '1000'],
  ['<', '1000'],
]

/** Returns filters of that many attributes, always the same. */
const sameFilters = (size: number): Filter[] => Array.from({ length: size }, (_, index) => [`c${index}`, '>=', '0'] as const)

/** Returns filters of that many attributes, which differ from call to call, with other operators every few calls. */
const otherFilters = (size: number, call: number): Filter[] =>
  Array.from({ length: size }, (_, index) => {
    const digits = Math.floor(call / COLUMNS)
    const [operator, value] = PASSES[Math.floor(digits / 4 ** (index % 6)) % PASSES.length]!
    return [`c${(index + call) % COLUMNS}`, operator, value] as const
  })

const filtered = (filters: readonly Filter[]): Request =>
  get('/v1/wides', {
    attributes: 'id,c0',
    ...Object.fromEntries(filters.map(([name, operator, value]) => [name + operator, value])),
  })

export const GROWTHS: readonly Growth[] = [
  {
    name: 'rows',
    label: 'rows of the table',
    sizes: [1000, 10_000, 100_000, 1_000_000],
    world: size => users(size, 1000),
    trials: [
      {
        name: 'one record',
        request: (_, call) => get(`/v1/users/${idOf(call)}`, { depth: 0 }),
        byHand: db => {
          const api = new ByHand(db)
          return (_, call) => api.getUser(idOf(call), 0)
        },
      },
      {
        name: 'a filter with an index',
        request: (_, call) => get('/v1/users', { email: addressOf(call), depth: 0 }),
        byHand: db => {
          const api = new ByHand(db)
          return (_, call) => api.listUsersByEmail(addressOf(call))
        },
      },
      {
        name: 'a page of 100, counted',
        request: (_, call) => get('/v1/users', { depth: 0, offset: call % 10 }),
        byHand: db => {
          const api = new ByHand(db)
          return (_, call) => api.listUsers(0, call % 10)
        },
      },
      {
        name: 'a filter without one, sorted',
        request: (_, call) => get('/v1/users', { name: `${nameOf(call)}*`, sort: 'score.desc', depth: 0, offset: call % 10 }),
        byHand: db => {
          const api = new ByHand(db)
          return (_, call) => api.listUsersNamed(`${nameOf(call)}*`, call % 10)
        },
      },
    ],
  },
  {
    name: 'page',
    label: 'records of the page',
    sizes: [1, 3, 10, 30, 100, 300, DEFAULT_LIMITS.maxLimit],
    world: () => USUAL_USERS,
    trials: [page(0), page(1), page(2)],
  },
  {
    name: 'depth',
    label: 'levels of expanded relations',
    sizes: Array.from({ length: DEFAULT_LIMITS.maxPathRelations + 1 }, (_, level) => level),
    world: () => CHAIN,
    trials: [
      {
        name: '90 records with parents',
        request: (size, call) =>
          get('/v1/links', { 'id>=': idOf(call), 'id<': idOf(call) + 90, depth: 0, ...(size === 0 ? {} : { expand: parents(size) }) }),
        byHand: db => {
          const list = listLinks(db)
          return (size, call) => list(idOf(call), idOf(call) + 90, size)
        },
      },
    ],
  },
  {
    name: 'filters',
    label: 'filters of the request',
    sizes: [0, 1, 2, 4, 8, 16, 32],
    world: () => WIDE,
    trials: [
      {
        name: 'filters of one shape',
        request: size => filtered(sameFilters(size)),
        byHand: db => {
          const list = listWide(db)
          return size => list(sameFilters(size))
        },
      },
      {
        name: 'each time another shape',
        // Smaller sizes do not have that many shapes.
        from: 4,
        aim: 1.7,
        request: (size, call) => filtered(otherFilters(size, call)),
        // Each call prepares its statement anew.
        byHand: db => (size, call) => listWide(db)(otherFilters(size, call)),
      },
    ],
  },
  {
    name: 'entities',
    label: 'entities of the model',
    sizes: [10, 30, 100, 300],
    world: things,
    trials: [
      {
        name: 'a list of one entity',
        request: size => get(`/v1/thing${size - 1}s`, { depth: 0 }),
        byHand: db => {
          const list = listThings(db)
          return size => list(size - 1)
        },
      },
      {
        name: 'lists of all of them in turn',
        request: (size, call) => get(`/v1/thing${call % size}s`, { depth: 0 }),
        byHand: db => {
          const list = listThings(db)
          return (size, call) => list(call % size)
        },
      },
    ],
  },
]
