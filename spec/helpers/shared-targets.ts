/**
 * Shared targets: suites of one file whose engines on the server would be the same have one together, which is reset between them. To make
 * one costs thirty times as much as to reset it. While one waits for its next suite nobody can copy the database: what forks another engine
 * on the server stands behind those suites, or has a database of its own.
 */
import { filesFollow } from '../../scripts/specs/last-file.ts'

/** What is shared, and what ends it. */
export interface Shareable {
  stop(): Promise<void>
}

/** What suites with the same options have together. */
export class SharedTarget<Running extends Shareable> {
  readonly #options: object
  readonly #start: () => Promise<Running>
  #running: Running | undefined
  /** Suites that have been declared, and have not ended. */
  #left = 0

  private constructor(options: object, start: () => Promise<Running>) {
    this.#options = options
    this.#start = start
  }

  /** Those that suites still need. */
  static readonly #needed = new Set<SharedTarget<Shareable>>()

  /**
   * Returns what a suite has together with those declared before it that have the very same options. Where tests are chosen by their names
   * nobody knows which suite is the last one: each has its own.
   *
   * @param start starts it for the first of them; `stop` is called behind the last one
   */
  static declare<Running extends Shareable>(options: object, start: () => Promise<Running>): SharedTarget<Running> {
    const known = [...this.#needed].find(other => isSame(other.#options, options))
    const shared = (known as SharedTarget<Running> | undefined) ?? new SharedTarget(options, start)
    if (filesFollow()) this.#needed.add(shared)
    shared.#left++
    return shared
  }

  /** At the begin of a suite. */
  async enter(): Promise<Running> {
    return (this.#running ??= await this.#start())
  }

  /** At the end of a suite. */
  async leave(): Promise<void> {
    if (--this.#left > 0) return
    SharedTarget.#needed.delete(this)
    await this.#running?.stop()
    this.#running = undefined
  }
}

function isSame(one: object, other: object): boolean {
  const [entries, others] = [Object.entries(one), new Map<string, unknown>(Object.entries(other))]
  return entries.length === others.size && entries.every(([name, value]) => others.has(name) && others.get(name) === value)
}
