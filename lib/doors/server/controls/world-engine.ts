/** The members of `RestEngine` for test controls and transports. */
import type { RestResponse } from '../../../foundation/base/response.ts'
import type { Change } from '../../../engine/journal/changes.ts'
import type { Explanation } from '../../../engine/journal/explanation.ts'
import type { HandleContext, HeldRequest } from '../../../engine/pipeline/arrival.ts'
import type { RequestPoint, Snapshot } from '../../../engine/worlds/snapshot.ts'
import type { FaultHandle, Gate } from '../../../engine/testing/fault-handle.ts'
import type { FaultOptions, FailOptions, DropOptions } from '../../../engine/testing/fault-options.ts'
import type { RequestMatch } from '../../../engine/testing/fault-request.ts'
import type { Delay } from '../../../engine/testing/fault-rule.ts'
import type { Give } from '../../../engine/testing/given-options.ts'
import type { RateLimit } from '../../../engine/testing/rate-limit.ts'
import type { Clock } from '../../../foundation/async/clock.ts'
import type { QueryInput } from '../../../foundation/base/query-input.ts'

export interface WorldEngine {
  readonly base: string
  readonly versions: readonly string[]
  readonly limits: { readonly maxBodyBytes: number }
  readonly clock: Clock
  clearRequests(): void
  mark(text: string): void
  difference(before: Snapshot, after?: Snapshot): Promise<Change[]>
  unavailable(): Promise<Readonly<Record<string, string>>>
  explain(method: string, path: string, query?: QueryInput, body?: unknown, context?: HandleContext): Promise<Explanation>
  readonly given: Give
  seed(data: Readonly<Record<string, readonly object[]>>): Promise<void>
  snapshot(): Promise<Snapshot>
  restore(to: Snapshot | RequestPoint): Promise<void>
  reset(): Promise<void>
  scenario(name: string): Promise<void>
  readonly scenarios: readonly string[]
  conforms(request: HeldRequest, response: RestResponse): Promise<string[]>
  token(user: unknown, options?: { readonly ttl?: number }): string
  delay(match: RequestMatch, delay: Delay, options?: FaultOptions): FaultHandle
  fail(match: RequestMatch, options: FailOptions): FaultHandle
  drop(match: RequestMatch, options?: DropOptions): FaultHandle
  rateLimit(match: RequestMatch, options: RateLimit): FaultHandle
  hold(match: RequestMatch, options?: FaultOptions): Gate
  close(): Promise<void>
}
