/**
 * Measures the stages of one request. At every moment the request is at one stage, so the times of the stages add up to the total. A
 * statement interrupts the stage that runs it. Nothing is measured without being requested.
 */
import { chain, type Awaitable } from './awaitable.ts'
import { Surroundings } from './surroundings.ts'

/**
 * The measured stages: `fault` (injected by a test), `parse`, `auth` (the token), `resolve` (path and parameters), `access` (access
 * functions and scopes), `handler` (custom routes, and wrappers of resources), `lock` (waiting for another request's write), `validate`
 * (the body, and the checks that need the database), `plan`, `sql`, `write` (MikroORM's unit of work), `render` (records, and the
 * envelope).
 */
type Stage = 'fault' | 'parse' | 'auth' | 'resolve' | 'access' | 'handler' | 'lock' | 'validate' | 'plan' | 'sql' | 'write' | 'render'

/** A statement that a request has run. */
export interface RunStatement {
  readonly sql: string
  readonly parameters: readonly unknown[]
  /** Milliseconds. */
  readonly duration: number
  /** Rows that it returned or changed. Undefined when it failed. */
  readonly rows: number | undefined
}

export class Trace {
  /** Number of the statements that have run. */
  count = 0
  /** Whether all plans came from the cache. Undefined while none was needed. */
  cached: boolean | undefined
  /** The statements themselves, if they are kept. */
  readonly statements: RunStatement[] | undefined
  /** By which ways the request has written, in sentences, where statements are kept. */
  readonly ways: string[] = []
  readonly #begun = performance.now()
  #since = this.#begun
  #stage: Stage = 'parse'
  readonly #spent = new Map<Stage, number>()
  #total: number | undefined

  /** Whether the journal records the requests that hooks make in this one. */
  readonly isRecorded: boolean

  /** @param keeps whether statements are kept, or only counted */
  constructor({ keeps = false, isRecorded = true } = {}) {
    this.statements = keeps ? [] : undefined
    this.isRecorded = isRecorded
  }

  /** Whether the request has been answered. */
  get ended(): boolean {
    return this.#total !== undefined
  }

  /** Milliseconds from the beginning to the answer, or to now. */
  get total(): number {
    return this.#total ?? performance.now() - this.#begun
  }

  /** Milliseconds by stage, in the order in which the request reached them. */
  get spent(): ReadonlyMap<Stage, number> {
    return this.#spent
  }

  get stage(): Stage {
    return this.#stage
  }

  /** Moves the request to a stage. Returns the stage before, for the way back. */
  enter(stage: Stage): Stage {
    const before = this.#stage
    if (stage !== before) {
      this.#leave(performance.now())
      this.#stage = stage
    }
    return before
  }

  /** Moves it back to the stage before, when work is done. */
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

  /** Runs a statement and measures it. */
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

  /** Records a statement whose rows were read one by one. */
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

/** Returns the milliseconds by stage, rounded down to the microsecond, so that they never add up to more than the total. */
export function summarizeTimes({ spent }: Trace): Record<string, number> {
  return Object.fromEntries([...spent].map(([stage, duration]) => [stage, Math.floor(duration * 1000) / 1000]))
}

/** The traces of the requests that run in one engine. */
export class Traces {
  readonly #running = new Surroundings<Trace>()
  readonly #whenUsed: () => void
  /** Whether any request has been traced. */
  isUsed = false

  /** @param whenUsed is called before the first request is traced */
  constructor(whenUsed: () => void) {
    this.#whenUsed = whenUsed
  }

  /** The trace of the running request, if it has one and is not answered yet. */
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
