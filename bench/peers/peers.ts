/**
 * Peers: a table of the other servers: the packages to install, the command that starts them, and their spelling of the requests. The
 * requests are the same for all: those that each can answer by its documented means.
 */
import type { HttpRequest } from '../load.ts'
import type { Size } from '../seed.ts'

/** The requests that all servers answer. */
export const OPERATIONS = ['list of 100', 'filter', 'sort', 'one record', 'create', 'update', 'delete'] as const
export type OperationName = (typeof OPERATIONS)[number]

/** A page of all users by ID, of those that are active, or of all by score, the highest first. */
interface PageQuery {
  readonly offset: number
  readonly active?: true
  readonly byScore?: true
}

export const PAGE_SIZE = 100

export interface Peer {
  readonly name: string
  /** Whether the table of the docs leaves it out: without a database, it does less than the others. */
  readonly isPrintedOnly?: boolean
  /** What npm installs, with versions; undefined: it runs on the packages of the repository. */
  readonly packages?: Readonly<Record<string, string>>
  /** Of those, packages whose install scripts must run. */
  readonly scripts?: readonly string[]
  /** Other versions of the packages that they need, where their own do not run on this Node. */
  readonly overrides?: Readonly<Record<string, string>>
  /** The file to start: in `servers/`, or below the folder of installed packages. */
  readonly start: { readonly server: string } | { readonly installed: string }
  /** How it is told of its port and its data; undefined: by two arguments. */
  readonly words?: (port: number, data: string) => readonly string[]
  /** Where its data is: a SQLite file, or a JSON file of the same rows. */
  readonly data: 'sqlite' | 'json'
  /** The form in which it takes date-times and booleans of a new record. */
  readonly takes: { readonly times: 'text' | 'number'; readonly booleans: 'boolean' | 'number' }
  /** The path of a collection. */
  readonly path: (collection: 'users' | 'sites') => string
  readonly query: (query: PageQuery) => string
  /** The records of the answer to a list. */
  readonly records: (body: unknown) => readonly unknown[]
  /** The record of any other answer; undefined: the answer is the record. */
  readonly record?: (body: unknown) => unknown
  /** The body of a request that writes; undefined: the attributes. */
  readonly body?: (attributes: object) => object
  /** The ID in the answer to a new record, where it does not show the record. */
  readonly createdId?: (body: unknown) => unknown
  /** The method that changes some attributes. */
  readonly change: 'PUT' | 'PATCH'
}

const member = (name: string) => (body: unknown) => (body as Record<string, unknown>)[name]
const list = (name: string) => (body: unknown) => member(name)(body) as unknown[]
const whole = (body: unknown) => body as unknown[]

/** A query in the words of one peer, which counts records or pages. */
function spell(limit: string, start: string, counts: 'records' | 'pages', active: string, byScore: string) {
  return (query: PageQuery): string => {
    const from = counts === 'pages' ? query.offset / PAGE_SIZE + 1 : query.offset
    return `${limit}=${PAGE_SIZE}&${start}=${from}${query.active ? `&${active}` : ''}${query.byScore ? `&${byScore}` : ''}`
  }
}

const own = spell('limit', 'offset', 'records', 'active=true', 'sort=score.desc')
const plainPath = (collection: string): string => `/${collection}`

const EXPRESS = '4.22.1'
const BETTER_SQLITE3 = '13.0.3'

/** What one writes oneself for these requests alone: no peer, but what all are measured by. */
export const BY_HAND: Peer = {
  name: 'better-sqlite3, by hand',
  start: { server: 'better-sqlite3.ts' },
  data: 'sqlite',
  takes: { times: 'number', booleans: 'boolean' },
  path: plainPath,
  query: own,
  records: list('users'),
  change: 'PUT',
}

export const ENGINE: Peer = {
  name: 'mikro-rest',
  start: { server: 'engine.ts' },
  data: 'sqlite',
  takes: { times: 'text', booleans: 'boolean' },
  path: collection => `/v1/${collection}`,
  // Without the IDs of sites, which no other one shows.
  query: query => `depth=0&${own(query)}`,
  records: list('users'),
  record: member('user'),
  change: 'PUT',
}

