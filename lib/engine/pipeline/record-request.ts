/** Puts the trace, the journal and injected faults around the stages (handle.ts), from outside to inside. */
import { LazyClient, findWire } from '../../foundation/async/abort.ts'
import { FormBody } from '../../foundation/http/form-body.ts'
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import { engineClosed } from '../../foundation/errors/errors.ts'
import { READ_METHODS } from '../../foundation/http/http-methods.ts'
import type { RestResponse } from '../../foundation/base/response.ts'
import { TextStream } from '../../foundation/http/text-stream.ts'
import { Trace, summarizeTimes, type RunStatement, type Traces } from '../../foundation/async/trace.ts'
import { Surroundings } from '../../foundation/async/surroundings.ts'
import type { Connection } from '../../records/database/connection.ts'
import { NO_FILTERS } from '../../model/added-filters.ts'
import type { Explanation } from '../journal/explanation.ts'
import { maskRecord } from '../journal/create-entry.ts'
import { JournalRecord } from '../journal/journal-record.ts'
import type { Journal } from '../journal/journal.ts'
import type { Secrets } from '../journal/redact.ts'
import { NO_HEADERS, readHeader } from '../../records/request/parse-request.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'
import type { Faults } from '../testing/fault-injection.ts'
import { faultRequest } from '../testing/fault-request.ts'
import { answerFailure, isMisuse } from './answer-failure.ts'
import { NO_CONTEXT, type Arrival, type HandleContext, type StageParts } from './arrival.ts'
import { answerRequest, readRequest } from './handle.ts'
import type { KeptStates } from '../worlds/kept-states.ts'

export interface RecorderParts extends StageParts {
  readonly journal: Journal | undefined
  /** Rows changed meanwhile are changes of this request. */
  readonly running: Surroundings<JournalRecord>
  readonly states: KeptStates
  readonly faults: Faults
  readonly traces: Traces
  readonly connection: Connection
  readonly secrets: Secrets
  /** A read may run code of the application, such as a hook. Filters added later do not count. */
  readonly mayRunApplicationCode: boolean
}

const SHOWN_STATEMENTS = 200

/** The first 200 statements of a request, and the number of all. */
export interface RanStatements extends Pick<Explanation, 'statements' | 'writes' | 'cached' | 'hints'> {
  readonly ran: number
}

interface RunningRequest {
  readonly level: number
  ended: boolean
}

/** A request nested deeper calls itself without end. */
const MAX_LEVEL = 100

export class RequestRecorder {
  readonly #parts: RecorderParts
  /** Set where no fault is met: inside of a request past the faults, in `look` and `explain`. */
  readonly #inside = new Surroundings<true>()
  /** Levels of requests, where no journal counts them. */
  readonly #around = new Surroundings<RunningRequest>()

  constructor(parts: RecorderParts) {
    this.#parts = parts
  }

  /** See RestEngine.handle. May throw at once instead of rejecting. */
  handle(method: string, path: string, query: QueryInput | undefined, body: unknown, context: HandleContext): Awaitable<RestResponse> {
    const { traces, life, journal, states, options } = this.#parts
    if (life.isClosed) throw engineClosed()
    const outer = traces.isUsed ? traces.current : undefined
    const record = outer?.isRecorded === false ? undefined : journal?.begin(method, path)
    if (record?.nested === false && context !== NO_CONTEXT) record.test = readTest(context)
    const arrival = { method, path, query, body, context, trace: outer, record }
    if (record !== undefined && states.isOn && outer === undefined && !record.nested) {
      // The copy is not part of the request's time.
      if (this.mayWrite(method)) return this.#count(this.#keepState(record, arrival), undefined)
      states.note(record)
    }
    if (outer !== undefined) return runInside(outer, () => this.#record(arrival))
    if (!options.serverTiming && journal?.keepsStatements !== true) return this.#record(arrival)
    return this.#measureArrival(arrival)
  }

  async #keepState(record: JournalRecord, arrival: Arrival): Promise<RestResponse> {
    await this.#parts.states.take(record)
    record.time = performance.now()
    return this.#measureArrival(arrival)
  }

