/**
 * Faults: what tests do to requests on their way to the engine: delays, failures, lost connections, and gates that hold them. Knows nothing of the engine,
 * of which it is handed the answer. Refuses with fault_injected, or what the test says; a connection that is lost is an error of code ECONNRESET.
 */
import { RestError, connectionLost } from '../base/errors.ts'
import { lowerCase, pairsOf, pathOf } from '../request/parse-request.ts'
import type { Pair, QueryInput } from '../request/query-string.ts'
import { meetsPattern, readPattern } from '../request/route-pattern.ts'
import { checkNames } from '../base/suggest.ts'

/** A request, as a match that is a function sees it. */
export interface FaultRequest {
  /** Upper case. */
  readonly method: string
  /** Without the query and without one slash at its end; percent-encoded as the client sent it. */
  readonly path: string
  /** Decoded pairs of name with operator, and value: `['age>=', '18']`. Empty for a query that cannot be read. */
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly body: unknown
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Which requests are meant: `'POST /v1/orders'`, in which `*` stands for any run of characters and the method may be left out (`'/v1/*'`, `'*'`); GET means
 * HEAD, too. Or a function of the request.
 */
export type RequestMatch = string | ((request: FaultRequest) => unknown)

/** Options of all faults. */
export interface FaultOptions {
  /** How many requests are met, an integer above 0. Default: all, until the fault is disposed. */
  readonly times?: number
}

/** Options of `engine.drop`. */
export interface DropOptions extends FaultOptions {
  /** The request is done first, and only its answer is lost. Default: false, nothing is done. */
  readonly after?: boolean
}

/** What a failure says beside its status. */
export interface FailureDetails {
  /** Default `fault_injected`. */
  readonly code?: string
  /** The text of the error. */
  readonly detail?: string
  /** Further headers of the answer, such as `{ 'retry-after': '2' }`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Options of `engine.fail`. */
export interface FailOptions extends DropOptions, FailureDetails {
  /** An integer from 400 to 599. */
  readonly status: number
}

/** A fault in effect. It ends when it is disposed, by `using` too, and when the engine is reset or closed. */
export interface FaultHandle extends Disposable {
  /** Ends it; requests that wait for it go on. Idempotent. */
  dispose(): void
}

/** A gate, which holds the requests that meet it. Disposing it opens it. */
export interface Gate extends FaultHandle {
  /** The first request that is held, as soon as it is; rejects when the gate ends before. */
  readonly arrived: Promise<FaultRequest>
  /** The requests that are held now, in the order in which they came. */
  readonly requests: readonly FaultRequest[]
  /** Lets those that are held go on, and all others from now on. */
  release(): void
  /**
   * Answers those that are held with an error, and ends the gate: others pass.
   *
   * @param status an integer from 400 to 599
   * @throws RangeError, TypeError
   */
  fail(status: number, details?: FailureDetails): void
  /** Loses the connections of those that are held, and ends the gate: others pass. */
  drop(): void
}

/** The longest delay, in milliseconds: what timers can count, almost 25 days. */
export const MAX_DELAY = 2 ** 31 - 1
const FAILURE_NAMES = ['code', 'detail', 'headers']

/** What `Promise.withResolvers` gives. Its own type is younger than ES2022, which consumers of the declarations may compile for. */
interface Arriving {
  readonly promise: Promise<FaultRequest>
  readonly resolve: (request: FaultRequest) => void
  readonly reject: (reason: unknown) => void
}

/** What happens to a request that a rule meets. */
type Effect =
  | { readonly kind: 'delay'; readonly ms: number | ((request: FaultRequest) => number) }
  | { readonly kind: 'hold'; readonly arrived: Arriving }
  | { readonly kind: 'fail'; readonly refusal: RestError; readonly after: boolean }
  | { readonly kind: 'drop'; readonly after: boolean }

/** A fault that has been asked for. */
interface FaultRule {
  /** The match, for texts. */
  readonly label: string
  readonly meets: (request: FaultRequest) => boolean
  readonly effect: Effect
  /** How many requests it still meets. */
  left: number
  /** Whether it is over for those, too, that it has met already. */
  ended: boolean
}

/** A request that is delayed or held. */
interface Waiting {
  readonly rule: FaultRule
  readonly request: FaultRequest
  /** On its way, or with an error as its answer. */
  go(refusal?: RestError): void
  lose(error: Error): void
}

/** What a request has met. */
interface MatchedFaults {
  readonly request: FaultRequest
  readonly waits: readonly { readonly rule: FaultRule; readonly ms: number | undefined }[]
  /** The failure, or the loss of the connection. */
  readonly end: FaultRule | undefined
}

/** The request as functions see it; the query is read when it is asked for. */
export function faultRequest(
  method: string,
  target: string,
  query: QueryInput | undefined,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): FaultRequest {
  let pairs: FaultRequest['query'] | undefined
  return {
    method: method.toUpperCase(),
    path: pathOf(target),
    get query() {
      return (pairs ??= readable(target, query).map(({ name, operator, value }) => [name + operator, value] as const))
    },
    body,
    headers: lowerCase(headers),
  }
}

function readable(target: string, query: QueryInput | undefined): readonly Pair[] {
  try {
    return pairsOf(target, query)
  } catch {
    // What is wrong with it is answered by the engine, if the request gets there.
    return []
  }
}

export class Faults {
  readonly #methods: readonly string[]
  #rules: readonly FaultRule[] = []
  readonly #waiting = new Set<Waiting>()

