/**
 * Keeps, for running work, the chain of interceptions and boundaries around the work, innermost first. A boundary is the work of
 * `engine.within`, or a test of node:test. Node hands the chain on to all calls, waits and timers of the work.
 */
import type { AsyncLocalStorage } from 'node:async_hooks'
import { hasBuiltins } from '../../../foundation/base/builtins.ts'

interface HeldInterception {
  readonly isAlive: boolean
  readonly reach: { readonly scope: object | undefined }
}

/** A border around work: interceptions made inside do not answer requests outside. */
export class Boundary {
  /** The engine of `within`; `undefined`: a test. */
  readonly engine: object | undefined
  readonly test: string | undefined
  /** Owns the interceptions inside: the boundary, or the runner's object of the test. */
  readonly scope: object

  constructor(engine?: object, test?: string, scope?: object) {
    this.engine = engine
    this.test = test
    this.scope = scope ?? this
  }
}

interface Frame<Held extends HeldInterception> {
  readonly outer: Frame<Held> | undefined
  readonly held: Held | Boundary
}

/**
 * Whether a test of node:test has begun: from then on, an interception without a boundary belongs to no test. Older versions of Node never
 * tell.
 */
let hasTests = false

export class Contexts<Held extends HeldInterception> {
  /** A page has no contexts. */
  readonly #storage: AsyncLocalStorage<Frame<Held> | undefined> | undefined

  constructor() {
    if (!hasBuiltins) return
    this.#storage = new (process.getBuiltinModule('node:async_hooks').AsyncLocalStorage)()
    const begun = process.getBuiltinModule('node:diagnostics_channel').channel('tracing:node.test:start')
    begun.bindStore(this.#storage, message => {
      const outer = this.innermost
      if ((message as { readonly type?: unknown }).type !== 'test') return outer
      hasTests = true
      const { name } = message as { readonly name?: unknown }
      return { outer, held: new Boundary(undefined, typeof name === 'string' ? name : undefined) }
    })
  }

  get tellsTests(): boolean {
    return hasTests
  }

  /** Skips ended interceptions. */
  get innermost(): Frame<Held> | undefined {
    let frame = this.#storage?.getStore()
    while (frame !== undefined && !(frame.held instanceof Boundary) && !frame.held.isAlive) frame = frame.outer
    return frame
  }

  /** The owners of all frames, innermost first. */
  get scopes(): object[] {
    const scopes = new Set<object>()
    for (let frame = this.#storage?.getStore(); frame !== undefined; frame = frame.outer) {
      const scope = frame.held instanceof Boundary ? frame.held.scope : frame.held.reach.scope
      if (scope !== undefined) scopes.add(scope)
    }
    return [...scopes]
  }

  get boundary(): Boundary | undefined {
    let frame = this.innermost
    while (frame !== undefined && !(frame.held instanceof Boundary)) frame = frame.outer
    return frame?.held as Boundary | undefined
  }

  get isOfTest(): boolean {
    let frame = this.#storage?.getStore()
    while (frame !== undefined && !(frame.held instanceof Boundary && frame.held.engine === undefined)) frame = frame.outer
    return frame !== undefined
  }

  /** Holds for the rest of the running work. */
  enter(held: Held | Boundary): void {
    this.#storage?.enterWith({ outer: this.innermost, held })
  }

  leave(): void {
    const { innermost } = this
    if (innermost !== this.#storage?.getStore()) this.#storage?.enterWith(innermost)
  }

  run<Result>(boundary: Boundary, work: () => Result): Result {
    return this.#storage === undefined ? work() : this.#storage.run({ outer: this.innermost, held: boundary }, work)
  }
}
