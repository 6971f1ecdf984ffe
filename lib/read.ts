/**
 * Read: the reading stages put together: plan, compile, bind, run, render. Plans are cached by the shape of the request; the cache is bounded, and
 * the least recently made plan goes first.
 */
import type { Arguments } from './bind.ts'
import type { CompiledRead, Connection, Statement } from './dialect.ts'
import type { KeyValues } from './key.ts'
import type { Limits } from './limits.ts'
import type { RelationAttribute, Resource, ScalarAttribute, EmbeddedAttribute } from './model.ts'
import { NO_PARAMETERS } from './parse-query.ts'
import type { Parameters } from './parse-query.ts'
import { planRead, shapeOf } from './plan.ts'
import type { Anchor } from './read-plan.ts'
import { readExists, readPage, readRecords } from './render.ts'
import type { JsonRecord, Page } from './render.ts'

interface CachedRead {
  readonly read: CompiledRead
  readonly sort: string
}

const MAX_PLANS = 1000
const NO_KEY: KeyValues = Object.freeze([])
const WHOLE = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }

const COLLECTION: Anchor = Object.freeze({ kind: 'collection' })
const RECORD: Anchor = Object.freeze({ kind: 'record' })

/** Reads records of one model from one connection. */
export class Reader {
  readonly #connection: Connection
  readonly #limits: Limits
  readonly #plans = new Map<string, CachedRead>()
  readonly #exists = new Map<Resource, Statement>()

  constructor(connection: Connection, limits: Limits) {
    this.#connection = connection
    this.#limits = limits
  }

  /** A page of all records of a resource. */
  page(
    resource: Resource,
    parameters: Parameters,
    window: { limit: number; offset: number },
    signal?: AbortSignal,
  ): Awaitable<Page & { sort: string }> {
    return this.#page(
      resource,
      COLLECTION,
      `list\0${resource.plural}`,
      parameters,
      { filters: parameters.filters, key: NO_KEY, ...window },
      signal,
    )
  }

  /** A page of the records in a list attribute; undefined when its owner does not exist. */
  relatedPage(
    owner: Resource,
    key: KeyValues,
    relation: RelationAttribute,
    parameters: Parameters,
    window: { limit: number; offset: number },
    signal?: AbortSignal,
  ): Awaitable<(Page & { sort: string }) | undefined> {
    const anchor: Anchor = { kind: 'related', relation, owner }
    const shape = `related\0${owner.plural}\0${relation.name}`
    return this.#page(relation.target, anchor, shape, parameters, { filters: parameters.filters, key, ...window }, signal, owner)
  }

  #page(
    resource: Resource,
    anchor: Anchor,
    shape: string,
    parameters: Parameters,
    given: Arguments,
    signal: AbortSignal | undefined,
  ): Awaitable<Page & { sort: string }>
  #page(
    resource: Resource,
    anchor: Anchor,
    shape: string,
    parameters: Parameters,
    given: Arguments,
    signal: AbortSignal | undefined,
    owner: Resource,
  ): Awaitable<(Page & { sort: string }) | undefined>
  #page(
    resource: Resource,
    anchor: Anchor,
    shape: string,
    parameters: Parameters,
    given: Arguments,
    signal: AbortSignal | undefined,
    owner?: Resource,
  ): Awaitable<(Page & { sort: string }) | undefined> {
    const { read, sort } = this.#plan(resource, anchor, shape, true, parameters)
    const { dialect } = this.#connection
    const exists = owner === undefined ? undefined : this.#existsOf(owner)
    return this.#connection.read(function* () {
      if (exists !== undefined && !(yield* readExists(exists, given, dialect))) return undefined
      return { ...(yield* readPage(read, given, dialect)), sort }
    }, signal)
  }

  /** One record, or undefined when it does not exist. */
  record(resource: Resource, key: KeyValues, parameters: Parameters, signal?: AbortSignal): Awaitable<JsonRecord | undefined> {
    const { read } = this.#plan(resource, RECORD, `record\0${resource.plural}`, false, parameters)
    const given: Arguments = { filters: parameters.filters, key, ...WHOLE }
    const { dialect } = this.#connection
    return this.#connection.read(function* () {
      return (yield* readRecords(read, given, dialect))[0]
    }, signal)
  }

  /** The record that a to-one links, null when it is empty, or undefined when its owner does not exist. */
  relatedRecord(
    owner: Resource,
    key: KeyValues,
    relation: RelationAttribute,
    parameters: Parameters,
    signal?: AbortSignal,
  ): Awaitable<JsonRecord | null | undefined> {
    const anchor: Anchor = { kind: 'related', relation, owner }
    const { read } = this.#plan(relation.target, anchor, `one\0${owner.plural}\0${relation.name}`, false, parameters)
    const exists = this.#existsOf(owner)
    const given: Arguments = { filters: parameters.filters, key, ...WHOLE }
    const { dialect } = this.#connection
    return this.#connection.read(function* () {
      if (!(yield* readExists(exists, given, dialect))) return undefined
      return (yield* readRecords(read, given, dialect))[0] ?? null
    }, signal)
  }

  /** The records of a list attribute that meet the filters, unpaged. */
  relatedRecords(owner: Resource, key: KeyValues, relation: RelationAttribute, parameters: Parameters): Awaitable<readonly JsonRecord[]> {
    const anchor: Anchor = { kind: 'related', relation, owner }
    const { read } = this.#plan(relation.target, anchor, `all\0${owner.plural}\0${relation.name}`, true, parameters)
    const given: Arguments = { filters: parameters.filters, key, ...WHOLE }
    const { dialect } = this.#connection
    return this.#connection.read(function* () {
      return (yield* readPage(read, given, dialect)).records
    })
  }

  /** The value of a plain attribute in an object of its own, or undefined when the record does not exist. */
  value(
    resource: Resource,
    key: KeyValues,
    attribute: ScalarAttribute | EmbeddedAttribute,
    signal?: AbortSignal,
  ): Awaitable<JsonRecord | undefined> {
    return this.record(resource, key, { ...NO_PARAMETERS, depth: 0, attributes: [attribute.name] }, signal)
  }

  /** Whether the record of a key exists. */
  exists(resource: Resource, key: KeyValues): Awaitable<boolean> {
    const statement = this.#existsOf(resource)
    const { dialect } = this.#connection
    return this.#connection.read(() => readExists(statement, { filters: [], key, ...WHOLE }, dialect))
  }

  #existsOf(resource: Resource): Statement {
    let statement = this.#exists.get(resource)
    if (statement === undefined) this.#exists.set(resource, (statement = this.#connection.dialect.exists(resource)))
    return statement
  }

  #plan(resource: Resource, anchor: Anchor, where: string, paged: boolean, parameters: Parameters): CachedRead {
    const key = `${where}\0${shapeOf(parameters)}`
    let cached = this.#plans.get(key)
    if (cached === undefined) {
      const plan = planRead(resource, anchor, paged, parameters, this.#limits)
      cached = { read: this.#connection.dialect.compile(plan), sort: plan.sort }
      if (this.#plans.size >= MAX_PLANS) this.#plans.delete(this.#plans.keys().next().value!)
      this.#plans.set(key, cached)
    }
    return cached
  }
}

export type Awaitable<T> = T | Promise<T>
