/** Plan: collects the steps of an evolution, what stands against it, and what stays. Formats names of rows for its sentences. */
import { EvolveError, type EvolvePlan, type EvolveStep, type PossibleRename } from '../../records/database/evolving.ts'

/** Limit of the rows that a sentence names, and of the faults that an error lists. */
const SHOWN_ROWS = 5
const SHOWN_FAULTS = 10

export class Plan implements EvolvePlan {
  readonly steps: EvolveStep[] = []
  readonly stays: string[] = []
  readonly renames: PossibleRename[] = []
  /** What stands against the evolution, a sentence without its point each. */
  readonly faults: string[] = []

  add(sentence: string, sql: readonly string[]): void {
    this.steps.push({ sentence, sql })
  }

  /** A type that some values are not of. */
  refuseType(place: string, type: string, found: FoundRows): void {
    if (found.count > 0) this.faults.push(`${place} cannot become "${type}" in ${countRows(found.count)}: ${nameRows(found)}`)
  }

  /** NOT NULL on a column that is empty in some rows. */
  refuseEmpty(place: string, way: string, found: FoundRows): void {
    if (found.count > 0)
      this.faults.push(`${place} may be empty no more, and is in ${countRows(found.count)} (${nameRows(found)}): say what they get, ${way}`)
  }

  refuseCheck(table: string, check: string, expression: string, found: FoundRows): void {
    if (found.count > 0)
      this.faults.push(`${nameIn(table, found)} ${found.count === 1 ? 'does' : 'do'} not meet the check "${check}", ${expression}`)
  }

  /** A foreign key that leads some rows nowhere. */
  refuseLink(table: string, columns: readonly string[], target: string, found: FoundRows): void {
    if (found.count > 0)
      this.faults.push(
        `${nameIn(table, found)} ${found.count === 1 ? 'refers' : 'refer'} by ${columns.join(', ')} to no row of "${target}"`,
      )
  }

  /** A column that holds values, which are generated from now on. */
  refuseGenerated(place: string): void {
    this.faults.push(`${place} holds values, and is generated in the entity, which would lose them: give the property another name`)
  }

  /** A column without a value for the rows that are there. None is made up: nobody could tell it from a real one. */
  refuseRequired(place: string, way: string): void {
    this.faults.push(`${place} is required, and rows have no value for it: say what they get, ${way}, or give the property a default`)
  }

  /** @throws EvolveError where something stands against it. */
  check(place: string): void {
    if (this.faults.length === 0) return
    const more = this.faults.length > SHOWN_FAULTS ? `; and ${this.faults.length - SHOWN_FAULTS} more` : ''
    throw new EvolveError(
      `${place} cannot be evolved, and nothing in it was changed: ${this.faults.slice(0, SHOWN_FAULTS).join('; ')}${more}.`,
      this,
    )
  }
}

/** Rows that stand against a change. */
export interface FoundRows {
  /** What they are named by. */
  readonly key: readonly string[]
  /** The first ones, by key. */
  readonly rows: readonly (readonly unknown[])[]
  /** All of them. */
  readonly count: number
}

/** Names rows by their keys: `id 3, 4 and 7 more`. */
function nameRows({ key, rows, count }: FoundRows): string {
  const shown = rows.slice(0, SHOWN_ROWS).map(row => row.map(show).join('~'))
  const more = count > shown.length ? ` and ${count - shown.length} more` : ''
  return `${key.join('~')} ${shown.join(', ')}${more}`
}

function nameIn(table: string, found: FoundRows): string {
  return `${countRows(found.count)} of "${table}" (${nameRows(found)})`
}

/** Says of rows that have the same values in columns that must be unique which they are. */
export function sayDuplicates(table: string, columns: readonly string[], named: readonly string[]): string {
  return `rows of "${table}" have the same ${columns.join(', ')}, which must be unique: ${named.join('; ')}`
}

/** Says what rows get, or have got: the value that was asked for. */
export function sayFilled(count: number, json: unknown): string {
  return `${countRows(count)} ${count === 1 ? 'gets' : 'get'} ${show(typeof json === 'object' ? JSON.stringify(json) : json)}.`
}

/** A value that is shown as it is, without quotes and whole. */
export class BareValue {
  readonly #text: string
  constructor(value: unknown) {
    this.#text = String(value)
  }
  toString(): string {
    return this.#text
  }
}

/** Shows a value of a row, cut short. */
export function show(value: unknown): string {
  if (value instanceof Uint8Array) return `${value.length} bytes`
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}

export function countRows(count: number): string {
  return count === 1 ? '1 row' : `${count} rows`
}
