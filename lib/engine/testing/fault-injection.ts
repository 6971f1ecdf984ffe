/**
 * Lets requests meet a test's delays, failures, lost connections, rate limits and gates. Answers with fault_injected, rate_limited or the
 * test's error; rejects with ECONNRESET.
 */
import type { Clock } from '../../foundation/async/clock.ts'
import { disposeKey } from '../../foundation/runtime/dispose-keys.ts'
import { anything } from '../../foundation/base/option-table.ts'
import { connectionLost, restError, type RestError } from '../../foundation/errors/errors.ts'
import { computeDelay, describeFault, formatRequestName, lostBy, toPending } from './fault-rule.ts'
import type { Arriving, Delay, Effect, FaultRule, MatchedFaults, WaitingRequest } from './fault-rule.ts'
import type { FaultHandle, FaultState, Gate, PendingFault, UnmetFaults } from './fault-handle.ts'
import { DROP, FAIL, FAILURE, FAULT, checkDelay, makeRefusal, readFault } from './fault-options.ts'
import type { DropOptions, FailOptions, FaultOptions } from './fault-options.ts'
import { compileMatch, type FaultRequest, type RequestMatch } from './fault-request.ts'
import { createLatency } from './latency.ts'
import { TokenBucket, type RateLimit } from './rate-limit.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'

/** Of more, the oldest used-up faults go; faults with an effect stay. */
const MAX_KNOWN = 1000

export class Faults {
  readonly #methods: readonly string[]
  readonly #clock: Pick<Clock, 'time'>
  readonly #checkPath: (match: string, where: string) => void
  rules: readonly FaultRule[] = []
  readonly #waiting = new Set<WaitingRequest>()
  readonly #unmet: UnmetFaults
  /** Faults not ended by a call, oldest first, used-up faults included. */
  #known: FaultRule[] = []
  #count = 0
  /** Called when a fault comes, meets a request or ends, or a gate holds a request. */
  changed: () => void = () => {}
  #endedUnmet: FaultRule[] = []

  /**
   * @param methods of custom routes, beside the usual
   * @param clock fills the buckets of rate limits
   * @param checkPath refuses patterns no request can meet
   * @param unmet `throw`: unmet faults are an error after the test
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

  /** Oldest first. */
  get pending(): PendingFault[] {
    return this.rules.filter(({ met }) => met === 0).map(toPending)
  }

  /** Oldest first. */
  get states(): FaultState[] {
    return this.#known.map(rule => describeFault(rule, this.#held(rule)))
  }

  find(id: string): FaultHandle | Gate | undefined {
    return this.#known.find(rule => rule.id === id)?.handle
  }

  endAll(): void {
    for (const { handle } of this.#known) handle?.dispose()
  }

  #held(rule: FaultRule): WaitingRequest[] {
    return [...this.#waiting].filter(waiting => waiting.rule === rule)
  }

  delay(match: RequestMatch, delay: Delay, options: FaultOptions = {}): FaultHandle {
    readFault(options, FAULT, 'delay')
    const ms = typeof delay === 'object' && delay !== null ? createLatency(delay, 'delay') : delay
    if (typeof ms !== 'function') checkDelay(ms, 'delay')
    return this.#createHandle(
      this.#add('delay', match, { kind: 'delay', ms }, { ...(typeof delay === 'object' ? delay : { ms: delay }), ...options }),
    )
  }

  fail(match: RequestMatch, options: FailOptions): FaultHandle {
    if (typeof options === 'number') throw new TypeError(`fail: the options must be an object: { status: ${String(options)} }.`)
    const { status, after, ...details } = readFault(options, FAIL, 'fail')
    const refusal = makeRefusal(status, details, 'fail')
    return this.#createHandle(this.#add('fail', match, { kind: 'fail', refusal, after }, options))
  }

  drop(match: RequestMatch, options: DropOptions = {}): FaultHandle {
    const { after } = readFault(options, DROP, 'drop')
    return this.#createHandle(this.#add('drop', match, { kind: 'drop', after }, options))
  }

  rateLimit(match: RequestMatch, options: RateLimit): FaultHandle {
    readFault(options, { requests: [anything], per: [anything] }, 'rateLimit')
    return this.#createHandle(this.#add('rateLimit', match, { kind: 'rateLimit', bucket: new TokenBucket(options, this.#clock) }, options))
  }

  hold(match: RequestMatch, options: FaultOptions = {}): Gate {
    readFault(options, FAULT, 'hold')
    const arrived: Arriving = Promise.withResolvers<FaultRequest>()
    // A test need not wait for `arrived`.
    arrived.promise.catch(() => {})
    const rule = this.#add('hold', match, { kind: 'hold', arrived }, options)
    const held = (): FaultRequest[] => this.#held(rule).map(({ request }) => request)
    const gate: Gate = {
      id: rule.id,
      get met() {
        return rule.met
      },
      get left() {
        return rule.ended ? 0 : rule.left
      },
      ...this.#createEnd(rule),
      arrived: arrived.promise,
      get requests() {
        return held()
      },
      release: () => this.#end(rule, waiting => waiting.go()),
      fail: (status, details = {}) => {
        const refusal = makeRefusal(status, readFault(details, FAILURE, 'gate.fail'), 'gate.fail')
        this.#end(rule, waiting => waiting.go(refusal))
      },
      drop: () => this.#end(rule, waiting => waiting.lose(lostBy(waiting, 'was dropped by the gate'))),
    }
    rule.handle = gate
    return gate
  }

