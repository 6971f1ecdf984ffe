/** Evolving: the options of `schema: 'evolve'`, and the plan of its changes. */
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'

export interface EvolveStep {
  /** The place, the change, the number of rows. */
  readonly sentence: string
  /** The statements, with `?` for values. */
  readonly sql: readonly string[]
}

/** A column and a property, or a table and an entity, may be the same under a new name. */
export interface PossibleRename {
  /** Singular; `entities` for an entity. */
  readonly resource: string
  /** Missing in the model. */
  readonly from: string
  /** Missing in the database. */
  readonly to: string
}

export interface EvolvePlan {
  readonly steps: readonly EvolveStep[]
  /** A sentence for each table or column kept although the model lacks it. */
  readonly stays: readonly string[]
  readonly renames: readonly PossibleRename[]
}

// oxlint-disable-next-line typescript/no-explicit-any -- values of any model
export type OldRow = Readonly<Record<string, any>>
type FillValue = string | number | boolean | object | null | ((row: OldRow) => unknown)
/** Makes rows from the rows of `from`, a resource or an old table. */
export interface FillFrom {
  readonly from: string
  readonly each: (row: OldRow) => object | readonly object[] | null | undefined
}

export interface Evolving {
  readonly fill: Readonly<Record<string, 'made-up' | FillFrom | Readonly<Record<string, FillValue>>>>
  readonly makeUp?: ((type: ScalarType, name: string, bearer: string, round: number) => Iterator<unknown>) | undefined
  /** New names of properties, by resource and old name; of entities below `entities`. */
  readonly renamed: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Parts that the model lacks. `true`: empty parts. */
  readonly drop: boolean | 'all' | readonly string[]
  /** How many copies of a file stay. */
  readonly copies: number
  readonly resources: readonly ResourceDefinition[]
  /** Only the plan is asked for. */
  readonly rehearses?: boolean
  /** Drops and creates the tables of the entities. */
  readonly begins?: boolean
  /** Called before any change. */
  readonly onPlan?: ((plan: EvolvePlan) => Awaitable<void>) | undefined
}

export class Rehearsed extends Error {}

/** Why a database cannot evolve, in one line. */
export class EvolveError extends Error {
  readonly plan: EvolvePlan

  constructor(message: string, plan: EvolvePlan) {
    super(message)
    this.plan = plan
  }
}
