/**
 * Decides which interception answers a request: of the asynchronous context, else of the whole process, else the only one. Refuses a
 * request that several could answer.
 */
import { findIntercepted, formatAddress, type InterceptedAddress } from './addresses.ts'
import { Boundary, Contexts } from './contexts.ts'
import { readPath } from '../../../records/request/parse-request.ts'
import { originForm } from '../transport.ts'
import { formatHint, findNearest } from '../../../foundation/base/suggest.ts'

export interface InterceptionReach {
  readonly scope: object | undefined
  /** In the whole process. `undefined`: made outside of tests, so only once node:test tells of tests. */
  readonly isEverywhere: boolean | undefined
}

interface Standing {
  readonly isAlive: boolean
  readonly engine: object
  readonly addresses: readonly InterceptedAddress[]
  /** `undefined`: other origins pass, with a warning. */
  readonly strict: boolean | undefined
  readonly reach: InterceptionReach
}

type LeftInterception = Pick<Standing, 'addresses' | 'strict'>

interface FoundInterception<Each extends Standing> {
  readonly interception: Each
  readonly address: InterceptedAddress
}

export class StandingInterceptions<Each extends Standing> {
  readonly #all = new Set<Each>()
  readonly #contexts = new Contexts<Each>()
  readonly #warnedOf = new Set<string>()
  readonly #left = new WeakMap<object, LeftInterception[]>()

  get size(): number {
    return this.#all.size
  }

  has(interception: Each): boolean {
    return this.#all.has(interception)
  }

  locate(isEverywhere: boolean): InterceptionReach {
    if (isEverywhere) return { scope: undefined, isEverywhere }
    const { boundary } = this.#contexts
    if (boundary !== undefined) return { scope: boundary.scope, isEverywhere: false }
    const test = this.#runningTest()
    return typeof test === 'object'
      ? { scope: test, isEverywhere: false }
      : { scope: undefined, isEverywhere: test === 'none' || undefined }
  }

  enterTest(test: object): void {
    this.#contexts.enter(new Boundary(undefined, undefined, test))
  }

