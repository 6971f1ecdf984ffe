/**
 * Measures the time of a request by stages, and keeps the SQL statements: for the journal and `engine.explain`. A request is always at a
 * single stage, so times add up to the total.
 */
import { chain, type Awaitable } from './awaitable.ts'
import { Surroundings } from './surroundings.ts'

/**
 * `fault` (of a test), `parse`, `auth` (the token), `resolve` (path and parameters), `access` (rules and scopes), `handler` (custom routes,
 * wrappers), `lock` (waiting for another write), `validate` (the body, and checks by the database), `plan`, `sql`, `write` (MikroORM's unit
 * of work), `render` (records and envelope).
 */
type Stage = 'fault' | 'parse' | 'auth' | 'resolve' | 'access' | 'handler' | 'lock' | 'validate' | 'plan' | 'sql' | 'write' | 'render'

export interface RunStatement {
  readonly sql: string
  readonly parameters: readonly unknown[]
  /** Milliseconds. */
  readonly duration: number
  /** Rows returned or changed. Undefined when the statement failed. */
  readonly rows: number | undefined
}

export class Trace {
  count = 0
  /** Whether all plans came from the cache. Undefined: no plans. */
  cached: boolean | undefined
  /** Undefined: statements are only counted. */
  readonly statements: RunStatement[] | undefined
  /** How each write was made: by statements, or by MikroORM, and why. Filled where statements are kept. */
  readonly ways: Awaitable<string>[] = []
  readonly #begun = performance.now()
  #since = this.#begun
  #stage: Stage = 'parse'
  readonly #spent = new Map<Stage, number>()
  #total: number | undefined

  readonly isRecorded: boolean

  constructor({ keeps = false, isRecorded = true } = {}) {
    this.statements = keeps ? [] : undefined
    this.isRecorded = isRecorded
  }

  get ended(): boolean {
    return this.#total !== undefined
  }

  /** Milliseconds to the answer, or to now. */
  get total(): number {
    return this.#total ?? performance.now() - this.#begun
  }

  /** Milliseconds by stage. */
  get spent(): ReadonlyMap<Stage, number> {
    return this.#spent
  }

  get stage(): Stage {
    return this.#stage
  }

  enter(stage: Stage): Stage {
    const before = this.#stage
    if (stage !== before) {
      this.#leave(performance.now())
      this.#stage = stage
    }
    return before
  }

  goBack<T>(before: Stage, work: Awaitable<T>): Awaitable<T> {
    return chain(work, result => {
      this.enter(before)
      return result
    })
  }

  #leave(now: number): void {
    this.#spent.set(this.#stage, (this.#spent.get(this.#stage) ?? 0) + now - this.#since)
    this.#since = now
  }

  planned(cached: boolean): void {
    this.cached = cached && this.cached !== false
  }

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

/** Rounds down to microseconds: the sum never exceeds the total. */
export function summarizeTimes({ spent }: Trace): Record<string, number> {
  return Object.fromEntries([...spent].map(([stage, duration]) => [stage, Math.floor(duration * 1000) / 1000]))
}

export class Traces {
  readonly #running = new Surroundings<Trace>()
  readonly #whenUsed: () => void
  isUsed = false

  /** @param whenUsed called before the first traced request */
  constructor(whenUsed: () => void) {
    this.#whenUsed = whenUsed
  }

  /** Undefined after the answer. */
  get current(): Trace | undefined {
    const trace = this.#running.current
    return trace?.ended === true ? undefined : trace
  }

  within<T>(trace: Trace, work: () => T): T {
    if (!this.isUsed) this.#whenUsed()
    this.isUsed = true
    return this.#running.run(trace, work)
  }
}
