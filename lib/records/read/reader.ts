/** Reads for a request, whether a list, a record, a relation or a value: plans, compiles, binds, runs and renders. */
import { chain, runCoroutine, wait, type Awaitable, type Coroutine } from '../../foundation/async/awaitable.ts'
import type { Limits } from '../../foundation/base/limits.ts'
import { explainRefused, type Arguments, type PendingRender } from '../database/bind.ts'
import type { CompiledRead, Reading, Statement } from '../database/dialect.ts'
import type { Connection } from '../database/connection.ts'
import { idValues, isShownKey, keyFromJson, type KeyValues, type RecordKey } from '../../model/key.ts'
import type {
  EmbeddedAttribute,
  PolymorphicTarget,
  RelationAttribute,
  Resource,
  ScalarAttribute,
  ToManyAttribute,
  ToOneOfAttribute,
} from '../../model/model.ts'
import { AnswerBudget } from '../plan/answer-limits.ts'
import { planKeys, planRead, formatShape } from '../plan/plan.ts'
import type { Anchor } from '../plan/read-plan.ts'
import { KEYS, OWN_READINGS, relatedTo, type OwnReading } from './anchors.ts'
import { EVERYTHING, branchesFor, retryWithRules, type PendingRule, type Visibility } from '../plan/visibility.ts'
import { NO_PARAMETERS, type Parameters, type Vocabulary } from '../request/query-string.ts'
import { estimateRead, findOrMake, type CachedRead, type Plans } from './plan-cache.ts'
import {
  checkFound,
  checkStart,
  finishPage,
  finishRender,
  readBranch,
  readExists,
  readFirst,
  readLinked,
  readPage,
  readRecords,
  readRows,
  readWithin,
} from './run-read.ts'
import type { JsonRecord, LinkedRecord, OrderedPage } from './run-read.ts'
import { StoredReader } from './stored-reader.ts'
import type { PageRange, View } from './view.ts'

export type { OrderedPage, PageRange, View }

/** `pending`: values for renderers. */
type RenderArguments = Arguments & { pending?: PendingRender[] }

const NO_KEY: KeyValues = Object.freeze([])

const WHOLE: PageRange = Object.freeze({ limit: Number.MAX_SAFE_INTEGER, offset: 0 })

export class Reader {
  readonly #connection: Connection
  readonly limits: Limits
  readonly asStored: StoredReader
  readonly #vocabulary: Vocabulary
  readonly #plans: Plans

  constructor(connection: Connection, limits: Limits, vocabulary: Vocabulary, plans: Plans) {
    this.#connection = connection
    this.limits = limits
    this.asStored = new StoredReader(connection, plans)
    this.#vocabulary = vocabulary
    this.#plans = plans
  }

