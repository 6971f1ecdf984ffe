/**
 * Fault injection: delays, failures, lost connections, rate limits, and gates that hold requests on their way to the engine. Knows nothing of the engine, whose answer
 * comes as a function. Rejects with fault_injected, rate_limited, or the error of the test; a lost connection is an error of code ECONNRESET.
 */
import type { Clock } from '../../foundation/base/clock.ts'
import { connectionLost, restError } from '../../foundation/base/errors.ts'
import type { RestError } from '../../foundation/base/errors.ts'
import { FAILURE_NAMES, checkAfter, checkDelay, checkOptions, makeRefusal } from './fault-options.ts'
import type { DropOptions, FailOptions, FailureDetails, FaultOptions } from './fault-options.ts'
import { compileMatch } from './fault-request.ts'
import type { CompiledMatch, FaultRequest, RequestMatch } from './fault-request.ts'
import { createLatency } from './latency.ts'
import type { LatencyProfile } from './latency.ts'
import { TokenBucket } from './rate-limit.ts'
import type { RateLimit } from './rate-limit.ts'

/** A fault in effect. It ends when it is disposed, by `using` too, and when the engine is reset or closed. */
export interface FaultHandle extends Disposable {
  /** How many requests it has met. */
  readonly met: number
  /** How many requests it still meets: `Infinity` without `times`; 0 once it has ended. */
  readonly left: number
  /** Ends it; requests that wait for it go on. Idempotent. */
  dispose(): void
}

/** A fault that no request has met yet. */
export interface PendingFault {
  /** What was called: `fail`, `hold` and the others. */
  readonly kind: string
  /** The pattern; of a function its name, or its text. */
  readonly match: string
}

/** What becomes of faults that no request has met when the engine is reset or closed. */
export type UnmetFaults = 'ignore' | 'throw'

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

/** The result of `Promise.withResolvers`. Its own type is younger than ES2022, which consumers of the declarations may compile for. */
interface Arriving {
  readonly promise: Promise<FaultRequest>
  readonly resolve: (request: FaultRequest) => void
  readonly reject: (reason: unknown) => void
}

type DelayFunction = (request: FaultRequest) => number

/** How long requests are delayed: milliseconds, a distribution, or a function of the request that gives milliseconds. */
export type Delay = number | LatencyProfile | DelayFunction

/** The effect on a request that a rule matches. */
type Effect =
  | { readonly kind: 'delay'; readonly ms: number | DelayFunction }
  | { readonly kind: 'hold'; readonly arrived: Arriving }
  | { readonly kind: 'fail'; readonly refusal: RestError; readonly after: boolean }
  | { readonly kind: 'drop'; readonly after: boolean }
  | { readonly kind: 'rateLimit'; readonly bucket: TokenBucket }

/** A fault that has been asked for. */
interface FaultRule extends CompiledMatch {
  readonly effect: Effect
  /** How many requests it still meets. */
  left: number
  met: number
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

/** The faults that apply to a request. */
interface MatchedFaults {
  readonly request: FaultRequest
  readonly waits: readonly { readonly rule: FaultRule; readonly ms: number | undefined }[]
  /** The failure, or the loss of the connection. */
  readonly end: FaultRule | undefined
  /** The refusal of a rate limit, where that is the end. */
  readonly excess: RestError | undefined
}

export class Faults {
  readonly #methods: readonly string[]
  readonly #clock: Pick<Clock, 'time'>
  readonly #checkPath: (match: string, where: string) => void
  #rules: readonly FaultRule[] = []
  readonly #waiting = new Set<Waiting>()
  readonly #unmet: UnmetFaults
  /** Faults of this test that have ended before a request met them, where that is an error. */
  #endedUnmet: FaultRule[] = []

  /**
   * @param methods methods that requests may have beside the usual ones
   * @param clock fills the buckets of rate limits
   * @param checkPath refuses patterns that no request can meet
   * @param unmet whether faults that no request has met are an error when the test is over
   */
  constructor(
    methods: readonly string[],
    clock: Pick<Clock, 'time'>,
    checkPath: (match: string, where: string) => void,
    unmet: UnmetFaults = 'ignore',
  ) {
    this.#unmet = unmet
    this.#methods = methods
    this.#clock = clock
    this.#checkPath = checkPath
  }

