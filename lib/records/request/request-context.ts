/** Implements `ctx` for a request. Costly members are made when read. */
import type { EntityManager } from '@mikro-orm/core'
import type { Action, AskOptions, Claims, EngineHandle, HookContext, RequestEntityManager } from '../../model/hook-context.ts'
import { askWithin, type OuterRequest } from './inner-request.ts'
import type { Resource } from '../../model/model.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'
import { assertJson } from '../../foundation/json/json.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'
import { readHeaders, type Request } from './parse-request.ts'

export interface Principal {
  readonly claims: Claims
  readonly user: Readonly<Record<string, unknown>>
  /** The resource of `user`. */
  readonly resource: Resource
}

export interface RequestFacts {
  readonly action: Action | undefined
  readonly resource: string | undefined
  /** Percent-encoded, as sent. */
  readonly id: string | undefined
  readonly attribute: string | undefined
}

export interface ContextParts extends OuterRequest<Principal> {
  readonly fork: () => EntityManager
  readonly logsIn: boolean
  /** Undefined in a custom route. */
  readonly about?: () => RequestFacts
  readonly params?: Readonly<Record<string, string>>
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({})

export class RequestContext implements HookContext {
  #data: unknown
  #asked = false
  #state: Record<string, unknown> | undefined
  readonly #parts: ContextParts
  #em: EntityManager | undefined
  #headers: Readonly<Record<string, string>> | undefined
  #query: Readonly<Record<string, string | readonly string[]>> | undefined

  /** Undefined outside of a page. */
  #within = runtime.bindWork?.(CALL)

  constructor(parts: ContextParts) {
    this.#parts = parts
  }

  get parts(): ContextParts {
    return this.#parts
  }
  /** Copied: hooks must not change the caller's object. */
  get data(): unknown {
    if (!this.#asked) {
      this.#asked = true
      this.#data = structuredClone(this.#parts.request.body)
    }
    return this.#data
  }
  set data(value: unknown) {
    this.#asked = true
    this.#data = value
  }
  /** The body as left by hooks, else the client's. */
  get body(): unknown {
    if (!this.#asked) return this.#parts.request.body
    assertJson(this.#data ?? null, 'the body that a handler has put')
    return this.#data
  }
  get engine(): EngineHandle {
    return this.#within === undefined ? this.#parts.engine : callWithin(this.#parts.engine, this.#within)
  }
  get em(): RequestEntityManager {
    // MikroORM's entity manager has this class for all SQL databases.
    return (this.#em ??= this.#parts.fork()) as RequestEntityManager
  }
  ask<T>(method: string, path: string, query?: QueryInput, body?: unknown, options: AskOptions = {}): Promise<T> {
    const asking = (): Promise<unknown> => askWithin(this.#parts, { method, path, query, body, options })
    return (this.#within === undefined ? asking() : this.#within(asking)) as Promise<T>
  }
  enter(em: EntityManager): void {
    this.#em = em
    this.#within = runtime.bindWork?.(CALL)
  }
  /** Call the result before each run of a handler: later runs begin with the present body and state. */
  startAgain(): () => void {
    const [wasAsked, data, state] = [this.#asked, this.#asked ? structuredClone(this.#data) : undefined, this.#state && { ...this.#state }]
    let isFirst = true
    return () => {
      if (isFirst) {
        isFirst = false
        return
      }
      this.#asked = wasAsked
      this.#data = structuredClone(data)
      this.#state = state && { ...state }
    }
  }
  get state(): Record<string, unknown> {
    return (this.#state ??= {})
  }
  get action(): Action | undefined {
    return this.#parts.about?.().action
  }
  get version(): string {
    return this.#parts.version
  }
  get resource(): string | undefined {
    return this.#parts.about?.().resource
  }
  get id(): string | undefined {
    const id = this.#parts.about?.().id
    return id === undefined ? undefined : decodeURIComponent(id)
  }
  get attribute(): string | undefined {
    return this.#parts.about?.().attribute
  }
  get method(): string {
    return this.#parts.request.method
  }
  get path(): string {
    return this.#parts.request.path
  }
  get headers(): Readonly<Record<string, string>> {
    return (this.#headers ??= readHeaders(this.#parts.request.sender))
  }
  get params(): Readonly<Record<string, string>> {
    return this.#parts.params ?? NO_PARAMS
  }
  get user(): Readonly<Record<string, unknown>> | undefined {
    return this.#parts.principal?.user
  }
  get claims(): Claims | undefined {
    return this.#parts.principal?.claims
  }
  get logsIn(): boolean {
    return this.#parts.logsIn
  }
  get query(): Readonly<Record<string, string | readonly string[]>> {
    return (this.#query ??= buildQuery(this.#parts.request))
  }
}

type CallWithin = (work: () => unknown) => unknown

const CALL: CallWithin = work => work()

function callWithin(engine: EngineHandle, within: CallWithin): EngineHandle {
  return new Proxy(engine, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...given: unknown[]): unknown => within(() => Reflect.apply(member, target, given))
    },
  })
}

function buildQuery({ query: { pairs } }: Request): Readonly<Record<string, string | readonly string[]>> {
  const query: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>
  for (const { name, operator, value: only, items = [only] } of pairs) {
    const key = name + operator
    for (const value of items) {
      const known = query[key]
      if (known === undefined) query[key] = value
      else if (typeof known === 'string') query[key] = [known, value]
      else known.push(value)
    }
  }
  return query
}