  /**
   * The test that runs now, for work outside of any test's context. Work of a test keeps to the context, since late work may run beside the
   * next test.
   */
  #runningTest(): RunningTest {
    return this.#contexts.isOfTest ? undefined : findRunningTest()
  }

  /** @throws Error for an address of another interception in the same context */
  add(interception: Each): void {
    for (const address of interception.addresses) {
      const other = this.#neighbours(interception).find(({ addresses }) =>
        addresses.some(each => formatAddress(each) === formatAddress(address)),
      )
      if (other !== undefined) throw alreadyIntercepted(address, other, interception)
    }
    this.#all.add(interception)
    if (interception.reach.isEverywhere !== true) this.#contexts.enter(interception)
  }

  delete(interception: Each): boolean {
    const wasStanding = this.#all.delete(interception)
    this.#contexts.leave()
    return wasStanding
  }

  /** Remembers an ended interception: late requests of the test must not go to the network. */
  leave(interception: Each): boolean {
    const { addresses, strict, reach } = interception
    if (reach.scope === undefined) return false
    this.#left.set(reach.scope, [...(this.#left.get(reach.scope) ?? []), { addresses, strict }])
    return true
  }

  async within<Result>(engine: object, work: () => Result | Promise<Result>, end: (interception: Each) => void): Promise<Result> {
    const boundary = new Boundary(engine)
    try {
      return await this.#contexts.run(boundary, work)
    } finally {
      for (const each of this.#all) if (each.reach.scope === boundary.scope) end(each)
    }
  }

  /** `undefined`: the request passes. An unknown path matches all addresses of the origin. */
  decide(origin: string | undefined, path: unknown): FoundInterception<Each> | Error | undefined {
    return (origin === undefined ? undefined : this.#find(origin, path)) ?? this.#refuseLate(origin, path) ?? this.#refuse(origin, path)
  }

  #find(origin: string, path: unknown): FoundInterception<Each> | Error | undefined {
    const found: FoundInterception<Each>[] = []
    for (const interception of this.#all) {
      const address = findIntercepted(interception.addresses, origin, path)
      if (address !== undefined) found.push({ interception, address })
    }
    const [only] = found
    if (only === undefined || (found.length === 1 && only.interception.reach.scope === undefined)) return only
    return this.#findHere(found) ?? this.#findEverywhere(found) ?? this.#findElsewhere(found, origin)
  }

  #findHere(found: readonly FoundInterception<Each>[]): FoundInterception<Each> | Error | undefined {
    for (let frame = this.#contexts.innermost; frame !== undefined; frame = frame.outer) {
      const { held } = frame
      const here = held instanceof Boundary ? findBounded(found, held) : found.find(({ interception }) => interception === held)
      if (here !== undefined) return here
    }
    const test = this.#runningTest()
    return typeof test === 'object' ? findScoped(found, test) : undefined
  }

  /** For a request outside of tests and boundaries, as of a server started before. */
  #findElsewhere(found: readonly FoundInterception<Each>[], origin: string): FoundInterception<Each> | Error | undefined {
    const others = this.#isScoped() ? found.filter(({ interception }) => interception.reach.scope === undefined) : found
    return others.length === 0 ? undefined : onlyOne(others, origin)
  }

  #isScoped(): boolean {
    return this.#contexts.boundary !== undefined || typeof this.#runningTest() === 'object'
  }

  #findEverywhere(found: readonly FoundInterception<Each>[]): FoundInterception<Each> | undefined {
    return found.findLast(({ interception }) => this.#isEverywhere(interception))
  }

  #isEverywhere({ reach }: Each): boolean {
    return reach.isEverywhere ?? (reach.scope === undefined && this.#contexts.tellsTests)
  }

  #neighbours(made: Each): Each[] {
    if (made.reach.isEverywhere === true) return [...this.#all].filter(each => this.#isEverywhere(each))
    const { scope } = made.reach
    return this.#held(true).filter(each => each.reach.scope === scope)
  }

  /** @param isBounded only up to the innermost boundary */
  #held(isBounded: boolean): Each[] {
    const held: Each[] = []
    for (let frame = this.#contexts.innermost; frame !== undefined; frame = frame.outer) {
      if (frame.held instanceof Boundary) {
        if (isBounded) break
      } else if (frame.held.isAlive) held.push(frame.held)
    }
    return held
  }

  #refuseLate(origin: string | undefined, path: unknown): Error | undefined {
    const test = this.#runningTest()
    const scopes = [...this.#contexts.scopes, ...(typeof test === 'object' ? [test] : [])]
    if ([...this.#all].some(({ reach }) => reach.scope !== undefined && scopes.includes(reach.scope))) return undefined
    const left = scopes.flatMap(scope => this.#left.get(scope) ?? [])
    const isCovered = origin !== undefined && left.some(({ addresses }) => findIntercepted(addresses, origin, path) !== undefined)
    return isCovered || left.some(({ strict }) => strict === true) ? worldClosed(nameTest(scopes), origin) : undefined
  }

  /** An error, if an interception is strict. Without a context, all count. */
  #refuse(origin: string | undefined, path: unknown): Error | undefined {
    const held = new Set(this.#held(false))
    const scope = this.#contexts.boundary?.scope ?? this.#runningTest()
    for (const each of this.#all) if (each.reach.scope === undefined || each.reach.scope === scope) held.add(each)
    const concerned = held.size > 0 || typeof scope === 'object' ? [...held] : [...this.#all]
    if (concerned.some(({ strict }) => strict === true)) return notIntercepted(concerned, origin, path)
    if (origin !== undefined && !concerned.some(({ strict }) => strict === false)) this.#warnOf(origin)
    return undefined
  }

  #warnOf(origin: string): void {
    if (this.#warnedOf.has(origin)) return
    this.#warnedOf.add(origin)
    const known = namesOf([...this.#all])
    const isElsewhere = known.some(each => each === origin || each.startsWith(`${origin}/`))
    const why = isElsewhere ? 'no engine intercepts it in the context of this request' : 'no engine intercepts it'
    const text =
      `A request to ${origin} went to the network, for ${why}.${formatHint(isElsewhere ? undefined : findNearest(origin, known))} "{ ` +
      'strict: true }" of "intercept" fails such requests, "strict: false" lets them pass without a word.'
    process.emitWarning(text, { type: 'MikroRestWarning', code: 'MIKRO_REST_NOT_INTERCEPTED' })
  }
}

/** The interception made in the boundary, else of the boundary's engine. */
function findBounded<Each extends Standing>(
  found: readonly FoundInterception<Each>[],
  boundary: Boundary,
): FoundInterception<Each> | Error | undefined {
  return findScoped(found, boundary.scope) ?? found.findLast(({ interception }) => interception.engine === boundary.engine)
}

function findScoped<Each extends Standing>(
  found: readonly FoundInterception<Each>[],
  scope: object,
): FoundInterception<Each> | Error | undefined {
  const inside = found.filter(({ interception }) => interception.reach.scope === scope)
  return inside.length === 0 ? undefined : onlyOne(inside, inside[0]!.address.origin)
}

/** The latest of one engine; several engines are an error. */
function onlyOne<Each extends Standing>(found: readonly FoundInterception<Each>[], origin: string): FoundInterception<Each> | Error {
  const engines = new Set(found.map(({ interception }) => interception.engine))
  return engines.size === 1 ? found.at(-1)! : ambiguous(origin, engines.size)
}

function ambiguous(origin: string, engines: number): Error {
  const text =
    `${origin} is intercepted by ${engines} engines at the same time, and this request was made in the context of none of them: ` +
    'intercept in the test itself, or make the request in "await engine.within(() => ...)"; "{ everywhere: ' +
    'true }" is for the whole process. An interception that is done with is ended by "dispose".'
  return Object.assign(new Error(text), { code: 'ERR_AMBIGUOUS_INTERCEPTION' })
}

function alreadyIntercepted(address: InterceptedAddress, other: Standing, made: Standing): Error {
  const where = made.reach.isEverywhere === true ? 'the whole process' : 'the same asynchronous context'
  const by = other.engine === made.engine ? 'this engine' : 'another engine'
  const text =
    `intercept: ${formatAddress(address)} is intercepted already, by ${by}, in ${where}. ` +
    'Dispose of that interception first, or give each a context of its own: "await engine.within(() => ...)".'
  return Object.assign(new Error(text), { code: 'ERR_ALREADY_INTERCEPTED' })
}

function nameTest(scopes: readonly object[]): string | undefined {
  for (const scope of scopes) {
    const name: unknown = scope instanceof Boundary ? scope.test : (scope as { readonly name?: unknown }).name
    if (typeof name === 'string') return name
  }
  return undefined
}

function worldClosed(test: string | undefined, origin: string | undefined): Error {
  const whose = test === undefined ? 'a test' : `the test ${JSON.stringify(test)}`
  const text =
    `A request of ${whose} to ${origin ?? 'an unknown origin'} came after its world was closed, and would have gone to the network: ` +
    'await in the test what the test begins, or end it there; what several tests use, such as a server, is begun before all of them.'
  return Object.assign(new Error(text), { code: 'ERR_WORLD_CLOSED' })
}

function namesOf(concerned: readonly Standing[]): string[] {
  return [...new Set(concerned.flatMap(each => each.addresses.map(formatAddress)))]
}

function notIntercepted(concerned: readonly Standing[], origin: string | undefined, path: unknown): Error {
  const known = namesOf(concerned)
  // Names the path if another path of the origin is intercepted.
  const hasPath = typeof path === 'string' && known.some(each => each.startsWith(`${origin}/`))
  const requested = origin === undefined ? 'an unknown origin' : hasPath ? origin + readPath(originForm(path)) : origin
  const text =
    `${requested} is not intercepted, and an interception is strict; ` +
    `intercepted: ${known.join(', ')}.${formatHint(findNearest(requested, known))}`
  return Object.assign(new Error(text), { code: 'ERR_NOT_INTERCEPTED' })
}

/** The runner's object of a test; `'none'`: no test runs; `undefined`: unknown, or several tests run. */
type RunningTest = object | 'none' | undefined

function findRunningTest(): RunningTest {
  const { __vitest_worker__: vitest, expect } = globalThis as { readonly __vitest_worker__?: unknown; readonly expect?: unknown }
  return isObject(vitest) ? askVitest(vitest) : askJest(expect)
}

interface VitestTask {
  readonly type?: unknown
  readonly file?: unknown
  readonly tasks?: unknown
  readonly result?: { readonly state?: unknown }
}

/** While several tests run, Vitest's current task may be another test's. */
function askVitest(worker: { readonly current?: unknown }): RunningTest {
  const { current } = worker
  if (!isObject(current)) return undefined
  const { file } = current as VitestTask
  const running = runningTests(isObject(file) ? file : current)
  if (running.length > 1) return undefined
  return running[0] ?? 'none'
}

function runningTests(task: VitestTask): object[] {
  if (Array.isArray(task.tasks)) return (task.tasks as VitestTask[]).flatMap(runningTests)
  return task.type === 'test' && task.result?.state === 'run' ? [task] : []
}

function askJest(expect: unknown): RunningTest {
  if (typeof expect !== 'function' || !('getState' in expect) || typeof expect.getState !== 'function') return undefined
  const state = expect.getState() as { readonly currentTestIdentity?: unknown } | undefined
  // Older versions of Jest cannot tell apart tests that run together.
  if (typeof state?.currentTestIdentity !== 'function') return undefined
  const test: unknown = state.currentTestIdentity()
  return isObject(test) ? test : 'none'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
