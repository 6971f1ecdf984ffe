/** The result of comparing a table with its entities: the new CREATE TABLE, and the work on the rows. */
import type { MikroORM } from '@mikro-orm/core'
import type { SchemaHelper } from '@mikro-orm/sqlite'
import type { RawDatabase } from '../driver/raw-database.ts'
import type { Evolving } from '../../../records/database/evolving.ts'
import type { DropRequest } from '../../evolve/drop-request.ts'
import type { Plan } from '../../evolve/plan.ts'
import type { Filling } from '../../evolve/read-fill.ts'
import type { EvolvedColumn } from '../../evolve/evolved-columns.ts'
import type { EvolveRequest } from '../../evolve/request.ts'
import type { ExistingTable } from '../schema/existing-table.ts'
import type { ColumnClass } from './column-class.ts'
import type { ColumnText, CreateText } from './create-text.ts'

export interface FileEvolution {
  readonly orm: MikroORM
  readonly db: RawDatabase
  readonly request: EvolveRequest
  readonly drop: Evolving['drop']
  /** The model reads a table without an entity. */
  readonly isMentioned: (table: string) => boolean
}

/** Of an empty column, to be dropped, whose name a renamed column takes. */
export const EMPTY_PREFIX = 'mikro_empty_'

interface NewCheck {
  readonly name: string
  readonly expression: string
}

interface NewLink {
  readonly columns: readonly string[]
  readonly table: string
  readonly targets: readonly string[]
}

/** Fills all rows (`isNew`), or rows without a value. */
export interface FilledColumn {
  readonly column: string
  readonly value: Filling
  readonly isNew: boolean
}

interface ConvertedColumn {
  readonly column: string
  readonly from: ColumnClass
  readonly to: EvolvedColumn
}

export interface TableChange {
  readonly existing: ExistingTable
  readonly text: CreateText
  readonly differences: { readonly sentence: string; readonly part: string }[]
  readonly filled: FilledColumn[]
  /** New columns without values. */
  readonly needed: string[]
  readonly converted: ConvertedColumn[]
  /** Columns no longer nullable, without a `fill`. */
  readonly required: string[]
  readonly checks: NewCheck[]
  readonly links: NewLink[]
  readonly dropped: string[]
}

export interface Changing {
  /** As in the entities. */
  readonly table: string
  readonly plan: Plan
  readonly request: EvolveRequest
  readonly helper: SchemaHelper
  readonly drops: DropRequest
  readonly countValues: (column: string) => number
  readonly hasRows: boolean
  readonly isStrict: boolean
}

export interface TableDraft extends TableChange {
  columns: ColumnText[]
  constraints: CreateText['constraints'][number][]
  changing: Changing
}
