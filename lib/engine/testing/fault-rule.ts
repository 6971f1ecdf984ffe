/** Fault rule: a fault that has been asked for, and the requests that wait for it. */
import { connectionLost, type RestError } from '../../foundation/base/errors.ts'
import type { FaultHandle, FaultState, Gate, PendingFault } from './fault-handle.ts'
import { checkDelay } from './fault-options.ts'
import type { CompiledMatch, FaultRequest } from './fault-request.ts'
import type { LatencyProfile } from './latency.ts'
import type { TokenBucket } from './rate-limit.ts'

/** The result of `Promise.withResolvers`. Its own type is younger than ES2022, which consumers of the declarations may compile for. */
export interface Arriving {
  readonly promise: Promise<FaultRequest>
  readonly resolve: (request: FaultRequest) => void
  readonly reject: (reason: unknown) => void
}

type DelayFunction = (request: FaultRequest) => number

/** How long requests are delayed: milliseconds, a distribution, or a function of the request that gives milliseconds. */
export type Delay = number | LatencyProfile | DelayFunction

/** The effect on a request that a rule matches. */
export type Effect =
  | { readonly kind: 'delay'; readonly ms: number | DelayFunction }
  | { readonly kind: 'hold'; readonly arrived: Arriving }
  | { readonly kind: 'fail'; readonly refusal: RestError; readonly after: boolean }
  | { readonly kind: 'drop'; readonly after: boolean }
  | { readonly kind: 'rateLimit'; readonly bucket: TokenBucket }

/** A fault that has been asked for. */
export interface FaultRule extends CompiledMatch {
  readonly id: string
  readonly effect: Effect
  /** What it was asked for with. */
  readonly options: object
  /** How many requests it still meets. */
  left: number
  met: number
  /** What the test holds of it. */
  handle: FaultHandle | Gate | undefined
  /** Whether it is over for those, too, that it has met already. */
  ended: boolean
}

/** A request that is delayed or held. */
export interface WaitingRequest {
  readonly rule: FaultRule
  readonly request: FaultRequest
  /** On its way, or with an error as its answer. */
  go(refusal?: RestError): void
  lose(error: Error): void
}

/** The faults that apply to a request. */
export interface MatchedFaults {
  readonly request: FaultRequest
  readonly waits: readonly { readonly rule: FaultRule; readonly ms: number | undefined }[]
  /** The failure, or the loss of the connection. */
  readonly end: FaultRule | undefined
  /** The refusal of a rate limit, where that is the end. */
  readonly excess: RestError | undefined
  /** The ID of the one that ends the request, else of the first. */
  readonly met: string | undefined
}

/** Describes a fault as plain data. */
export function describeFault({ id, effect, label, met, left, options }: FaultRule, waiting: readonly WaitingRequest[]): FaultState {
  const held = waiting.map(({ request: { method, path, query } }) => ({ method, path, query }))
  return {
    id,
    kind: effect.kind,
    match: label,
    met,
    left: left === Infinity ? null : left,
    options: listPlain(options),
    ...(effect.kind === 'hold' ? { held } : {}),
  }
}

/** The options that can be written as JSON. */
function listPlain(options: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && typeof value !== 'function'))
}

export function toPending({ effect, label }: FaultRule): PendingFault {
  return { kind: effect.kind, match: label }
}

export function formatRequestName({ method, path }: FaultRequest): string {
  return `${method} ${path}`
}

export function lostBy({ rule, request }: WaitingRequest, what: string): Error {
  return connectionLost(`The connection was lost: ${formatRequestName(request)} ${what} ("${rule.label}").`)
}

export function computeDelay(ms: number | DelayFunction, request: FaultRequest): number {
  if (typeof ms === 'number') return ms
  const given = ms(request)
  checkDelay(given, 'delay: the function')
  return given
}