  /** @param methods methods that requests may have beside the usual ones */
  constructor(methods: readonly string[] = []) {
    this.#methods = methods
  }

  /** Whether there is anything that a request could meet. */
  get active(): boolean {
    return this.#rules.length > 0
  }

  /** @throws TypeError, RangeError */
  delay(match: RequestMatch, ms: number | ((request: FaultRequest) => number), options: FaultOptions = {}): FaultHandle {
    checkOptions(options, ['times'], 'delay')
    if (typeof ms !== 'function') checkDelay(ms, 'delay')
    return this.#handleOf(this.#add('delay', match, options.times, { kind: 'delay', ms }))
  }

  /** @throws TypeError, RangeError */
  fail(match: RequestMatch, options: FailOptions): FaultHandle {
    if (typeof options === 'number') throw new TypeError(`fail: the options must be an object: { status: ${String(options)} }.`)
    checkOptions(options, ['status', ...FAILURE_NAMES, 'times', 'after'], 'fail')
    const { status, times, after = false, ...details } = options
    const refusal = refusalOf(status, details, 'fail')
    checkAfter(after, 'fail')
    return this.#handleOf(this.#add('fail', match, times, { kind: 'fail', refusal, after }))
  }

  /** @throws TypeError, RangeError */
  drop(match: RequestMatch, options: DropOptions = {}): FaultHandle {
    checkOptions(options, ['times', 'after'], 'drop')
    const { times, after = false } = options
    checkAfter(after, 'drop')
    return this.#handleOf(this.#add('drop', match, times, { kind: 'drop', after }))
  }

