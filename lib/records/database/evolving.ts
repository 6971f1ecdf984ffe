/** Evolving: what `schema: 'evolve'` is told, and the plan of what it changes in a database so that it fits the entities. Plain data. */
import type { Awaitable } from '../../foundation/base/awaitable.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'

/** One change of a database. */
export interface EvolveStep {
  /** What is done, and to how many rows: a sentence that begins with its place. */
  readonly sentence: string
  /** The statements that do it. Values are `?`. */
  readonly sql: readonly string[]
}

/** A column that may be another one by a new name. */
export interface PossibleRename {
  /** The singular name of the resource. */
  readonly resource: string
  /** The column that the model lacks. */
  readonly from: string
  /** The property that the database lacks. */
  readonly to: string
}

/** What is changed in a database. */
export interface EvolvePlan {
  readonly steps: readonly EvolveStep[]
  /** What the model lacks and stays as it is, a sentence each. */
  readonly stays: readonly string[]
  readonly renames: readonly PossibleRename[]
}

/** A property that gets made-up values. */
interface MadeProperty {
  readonly name: string
  /** The singular name of the resource. */
  readonly resource: string
  readonly type: ScalarType
}

/** The options of `schema: 'evolve'`, and what takes its plan. */
export interface Evolving {
  /** Values for rows that have none, by resource and property. */
  readonly fill: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** New names of properties, by resource and old name. */
  readonly renamed: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Whether what the model lacks is dropped. */
  readonly drop: boolean
  /** Which resources bear names of their own. */
  readonly resources: readonly ResourceDefinition[]
  /** Makes up values for a row, best first. The same row gets the same values each time. */
  readonly make: (property: MadeProperty, row: number) => Iterable<unknown>
  /** Whether the database is left as it was: only the plan is asked for. */
  readonly rehearses?: boolean
  /** Whether the tables of the entities are dropped and made anew, with nothing in them. */
  readonly begins?: boolean
  /** Takes the plan, before anything is changed. */
  readonly onPlan?: ((plan: EvolvePlan) => Awaitable<void>) | undefined
}

/** Ends an opening that was made for its plan alone. */
export class Rehearsed extends Error {}

/** What stands against an evolution, in one line. */
export class EvolveError extends Error {
  readonly plan: EvolvePlan

  constructor(message: string, plan: EvolvePlan) {
    super(message)
    this.plan = plan
  }
}
