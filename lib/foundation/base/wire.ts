/** The public types of the option `wire`. A folder of `lib/wires/` imports nothing else. */

import type { QueryInput } from './query-input.ts'

/** A query may repeat a name: `?id=1&id=2` are two pairs. */
export interface WireRequest {
  /** Upper case. HEAD too: the body of the answer is left out. */
  readonly method: string
  /** Below the base, percent-encoded as sent, without the query: `/posts/1`. */
  readonly path: string
  /** `/api`, or empty. */
  readonly base: string
  /** Decoded: `['posts', '1']`. */
  readonly segments: readonly string[]
  /** The query, decoded, in the order as sent. */
  readonly pairs: readonly (readonly [name: string, value: string])[]
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON as a value; by `takes` an object of fields, a string, or a Uint8Array. `undefined`: no body. */
  readonly body: unknown
}

/** The answer to a client. */
export interface WireAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** A string or Uint8Array goes out unchanged, any other value as JSON. */
  readonly body?: unknown
  /** After a refused write of a repeatable wire: runs `answer` once more, in a new transaction. */
  readonly again?: boolean
}

/** An attribute of a resource. */
export interface WireAttribute {
  readonly name: string
  readonly kind: 'scalar' | 'embedded' | 'toOne' | 'toOneOf' | 'toMany'
  /** Of a scalar: `text`, `integer`, `float`, `decimal`, `bigint`, `boolean`, `date`, `datetime`, `time`, `json`, ... */
  readonly type: string | undefined
  readonly nullable: boolean
  /** The column of a value or a link in the table of the resource: `author_id`. */
  readonly column: string | undefined
  /** The name of the linked resource. */
  readonly target: string | undefined
  /** The key of a relation's IDs in a JSON file or the model: `authorId`. Undefined: the name. */
  readonly ids: string | undefined
  /** Whether bodies of the resource may set the attribute; of a link, whether this side holds the link. */
  readonly writable: boolean
  /** The other side: an attribute of the linked resource. */
  readonly inverse: string | undefined
  /** The table between two resources, of links of many to many. */
  readonly through: string | undefined
}

/** A resource by name. */
export interface WireResource {
  /** In the plural: `posts`. */
  readonly name: string
  readonly singular: string
  readonly table: string
  /** Whether the resource is a single record, at `/profile`. */
  readonly single: boolean
  /** Whether records may lack attributes (see `FromJsonOptions.exact`): `update` with `undefined` takes an attribute away. */
  readonly exact: boolean
  /** The attributes of the ID. */
  readonly key: readonly string[]
  /** Attributes unique together, beside the key. */
  readonly uniques: readonly (readonly string[])[]
  readonly attributes: readonly WireAttribute[]
}

/** The query of `api.list`. */
export interface WireQuery {
  /**
   * A query object of MikroORM with names of attributes: `{ views: { $gte: 10 }, author: { name: 'Ann' } }`. Attributes hidden from the
   * caller are unknown. Default: all records.
   */
  readonly where?: object
  /** Keys of the engine's `sort`: `['views.desc', 'id']`. Default: the resource's. */
  readonly sort?: readonly string[]
  /** Default: the resource's, at most `limits.maxLimit`. */
  readonly limit?: number
  /** Default: 0. */
  readonly offset?: number
  /** Default: all. */
  readonly attributes?: readonly string[]
  /**
   * Paths of relations: `['author', 'comments.author']`; with a query, an object: `{ comments: { where: { isSpam: false }, sort:
   * ['id.desc'], limit: 3 } }`. Default: none, and relations are IDs.
   */
  readonly expand?: readonly (string | Readonly<Record<string, WireExpanded>>)[]
}

/** A relation to a single record takes `where`, `attributes` and `expand`; without a match, null. */
export interface WireExpanded extends WireQuery {
  /** Shows the number of records in the place of the list. */
  readonly count?: true
}

/** A page of records. */
export interface WireList {
  readonly records: readonly Readonly<Record<string, unknown>>[]
  /** The number of all matching records. */
  readonly count: number
}

/** The log-in of the engine: the option `auth`. */
export interface WireLogIn {
  /** The resource of the users. */
  readonly users: string
  /** The names of a log-in's members, by default. */
  readonly identifier: string
  readonly password: string
  /** The life of a token, in seconds. */
  readonly ttl: number
  /** For `api.ask`: `{ login: '/login', logout: '/logout' }`. */
  readonly paths: Readonly<Partial<Record<'login' | 'logout' | 'refresh' | 'me' | 'signUp', string>>>
}

type Named = WireResource | string

type IdPart = string | number | bigint

/** The ID as in a path of the engine: `7`. The parts of a composite key are an array: `[7, 'en']`. */
type IdOfWire = IdPart | readonly IdPart[]

/**
 * Each call is a whole request in the engine's grammar, with the caller's rights, validation, limits and hooks. A refusal is a `RestError`
 * with `status`, `code`, `message` and `errors`.
 */
export interface WireApi {
  readonly resources: readonly WireResource[]
  /** `undefined` without log-in. */
  readonly logIn: WireLogIn | undefined
  list(resource: Named, query?: WireQuery): Promise<WireList>
  get(resource: Named, id: IdOfWire, query?: Pick<WireQuery, 'attributes' | 'expand'>): Promise<Readonly<Record<string, unknown>>>
  /** Creates all records of an array or none, and gives the records in order. */
  create(resource: Named, body: unknown): Promise<unknown>
  /** Changes the attributes of `body` alone. */
  update(resource: Named, id: IdOfWire, body: unknown): Promise<Readonly<Record<string, unknown>>>
  remove(resource: Named, id: IdOfWire): Promise<unknown>
  /** Any request, below the version: `ask('POST', '/login', undefined, { email, password })`. Gives the result of `ctx.ask`. */
  ask(method: string, path: string, query?: QueryInput, body?: unknown): Promise<unknown>
  /** The same for another caller, by the headers of the request: `api.as({ authorization: 'Bearer ...' })`. */
  as(headers: Readonly<Record<string, string>>): WireApi
}

/** A refusal, for a wire to answer. */
export interface WireError {
  readonly status: number
  /** `record_not_found`, `validation_failed`, ...: see the reference of errors. */
  readonly code: string
  readonly message: string
  readonly detail: string
  /** Field errors and errors of parameters, with `code`, `detail`, and `path` or `parameter`. */
  readonly errors?: readonly object[]
  /** Such as `retry-after`. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Answers in the grammar of an application's own backend. `engine.handle` keeps the engine's grammar.
 *
 * @example
 * const wire = {
 *   async answer({ method, segments: [name, id] }, api) {
 *     if (method === 'GET' && id !== undefined) return { status: 200, body: await api.get(name, id) }
 *     return { status: 200, body: (await api.list(name)).records }
 *   },
 *   refuse: ({ status, detail }) => ({ status, body: { message: detail } }),
 * }
 */
export interface Wire {
  /** A write is one transaction, undone where the status is 400 or more. */
  answer(request: WireRequest, api: WireApi): WireAnswer | Promise<WireAnswer>
  /** Answers a request refused before `answer`, and an error of `answer`. */
  refuse(error: WireError, request: WireRequest): WireAnswer
  /**
   * Whether `answer` may run again after a conflict with another write on PostgreSQL: without effects outside of the database. Default: no,
   * and the conflict is a 503.
   */
  readonly repeatable?: boolean | ((request: WireRequest) => boolean)
  /** Bodies beside JSON; others are refused with 415. Default: none. */
  readonly takes?: readonly ('form' | 'text' | 'bytes')[]
}