  /** @throws TypeError, RangeError */
  hold(match: RequestMatch, options: FaultOptions = {}): Gate {
    checkOptions(options, ['times'], 'hold')
    const arrived: Arriving = Promise.withResolvers<FaultRequest>()
    // Nobody has to wait for it.
    arrived.promise.catch(() => {})
    const rule = this.#add('hold', match, options.times, { kind: 'hold', arrived })
    const held = (): Waiting[] => [...this.#waiting].filter(waiting => waiting.rule === rule)
    return {
      ...this.#handleOf(rule),
      arrived: arrived.promise,
      get requests() {
        return held().map(({ request }) => request)
      },
      release: () => this.#end(rule, waiting => waiting.go()),
      fail: (status, details = {}) => {
        checkOptions(details, FAILURE_NAMES, 'gate.fail')
        const refusal = refusalOf(status, details, 'gate.fail')
        this.#end(rule, waiting => waiting.go(refusal))
      },
      drop: () => this.#end(rule, waiting => waiting.lose(lostBy(waiting, 'was dropped by the gate'))),
    }
  }

  #add(where: string, match: RequestMatch, times: number | undefined, effect: Effect): FaultRule {
    if (times !== undefined && (!Number.isSafeInteger(times) || times < 1))
      throw new RangeError(`${where}: "times" must be an integer above 0, got ${String(times)}.`)
    const rule: FaultRule = { ...this.#matcher(match, where), effect, left: times ?? Infinity, ended: false }
    this.#rules = [...this.#rules, rule]
    return rule
  }

  #matcher(match: RequestMatch, where: string): Pick<FaultRule, 'label' | 'meets'> {
    if (typeof match === 'string') {
      const pattern = readPattern(match, where, this.#methods)
      return { label: match, meets: ({ method, path }) => meetsPattern(pattern, method, path) }
    }
    if (typeof match !== 'function')
      throw new TypeError(`${where}: the match must be a text like "POST /v1/orders" or a function of the request, got ${typeof match}.`)
    const label = match.name === '' ? String(match).replaceAll(/\s+/g, ' ').slice(0, 80) : match.name
    return {
      label,
      meets: request => {
        const met = match(request)
        if (typeof met === 'object' && met !== null && 'then' in met)
          throw new TypeError(`${where}: the match ${label} must say at once whether a request is meant: it gave a promise.`)
        return Boolean(met)
      },
    }
  }

  #handleOf(rule: FaultRule): FaultHandle {
    const dispose = (): void => this.#end(rule, waiting => waiting.go())
    return { dispose, [Symbol.dispose]: dispose }
  }

  /** Ends a rule, also for those that it has met already. */
  #end(rule: FaultRule, settle: (waiting: Waiting) => void): void {
    rule.ended = true
    this.#rules = this.#rules.filter(other => other !== rule)
    if (rule.effect.kind === 'hold') {
      rule.effect.arrived.reject(new Error(`The gate "${rule.label}" has ended before a request arrived.`))
    }
    for (const waiting of this.#waiting) if (waiting.rule === rule) settle(waiting)
  }

  /**
   * What a request meets, now that it arrives: all delays and gates, and the first failure or loss, each counted.
   *
   * @throws whatever a function of the test throws; TypeError, RangeError when it gives what it must not.
   */
  meet(request: FaultRequest): MatchedFaults {
    const waits: FaultRule[] = []
    let end: FaultRule | undefined
    for (const rule of this.#rules) {
      const isEnd = rule.effect.kind === 'fail' || rule.effect.kind === 'drop'
      if ((isEnd && end !== undefined) || !rule.meets(request)) continue
      if (isEnd) end = rule
      else waits.push(rule)
    }
    const delays = waits.flatMap(rule => (rule.effect.kind === 'delay' ? [{ rule, ms: delayOf(rule.effect.ms, request) }] : []))
    const holds = waits.filter(({ effect }) => effect.kind === 'hold').map(rule => ({ rule, ms: undefined }))
    for (const rule of end === undefined ? waits : [...waits, end]) rule.left--
    this.#rules = this.#rules.filter(({ left }) => left > 0)
    return { request, waits: [...delays, ...holds], end }
  }

  /**
   * Takes a request along its course.
   *
   * @param answer does the request
   * @param refused makes an answer of an error
   * @throws Error of code ECONNRESET when the connection is lost; the reason of the signal.
   */
  async take<T>(
    { request, waits, end }: MatchedFaults,
    signal: AbortSignal | undefined,
    answer: () => Promise<T>,
    refused: (refusal: RestError) => T,
  ): Promise<T> {
    for (const { rule, ms } of waits) {
      if (rule.ended) continue
      const refusal = await this.#wait(rule, request, ms, signal)
      if (refusal !== undefined) return refused(refusal)
    }
    if (end === undefined || end.ended) return answer()
    const { effect } = end
    if (effect.kind !== 'fail' && effect.kind !== 'drop') return answer()
    if (effect.after) {
      const done = await answer()
      // Changed while the request was done.
      if (end.ended) return done
    }
    if (effect.kind === 'fail') return refused(effect.refusal)
    throw connectionLost(`The connection was lost: drop("${end.label}") has met ${nameOf(request)}.`)
  }