  #measureArrival(arrival: Arrival): Awaitable<RestResponse> {
    const { record } = arrival
    const keeps = record !== undefined && this.#parts.journal!.keepsStatements
    if (!keeps && !this.#parts.options.serverTiming) return this.#record(arrival)
    const trace = new Trace({ keeps })
    if (keeps) record.trace = trace
    return this.#measure(trace, record, () => this.#record({ ...arrival, trace }))
  }

  /** No faults, no journal: the code under test has not sent the request. */
  async look(path: string, context: HandleContext): Promise<RestResponse> {
    const { life, traces } = this.#parts
    life.assertOpen()
    const trace = new Trace({ isRecorded: false })
    const arrival = { method: 'GET', path, query: undefined, body: undefined, context, trace, record: undefined }
    return this.#count(
      traces.within(trace, () => this.#inside.run(true, async () => answerRequest(arrival, this.#parts))),
      undefined,
    )
  }

  async explain(method: string, path: string, query: QueryInput | undefined, body: unknown, context: HandleContext): Promise<Explanation> {
    context.signal?.throwIfAborted()
    const record = new JournalRecord(method, path, false, 0, 0)
    const trace = new Trace({ keeps: true, isRecorded: false })
    const arrival = { method, path, query, body, context, trace, record }
    const answering = this.#measure(trace, undefined, () => this.#inside.run(true, () => answerRequest(arrival, this.#parts)))
    const response = await joinPieces(await this.#count(answering, undefined))
    return this.#explanation({ method, path }, record, response, { trace })
  }

  /** A method that is no text is refused later. */
  mayWrite(method: string): boolean {
    return typeof method === 'string' && !READ_METHODS.includes(method.toUpperCase()) && !this.#parts.options.readOnly
  }

  /** On a fork, the first transaction prepares what all others find prepared: no part of the explanation. */
  async explainWrite(
    method: string,
    path: string,
    query: QueryInput | undefined,
    body: unknown,
    context: HandleContext,
  ): Promise<Explanation> {
    await this.#parts.connection.write(async () => {})
    return this.explain(method, path, query, body, context)
  }

  async explained(
    method: string,
    path: string,
    query: QueryInput | undefined,
    body: unknown,
    context: HandleContext,
  ): Promise<{ response: RestResponse; explain: () => Awaitable<Explanation | undefined> }> {
    const { life, journal } = this.#parts
    life.assertOpen()
    const record = journal?.begin(method, path) ?? new JournalRecord(method, path, false, 0, 0)
    const trace = new Trace({ keeps: true })
    const response = await this.#measure(trace, record, () => this.#record({ method, path, query, body, context, trace, record }))
    const explain = (): Awaitable<Explanation | undefined> =>
      life.isClosed ? undefined : this.#explanation({ method, path }, record, response, { trace })
    return { response, explain }
  }

  async explainRecorded(record: JournalRecord): Promise<Partial<RanStatements>> {
    const { trace, ran, status = 0 } = record
    if (ran !== undefined) return ran
    if (trace?.statements === undefined) return {}
    const response = { status, headers: {}, body: undefined }
    const kept = { trace, statements: trace.statements.slice(0, SHOWN_STATEMENTS) }
    const { statements, writes, cached, hints } = await this.#explanation(record, record, response, kept)
    return { statements, ran: trace.count, writes, cached, hints }
  }

  async #explanation(
    { method, path }: Pick<Arrival, 'method' | 'path'>,
    record: JournalRecord,
    response: RestResponse,
    { trace, statements = trace.statements ?? [] }: { readonly trace: Trace; readonly statements?: readonly RunStatement[] },
  ): Promise<Explanation> {
    const { options, connection, secrets, model } = this.#parts
    const facts = {
      method: method.toUpperCase(),
      path,
      trace,
      response,
      statements,
      masked: maskRecord(record, secrets, model),
      secrets,
      model: record.model ?? model,
      hasEntities: options.entities !== undefined,
    }
    const explained = await connection.explain(statements)
    const { buildExplanation } = await import('../journal/build-explanation.ts')
    return buildExplanation(facts, explained)
  }

