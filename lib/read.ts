/**
 * Read: the reading stages put together: plan, compile, bind, run, render. Plans are cached by the shape of the request; the cache is bounded, and
 * the least recently made plan goes first.
 */
import type { Arguments, PendingRender } from './bind.ts'
import type { HookContext } from './context.ts'
import type { CompiledRead, Connection, Reading, Statement } from './dialect.ts'
import { keyFromJson } from './key.ts'
import type { KeyValues } from './key.ts'
import type { Limits } from './limits.ts'
import type { EmbeddedAttribute, RelationAttribute, Resource, ScalarAttribute } from './model.ts'
import { NO_PARAMETERS } from './parse-query.ts'
import type { Parameters, Vocabulary } from './parse-query.ts'
import { checkFilterLimits } from './plan-filters.ts'
import { planKeys, planRead, planStored, shapeOf } from './plan.ts'
import type { Anchor } from './read-plan.ts'
import { readExists, readPage, readRecords, renderPending } from './render.ts'
import type { JsonRecord, Page } from './render.ts'
import type { Visibility } from './visibility.ts'

/** What a request wants to see, and who asks. */
export interface View {
  readonly parameters: Parameters
  readonly visibility: Visibility
  readonly ctx: HookContext
  readonly signal: AbortSignal | undefined
}

/** The part of a list that is asked for. */
export interface Window {
  readonly limit: number
  readonly offset: number
}

export type Awaitable<T> = T | Promise<T>

/** A page with the order that is in effect. */
export type OrderedPage = Page & { readonly sort: string }

interface CachedRead {
  readonly read: CompiledRead
  readonly sort: string
}

const MAX_PLANS = 1000
const NO_KEY: KeyValues = Object.freeze([])
const WHOLE: Window = Object.freeze({ limit: Number.MAX_SAFE_INTEGER, offset: 0 })
const COLLECTION: Anchor = Object.freeze({ kind: 'collection' })
const RECORD: Anchor = Object.freeze({ kind: 'record' })

/** What has been planned and compiled for one model. It knows nothing of the data, so the readers of several databases may share it. */
export class Plans {
  readonly reads = new Map<string, CachedRead>()
  readonly exists = new Map<string, Statement>()
  readonly stored = new Map<Resource, CompiledRead>()
}

/** Reads records of one model from one connection. */
export class Reader {
  readonly #connection: Connection
  readonly #limits: Limits
  readonly #vocabulary: Vocabulary
  readonly #plans: Plans

  constructor(connection: Connection, limits: Limits, vocabulary: Vocabulary, plans: Plans) {
    this.#connection = connection
    this.#limits = limits
    this.#vocabulary = vocabulary
    this.#plans = plans
  }