export const PEERS: readonly Peer[] = [
  BY_HAND,
  ENGINE,
  {
    name: 'MikroORM 7, by hand',
    start: { server: 'mikro-orm.ts' },
    data: 'sqlite',
    takes: { times: 'text', booleans: 'boolean' },
    path: plainPath,
    query: own,
    records: list('users'),
    change: 'PUT',
  },
  {
    name: 'json-server 0.17',
    packages: { 'json-server': '0.17.4' },
    start: { installed: 'json-server/lib/cli/bin.js' },
    words: (port, data) => ['--host', '127.0.0.1', '--port', String(port), '--quiet', data],
    data: 'json',
    takes: { times: 'number', booleans: 'boolean' },
    path: plainPath,
    query: spell('_limit', '_start', 'records', 'active=true', '_sort=score&_order=desc'),
    records: whole,
    change: 'PATCH',
  },
  {
    name: 'json-server 1.0 beta',
    packages: { 'json-server': '1.0.0-beta.15' },
    start: { installed: 'json-server/lib/bin.js' },
    words: (port, data) => ['--host', '127.0.0.1', '--port', String(port), data],
    data: 'json',
    takes: { times: 'number', booleans: 'boolean' },
    path: plainPath,
    query: spell('_per_page', '_page', 'pages', 'active=true', '_sort=-score'),
    records: list('data'),
    change: 'PATCH',
  },
  {
    name: 'finale-rest',
    packages: { 'finale-rest': '1.2.2', sequelize: '6.37.7', express: EXPRESS, sqlite3: '5.1.7' },
    scripts: ['sqlite3'],
    start: { server: 'finale.js' },
    data: 'sqlite',
    takes: { times: 'text', booleans: 'boolean' },
    path: plainPath,
    query: spell('count', 'offset', 'records', 'active=1', 'sort=-score'),
    records: whole,
    change: 'PUT',
  },
  {
    name: 'Feathers 5',
    packages: {
      '@feathersjs/feathers': '5.0.50',
      '@feathersjs/koa': '5.0.50',
      '@feathersjs/knex': '5.0.50',
      knex: '3.3.0',
      'better-sqlite3': BETTER_SQLITE3,
    },
    start: { server: 'feathers.js' },
    data: 'sqlite',
    takes: { times: 'number', booleans: 'number' },
    path: plainPath,
    query: spell('$limit', '$skip', 'records', 'active=1', '$sort[score]=-1'),
    records: list('data'),
    change: 'PATCH',
  },
  {
    name: 'Feathers 5, in memory',
    isPrintedOnly: true,
    packages: { '@feathersjs/feathers': '5.0.50', '@feathersjs/koa': '5.0.50', '@feathersjs/memory': '5.0.50' },
    start: { server: 'feathers-memory.js' },
    data: 'json',
    takes: { times: 'number', booleans: 'boolean' },
    path: plainPath,
    query: spell('$limit', '$skip', 'records', 'active=true', '$sort[score]=-1'),
    records: list('data'),
    change: 'PATCH',
  },
  {
    name: 'soul-cli',
    packages: { 'soul-cli': '0.8.2' },
    overrides: { 'better-sqlite3': BETTER_SQLITE3, bcrypt: '6.0.0' },
    start: { installed: 'soul-cli/src/server.js' },
    words: (port, data) => ['--port', String(port), '--database', data],
    data: 'sqlite',
    takes: { times: 'number', booleans: 'number' },
    path: collection => `/api/tables/${collection === 'users' ? 'user' : 'site'}/rows`,
    query: spell('_limit', '_page', 'pages', '_filters=active:1', '_ordering=-score'),
    records: list('data'),
    record: body => list('data')(body)[0],
    body: fields => ({ fields }),
    createdId: body => member('lastInsertRowid')(member('data')(body)),
    change: 'PUT',
  },
  {
    name: 'remult 3',
    packages: { remult: '3.3.18', express: EXPRESS, 'better-sqlite3': BETTER_SQLITE3 },
    start: { server: 'remult.js' },
    data: 'sqlite',
    takes: { times: 'number', booleans: 'boolean' },
    path: collection => `/api/${collection}`,
    query: spell('_limit', '_page', 'pages', 'active=true', '_sort=score&_order=desc'),
    records: whole,
    change: 'PUT',
  },
]

/**
 * The rows that all have: fewer sites than in `npm run bench`, for json-server 0.17 compares every site with every user when it deletes
 * one.
 */
export const PEERS_SIZE: Size = { users: 10_000, sites: 20_000 }

/** How many IDs the requests for one record, and those that change one, vary over. */
const IDS = 1000

const idOf = (call: number): number => 1 + ((call * 37) % IDS)
const offsetOf = (call: number): number => PAGE_SIZE * (call % 9)

/** The request of a call; calls are numbered from 0 on, without a gap. Undefined when all that could be deleted is. */
export function requestOf(peer: Peer, operation: OperationName, call: number): HttpRequest | undefined {
  const users = peer.path('users')
  // The record without the IDs of its sites, which no other one shows.
  const alone = peer === ENGINE ? '?depth=0' : ''
  const get = (query: Omit<PageQuery, 'offset'>): HttpRequest => ({
    method: 'GET',
    target: `${users}?${peer.query({ offset: offsetOf(call), ...query })}`,
  })
  switch (operation) {
    case 'list of 100':
      return get({})
    case 'filter':
      return get({ active: true })
    case 'sort':
      return get({ byScore: true })
    case 'one record':
      return { method: 'GET', target: `${users}/${idOf(call)}${alone}` }
    case 'create':
      return { method: 'POST', target: `${users}${alone}`, body: bodyOf(peer, newUser(peer, call)) }
    case 'update':
      return { method: peer.change, target: `${users}/${idOf(call)}${alone}`, body: bodyOf(peer, { name: `Name ${call}` }) }
    case 'delete':
      return call < PEERS_SIZE.sites ? { method: 'DELETE', target: `${peer.path('sites')}/${1 + call}` } : undefined
  }
}

function bodyOf({ body }: Peer, attributes: object): object {
  return body === undefined ? attributes : body(attributes)
}

function newUser({ takes }: Peer, call: number): object {
  const time = 1767225600000 + call * 1000
  return {
    name: `New ${call}`,
    email: `new${call}@example.test`,
    active: takes.booleans === 'number' ? 1 : true,
    score: call,
    created_at: takes.times === 'text' ? new Date(time).toISOString() : time,
  }
}