  #wait(rule: FaultRule, request: FaultRequest, ms: number | undefined, signal: AbortSignal | undefined): Promise<RestError | undefined> {
    signal?.throwIfAborted()
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        rule,
        request,
        go: refusal => {
          stop()
          resolve(refusal)
        },
        lose: error => {
          stop()
          reject(error)
        },
      }
      const abort = (): void => waiting.lose(signal!.reason as Error)
      const timer = ms === undefined ? undefined : setTimeout(() => waiting.go(), ms)
      const stop = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        this.#waiting.delete(waiting)
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.add(waiting)
      if (rule.effect.kind === 'hold') rule.effect.arrived.resolve(request)
    })
  }

  /** Ends all faults and loses the requests that wait: they belong to the test before. */
  reset(): void {
    this.#endAll(waiting => waiting.lose(lostBy(waiting, 'was still waiting when the engine was reset')))
  }

  /** Ends all faults. Delayed requests go on at once; held ones, for which nobody is left to open the gate, are lost, with a warning. */
  close(): void {
    for (const [rule, held] of Map.groupBy(this.#waiting, ({ rule }) => rule)) {
      if (rule.effect.kind !== 'hold') continue
      const names = held.map(({ request }) => nameOf(request)).join(', ')
      process.emitWarning(
        `The gate "${rule.label}" still held ${held.length === 1 ? 'a request' : `${held.length} requests`} when the engine was closed: ${names}. ` +
          'The connection of each is lost: release or dispose gates before.',
        { type: 'MikroRestWarning', code: 'MIKRO_REST_HELD' },
      )
    }
    this.#endAll(waiting => {
      if (waiting.rule.effect.kind === 'hold') waiting.lose(lostBy(waiting, 'was still held when the engine was closed'))
      else waiting.go()
    })
  }

  #endAll(settle: (waiting: Waiting) => void): void {
    const rules = new Set([...this.#rules, ...[...this.#waiting].map(({ rule }) => rule)])
    for (const rule of rules) this.#end(rule, settle)
  }
}

function nameOf({ method, path }: FaultRequest): string {
  return `${method} ${path}`
}

function lostBy({ rule, request }: Waiting, what: string): Error {
  return connectionLost(`The connection was lost: ${nameOf(request)} ${what} ("${rule.label}").`)
}

function delayOf(ms: number | ((request: FaultRequest) => number), request: FaultRequest): number {
  if (typeof ms === 'number') return ms
  const given = ms(request)
  checkDelay(given, 'delay: the function')
  return given
}

function checkDelay(ms: unknown, where: string): void {
  if (typeof ms !== 'number')
    throw new TypeError(`${where}: the delay must be a number of milliseconds or a function of the request, got ${typeof ms}.`)
  if (!(ms >= 0 && ms <= MAX_DELAY)) {
    throw new RangeError(
      `${where}: the delay must be from 0 to ${MAX_DELAY} milliseconds, got ${ms}. To keep requests for longer, use hold.`,
    )
  }
}

function checkOptions(options: object, known: readonly string[], where: string): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`${where}: the options must be an object, got ${options === null ? 'null' : typeof options}.`)
  checkNames(options, known, where)
}

function checkAfter(after: unknown, where: string): void {
  if (typeof after !== 'boolean') throw new TypeError(`${where}: "after" must be true or false, got ${String(after)}.`)
}

function refusalOf(status: number, { code = 'fault_injected', detail, headers = {} }: FailureDetails, where: string): RestError {
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    throw new RangeError(
      `${where}: "status" must be an integer from 400 to 599, got ${String(status)}. Other answers are for custom routes to give.`,
    )
  }
  for (const [name, value] of Object.entries({ code, detail })) {
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      throw new TypeError(`${where}: "${name}" must be a text that is not empty.`)
  }
  if (typeof headers !== 'object' || headers === null || !Object.values(headers).every(value => typeof value === 'string'))
    throw new TypeError(`${where}: "headers" must be an object of texts, such as { 'retry-after': '2' }.`)
  return new RestError(status, code, detail ?? 'A test has asked for this failure.', { headers })
}