  /** A page of all records of a resource. */
  page(resource: Resource, window: Window, view: View): Awaitable<OrderedPage> {
    const { read, sort } = this.#plan(resource, COLLECTION, `list\0${resource.plural}`, true, view)
    const given = this.#arguments(read, NO_KEY, window, view)
    const { dialect } = this.#connection
    return this.#finish(given, view, function* () {
      return { ...(yield* readPage(read, given, dialect)), sort }
    })
  }

  /** A page of the records in a list attribute; undefined when its owner does not exist. */
  relatedPage(
    owner: Resource,
    key: KeyValues,
    relation: RelationAttribute,
    window: Window,
    view: View,
  ): Awaitable<OrderedPage | undefined> {
    const anchor: Anchor = { kind: 'related', relation, owner }
    const { read, sort } = this.#plan(relation.target, anchor, `related\0${owner.plural}\0${relation.name}`, true, view)
    const given = this.#arguments(read, key, window, view)
    const exists = this.#existsOf(owner, view.visibility)
    const { dialect } = this.#connection
    return this.#finish(given, view, function* () {
      if (!(yield* readExists(exists, given, dialect))) return undefined
      return { ...(yield* readPage(read, given, dialect)), sort }
    })
  }

  /** One record, or undefined when it does not exist. */
  record(resource: Resource, key: KeyValues, view: View): Awaitable<JsonRecord | undefined> {
    const { read } = this.#plan(resource, RECORD, `record\0${resource.plural}`, false, view)
    const given = this.#arguments(read, key, WHOLE, view)
    const { dialect } = this.#connection
    return this.#finish(given, view, function* () {
      return (yield* readRecords(read, given, dialect))[0]
    })
  }

  /** The record that a to-one links, null when it is empty, or undefined when its owner does not exist. */
  relatedRecord(owner: Resource, key: KeyValues, relation: RelationAttribute, view: View): Awaitable<JsonRecord | null | undefined> {
    const anchor: Anchor = { kind: 'related', relation, owner }
    const { read } = this.#plan(relation.target, anchor, `one\0${owner.plural}\0${relation.name}`, false, view)
    const given = this.#arguments(read, key, WHOLE, view)
    const exists = this.#existsOf(owner, view.visibility)
    const { dialect } = this.#connection
    return this.#finish(given, view, function* () {
      if (!(yield* readExists(exists, given, dialect))) return undefined
      return (yield* readRecords(read, given, dialect))[0] ?? null
    })
  }

  /** The records of a list attribute that meet the filters, unpaged. */
  relatedRecords(owner: Resource, key: KeyValues, relation: RelationAttribute, view: View): Awaitable<readonly JsonRecord[]> {
    const anchor: Anchor = { kind: 'related', relation, owner }
    const { read } = this.#plan(relation.target, anchor, `all\0${owner.plural}\0${relation.name}`, true, view)
    const given = this.#arguments(read, key, WHOLE, view)
    const { dialect } = this.#connection
    return this.#finish(given, view, function* () {
      return (yield* readPage(read, given, dialect)).records
    })
  }

  /** The keys of the records that a relation reaches and that meet the filters. */
  async relatedKeys(owner: Resource, key: KeyValues, relation: RelationAttribute, { parameters, visibility }: View): Promise<KeyValues[]> {
    const { target } = relation
    const context = { limits: this.#limits, visibility, vocabulary: this.#vocabulary }
    const { dialect } = this.#connection
    const read = dialect.compile(planKeys(target, { kind: 'related', relation, owner }, parameters, context))
    const given: Arguments = { filters: parameters.filters, key, scope: visibility.values, ...WHOLE }
    const ids: readonly unknown[] = await this.#connection.read(() => readRecords(read, given, dialect))
    return ids.map(id => keyFromJson(id, target)!)
  }

  /** The value of a plain attribute in an object of its own, or undefined when the record does not exist. */
  value(resource: Resource, key: KeyValues, attribute: ScalarAttribute | EmbeddedAttribute, view: View): Awaitable<JsonRecord | undefined> {
    const { flags } = view.parameters
    return this.record(resource, key, {
      ...view,
      parameters: { ...NO_PARAMETERS, flags, depth: 0, attributes: [attribute.name], expand: [] },
    })
  }

  /** The stored plain attributes of a record and the IDs it links, whatever is shown of them to others; hidden and private ones left out. */
  async stored(resource: Resource, key: KeyValues): Promise<JsonRecord | undefined> {
    const { dialect } = this.#connection
    let read = this.#plans.stored.get(resource)
    if (read === undefined) {
      read = dialect.compile(planStored(resource))
      this.#plans.stored.set(resource, read)
    }
    const compiled = read
    const given: Arguments = { filters: [], key, ...WHOLE }
    return this.#connection.read(function* () {
      return (yield* readRecords(compiled, given, dialect))[0]
    })
  }

  /** Whether the record of a key exists for the caller. */
  exists(resource: Resource, key: KeyValues, visibility: Visibility): Awaitable<boolean> {
    const statement = this.#existsOf(resource, visibility)
    const { dialect } = this.#connection
    return this.#connection.read(() => readExists(statement, { filters: [], key, scope: visibility.values, ...WHOLE }, dialect))
  }

  #arguments(
    read: CompiledRead,
    key: KeyValues,
    window: Window,
    { parameters, visibility }: View,
  ): Arguments & { pending?: PendingRender[] } {
    const given = { filters: parameters.filters, key, limit: window.limit, offset: window.offset, scope: visibility.values }
    return read.rendered ? { ...given, pending: [] } : given
  }

  /** Runs the reading, then lets the deployer's functions render what they have a say in. */
  #finish<T>(given: { pending?: PendingRender[] }, view: View, reading: () => Reading<T>): Awaitable<T> {
    const result = this.#connection.read(reading, view.signal)
    return given.pending === undefined ? result : finishRender(result, given.pending, view.ctx)
  }

  #existsOf(resource: Resource, { shape, scopes }: Visibility): Statement {
    const key = `${resource.plural}\0${shape}`
    let statement = this.#plans.exists.get(key)
    if (statement === undefined) {
      statement = this.#connection.dialect.exists(resource, scopes)
      remember(this.#plans.exists, key, statement)
    }
    return statement
  }

  #plan(resource: Resource, anchor: Anchor, where: string, paged: boolean, { parameters, visibility }: View): CachedRead {
    checkFilterLimits(parameters.filters, this.#limits)
    const key = `${where}\0${visibility.shape}\0${shapeOf(parameters)}`
    let cached = this.#plans.reads.get(key)
    if (cached === undefined) {
      const plan = planRead(resource, anchor, paged, parameters, { limits: this.#limits, visibility, vocabulary: this.#vocabulary })
      cached = { read: this.#connection.dialect.compile(plan), sort: plan.sort }
      remember(this.#plans.reads, key, cached)
    }
    return cached
  }
}

function remember<T>(cache: Map<string, T>, key: string, value: T): void {
  if (cache.size >= MAX_PLANS) cache.delete(cache.keys().next().value!)
  cache.set(key, value)
}

async function finishRender<T>(result: Awaitable<T>, pending: readonly PendingRender[], ctx: HookContext): Promise<T> {
  const finished = await result
  await renderPending(pending, ctx)
  return finished
}
