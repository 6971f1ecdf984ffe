/**
 * The types of an evolution of an existing database to fit the entities (`schema: 'evolve'`), with the options, and the plan of changes.
 */
import type { Awaitable } from '../../foundation/async/awaitable.ts'
import type { ScalarType } from '../../foundation/values/scalar-type.ts'
import type { ResourceDefinition } from '../../model/resource-config.ts'

export interface EvolveStep {
  /** Place, change, number of rows. */
  readonly sentence: string
  /** The statements, with `?` for values. */
  readonly sql: readonly string[]
}

/** Maybe only renamed: a column and a property, or a table and an entity. */
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
  /** Sentences on tables and columns kept, though missing in the model. */
  readonly stays: readonly string[]
  readonly renames: readonly PossibleRename[]
}

// oxlint-disable-next-line typescript/no-explicit-any -- values of any model
export type OldRow = Readonly<Record<string, any>>
type FillValue = string | number | boolean | object | null | ((row: OldRow) => unknown)
/** Makes rows from rows of a resource or old table, `from`. */
export interface FillFrom {
  readonly from: string
  readonly each: (row: OldRow) => object | readonly object[] | null | undefined
}

export interface Evolving {
  readonly fill: Readonly<Record<string, 'made-up' | FillFrom | Readonly<Record<string, FillValue>>>>
  readonly makeUp?: ((type: ScalarType, name: string, bearer: string, round: number) => Iterator<unknown>) | undefined
  /** By resource and old name; of entities below `entities`. */
  readonly renamed: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Parts missing in the model. `true`: if empty. */
  readonly drop: boolean | 'all' | readonly string[]
  /** How many copies of a file stay. */
  readonly copies: number
  readonly resources: readonly ResourceDefinition[]
  /** Only the plan is asked for. */
  readonly rehearses?: boolean
  /** Creates the entities' tables anew. */
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
