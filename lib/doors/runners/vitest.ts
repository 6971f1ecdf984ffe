/** Vitest: a fixture of Vitest that is an engine of the test's own. The entry `mikro-rest/vitest`. */
import { afterAll, type TestAPI } from 'vitest'
import type { RestEngine } from '../../engine.ts'
import { TestWorlds, describeOutcome, type EngineSource, type FixtureOptions } from './world-of-test.ts'

export type { EngineSource, FixtureOptions }

/** What the fixture takes of Vitest's task. */
interface Task {
  readonly name: string
  readonly fullTestName?: string
  readonly file?: { readonly name?: string }
  readonly result?: { readonly state?: string; readonly errors?: readonly { readonly message?: string }[] }
}

/**
 * Extends the `test` of Vitest by the fixture `engine`: each test has an engine of its own, a fork of one that is made for the first test.
 * Requests to the origins of `intercept` go to it, also in tests that do not name it. Faults that no request has met are reported, and a
 * failed test leaves a recording, which `npx mikro-rest FILE` opens.
 *
 * @param source options of `RestEngine.create`, an engine, or a function that gives either
 * @throws TypeError for options that are unknown or not of their form.
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
  afterAll(() => worlds.close())
  // Vitest reads what a fixture needs from its text.
  const engine = [({ task }: { task: Task }, use: (made: RestEngine) => Promise<void>) => runFixture(worlds, task, use), { auto: true }]
  return test.extend({ engine }) as TestAPI<Context & { engine: RestEngine }>
}

async function runFixture(worlds: TestWorlds, task: Task, use: (engine: RestEngine) => Promise<void>): Promise<void> {
  const { engine, end } = await worlds.begin({ name: task.fullTestName ?? task.name, file: task.file?.name })
  const { intercept } = worlds.options
  if (intercept !== undefined) engine.intercept(intercept)
  await use(engine)
  const [error] = task.result?.errors ?? []
  const outcome = await end(error === undefined && task.result?.state !== 'fail' ? undefined : (error?.message ?? 'The test has failed.'))
  for (const line of describeOutcome(outcome)) console.log(line)
}
