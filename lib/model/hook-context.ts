/**
 * Hook context: the arguments of hooks, handlers, access rules and renderers, and the results that they return.
 */
import type { EntityManager } from '@mikro-orm/core'
import type { QueryInput } from '../foundation/base/query-input.ts'
import type { RestResponse } from '../foundation/base/response.ts'

/** The actions that the rules of a resource distinguish. */
export type Action = 'list' | 'get' | 'create' | 'update' | 'delete'

/** Claims of a verified token. */
export interface Claims {
  /** ID of the user, as text. */
  readonly sub: string
  /** Seconds since the epoch. */
  readonly iat: number
  readonly exp: number
  readonly jti: string
  readonly [claim: string]: unknown
}

/** The part of the engine that hooks call; inside the hook of a write it takes part in that write's transaction. */
export interface EngineHandle {
  handle(
    method: string,
    path: string,
    query?: QueryInput,
    body?: unknown,
    context?: { headers?: Readonly<Record<string, string>>; signal?: AbortSignal },
  ): Promise<RestResponse>
}

/** How `ctx.ask` asks. */
export interface AskOptions {
  /** `engine`: past access rules and scopes, as `engine.seed` does. Default: as the caller of the request. */
  readonly as?: 'engine'
}

/** MikroORM's entity manager of a request, on SQL: its `SqlEntityManager`, with `execute` known to the types. */
export interface RequestEntityManager extends EntityManager {
  /**
   * Runs a statement of SQL; in a write, inside of its transaction.
   *
   * @param sql `?` stands for a parameter
   * @param params their values, in order
   * @param method `all`: rows; `get`: the first row; `run`: what a write has done. Default: `all`
   * @example const [row] = await ctx.em.execute<{ total: number }[]>('select sum(price) as total from orders where user_id = ?',
   * [ctx.claims.sub])
   */
  execute<T extends object = Record<string, unknown>[]>(sql: string, params?: unknown[], method?: 'all' | 'get' | 'run'): Promise<T>
}

/** The request, as hooks, handlers, access rules, scopes and renderers see it. */
export interface HookContext {
  readonly engine: EngineHandle
  /**
   * Asks the engine, as the caller of this request and below its base and version; inside of a write it takes part in its transaction. A
   * custom route that asks for its own path gets what is behind it. A rule that asks for what it decides about asks itself, unless it asks
   * as the engine.
   *
   * @param path below the version: `/articles/7`; may carry its own `?query`
   * @param query as that of `engine.handle`
   * @param body a JSON value
   * @param options `{ as: 'engine' }` asks past access rules and scopes
   * @returns the records, the record or the value that the answer carries; the body of a custom route
   * @throws RestError with status, code, detail and errors of the answer, when that is one of 400 or above: the request is answered with it
   * @example
   * const author = await ctx.ask('GET', `/users/${ctx.claims.sub}`, { attributes: 'name' })
   * await ctx.ask('POST', '/events', {}, { text: `${author.name} was here` }, { as: 'engine' })
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- as `body` of an answer
  ask<T = any>(method: string, path: string, query?: QueryInput, body?: unknown, options?: AskOptions): Promise<T>
  /** An entity manager of this request; in a write, the one of its transaction. */
  readonly em: RequestEntityManager
  /** The action on `resource`; undefined in a custom route. */
  readonly action: Action | undefined
  readonly version: string
  /** Plural name of the resource; undefined in a custom route. */
  readonly resource: string | undefined
  /**
   * The ID of the path, as text; undefined where it is not the ID of a record of `resource`: in `GET /users/1/posts` it is that of a user.
   */
  readonly id: string | undefined
  /** The attribute of the path. */
  readonly attribute: string | undefined
  readonly method: string
  readonly path: string
  /** Query parameters by name with operator; a repeated one as an array. */
  readonly query: Readonly<Record<string, string | readonly string[]>>
  /** The body, a JSON value; a hook may change or replace it before it calls `next`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what it holds follows from the model, and nothing has checked it yet
  data: any
  /** The user of the token, when the authentication module is on and a token was sent. */
  // oxlint-disable-next-line typescript/no-explicit-any -- follows from the model; `{ author: ctx.user?.id }` is a condition
  readonly user: Readonly<Record<string, any>> | undefined
  readonly claims: Claims | undefined
  /** Whether the authentication module is on. */
  readonly logsIn: boolean
  readonly headers: Readonly<Record<string, string>>
  /** The `{name}` parts of a custom route's path, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** For hooks to leave each other notes; new for every request. */
  readonly state: Record<string, unknown>
}

/** The answer of a handler. Without a status: 200. */
export interface HandlerResponse {
  readonly status?: number
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Wraps or replaces a behaviour: `next()` does what would have been done. */
export type Wrapper = (ctx: HookContext, next: () => Promise<RestResponse>) => HandlerResponse | Promise<HandlerResponse>