  #add(where: string, match: RequestMatch, effect: Effect, options: FaultOptions | RateLimit): FaultRule {
    const compiled = compileMatch(match, where, this.#methods)
    if (typeof match === 'string') this.#checkPath(match, where)
    const rule: FaultRule = {
      ...compiled,
      id: `f${++this.#count}`,
      effect,
      options,
      left: (options as FaultOptions).times ?? Infinity,
      met: 0,
      ended: false,
      handle: undefined,
    }
    this.rules = [...this.rules, rule]
    this.#known.push(rule)
    this.#forgetUsedUp()
    this.changed()
    return rule
  }

  #forgetUsedUp(): void {
    let excess = this.#known.length - MAX_KNOWN
    if (excess <= 0) return
    const waitedFor = new Set([...this.#waiting].map(({ rule }) => rule))
    this.#known = this.#known.filter(rule => rule.left > 0 || waitedFor.has(rule) || excess-- <= 0)
  }

  #createHandle(rule: FaultRule): FaultHandle {
    const handle: FaultHandle = {
      id: rule.id,
      get met() {
        return rule.met
      },
      get left() {
        return rule.ended ? 0 : rule.left
      },
      ...this.#createEnd(rule),
    }
    rule.handle = handle
    return handle
  }

  #createEnd(rule: FaultRule): Pick<FaultHandle, 'dispose' | typeof Symbol.dispose> {
    const dispose = (): void => this.#end(rule, waiting => waiting.go())
    return { dispose, [disposeKey]: dispose }
  }

  #end(rule: FaultRule, settle: (waiting: WaitingRequest) => void): void {
    rule.ended = true
    if (rule.met === 0 && this.#unmet === 'throw') this.#endedUnmet.push(rule)
    this.rules = this.rules.filter(other => other !== rule)
    this.#known = this.#known.filter(other => other !== rule)
    if (rule.effect.kind === 'hold') {
      rule.effect.arrived.reject(new Error(`The gate "${rule.label}" has ended before a request arrived.`))
    }
    for (const waiting of this.#waiting) if (waiting.rule === rule) settle(waiting)
    this.changed()
  }

  /**
   * Finds all delays and gates, and the first failure, loss or exceeded limit.
   *
   * @throws whatever a test's function throws; TypeError, RangeError for a wrong result
   */
  meet(request: FaultRequest): MatchedFaults {
    const waits: FaultRule[] = []
    let end: FaultRule | undefined
    let excess: RestError | undefined
    for (const rule of this.rules) {
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
    this.rules = this.rules.filter(({ left }) => left > 0)
    if (end !== undefined || waits.length > 0) this.changed()
    return { request, waits: [...delays, ...holds], end, excess, met: (end ?? waits[0])?.id }
  }

  /**
   * @param answer runs the request
   * @param refused answers an error
   * @throws Error of code ECONNRESET when the connection is lost; the signal's reason
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
      if (end.ended) return done
    }
    if (effect.kind === 'fail') return refused(effect.refusal)
    throw connectionLost(`The connection was lost: drop("${end.label}") has met ${formatRequestName(request)}.`)
  }

  #wait(rule: FaultRule, request: FaultRequest, ms: number | undefined, signal: AbortSignal | undefined): Promise<RestError | undefined> {
    signal?.throwIfAborted()
    return new Promise((resolve, reject) => {
      const waiting: WaitingRequest = {
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
      if (rule.effect.kind !== 'hold') return
      rule.effect.arrived.resolve(request)
      this.changed()
    })
  }

  /**
   * Names faults unmet since the last call. Effective faults must be ended before.
   *
   * @param by the method that the test called
   */
  takeUnmet(by: string): Error | undefined {
    const unmet = this.#endedUnmet.map(toPending)
    this.#endedUnmet = []
    if (unmet.length === 0) return undefined
    const names = unmet.map(({ kind, match }) => `${kind}("${match}")`).join(', ')
    return restError(
      'faults_unmet',
      `engine.${by}: no request has met ${names}. ` +
        'Take away what the test does not need, or look why its request does not get there (engine.requests shows what came).',
    )
  }

  reset(): void {
    this.#known = []
    this.#endAll(waiting => waiting.lose(lostBy(waiting, 'was still waiting when the engine was reset')))
  }

  /** Delayed requests go on at once; held requests are lost, with a warning. */
  close(): void {
    for (const [rule, held] of Map.groupBy(this.#waiting, ({ rule }) => rule)) {
      if (rule.effect.kind !== 'hold') continue
      const names = held.map(({ request }) => formatRequestName(request)).join(', ')
      runtime.warn(
        `The gate "${rule.label}" still held ` +
          `${held.length === 1 ? 'a request' : `${held.length} requests`} when the engine was closed: ${names}. ` +
          'The connection of each is lost: release or dispose gates before.',
        { type: 'MikroRestWarning', code: 'MIKRO_REST_HELD' },
      )
    }
    this.#endAll(waiting => {
      if (waiting.rule.effect.kind === 'hold') waiting.lose(lostBy(waiting, 'was still held when the engine was closed'))
      else waiting.go()
    })
  }

  #endAll(settle: (waiting: WaitingRequest) => void): void {
    const rules = new Set([...this.rules, ...[...this.#waiting].map(({ rule }) => rule)])
    for (const rule of rules) this.#end(rule, settle)
  }
}
