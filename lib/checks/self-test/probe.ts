/** Sends requests of the self-test, checks answers against the OpenAPI document, records failures. Throws OutOfTime at the deadline. */
import type { RestResponse } from '../../foundation/base/response.ts'
import type { HandleContext } from '../../engine/pipeline/arrival.ts'
import { CHECKS, formatCurl, type SelfTestCheck, type SelfTestFailure, type SelfTestRequest } from './report.ts'

export interface Answering {
  handle(method: string, path: string, query: undefined, body: unknown, context: HandleContext): Promise<RestResponse>
  conforms(request: { readonly method: string; readonly path: string }, response: RestResponse): Promise<string[]>
}

export class OutOfTime extends Error {
  override readonly name = 'OutOfTime'
}

/** Failures to report; others are counted. */
const MAX_FAILURES = 100
/** Milliseconds per request. */
const PATIENCE = 10_000
/** The last requests before a failure; writes of the case stay before. */
const MAX_STEPS = 6

/** The parts of an answer for drift. */
export interface AnsweredReading {
  readonly status: number
  readonly response: { readonly sort?: unknown; readonly code?: unknown }
}

function keepReading({ status, body }: RestResponse): AnsweredReading {
  const { sort, code } = (body ?? {}) as { readonly sort?: unknown; readonly code?: unknown }
  return { status, response: { sort, code } }
}

export interface ProbeAnswer extends RestResponse {
  /** Whether the status is below 300. */
  readonly isOk: boolean
}

export class Probe {
  readonly checks = Object.fromEntries(Object.keys(CHECKS).map(name => [name, 0])) as Record<SelfTestCheck, number>
  readonly failures = new Map<string, { -readonly [key in keyof SelfTestFailure]: SelfTestFailure[key] }>()
  /** Drift repeats each GET against the real backend. */
  readonly readings = new Map<string, AnsweredReading>()
  requests = 0
  lostFailures = 0
  readonly #answering: Answering
  readonly #headers: Readonly<Record<string, string>>
  readonly #deadline: number

  /** @param deadline a time of `performance.now()` */
  constructor(answering: Answering, headers: Readonly<Record<string, string>>, deadline: number) {
    this.#answering = answering
    this.#headers = headers
    this.#deadline = deadline
  }

  begin(): Case {
    return new Case(this)
  }

  /** @returns undefined without an answer */
  async ask(method: string, path: string, body: unknown, steps: SelfTestRequest[]): Promise<ProbeAnswer | undefined> {
    if (performance.now() >= this.#deadline) throw new OutOfTime('The time is over.')
    this.requests++
    const place = `${method} ${path.split('?')[0]!}`
    const request = { method, path, ...(body === undefined ? {} : { body }) }
    const signal = AbortSignal.timeout(PATIENCE)
    let answer: RestResponse
    try {
      answer = await this.#answering.handle(method, path, undefined, body, { headers: this.#headers, signal })
    } catch (error) {
      steps.push(request)
      const reason = signal.aborted ? `was not answered within ${PATIENCE / 1000} s` : `failed with ${String(error)}`
      this.check('answer', false, place, () => `The request ${reason}.`, steps)
      return undefined
    }
    const { status } = answer
    steps.push({ ...request, status })
    this.check('answer', status < 500, place, () => `It was answered with ${status}: ${describeFailure(answer.body)}.`, steps)
    const faults = await this.#answering.conforms({ method, path }, answer)
    this.check('described', faults.length === 0, place, () => faults.join('; '), steps)
    if (method === 'GET' && status < 500 && !this.readings.has(path)) this.readings.set(path, keepReading(answer))
    return { ...answer, isOk: status < 300 }
  }

  check(check: SelfTestCheck, isKept: boolean, where: string, say: () => string, steps: readonly SelfTestRequest[]): void {
    this.checks[check]++
    if (isKept) return
    const key = `${check} ${where.replaceAll(/\/\d+(?=\/|$)/g, '/{id}')}`
    const known = this.failures.get(key)
    if (known !== undefined) known.times++
    else if (this.failures.size >= MAX_FAILURES) this.lostFailures++
    else {
      const requests = steps.filter(({ method }, index) => method !== 'GET' || index >= steps.length - MAX_STEPS)
      const curl = requests.map(request => formatCurl(request, Object.keys(this.#headers)))
      this.failures.set(key, { check, where, message: say(), requests, curl, times: 1 })
    }
  }
}

/** Requests that together repeat a failure. */
export class Case {
  readonly #probe: Probe
  readonly #steps: SelfTestRequest[] = []

  constructor(probe: Probe) {
    this.#probe = probe
  }

  ask(method: string, path: string, body?: unknown): Promise<ProbeAnswer | undefined> {
    return this.#probe.ask(method, path, body, this.#steps)
  }

  /** @returns undefined for a refusal, or without an answer */
  async read(path: string): Promise<ProbeAnswer | undefined> {
    const answer = await this.ask('GET', path)
    return answer?.isOk === true ? answer : undefined
  }

  check(check: SelfTestCheck, isKept: boolean, where: string, say: () => string): boolean {
    this.#probe.check(check, isKept, where, say, this.#steps)
    return isKept
  }
}

export function describeFailure(body: unknown): string {
  const { code, detail } = (body ?? {}) as { readonly code?: unknown; readonly detail?: unknown }
  return typeof code === 'string' ? `${code}, ${String(detail)}`.slice(0, 300) : (JSON.stringify(body) ?? 'no body').slice(0, 300)
}
