/** Collects steps with their SQL, sentences about unchanged parts, and faults, for `schema: 'evolve'`. A fault refuses all steps. */
import type { Filling } from './read-fill.ts'
import { EvolveError, type EvolvePlan, type EvolveStep, type PossibleRename } from '../../records/database/evolving.ts'

const SHOWN_ROWS = 5
const SHOWN_FAULTS = 10

export class Plan implements EvolvePlan {
  readonly steps: EvolveStep[] = []
  readonly stays: string[] = []
  readonly renames: PossibleRename[] = []
  /** Sentences without their point. */
  readonly faults: string[] = []
  /** Possible renames. */
  readonly hints: string[] = []
  /** Have values, so `drop: true` is not enough. */
  readonly losses: { readonly name: string; readonly what: string }[] = []

  add(sentence: string, sql: readonly string[]): void {
    this.steps.push({ sentence, sql })
  }

  refuseType(place: string, type: string, found: FoundRows): void {
    if (found.count > 0) this.faults.push(`${place} cannot become "${type}" in ${countRows(found.count)}: ${nameRows(found)}`)
  }

  refuseEmpty(place: string, way: string, found: FoundRows): void {
    if (found.count > 0)
      this.faults.push(`${place} may be empty no more, and is in ${countRows(found.count)} (${nameRows(found)}): say what they get, ${way}`)
  }

  refuseCheck(table: string, check: string, expression: string, found: FoundRows): void {
    if (found.count > 0)
      this.faults.push(`${nameIn(table, found)} ${found.count === 1 ? 'does' : 'do'} not meet the check "${check}", ${expression}`)
  }

  refuseLink(table: string, columns: readonly string[], target: string, found: FoundRows): void {
    if (found.count > 0)
      this.faults.push(
        `${nameIn(table, found)} ${found.count === 1 ? 'refers' : 'refer'} by ${columns.join(', ')} to no row of "${target}"`,
      )
  }

  refuseGenerated(place: string): void {
    this.faults.push(`${place} holds values, and is generated in the entity, which would lose them: give the property another name`)
  }

  refuseRequired(place: string, way: string): void {
    this.faults.push(`${place} is required, and rows have no value for it: say what they get, ${way}, or give the property a default`)
  }

  refuseLosses(): void {
    if (this.losses.length === 0) return
    const names = this.losses.map(({ name }) => name)
    const list = this.losses.map(({ name, what }) => `"${name}" has ${what}`)
    this.faults.push(
      `${list.join(', ')}, which drop would take: say drop: [${names.map(each => `'${each}'`).join(', ')}] (--drop=${names.join(',')}), ` +
        "or drop: 'all' (--drop=all)",
    )
    this.losses.length = 0
  }

  keepHints(): void {
    if (this.faults.length === 0) this.stays.push(...this.hints.splice(0).map(hint => `${hint[0]!.toUpperCase()}${hint.slice(1)}.`))
  }

  /** @throws EvolveError where a fault was found */
  check(place: string): void {
    this.refuseLosses()
    if (this.faults.length === 0) return
    const more = this.faults.length > SHOWN_FAULTS ? `; and ${this.faults.length - SHOWN_FAULTS} more` : ''
    throw new EvolveError(
      `${place} cannot be evolved, and nothing in it was changed: ` +
        `${[...this.faults.slice(0, SHOWN_FAULTS), ...this.hints].join('; ')}${more}.`,
      this,
    )
  }
}

export interface FoundRows {
  readonly key: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
  readonly values?: readonly unknown[]
  readonly count: number
}

/** `id 3, 4 and 7 more`, or `id 3 ("x")` */
function nameRows({ key, rows, values, count }: FoundRows): string {
  const behind = values?.map(value => ` (${show(value)})`) ?? []
  const shown = rows.slice(0, SHOWN_ROWS).map((row, at) => `${row.map(show).join('~')}${behind[at] ?? ''}`)
  const more = count > shown.length ? ` and ${count - shown.length} more` : ''
  return `${key.join('~')} ${shown.join(', ')}${more}`
}

function nameIn(table: string, found: FoundRows): string {
  return `${countRows(found.count)} of "${table}" (${nameRows(found)})`
}

export function sayDuplicates(table: string, columns: readonly string[], named: readonly string[]): string {
  return `rows of "${table}" have the same ${columns.join(', ')}, which must be unique: ${named.join('; ')}`
}

export function sayFilled(count: number, { json, each, isMadeUp, links }: Pick<Filling, 'json' | 'each' | 'isMadeUp' | 'links'>): string {
  if (links !== undefined) return `${countRows(count)} ${count === 1 ? 'gets' : 'get'} the links of "${links}".`
  if (each !== undefined)
    return `${countRows(count)} ${count === 1 ? 'gets' : 'get'} ${isMadeUp === true ? 'made-up values' : 'what fill gives'}.`
  const value = typeof json === 'object' ? new BareValue(JSON.stringify(json)) : json
  return `${countRows(count)} ${count === 1 ? 'gets' : 'get'} ${show(value)}.`
}

/** `show` writes no quotes. */
export class BareValue {
  readonly #text: string
  constructor(value: unknown) {
    this.#text = String(value)
  }
  toString(): string {
    return this.#text
  }
}

export function show(value: unknown): string {
  if (value instanceof Uint8Array) return `${value.length} bytes`
  if (typeof value === 'string') return JSON.stringify(cut(value, 38))
  return cut(String(value), 40)
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

export function countRows(count: number): string {
  return count === 1 ? '1 row' : `${count} rows`
}
