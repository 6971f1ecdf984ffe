/** Counts the tries and failures of a check. One printed seed determines everything random. */
import type { Place } from './places.ts'

/** One row of the table. */
export interface Tally {
  readonly check: string
  /** The unit of the numbers. */
  readonly what: string
  readonly tried: number
  readonly failed: number
  readonly seconds: number
  /** Additional figures: memory, milliseconds. */
  readonly note: string
  /** The first failures in detail. */
  readonly failures: readonly string[]
}

/** The extent of a run, with its seed. */
export interface Plan {
  readonly seed: number
  /** 1 for the whole; the short form takes a small part. */
  readonly scale: number
  /** Makes a place for the data of an engine: in memory or in a file, or on a PostgreSQL server. */
  readonly place: () => Promise<Place>
}

/** Counts tries and failures of one check. */
export class Counter {
  tried = 0
  failed = 0
  note = ''
  readonly failures: string[] = []

  ok(holds: boolean, failure: () => string): void {
    this.tried++
    if (!holds) this.fail(failure())
  }

  fail(failure: string): void {
    this.failed++
    if (this.failures.length < 5) this.failures.push(failure.slice(0, 1000))
  }
}

export interface Check {
  readonly name: string
  readonly what: string
  /** Whether it is made on a PostgreSQL server, too, where one answers. */
  readonly isOfServers?: boolean
  readonly run: (counter: Counter, plan: Plan) => Promise<void>
}

/** A check with the place of its data, and a name that says it. */
export interface PlacedCheck extends Check {
  readonly place: () => Promise<Place>
}

/** Places checks in memory or in a file, and those of servers on one, too, where it answers. */
export function placed(checks: readonly Check[], file: () => Promise<Place>, server: (() => Promise<Place>) | undefined): PlacedCheck[] {
  return checks.flatMap(check => [
    { ...check, place: file },
    ...(check.isOfServers === true && server !== undefined ? [{ ...check, name: `PostgreSQL: ${check.name}`, place: server }] : []),
  ])
}

/** Runs a check. An error that it throws counts as a failure. */
export async function tallyOf({ name, what, place, run }: PlacedCheck, plan: Omit<Plan, 'place'>): Promise<Tally> {
  const counter = new Counter()
  const started = performance.now()
  try {
    await run(counter, { ...plan, place })
    if (counter.tried === 0) counter.fail('nothing was tried')
  } catch (error) {
    counter.fail(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  const { tried, failed, note, failures } = counter
  return { check: name, what, tried, failed, seconds: (performance.now() - started) / 1000, note, failures }
}

/** Makes a generator of numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Formats statuses with their numbers. */
export function answered(statuses: ReadonlyMap<number, number>): string {
  return [...statuses]
    .toSorted(([a], [b]) => a - b)
    .map(([status, times]) => `${status}: ${times}`)
    .join(', ')
}

export function pick<T>(next: () => number, from: readonly T[]): T {
  return from[Math.floor(next() * from.length)]!
}
