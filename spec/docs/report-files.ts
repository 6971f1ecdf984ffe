/** Report of files, for `--test-reporter`: how many tests of each have passed, and what has failed, as JSON. */
import { fileURLToPath } from 'node:url'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

export default async function* reportFiles(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Map<string, { passed: number; readonly failures: string[] }>()
  for await (const event of source) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { name, file = '', details } = event.data
    const path = file.startsWith('file:') ? fileURLToPath(file) : file
    const results = files.get(path) ?? { passed: 0, failures: [] }
    files.set(path, results)
    if (event.type === 'test:pass') results.passed++
    else results.failures.push(`${name}: ${inspect('error' in details ? details.error : details)}`)
  }
  yield JSON.stringify([...files])
}
