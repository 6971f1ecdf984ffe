/**
 * Trace: where the time of one request goes. At every moment the request is at one stage, so that the times of the stages add up to the whole time, never
 * to more; a statement interrupts the stage that runs it. Nothing is measured unless somebody has asked for it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The stages that are told apart: `fault` (what a test does to the request), `parse`, `auth` (who asks), `resolve` (path and parameters), `access`
 * (access functions and scopes), `handler` (custom routes, and wrappers of resources), `lock` (waiting for the write of another request), `validate`
 * (the body, and what of it the database must confirm), `plan`, `sql`, `write` (MikroORM's unit of work), `render` (records, and the envelope).
 */
export type Stage =
  'fault' | 'parse' | 'auth' | 'resolve' | 'access' | 'handler' | 'lock' | 'validate' | 'plan' | 'sql' | 'write' | 'render'

/** A statement that a request has run. */
export interface RunStatement {
  readonly sql: string
  readonly parameters: readonly unknown[]
  /** Milliseconds. */
  readonly duration: number
  /** Rows that it gave, or changed. Undefined when it failed. */
  readonly rows: number | undefined
}

export class Trace {
  /** Statements that have run. */
  count = 0
  /** Whether all plans were there already; undefined as long as none was needed. */
  cached: boolean | undefined
  /** The statements themselves, where they are wanted. */
  readonly statements: RunStatement[] | undefined
  readonly #begun = performance.now()
  #since = this.#begun
  #stage: Stage = 'parse'
  readonly #spent = new Map<Stage, number>()
  #total: number | undefined

  /** Whether the requests that hooks make in it are in the journal. */
  readonly isRecorded: boolean

  /** @param keeps whether statements are kept, and not only counted */
  constructor({ keeps = false, isRecorded = true } = {}) {
    this.statements = keeps ? [] : undefined
    this.isRecorded = isRecorded
  }

  /** Whether the request has been answered. */
  get ended(): boolean {
    return this.#total !== undefined
  }

  /** Milliseconds in all. */
  get total(): number {
    return this.#total ?? performance.now() - this.#begun
  }

  /** Milliseconds at each stage that the request has been at, in the order in which it came there. */
  get spent(): ReadonlyMap<Stage, number> {
    return this.#spent
  }

  get stage(): Stage {
    return this.#stage
  }

  /** From now on the request is at this stage. Gives the one before, to go back to. */
  enter(stage: Stage): Stage {
    const before = this.#stage
    if (stage !== before) {
      this.#leave(performance.now())
      this.#stage = stage
    }
    return before
  }

  #leave(now: number): void {
    this.#spent.set(this.#stage, (this.#spent.get(this.#stage) ?? 0) + now - this.#since)
    this.#since = now
  }

  planned(cached: boolean): void {
    this.cached = cached && this.cached !== false
  }

  /** Runs a statement. */
  statement<T>(sql: string, parameters: readonly unknown[], rowsOf: (result: T) => number, run: () => T): T {
    const before = this.enter('sql')
    const begun = performance.now()
    let rows: number | undefined
    try {
      const result = run()
      rows = rowsOf(result)
      return result
    } finally {
      this.count++
      this.statements?.push({ sql, parameters, duration: performance.now() - begun, rows })
      this.enter(before)
    }
  }

  /** A statement whose rows were taken one by one has ended. */
  streamed(statement: RunStatement): void {
    this.count++
    this.statements?.push(statement)
  }

  end(): void {
    const now = performance.now()
    this.#leave(now)
    this.#total = now - this.#begun
  }
}

/** Milliseconds by stage, to the microsecond. Rounded down, so that they never add up to more than the total. */
export function summarizeTimes({ spent }: Trace): Record<string, number> {
  return Object.fromEntries([...spent].map(([stage, duration]) => [stage, Math.floor(duration * 1000) / 1000]))
}

/** The traces of the requests that run in one engine. */
export class Traces {
  readonly #running = new AsyncLocalStorage<Trace>()
  #used = false

  /** The trace of the request that this code runs in, if it has one and has not been answered yet. */
  get current(): Trace | undefined {
    if (!this.#used) return undefined
    const trace = this.#running.getStore()
    return trace?.ended === true ? undefined : trace
  }

  within<T>(trace: Trace, work: () => T): T {
    this.#used = true
    return this.#running.run(trace, work)
  }
}
