/**
 * Asks Vitest and Jest which test it is that runs. Neither gives its tests an asynchronous context that others can see, as node:test does;
 * both have globals. Whatever these globals are not as expected is as if no runner were there.
 */

/** A test, by an object of the runner's own; `'none'`: no test runs; undefined: there is no runner that tells, or several tests run. */
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

/** The task that Vitest calls the current one is another's while tests run at the same time, so it counts which tests run. */
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
  // Older versions of Jest have no such function, and cannot tell tests apart that run at the same time.
  if (typeof state?.currentTestIdentity !== 'function') return undefined
  const test: unknown = state.currentTestIdentity()
  return isObject(test) ? test : 'none'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
