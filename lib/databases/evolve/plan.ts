/** Plan: collects the steps of an evolution, what stands against it, and what stays. Formats names of rows for its sentences. */
import { EvolveError } from '../../records/database/evolving.ts'
import type { EvolvePlan, EvolveStep, PossibleRename } from '../../records/database/evolving.ts'

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

/**
 * Names rows by their keys: `id 3, 4 and 7 more`.
 *
 * @param rows the first ones, by key
 * @param count all of them
 */
export function nameRows(key: readonly string[], rows: readonly (readonly unknown[])[], count: number): string {
  const shown = rows.slice(0, SHOWN_ROWS).map(row => row.map(show).join('~'))
  const more = count > shown.length ? ` and ${count - shown.length} more` : ''
  return `${key.join('~')} ${shown.join(', ')}${more}`
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
