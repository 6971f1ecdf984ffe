/** Gives each test of `node:test` an engine, by the entry `mikro-rest/node-test`. */
import { after, type TestContext } from 'node:test'
import type { RestEngine } from '../../engine.ts'
import { TestWorlds, describeOutcome, type EngineSource, type FixtureOptions } from './world-of-test.ts'

export type { EngineSource, FixtureOptions }

export interface EngineContext {
  readonly engine: RestEngine
  readonly t: TestContext
}

export type EngineTest = (context: EngineContext) => unknown

/**
 * Gives each test a fork of an engine, created by the first test. The fork answers requests to the origins of `intercept`, even in parallel
 * tests. Unmet faults are reported, and a failed test leaves a recording for `npx mikro-rest FILE`.
 *
 * @param source options of `RestEngine.create`, an engine, or a function that returns either
 * @throws TypeError for unknown or invalid options
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
    // Several tests may intercept the same origin at once: each has a context.
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
