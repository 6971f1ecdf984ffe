/**
 * Report of a worker, for `--test-reporter`: one line a file, each failure with its error, and the counts for the run that has started the
 * worker.
 */
import { relative } from 'node:path'
import type { EventData } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import { noCounts, RESULTS, type Counts } from './messages.ts'
import { processorTime } from './processor-time.ts'

/** What the test behind the tests of a file is called, after the file. */
export const END = ' leaves the process as it was'

/** For a single file node's own reporter says more. */
const isQuiet = process.execArgv.includes('--test-reporter=spec')

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const names: string[] = []
  let counts = noCounts()
  let failures: string[] = []
  // From the start of the process: work that never waits may be done before the reporter begins.
  let [since, spent] = [0, 0]
  for await (const event of source) {
    if (event.type === 'test:start') names[event.data.nesting] = event.data.name
    if (event.type === 'test:pass') countPass(event.data, counts)
    if (event.type === 'test:fail' && countFailure(event.data, counts)) {
      const failure = explain(event.data, names.slice(0, event.data.nesting))
      failures.push(failure)
      if (!isQuiet) yield failure
    }
    const file = endOf(event)
    if (file === undefined) continue
    const milliseconds = performance.now() - since
    const processor = processorTime() - spent
    const [took, cost] = [milliseconds, processor].map(each => (each / 1000).toFixed(1))
    if (file !== '' && !isQuiet)
      yield `${failures.length === 0 ? '✔' : '✖'} ${file} (${counts.tests} tests, ${took} s, ${cost} s of a processor)\n`
    process.send?.({ type: RESULTS, file, counts, failures, milliseconds, processor })
    counts = noCounts()
    failures = []
    since = performance.now()
    spent = processorTime()
  }
}

/** The file whose last event this is; '' for the last event of all. */
function endOf(event: TestEvent): string | undefined {
  if (event.type === 'test:summary') return ''
  if ((event.type !== 'test:pass' && event.type !== 'test:fail') || event.data.nesting > 0) return undefined
  return event.data.name.endsWith(END) ? event.data.name.slice(0, -END.length) : undefined
}

function countPass({ details, skip, todo }: EventData.TestPass, counts: Counts): void {
  if (details.type === 'suite') {
    counts.suites++
    return
  }
  counts.tests++
  counts[isSaid(skip) ? 'skipped' : isSaid(todo) ? 'todo' : 'pass']++
}

/** `skip: ''` skips without a reason. */
const isSaid = (reason: string | boolean | undefined): boolean => reason !== undefined && reason !== false

/** Counts a failure. A suite that fails by its tests alone is none of its own. */
function countFailure({ details, todo }: EventData.TestFail, counts: Counts): boolean {
  const kind = (details.error as Error & { failureType?: string }).failureType
  if (details.type === 'suite') {
    counts.suites++
    if (kind === 'subtestsFailed') return false
  } else {
    counts.tests++
  }
  if (isSaid(todo)) {
    counts.todo++
    return false
  }
  counts[kind === 'cancelledByParent' || kind === 'testAborted' ? 'cancelled' : 'fail']++
  return true
}

function explain({ name, file, line, details }: EventData.TestFail, suites: readonly string[]): string {
  const place = file === undefined ? '' : ` (${relative(process.cwd(), file)}:${line})`
  const text = inspect(details.error.cause ?? details.error).replaceAll(/^/gm, '    ')
  return `✖ ${[...suites, name].join(' > ')}${place}\n${text}\n`
}
