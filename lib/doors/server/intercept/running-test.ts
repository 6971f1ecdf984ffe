/**
 * Running test: asks the globals of Vitest and Jest for the test that runs. Neither has an asynchronous context for others, as node:test
 * has. Unexpected globals count as no runner.
 */

/** A test, as an object of the runner; `'none'`: no test runs; `undefined`: no runner tells, or several tests run. */
export type RunningTest = object | 'none' | undefined

export function findRunningTest(): RunningTest {
  const { __vitest_worker__: vitest, expect } = globalThis as { readonly __vitest_worker__?: unknown; readonly expect?: unknown }
  return isObject(vitest) ? askVitest(vitest) : askJest(expect)
}

interface VitestTask {
  readonly type?: unknown
  readonly file?: unknown
  readonly tasks?: unknown
  readonly result?: { readonly state?: unknown }
}

/** Counts running tests: while tests run at the same time, Vitest's current task is another test's. */
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
  // Older versions of Jest cannot tell tests apart that run at the same time.
  if (typeof state?.currentTestIdentity !== 'function') return undefined
  const test: unknown = state.currentTestIdentity()
  return isObject(test) ? test : 'none'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
