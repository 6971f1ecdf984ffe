/** Node test: tests of `node:test` that each have an engine of their own. The entry `mikro-rest/node-test`. */
import { after, type TestContext } from 'node:test'
import type { RestEngine } from '../../engine.ts'
import { TestWorlds, describeOutcome, type EngineSource, type FixtureOptions } from './world-of-test.ts'

export type { EngineSource, FixtureOptions }

/** What a test gets. */
export interface EngineContext {
  /** A fork of the engine, which is the test's own. */
  readonly engine: RestEngine
  /** The context of `node:test`. */
  readonly t: TestContext
}

/** The work of a test. */
export type EngineTest = (context: EngineContext) => unknown

/**
 * Returns a function that gives the work of a test an engine of its own: a fork of one that is made for the first test. Requests to the
 * origins of `intercept` go to it, also where tests run at the same time. Faults that no request has met are reported, and a failed test
 * leaves a recording, which `npx mikro-rest FILE` opens.
 *
 * @param source options of `RestEngine.create`, an engine, or a function that gives either
 * @throws TypeError for options that are unknown or not of their form.
 * @example
 * const engineTest = withEngine({ entities: [User] }, { intercept: 'https://api.example.test' })
 * test('lists users', engineTest(async ({ engine }) => {
 *   await engine.given('user')
 *   assert.equal((await fetch('https://api.example.test/v1/users')).status, 200)
 * }))
 */
export function withEngine(source: EngineSource, options: FixtureOptions = {}): (work: EngineTest) => (t: TestContext) => Promise<void> {
  const worlds = new TestWorlds(source, options)
  after(() => worlds.close())
  return work => t => runTest(worlds, t, work)
}

async function runTest(worlds: TestWorlds, t: TestContext, work: EngineTest): Promise<void> {
  const { engine, end } = await worlds.begin({ name: t.fullName, file: t.filePath })
  const { intercept } = worlds.options
  let failure: unknown
  let hasFailed = false
  try {
    // The work has a context of its own, so that several tests may intercept one origin at the same time.
    await engine.within(async () => {
      if (intercept !== undefined) engine.intercept(intercept)
      await work({ engine, t })
    })
  } catch (error) {
    hasFailed = true
    failure = error
  }
  const outcome = await end(hasFailed ? formatFailure(failure) : undefined)
  for (const line of describeOutcome(outcome)) t.diagnostic(line)
  if (hasFailed) throw failure
}

function formatFailure(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
