/** Table change: what becomes of a table of a file, and its parts while that is computed. */
import type { SchemaHelper } from '@mikro-orm/sqlite'
import type { Plan } from '../../evolve/plan.ts'
import type { EvolvedColumn, EvolveRequest } from '../../evolve/request.ts'
import type { ExistingTable } from '../schema/existing-table.ts'
import type { ColumnClass } from './column-class.ts'
import type { ColumnText, CreateText } from './create-text.ts'

/** A check that the table gets. */
interface NewCheck {
  readonly name: string
  readonly expression: string
}

/** A foreign key that the table gets. */
interface NewLink {
  readonly columns: readonly string[]
  readonly table: string
  readonly targets: readonly string[]
}

/** A column that gets a value, in all rows or in those without one. */
export interface FilledColumn {
  readonly column: string
  readonly value: { readonly json: unknown; readonly stored: unknown }
  readonly isNew: boolean
}

interface ConvertedColumn {
  readonly column: string
  readonly from: ColumnClass
  readonly to: EvolvedColumn
}

/** What becomes of a table. */
export interface TableChange {
  readonly existing: ExistingTable
  readonly text: CreateText
  /** A sentence for each difference, and the part of the statement that stands for it. */
  readonly differences: { readonly sentence: string; readonly part: string }[]
  readonly filled: FilledColumn[]
  /** The new columns for which nobody has said what rows get. */
  readonly needed: string[]
  readonly converted: ConvertedColumn[]
  /** The columns that may be empty no more, and get no value. */
  readonly required: string[]
  readonly checks: NewCheck[]
  readonly links: NewLink[]
  readonly dropped: string[]
}

export interface Changing {
  /** The name that the entities give the table. */
  readonly table: string
  readonly plan: Plan
  readonly request: EvolveRequest
  readonly helper: SchemaHelper
  readonly drop: boolean
  readonly hasRows: boolean
  readonly isStrict: boolean
}

/** The parts of a table while they change. */
export interface TableDraft extends TableChange {
  columns: ColumnText[]
  constraints: CreateText['constraints'][number][]
  changing: Changing
}
