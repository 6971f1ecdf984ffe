/** The types of `ctx`, for the application's wrappers, access rules, scopes, renderers and custom routes. */
import type { EntityManager } from '@mikro-orm/core'
import type { QueryInput } from '../foundation/base/query-input.ts'
import type { RestResponse } from '../foundation/base/response.ts'

/** What rules distinguish. */
export type Action = 'list' | 'get' | 'create' | 'update' | 'delete'

/** Of a verified token. */
export interface Claims {
  /** The user's ID as text. */
  readonly sub: string
  /** Seconds since the epoch. */
  readonly iat: number
  readonly exp: number
  readonly jti: string
  readonly [claim: string]: unknown
}

/** The engine. Calls inside a write join its transaction. */
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
  /** `engine`: past access rules and scopes. Default: as the request's caller. */
  readonly as?: 'engine'
}

/** A request's `SqlEntityManager` of MikroORM, with a type for `execute`. */
export interface RequestEntityManager extends EntityManager {
  /**
   * Runs SQL; in a write, inside the transaction.
   *
   * @param sql `?` stands for a parameter
   * @param params values, in order
   * @param method `all`: rows; `get`: the first row; `run`: what a write did. Default: `all`
   * @example const [row] = await ctx.em.execute<{ total: number }[]>('select sum(price) as total from orders where user_id = ?',
   *   [ctx.claims.sub])
   */
  execute<T extends object = Record<string, unknown>[]>(sql: string, params?: unknown[], method?: 'all' | 'get' | 'run'): Promise<T>
}

/** The request, for hooks, handlers, access rules, scopes and renderers. */
export interface HookContext {
  readonly engine: EngineHandle
  /**
   * Asks the engine as this request's caller, under the same base and version; in a write, inside the transaction. A custom route that asks
   * for its own path gets the resource behind the route. A rule that asks for the guarded resource as the caller calls itself.
   *
   * @param path below the version: `/articles/7`; may carry its own `?query`
   * @param query as for `engine.handle`
   * @param body a JSON value
   * @param options `{ as: 'engine' }` asks past access rules and scopes
   * @returns the records, record or value in the answer; a custom route's body
   * @throws RestError with the answer's status, code, detail and errors from 400 on: becomes the answer to the request
   * @example
   * const author = await ctx.ask('GET', `/users/${ctx.claims.sub}`, { attributes: 'name' })
   * await ctx.ask('POST', '/events', {}, { text: `${author.name} was here` }, { as: 'engine' })
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- as `body` of an answer
  ask<T = any>(method: string, path: string, query?: QueryInput, body?: unknown, options?: AskOptions): Promise<T>
  /** The request's entity manager; in a write, the transaction's. */
  readonly em: RequestEntityManager
  /** On `resource`; undefined in a custom route. */
  readonly action: Action | undefined
  readonly version: string
  /** Plural name; undefined in a custom route. */
  readonly resource: string | undefined
  /** The path's ID as text, if of a record of `resource`: undefined in `GET /users/1/posts`. */
  readonly id: string | undefined
  /** The path's attribute. */
  readonly attribute: string | undefined
  readonly method: string
  readonly path: string
  /** By name with operator; repeated parameters as an array. */
  readonly query: Readonly<Record<string, string | readonly string[]>>
  /** The JSON body. A hook may change or replace the body before `next`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what it holds follows from the model, and nothing has checked it yet
  data: any
  /** The token's user, with the authentication module on. */
  // oxlint-disable-next-line typescript/no-explicit-any -- follows from the model; `{ author: ctx.user?.id }` is a condition
  readonly user: Readonly<Record<string, any>> | undefined
  readonly claims: Claims | undefined
  /** Whether the authentication module is on. */
  readonly logsIn: boolean
  readonly headers: Readonly<Record<string, string>>
  /** Decoded `{name}` parts of a custom route's path. */
  readonly params: Readonly<Record<string, string>>
  /** For notes to later hooks of the request. */
  readonly state: Record<string, unknown>
}

/** A handler's answer. Default status: 200. */
export interface HandlerResponse {
  readonly status?: number
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Wraps or replaces the engine's work: `next()` does the work. */
export type Wrapper = (ctx: HookContext, next: () => Promise<RestResponse>) => HandlerResponse | Promise<HandlerResponse>
