/** A fault inside of the engine, and the requests that wait for it. */
import { connectionLost, type RestError } from '../../foundation/errors/errors.ts'
import type { FaultHandle, FaultState, Gate, PendingFault } from './fault-handle.ts'
import { checkDelay } from './fault-options.ts'
import type { CompiledMatch, FaultRequest } from './fault-request.ts'
import type { LatencyProfile } from './latency.ts'
import type { TokenBucket } from './rate-limit.ts'

/** ES2022, a target of consumers, lacks the type of `Promise.withResolvers`. */
export interface Arriving {
  readonly promise: Promise<FaultRequest>
  readonly resolve: (request: FaultRequest) => void
  readonly reject: (reason: unknown) => void
}

type DelayFunction = (request: FaultRequest) => number

/** In milliseconds. */
export type Delay = number | LatencyProfile | DelayFunction

/** `after`: the fault comes once the request has run. */
export type Effect =
  | { readonly kind: 'delay'; readonly ms: number | DelayFunction }
  | { readonly kind: 'hold'; readonly arrived: Arriving }
  | { readonly kind: 'fail'; readonly refusal: RestError; readonly after: boolean }
  | { readonly kind: 'drop'; readonly after: boolean }
  | { readonly kind: 'rateLimit'; readonly bucket: TokenBucket }

export interface FaultRule extends CompiledMatch {
  readonly id: string
  readonly effect: Effect
  readonly options: object
  /** Requests still to meet. */
  left: number
  met: number
  handle: FaultHandle | Gate | undefined
  /** Ends the fault also for requests that met it and still wait. */
  ended: boolean
}

export interface WaitingRequest {
  readonly rule: FaultRule
  readonly request: FaultRequest
  go(refusal?: RestError): void
  lose(error: Error): void
}

export interface MatchedFaults {
  readonly request: FaultRequest
  readonly waits: readonly { readonly rule: FaultRule; readonly ms: number | undefined }[]
  readonly end: FaultRule | undefined
  readonly excess: RestError | undefined
  /** The ID of the ending fault, else of the first. */
  readonly met: string | undefined
}

export function describeFault({ id, effect, label, met, left, options }: FaultRule, waiting: readonly WaitingRequest[]): FaultState {
  const plain = Object.entries(options).filter(([, value]) => value !== undefined && typeof value !== 'function')
  const held = waiting.map(({ request: { method, path, query } }) => ({ method, path, query }))
  return {
    id,
    kind: effect.kind,
    match: label,
    met,
    left: left === Infinity ? null : left,
    options: Object.fromEntries(plain),
    ...(effect.kind === 'hold' ? { held } : {}),
  }
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
