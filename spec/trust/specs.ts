/** Runs existing specs for longer: hostile files, costly requests, bodies, pipelining, limits, rights. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Check, Counter, Plan } from './tally.ts'

const root = dirname(dirname(fileURLToPath(new URL('.', import.meta.url))))

/** Runs one spec file in a process of its own, and counts its tests. */
async function runSpec(
  file: string,
  pattern: string | undefined,
  counter: Counter,
  { seed }: Plan,
  runs: number | undefined,
): Promise<void> {
  const args = ['--import', './scripts/load-decorators.ts', '--test', '--test-reporter=tap']
  if (pattern !== undefined) args.push(`--test-name-pattern=${pattern}`)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(process.execPath, [...args, file], {
    cwd: root,
    env: { ...env, FC_SEED: String(seed), ...(runs === undefined ? {} : { FC_RUNS: String(runs) }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', chunk => (output += String(chunk)))
  const [code] = (await once(child, 'close')) as [number | null]
  const count = (what: string): number => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  counter.tried += count('pass') + count('fail')
  const failed = count('fail')
  if (failed > 0 || code !== 0) {
    counter.failed += Math.max(1, failed)
    counter.failures.push(...(output.match(/^ *not ok .*$/gm) ?? [output.slice(-500)]).slice(0, 5))
  }
}

function specs(name: string, files: readonly (readonly [file: string, pattern?: string | undefined, runs?: number])[]): Check {
  return {
    name,
    what: 'tests',
    run: async (counter, plan) => {
      for (const [file, pattern, runs] of files) await runSpec(file, pattern, counter, plan, runs)
      counter.note = files.map(([file]) => file.replace(/^spec\/|\.spec\.ts$/g, '')).join(', ')
    },
  }
}

export const KNOWN: readonly Check[] = [
  specs('existing files keep everything', [
    ['spec/property/existing-files.spec.ts', undefined, 200],
    ['spec/sqlite/schema/existing-files.spec.ts'],
    ['spec/sqlite/database/file-gone.spec.ts'],
    ['spec/property/stored-forms.spec.ts'],
  ]),
  specs('costly requests end in time', [['spec/limits/costly-requests.spec.ts'], ['spec/limits/time-budget.spec.ts']]),
  specs('limits of queries and answers', [
    ['spec/property/limits.spec.ts'],
    ['spec/api/limits.spec.ts'],
    ['spec/api/answer-limits.spec.ts'],
    ['spec/limits/memory.spec.ts'],
  ]),
  specs('bodies, failures and pipelining', [
    ['spec/limits/body-limits.spec.ts'],
    ['spec/server/json-body.spec.ts'],
    ['spec/pipeline/failures.spec.ts'],
  ]),
  specs('pages of other sites', [['spec/server/origin-guard.spec.ts']]),
  specs('rights', [
    ['spec/customise/rules-matrix.spec.ts'],
    ['spec/customise/probing.spec.ts'],
    ['spec/property/scope.spec.ts'],
    ['spec/property/orders.spec.ts'],
  ]),
]