  /** Whether there is anything that a request could meet. */
  get active(): boolean {
    return this.#rules.length > 0
  }

  /** The faults in effect that no request has met, oldest first. */
  get pending(): PendingFault[] {
    return this.#rules.filter(({ met }) => met === 0).map(toPending)
  }

  /** @throws TypeError, RangeError */
  delay(match: RequestMatch, delay: Delay, options: FaultOptions = {}): FaultHandle {
    checkOptions(options, ['times'], 'delay')
    const ms = typeof delay === 'object' && delay !== null ? createLatency(delay, 'delay') : delay
    if (typeof ms !== 'function') checkDelay(ms, 'delay')
    return this.#createHandle(this.#add('delay', match, options.times, { kind: 'delay', ms }))
  }

  /** @throws TypeError, RangeError */
  fail(match: RequestMatch, options: FailOptions): FaultHandle {
    if (typeof options === 'number') throw new TypeError(`fail: the options must be an object: { status: ${String(options)} }.`)
    checkOptions(options, ['status', ...FAILURE_NAMES, 'times', 'after'], 'fail')
    const { status, times, after = false, ...details } = options
    const refusal = makeRefusal(status, details, 'fail')
    checkAfter(after, 'fail')
    return this.#createHandle(this.#add('fail', match, times, { kind: 'fail', refusal, after }))
  }

  /** @throws TypeError, RangeError */
  drop(match: RequestMatch, options: DropOptions = {}): FaultHandle {
    checkOptions(options, ['times', 'after'], 'drop')
    const { times, after = false } = options
    checkAfter(after, 'drop')
    return this.#createHandle(this.#add('drop', match, times, { kind: 'drop', after }))
  }