  page(resource: Resource, window: PageRange, view: View): Awaitable<OrderedPage> {
    return chain(this.#planOwn(resource, 'list', view), ({ read, sort }) => {
      const given = this.#arguments(read, NO_KEY, window, view)
      if (given.start !== undefined) checkStart(given.start, resource, sort)
      const { dialect } = this.#connection
      return chain(
        this.#finish(given, view, () => readPage(read, given, dialect)),
        page => {
          checkFound(page.count, given)
          return page.last === undefined ? { records: page.records, count: page.count, sort } : finishPage(page, resource, sort)
        },
      )
    })
  }

  /** Without a count. */
  first(resource: Resource, view: View): Awaitable<JsonRecord | undefined> {
    return chain(this.#planOwn(resource, 'list', view), ({ read }) => {
      const given = this.#arguments(read, NO_KEY, { limit: 1, offset: 0 }, view)
      return this.#finish(given, view, () => readFirst(read, given, this.#connection.dialect))
    })
  }

  /** Undefined: no such owner. */
  relatedPage(
    owner: Resource,
    key: RecordKey,
    relation: RelationAttribute,
    window: PageRange,
    view: View,
  ): Awaitable<OrderedPage | undefined> {
    return runCoroutine(this.#relatedPage(owner, key, relation, window, view))
  }

  *#relatedPage(
    owner: Resource,
    key: RecordKey,
    relation: RelationAttribute,
    window: PageRange,
    view: View,
  ): Coroutine<OrderedPage | undefined> {
    const { dialect } = this.#connection
    const { anchor, place } = relatedTo(owner, key, relation, 'related')
    const { read, sort } = yield* wait(this.#plan(relation.target, anchor, { where: place, isPaged: true }, view))
    const exists = yield* wait(this.#compileExists(owner, view.visibility, isShownKey(key)))
    const given = this.#arguments(read, key, window, view)
    if (given.start !== undefined) checkStart(given.start, relation.target, sort)
    const page = yield* wait(this.#finish(given, view, () => readWithin(exists, given, dialect, readPage(read, given, dialect))))
    if (page === undefined) return undefined
    checkFound(page.count, given)
    return page.last === undefined ? { ...page, sort } : finishPage(page, relation.target, sort)
  }

  record(resource: Resource, key: RecordKey, view: View): Awaitable<JsonRecord | undefined> {
    return chain(this.#planOwn(resource, isShownKey(key) ? 'shown' : 'record', view), ({ read }) => {
      const given = this.#arguments(read, key, WHOLE, view)
      const { dialect } = this.#connection
      return this.#finish(given, view, () => readFirst(read, given, dialect))
    })
  }

  records(resource: Resource, keys: readonly KeyValues[], view: View): Awaitable<readonly JsonRecord[]> {
    return chain(this.#plan(resource, KEYS, { where: `keys\0${resource.plural}`, isPaged: false }, view), ({ read }) => {
      const { dialect } = this.#connection
      const { parameter } = dialect.encodeLinks(keys, { from: [0], parts: resource.key })
      const given = { ...this.#arguments(read, NO_KEY, WHOLE, view), links: parameter }
      return this.#finish(given, view, () => readRecords(read, given, dialect))
    })
  }

  /** Asks the answer's access rules before the write changes their data. */
  prepare(resource: Resource, view: View): Awaitable<void> {
    if (view.visibility !== EVERYTHING) return chain(this.#planOwn(resource, 'record', view), () => undefined)
  }

  /** Null for an empty link, undefined without owner. */
  relatedRecord(owner: Resource, key: RecordKey, relation: RelationAttribute, view: View): Awaitable<JsonRecord | null | undefined> {
    return runCoroutine(this.#relatedRecord(owner, key, relation, view))
  }

  *#relatedRecord(owner: Resource, key: RecordKey, relation: RelationAttribute, view: View): Coroutine<JsonRecord | null | undefined> {
    const { dialect } = this.#connection
    const { anchor, place } = relatedTo(owner, key, relation, 'one')
    const { read } = yield* wait(this.#plan(relation.target, anchor, { where: place, isPaged: false }, view))
    const exists = yield* wait(this.#compileExists(owner, view.visibility, isShownKey(key)))
    const given = this.#arguments(read, key, WHOLE, view)
    return yield* wait(this.#finish(given, view, () => readWithin(exists, given, dialect, readLinked(read, given, dialect))))
  }

  /**
   * Of a relation to several entities, finds branch and record, at one state of the data. A branch without a plan is planned, and the
   * reading repeated.
   */
  linkedRecord(
    owner: Resource,
    key: RecordKey,
    relation: ToOneOfAttribute,
    view: View,
  ): Awaitable<LinkedRecord<PolymorphicTarget> | null | undefined> {
    return runCoroutine(this.#linkedRecord(owner, key, relation, view))
  }

  *#linkedRecord(
    owner: Resource,
    key: RecordKey,
    relation: ToOneOfAttribute,
    view: View,
  ): Coroutine<LinkedRecord<PolymorphicTarget> | null | undefined> {
    const { dialect } = this.#connection
    const { visibility } = view
    const exists = yield* wait(this.#compileExists(owner, visibility, isShownKey(key)))
    const targets = yield* wait(retryWithRules(visibility, () => branchesFor(relation, visibility)))
    const keys: CompiledRead[] = []
    for (const branch of targets) keys.push(yield* wait(this.#planKeys(owner, key, branch, NO_PARAMETERS, visibility)))
    const ofOwner: Arguments = { filters: [], key: idValues(key), findValues: visibility.findValues, ctx: view.ctx, ...WHOLE }
    const planned = new Map<PolymorphicTarget, { readonly read: CompiledRead; readonly given: RenderArguments }>()
    const running: Pick<RenderArguments, 'filters' | 'pending'> = { filters: [] }
    for (;;) {
      const branches = targets.map((branch, at) => ({ branch, keys: keys[at]!, record: planned.get(branch) }))
      const found = yield* wait(
        this.#finish(running, view, () => readWithin(exists, ofOwner, dialect, readBranch(branches, ofOwner, dialect))),
      )
      if (found === undefined || found === null) return found
      if (found.record !== undefined) return found
      const { branch } = found
      const { anchor, place } = relatedTo(owner, key, branch, 'one')
      const { read } = yield* wait(this.#plan(branch.target, anchor, { where: place, isPaged: false }, view))
      const given = this.#arguments(read, key, WHOLE, view)
      if (given.pending !== undefined) given.pending = running.pending ??= given.pending
      planned.set(branch, { read, given })
    }
  }

  relatedRecords(owner: Resource, key: KeyValues, relation: RelationAttribute, view: View): Awaitable<readonly JsonRecord[]> {
    const place = { where: `all\0${owner.plural}\0${relation.name}`, isPaged: true }
    return chain(this.#plan(relation.target, { kind: 'related', relation, owner }, place, view), ({ read }) => {
      const given = this.#arguments(read, key, WHOLE, view)
      const page = this.#finish(given, view, () => readPage(read, given, this.#connection.dialect))
      return chain(page, ({ records, count }) => {
        checkFound(count, given)
        return records
      })
    })
  }

  relatedKeys(owner: Resource, key: KeyValues, relation: RelationAttribute, { parameters, visibility, ctx }: View): Awaitable<KeyValues[]> {
    const { dialect } = this.#connection
    const given: Arguments = { filters: parameters.filters, key, findValues: visibility.findValues, ctx, ...WHOLE }
    return chain(this.#planKeys(owner, key, relation, parameters, visibility), read => {
      const ids = this.#connection.read((): Reading<readonly unknown[]> => readRecords(read, given, dialect))
      return chain(ids instanceof Promise ? explainRefused(ids, given.filters) : ids, found =>
        found.map(id => keyFromJson(id, relation.target)!),
      )
    })
  }

  /** `count`: of all matching records. */
  keys(resource: Resource, limit: number, view: View): Awaitable<{ readonly keys: readonly KeyValues[]; readonly count: number }> {
    const { parameters, visibility } = view
    const shape = `all keys\0${resource.plural}\0${visibility.shape}\0${formatShape(parameters)}`
    const planned = findOrMake(this.#plans.reads, shape, visibility, known => {
      const context = { limits: this.limits, visibility: known, vocabulary: this.#vocabulary }
      const read = this.#connection.dialect.compile(planKeys(resource, { kind: 'collection' }, parameters, context, true))
      return { read, sort: '', bytes: estimateRead(read) }
    })
    return chain(planned, ({ read }) => {
      const given = this.#arguments(read, NO_KEY, { limit, offset: 0 }, view)
      const page = this.#finish(given, view, () => readPage(read, given, this.#connection.dialect))
      return chain(page, ({ records, count }) => {
        checkFound(count, given)
        return { keys: records.map(id => keyFromJson(id, resource)!), count }
      })
    })
  }

  /** Undefined for an empty link, or without owner. */
  async linkedBranch(owner: Resource, key: KeyValues, relation: ToOneOfAttribute, view: View): Promise<PolymorphicTarget | undefined> {
    const { visibility } = view
    const branches = await retryWithRules(visibility, () => branchesFor(relation, visibility))
    for (const branch of branches) {
      const keys = await this.relatedKeys(owner, key, branch, { ...view, parameters: NO_PARAMETERS })
      if (keys.length > 0) return branch
    }
    return undefined
  }

  /** A record with only this attribute. Links in embedded objects show as IDs. */
  value(resource: Resource, key: RecordKey, attribute: ScalarAttribute | EmbeddedAttribute, view: View): Awaitable<JsonRecord | undefined> {
    const { flags } = view.parameters
    return this.record(resource, key, {
      ...view,
      parameters: { ...NO_PARAMETERS, flags, depth: 1, attributes: [attribute.name], expand: [] },
    })
  }

  exists(resource: Resource, key: KeyValues, visibility: Visibility): Awaitable<boolean> {
    return chain(this.#compileExists(resource, visibility), statement => this.#isThere(statement, key, visibility))
  }

  /** Keys of records visible for the caller, as texts; undefined where the database cannot compare keys as texts. */
  existing(resource: Resource, keys: readonly KeyValues[], visibility: Visibility): Awaitable<ReadonlySet<string> | undefined> {
    const { dialect } = this.#connection
    const place = `${resource.plural}\0${visibility.kind}`
    const statement = findOrMake(this.#plans.existing, place, visibility, ({ scopeOf }) => dialect.existing(resource, scopeOf))
    return chain(statement, known => {
      if (known === undefined) return undefined
      const { parameter } = dialect.encodeLinks(keys, { from: [0], parts: resource.key })
      const { findValues, ctx } = visibility
      const given: Arguments = { filters: [], key: NO_KEY, findValues, ctx, links: parameter, ...WHOLE }
      return chain(
        this.#connection.read(() => readRows(known, given, dialect)),
        rows => new Set(rows.map(([key]) => String(key))),
      )
    })
  }

  meets(list: ToManyAttribute, key: KeyValues): Awaitable<boolean> {
    let statement = this.#plans.meets.get(list)
    if (statement === undefined) {
      statement = this.#connection.dialect.exists(list.target, () => undefined, list)
      this.#plans.meets.set(list, statement)
    }
    return this.#isThere(statement, key, EVERYTHING)
  }

  #isThere(statement: Statement, key: KeyValues, { findValues, ctx }: Visibility): Awaitable<boolean> {
    const { dialect } = this.#connection
    const given: Arguments = { filters: [], key, findValues, ctx, ...WHOLE }
    return this.#connection.read(() => readExists(statement, given, dialect))
  }

  #arguments(read: CompiledRead, key: RecordKey, window: PageRange, { parameters, visibility, end, tally, ctx }: View): RenderArguments {
    const given = {
      filters: parameters.filters,
      key: isShownKey(key) ? [key.shown] : key,
      limit: window.limit,
      offset: window.offset,
      findValues: visibility.findValues,
      ctx,
      lists: parameters.lists,
      start: parameters.start,
      room: new AnswerBudget(this.limits, this.#vocabulary, parameters.pairs, tally),
      end,
      misfits: parameters.filters.length > 0 && this.#connection.mayHoldMisfits ? {} : undefined,
    }
    return read.rendered ? { ...given, pending: [] } : given
  }

  #finish<T>(given: Pick<RenderArguments, 'filters' | 'pending' | 'lists'>, view: View, reading: () => Reading<T>): Awaitable<T> {
    const { trace, end } = view
    const before = trace?.enter('render')
    if (end?.deadline !== undefined) end.asked = view.parameters
    const rows = this.#connection.read(reading, end, view.behind)
    const isFiltered = given.filters.length > 0 || (given.lists ?? []).length > 0
    const result = rows instanceof Promise && isFiltered ? explainRefused(rows, given.filters) : rows
    const finished = given.pending === undefined ? result : finishRender(result, given.pending, view.ctx)
    return trace === undefined ? finished : trace.goBack(before!, finished)
  }

  #compileExists(resource: Resource, visibility: Visibility, shown = false): Awaitable<Statement> {
    const last = shown ? undefined : this.#plans.lastExists[visibility.kind]
    const known = last?.find(resource, visibility)
    if (known !== undefined) return known
    const place = `${resource.plural}\0${visibility.kind}${shown ? '\0shown' : ''}`
    const rules: PendingRule[] = []
    const make = ({ scopeOf }: Visibility): Statement => this.#connection.dialect.exists(resource, scopeOf, undefined, shown)
    const statement = findOrMake(this.#plans.exists, place, visibility, make, rules)
    if (!(statement instanceof Promise)) last?.keep(statement, rules, resource, visibility)
    return statement
  }

  #planKeys(
    owner: Resource,
    key: RecordKey,
    relation: RelationAttribute,
    parameters: Parameters,
    visibility: Visibility,
  ): Awaitable<CompiledRead> {
    const { anchor, place } = relatedTo(owner, key, relation, 'keys')
    const shape = `${place}\0${visibility.shape}\0${formatShape(parameters)}`
    const found = findOrMake(this.#plans.reads, shape, visibility, known => {
      const context = { limits: this.limits, visibility: known, vocabulary: this.#vocabulary }
      const read = this.#connection.dialect.compile(planKeys(relation.target, anchor, parameters, context))
      return { read, sort: '', bytes: estimateRead(read) }
    })
    return chain(found, ({ read }) => read)
  }

  #planOwn(resource: Resource, reading: OwnReading, view: View): Awaitable<CachedRead> {
    const { parameters, visibility } = view
    const last = view.trace === undefined ? this.#plans.last[reading] : undefined
    const known = last?.find(resource, visibility, parameters)
    if (known !== undefined) return known
    const { anchor, isPaged } = OWN_READINGS[reading]
    const rules: PendingRule[] = []
    const planned = this.#plan(resource, anchor, { where: `${reading}\0${resource.plural}`, isPaged, rules }, view)
    if (!(planned instanceof Promise)) last?.keep(planned, rules, resource, visibility, parameters)
    return planned
  }

  #plan(
    resource: Resource,
    anchor: Anchor,
    { where, isPaged, rules }: { readonly where: string; readonly isPaged: boolean; readonly rules?: PendingRule[] },
    view: View,
  ): Awaitable<CachedRead> {
    const { parameters, trace } = view
    const before = trace?.enter('plan')
    let cached = true
    const planned = findOrMake(
      this.#plans.reads,
      `${where}\0${view.visibility.shape}\0${formatShape(parameters)}`,
      view.visibility,
      visibility => {
        cached = false
        const plan = planRead(resource, anchor, isPaged, parameters, { limits: this.limits, visibility, vocabulary: this.#vocabulary })
        const read = this.#connection.dialect.compile(plan)
        return { read, sort: plan.sort, bytes: estimateRead(read) }
      },
      rules,
    )
    if (trace === undefined) return planned
    return chain(trace.goBack(before!, planned), found => {
      trace.planned(cached)
      return found
    })
  }
}
