/** Gives each test of Vitest an engine, by the entry `mikro-rest/vitest`. */
import { afterAll, beforeAll, type TestAPI } from 'vitest'
import type { RestEngine } from '../../engine.ts'
import { enterTest } from '../server/intercept/intercept.ts'
import { TestWorlds, describeOutcome, type EngineSource, type FixtureOptions } from './world-of-test.ts'

export type { EngineSource, FixtureOptions }

/** Milliseconds for a file's first engine, which loads packages. */
const MAKING = 60_000

interface Task {
  readonly name: string
  readonly fullTestName?: string
  readonly file?: { readonly name?: string }
  readonly result?: { readonly state?: string; readonly errors?: readonly { readonly message?: string }[] }
}

/**
 * Adds a fixture `engine`: a fork of an engine that the first test creates. The fork answers requests to the origins of `intercept`, even
 * in tests without the fixture. Unmet faults are reported, and a failed test leaves a recording for `npx mikro-rest FILE`.
 *
 * @param source options of `RestEngine.create`, an engine, or a function that returns either
 * @throws TypeError for unknown or invalid options
 * @example
 * const test = withEngine(base, { entities: [User] }, { intercept: 'https://api.example.test' })
 * test('lists users', async ({ engine }) => {
 *   await engine.given('user')
 *   expect((await fetch('https://api.example.test/v1/users')).status).toBe(200)
 * })
 */
export function withEngine<Context>(
  test: TestAPI<Context>,
  source: EngineSource,
  options: FixtureOptions = {},
): TestAPI<Context & { engine: RestEngine }> {
  const worlds = new TestWorlds(source, options)
  // In a hook: a fixture would use up the five seconds of the test.
  beforeAll(() => worlds.prepare(), MAKING)
  afterAll(() => worlds.close())
  const engine = [({ task }: { task: Task }, use: (made: RestEngine) => Promise<void>) => runFixture(worlds, task, use), { auto: true }]
  return test.extend({ engine }) as TestAPI<Context & { engine: RestEngine }>
}

async function runFixture(worlds: TestWorlds, task: Task, use: (engine: RestEngine) => Promise<void>): Promise<void> {
  // Before any await: so late work, too, belongs to the test.
  enterTest(task)
  const { engine, end } = await worlds.begin({ name: task.fullTestName ?? task.name, file: task.file?.name })
  const { intercept } = worlds.options
  if (intercept !== undefined) engine.intercept(intercept)
  await use(engine)
  const [error] = task.result?.errors ?? []
  const outcome = await end(error === undefined && task.result?.state !== 'fail' ? undefined : (error?.message ?? 'The test has failed.'))
  for (const line of describeOutcome(outcome)) console.log(line)
}