  async #measure(trace: Trace, record: JournalRecord | undefined, work: () => Awaitable<RestResponse>): Promise<RestResponse> {
    const { serverTiming: isShown } = this.#parts.options
    let response: RestResponse
    try {
      response = await this.#parts.traces.within(trace, work)
    } finally {
      trace.end()
      if (record !== undefined && (isShown || record.trace !== undefined)) record.timing = Object.freeze(summarizeTimes(trace))
    }
    return isShown ? { ...response, headers: { ...response.headers, [SERVER_TIMING]: formatServerTiming(trace) } } : response
  }

  #record(arrival: Arrival): Awaitable<RestResponse> {
    const { method, context, record } = arrival
    const { journal, running, connection, mayRunApplicationCode } = this.#parts
    if (context instanceof LazyClient ? context.isGone : context.signal?.aborted === true) {
      this.#recordFailure(record, context.signal!.reason)
      throw context.signal!.reason
    }
    let answering: Awaitable<RestResponse>
    try {
      // `running` costs time: for requests that may change rows.
      const mayRunCode = mayRunApplicationCode || findWire(context) !== undefined
      const mayChange = mayRunCode || !READ_METHODS.includes(method) || connection.filters.named !== NO_FILTERS
      if (record !== undefined && journal !== undefined && mayChange) {
        if (record.level > MAX_LEVEL) refuseLevel(arrival)
        answering = running.run(record, this.#passFaults, arrival)
      } else answering = record === undefined && mayRunCode ? this.#passCounted(arrival) : this.#passFaults(arrival)
    } catch (error) {
      this.#recordFailure(record, error)
      throw error
    }
    // A request answered at once has run beside no other.
    if (!(answering instanceof Promise)) {
      if (record !== undefined) journal?.end(record, answering)
      return answering
    }
    const counted = this.#count(answering, record)
    const { signal } = context
    return signal === undefined ? counted : unlessAborted(counted, signal, () => this.#recordFailure(record, signal.reason))
  }

  #count(answering: Promise<RestResponse>, record: JournalRecord | undefined): Promise<RestResponse> {
    const { life, journal } = this.#parts
    life.enter()
    return answering.then(
      response => {
        life.leave()
        if (record !== undefined) journal?.end(record, response)
        return response
      },
      (error: unknown) => {
        life.leave()
        this.#recordFailure(record, error)
        throw error
      },
    )
  }

  #recordFailure(record: JournalRecord | undefined, error: unknown): void {
    if (record !== undefined && !isMisuse(error)) this.#parts.journal?.fail(record, error)
  }

  #passCounted(arrival: Arrival): Awaitable<RestResponse> {
    const outer = this.#around.current
    const request: RunningRequest = { level: outer?.ended === false ? outer.level + 1 : 0, ended: false }
    if (request.level > MAX_LEVEL) refuseLevel(arrival)
    const answering = this.#around.run(request, this.#passFaults, arrival)
    if (answering instanceof Promise) return answering.finally(() => (request.ended = true))
    request.ended = true
    return answering
  }

  /** Requests of hooks meet no faults. */
  readonly #passFaults = (arrival: Arrival): Awaitable<RestResponse> =>
    this.#parts.faults.rules.length > 0 && this.#inside.current === undefined
      ? this.#meetFaults(arrival)
      : answerRequest(arrival, this.#parts)

  async #meetFaults(arrival: Arrival): Promise<RestResponse> {
    const { method, path, query, body, context, trace, record } = arrival
    trace?.enter('fault')
    const answering = async (): Promise<RestResponse> => {
      trace?.enter('parse')
      const response = await this.#inside.run(true, () => answerRequest(arrival, this.#parts))
      trace?.enter('fault')
      return response
    }
    if (typeof method !== 'string' || typeof path !== 'string') return answering()
    if (record !== undefined) {
      try {
        readRequest(arrival, this.#parts)
      } catch {
        // A stage will answer the error; the journal has what could be read.
      }
    }
    const { faults } = this.#parts
    let course: ReturnType<Faults['meet']>
    try {
      const base = (context instanceof LazyClient ? context.base : undefined) ?? this.#parts.options.base
      const shown = body instanceof FormBody ? body.plain() : body
      course = faults.meet(faultRequest({ method, path, query, body: shown, headers: context.headers ?? NO_HEADERS, base }))
      if (record !== undefined) record.fault = course.met
    } catch (error) {
      return answerFailure(error, { ...arrival, accept: readHeader(context, 'accept') }, this.#parts)
    }
    const refuse = (error: unknown): RestResponse =>
      answerFailure(error, { method, path, context, accept: readHeader(context, 'accept'), isFault: true }, this.#parts)
    return faults.take(course, context.signal, answering, refuse)
  }
}

function refuseLevel({ method, path }: Arrival): never {
  throw new Error(
    `${method} ${path.split('?', 1)[0]} stands inside of ${MAX_LEVEL} requests, each of which code of the application has asked for: ` +
      'a handler that asks for its own path by "ctx.engine.handle" asks itself, without end. ' +
      '"ctx.ask" gives what the engine answers there without the route.',
  )
}

export function joinPieces(response: RestResponse): Awaitable<RestResponse> {
  return response.body instanceof TextStream ? response.body.text().then(body => ({ ...response, body })) : response
}

/** In characters. */
const MAX_TEST = 200

/** The test's name in `x-test`, beyond ASCII percent-encoded. */
function readTest(context: HandleContext): string | undefined {
  // Looking for any spelling would copy all headers.
  const given = context instanceof LazyClient ? context.header('x-test') : (context.headers?.['x-test'] ?? context.headers?.['X-Test'])
  if (typeof given !== 'string' || given === '') return undefined
  try {
    return decodeURIComponent(given).slice(0, MAX_TEST)
  } catch {
    // A name may hold a plain "%".
    return given.slice(0, MAX_TEST)
  }
}

/** The time of a hook's request counts for the outer request. */
async function runInside(trace: Trace, work: () => Awaitable<RestResponse>): Promise<RestResponse> {
  const before = trace.enter('parse')
  try {
    return await work()
  } finally {
    trace.enter(before)
  }
}

/** Rejects at the abort; the running work commits nothing. */
function unlessAborted(answering: Promise<RestResponse>, signal: AbortSignal, aborted: () => void): Promise<RestResponse> {
  return new Promise((resolvePromise, reject) => {
    const abort = (): void => {
      aborted()
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', abort, { once: true })
    answering.then(resolvePromise, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** W3C Server Timing, section 4.1. */
const SERVER_TIMING = 'server-timing'

/** `parse;dur=0.012, plan;dur=0.004;desc="cached", sql;dur=0.151;desc="2 statements", render;dur=0.03, total;dur=0.21`. */
function formatServerTiming(trace: Trace): string {
  const { total, count, cached } = trace
  const metrics = Object.entries(summarizeTimes(trace)).map(([stage, duration]) => {
    const metric = `${stage};dur=${duration}`
    if (stage === 'sql') return `${metric};desc="${count} statement${count === 1 ? '' : 's'}"`
    return stage === 'plan' && cached !== undefined ? `${metric};desc="${cached ? 'cached' : 'new'}"` : metric
  })
  return [...metrics, `total;dur=${Math.ceil(total * 1000) / 1000}`].join(', ')
}
