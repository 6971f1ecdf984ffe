/**
 * Contexts: the chain of what holds for the work that runs, innermost first. A frame of it is an interception that was made there, or a
 * boundary: the work of `engine.within`, or a test of node:test. Node hands the chain on to all that the work calls, awaits and times out
 * into.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** What an interception shows of itself here. */
interface Ending {
  readonly isAlive: boolean
  readonly reach: { readonly scope: object | undefined }
}

/** Bounds what belongs together: interceptions that are made inside of it are no concern of what is outside. */
export class Boundary {
  /** The engine whose `within` it is; undefined: a test. */
  readonly engine: object | undefined
  /** The name of the test, where node:test tells it. */
  readonly test: string | undefined
  /** What interceptions that are made inside of it belong to: the boundary itself, or the test as its runner calls it. */
  readonly scope: object

  constructor(engine?: object, test?: string, scope?: object) {
    this.engine = engine
    this.test = test
    this.scope = scope ?? this
  }
}

interface Frame<Held extends Ending> {
  readonly outer: Frame<Held> | undefined
  readonly held: Held | Boundary
}

/**
 * Whether a test of node:test has begun: then what was made without a boundary was made outside of any test. Older versions of Node do not
 * tell.
 */
let hasTests = false

export class Contexts<Held extends Ending> {
  readonly #storage = new AsyncLocalStorage<Frame<Held> | undefined>()

  constructor() {
    const begun = process.getBuiltinModule('node:diagnostics_channel').channel('tracing:node.test:start')
    begun.bindStore(this.#storage, message => {
      const outer = this.innermost
      if ((message as { readonly type?: unknown }).type !== 'test') return outer
      hasTests = true
      const { name } = message as { readonly name?: unknown }
      return { outer, held: new Boundary(undefined, typeof name === 'string' ? name : undefined) }
    })
  }

  /** Whether node:test says which test it is that runs. */
  get tellsTests(): boolean {
    return hasTests
  }

  /** The innermost frame of the work that runs, without those of interceptions that have ended. */
  get innermost(): Frame<Held> | undefined {
    let frame = this.#storage.getStore()
    while (frame !== undefined && !(frame.held instanceof Boundary) && !frame.held.isAlive) frame = frame.outer
    return frame
  }

  /** The boundaries and tests that the work runs in, innermost first, also where all interceptions of a test have ended. */
  get scopes(): object[] {
    const scopes = new Set<object>()
    for (let frame = this.#storage.getStore(); frame !== undefined; frame = frame.outer) {
      const scope = frame.held instanceof Boundary ? frame.held.scope : frame.held.reach.scope
      if (scope !== undefined) scopes.add(scope)
    }
    return [...scopes]
  }

  /** The boundary in which the work runs. */
  get boundary(): Boundary | undefined {
    let frame = this.innermost
    while (frame !== undefined && !(frame.held instanceof Boundary)) frame = frame.outer
    return frame?.held as Boundary | undefined
  }

  /** Whether the work is of a test whose context is known. */
  get isOfTest(): boolean {
    let frame = this.#storage.getStore()
    while (frame !== undefined && !(frame.held instanceof Boundary && frame.held.engine === undefined)) frame = frame.outer
    return frame !== undefined
  }

  /** Lets an interception, or a boundary, hold for what follows in the work that runs. */
  enter(held: Held | Boundary): void {
    this.#storage.enterWith({ outer: this.innermost, held })
  }

  /** Lets go of what has ended, where the work that ended it is that in which it was made. */
  leave(): void {
    const { innermost } = this
    if (innermost !== this.#storage.getStore()) this.#storage.enterWith(innermost)
  }

  run<Result>(boundary: Boundary, work: () => Result): Result {
    return this.#storage.run({ outer: this.innermost, held: boundary }, work)
  }
}
