/** The types of a request before any parsing, and of the engine's parts for the stages. */
import type { EntityManager } from '@mikro-orm/core'
import type { Clock } from '../../foundation/async/clock.ts'
import type { Trace } from '../../foundation/async/trace.ts'
import type { QueryInput } from '../../foundation/base/query-input.ts'
import type { EngineHandle } from '../../model/hook-context.ts'
import type { Model } from '../../model/model.ts'
import type { LearnedNames } from '../../model/open-attributes.ts'
import type { DatabaseFailure } from '../../records/database/dialect.ts'
import type { Tally } from '../../records/plan/answer-limits.ts'
import type { Routes } from '../../records/request/custom-routes.ts'
import type { QueryCache } from '../../records/request/parsed-query.ts'
import type { Authentication } from '../auth/authentication.ts'
import type { JournalRecord } from '../journal/journal-record.ts'
import type { CheckedOptions } from '../options/options.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Services } from './operate.ts'
import type { Growth } from './served-versions.ts'

/** Headers and signal of a request. */
export interface HandleContext {
  /** Request headers, lower-case names; the token travels in `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Aborts the request: `handle` rejects with the signal's reason, and nothing is committed. */
  readonly signal?: AbortSignal
}

export const NO_CONTEXT: HandleContext = Object.freeze({})

/** The parts of a request that matter for its answer. */
export interface HeldRequest {
  readonly method: string
  /** Begins with base and version; may have a `?query`. */
  readonly path: string
  readonly query?: QueryInput | undefined
}

export interface Arrival {
  readonly method: string
  readonly path: string
  readonly query: QueryInput | undefined
  readonly body: unknown
  readonly context: HandleContext
  /** `undefined` where no time is measured. */
  readonly trace: Trace | undefined
  /** `undefined` where nothing is recorded. */
  readonly record: JournalRecord | undefined
  /** Counts what the reader reads. Default: `record`. */
  readonly tally?: Tally | undefined
}

export interface StageParts {
  readonly engine: EngineHandle
  readonly options: CheckedOptions
  readonly served: ReadonlyMap<string, Services>
  readonly model: Model
  readonly clock: Clock
  readonly life: Lifecycle
  readonly routes: Routes | undefined
  readonly queries: QueryCache
  readonly authentication: Authentication | undefined
  readonly fork: () => EntityManager
  readonly classifyFailure: (error: unknown) => DatabaseFailure | undefined
  readonly grow: (more: LearnedNames) => Growth
}