  /** @throws TypeError, RangeError */
  rateLimit(match: RequestMatch, options: RateLimit): FaultHandle {
    checkOptions(options, ['requests', 'per'], 'rateLimit')
    return this.#createHandle(
      this.#add('rateLimit', match, undefined, { kind: 'rateLimit', bucket: new TokenBucket(options, this.#clock) }),
    )
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
      get met() {
        return rule.met
      },
      get left() {
        return rule.ended ? 0 : rule.left
      },
      ...this.#createEnd(rule),
      arrived: arrived.promise,
      get requests() {
        return held().map(({ request }) => request)
      },
      release: () => this.#end(rule, waiting => waiting.go()),
      fail: (status, details = {}) => {
        checkOptions(details, FAILURE_NAMES, 'gate.fail')
        const refusal = makeRefusal(status, details, 'gate.fail')
        this.#end(rule, waiting => waiting.go(refusal))
      },
      drop: () => this.#end(rule, waiting => waiting.lose(lostBy(waiting, 'was dropped by the gate'))),
    }
  }

  #add(where: string, match: RequestMatch, times: number | undefined, effect: Effect): FaultRule {
    if (times !== undefined && (!Number.isSafeInteger(times) || times < 1))
      throw new RangeError(`${where}: "times" must be an integer above 0, got ${String(times)}.`)
    const compiled = compileMatch(match, where, this.#methods)
    if (typeof match === 'string') this.#checkPath(match, where)
    const rule: FaultRule = { ...compiled, effect, left: times ?? Infinity, met: 0, ended: false }
    this.#rules = [...this.#rules, rule]
    return rule
  }

  #createHandle(rule: FaultRule): FaultHandle {
    return {
      get met() {
        return rule.met
      },
      get left() {
        return rule.ended ? 0 : rule.left
      },
      ...this.#createEnd(rule),
    }
  }

  #createEnd(rule: FaultRule): Pick<FaultHandle, 'dispose' | typeof Symbol.dispose> {
    const dispose = (): void => this.#end(rule, waiting => waiting.go())
    return { dispose, [Symbol.dispose]: dispose }
  }

  /** Ends a rule, also for those that it has met already. */
  #end(rule: FaultRule, settle: (waiting: Waiting) => void): void {
    rule.ended = true
    if (rule.met === 0 && this.#unmet === 'throw') this.#endedUnmet.push(rule)
    this.#rules = this.#rules.filter(other => other !== rule)
    if (rule.effect.kind === 'hold') {
      rule.effect.arrived.reject(new Error(`The gate "${rule.label}" has ended before a request arrived.`))
    }
    for (const waiting of this.#waiting) if (waiting.rule === rule) settle(waiting)
  }

  /**
   * Returns the faults for a request that arrives: all delays and gates, and the first failure, loss or exceeded limit, each counted.
   *
   * @throws whatever a function of the test throws; TypeError, RangeError when it gives what it must not.
   */
  meet(request: FaultRequest): MatchedFaults {
    const waits: FaultRule[] = []
    let end: FaultRule | undefined
    let excess: RestError | undefined
    for (const rule of this.#rules) {
      const { kind } = rule.effect
      const isEnd = kind === 'fail' || kind === 'drop' || kind === 'rateLimit'
      if ((isEnd && end !== undefined) || !rule.meets(request)) continue
      if (rule.effect.kind === 'rateLimit') {
        excess = rule.effect.bucket.take(rule.label)
        if (excess !== undefined) end = rule
      } else if (isEnd) end = rule
      else waits.push(rule)
    }
    const delays = waits.flatMap(rule => (rule.effect.kind === 'delay' ? [{ rule, ms: computeDelay(rule.effect.ms, request) }] : []))
    const holds = waits.filter(({ effect }) => effect.kind === 'hold').map(rule => ({ rule, ms: undefined }))
    for (const rule of end === undefined ? waits : [...waits, end]) {
      rule.left--
      rule.met++
    }
    this.#rules = this.#rules.filter(({ left }) => left > 0)
    return { request, waits: [...delays, ...holds], end, excess }
  }

  /**
   * Takes a request along its course.
   *
   * @param answer does the request
   * @param refused makes an answer of an error
   * @throws Error of code ECONNRESET when the connection is lost; the reason of the signal.
   */
  async take<T>(
    { request, waits, end, excess }: MatchedFaults,
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
    if (excess !== undefined) return refused(excess)
    const { effect } = end
    if (effect.kind !== 'fail' && effect.kind !== 'drop') return answer()
    if (effect.after) {
      const done = await answer()
      // Changed while the request was done.
      if (end.ended) return done
    }
    if (effect.kind === 'fail') return refused(effect.refusal)
    throw connectionLost(`The connection was lost: drop("${end.label}") has met ${formatRequestName(request)}.`)
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

  /**
   * Returns the error that says which faults no request has met since the last time, where that is one; those in effect are ended first.
   *
   * @param by what the test has called
   */
  takeUnmet(by: string): Error | undefined {
    const unmet = this.#endedUnmet.map(toPending)
    this.#endedUnmet = []
    if (unmet.length === 0) return undefined
    const names = unmet.map(({ kind, match }) => `${kind}("${match}")`).join(', ')
    return restError(
      'faults_unmet',
      `engine.${by}: no request has met ${names}. Take away what the test does not need, or look why its request does not get there (engine.requests shows what came).`,
    )
  }

  /** Ends all faults and loses the requests that wait: they belong to the test before. */
  reset(): void {
    this.#endAll(waiting => waiting.lose(lostBy(waiting, 'was still waiting when the engine was reset')))
  }

  /** Ends all faults. Delayed requests go on at once; held ones, whose gate can no longer be opened, are lost, with a warning. */
  close(): void {
    for (const [rule, held] of Map.groupBy(this.#waiting, ({ rule }) => rule)) {
      if (rule.effect.kind !== 'hold') continue
      const names = held.map(({ request }) => formatRequestName(request)).join(', ')
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

function toPending({ effect, label }: FaultRule): PendingFault {
  return { kind: effect.kind, match: label }
}

function formatRequestName({ method, path }: FaultRequest): string {
  return `${method} ${path}`
}

function lostBy({ rule, request }: Waiting, what: string): Error {
  return connectionLost(`The connection was lost: ${formatRequestName(request)} ${what} ("${rule.label}").`)
}

function computeDelay(ms: number | DelayFunction, request: FaultRequest): number {
  if (typeof ms === 'number') return ms
  const given = ms(request)
  checkDelay(given, 'delay: the function')
  return given
}
