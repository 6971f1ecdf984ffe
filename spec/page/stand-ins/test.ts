/** What specs take of `node:test`, in a page: suites with hooks, run one test after another. */

interface Options {
  readonly skip?: string | boolean
  readonly todo?: string | boolean
  readonly timeout?: number
}
type Work = (context: object) => unknown
type Given = readonly [name: string, ...rest: (Options | Work)[]]

class Suite {
  readonly name: string
  readonly skip: boolean
  readonly before: Work[] = []
  readonly after: Work[] = []
  readonly beforeEach: Work[] = []
  readonly afterEach: Work[] = []
  readonly children: (Suite | Test)[] = []

  constructor(name: string, skip: boolean) {
    this.name = name
    this.skip = skip
  }
}

interface Test {
  readonly name: string
  readonly skip: boolean
  readonly work: Work
}

class Context {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }

  get mock(): never {
    throw new LeftOut('a page has no mocked timers')
  }
}

/** Thrown by what a page cannot have: the test, or the suite of the hook, is left out. */
export class LeftOut extends Error {}

export interface RunResult {
  readonly passed: number
  readonly skipped: number
  readonly failures: readonly string[]
}

let current = new Suite('', false)
let omitted: readonly string[] = []

function readGiven(given: Given): { name: string; skip: boolean; work: Work } {
  const [name, ...rest] = given
  const options = rest.find(each => typeof each === 'object') ?? {}
  const work = rest.find(each => typeof each === 'function') ?? (() => {})
  return { name, skip: (options.skip ?? false) !== false || (options.todo ?? false) !== false, work }
}

export function describe(...given: Given): void {
  const { name, skip, work } = readGiven(given)
  const outer = current
  const suite = new Suite(name, skip)
  outer.children.push(suite)
  if (skip) return
  current = suite
  try {
    void work({ name })
  } finally {
    current = outer
  }
}

export function it(...given: Given): void {
  current.children.push(readGiven(given))
}

export const test = it
export const before = (work: Work): void => void current.before.push(work)
export const after = (work: Work): void => void current.after.push(work)
export const beforeEach = (work: Work): void => void current.beforeEach.push(work)
export const afterEach = (work: Work): void => void current.afterEach.push(work)

/**
 * Runs all that has been declared since the last run.
 *
 * @param leftOut parts of titles of tests that are left out
 */
export async function runDeclared(leftOut: readonly string[]): Promise<RunResult> {
  const root = current
  current = new Suite('', false)
  const result = { passed: 0, skipped: 0, failures: [] as string[] }
  omitted = leftOut
  await runSuite(root, [], result)
  return result
}

/** A property that fails gives the error as a cause. */
const isLeftOut = (error: unknown): boolean => error instanceof LeftOut || (error as Error | null)?.cause instanceof LeftOut

async function runSuite(
  suite: Suite,
  outer: readonly Suite[],
  result: { passed: number; skipped: number; failures: string[] },
): Promise<void> {
  const path = [...outer, suite]
  const title = (name: string): string => [...path.map(each => each.name), name].filter(each => each !== '').join(' > ')
  const fail = (name: string, error: unknown): void => {
    const { stack = String(error), message, cause } = error as Error
    // A property says the counterexample first, which may be long.
    const reason = cause instanceof Error ? `${cause.message}\n` : ''
    result.failures.push(`${title(name)}: ${reason}${stack.includes(message) ? stack : `${message}\n${stack}`}`.slice(0, 1500))
  }
  try {
    for (const work of suite.before) await work({})
    for (const child of suite.children) {
      if (child.skip || (!(child instanceof Suite) && omitted.some(part => title(child.name).includes(part)))) result.skipped++
      else if (child instanceof Suite) await runSuite(child, path, result)
      else {
        try {
          for (const each of path) for (const work of each.beforeEach) await work({})
          await child.work(new Context(child.name))
          result.passed++
        } catch (error) {
          if (isLeftOut(error)) result.skipped++
          else fail(child.name, error)
        } finally {
          for (const each of path.toReversed()) for (const work of each.afterEach) await work({})
        }
      }
    }
  } catch (error) {
    if (isLeftOut(error)) {
      result.skipped += suite.children.length
      return
    }
    fail('(hook)', error)
  }
  for (const work of suite.after) {
    try {
      await work({})
    } catch (error) {
      fail('(after)', error)
    }
  }
}
