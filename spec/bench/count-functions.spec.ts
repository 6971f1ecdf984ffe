/**
 * How many functions of `lib/`, in how many files, one warm request runs. Who changes a request reads what it runs, so each function on its
 * way must do something for it: what only hands on, looks for what is known already, or asks whether somebody listens, comes back one by
 * one where nobody counts. The bounds are what has been reached, and a little. Who needs more for a feature raises them in the same commit;
 * `npm run bench:functions -- --list get` shows what runs.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { before, describe, it } from 'node:test'
import { promisify } from 'node:util'

type Counts = Readonly<Record<string, { readonly functions: number; readonly files: number }>>

/** Functions and files, at most. */
const BOUNDS: Readonly<Record<string, readonly [number, number]>> = {
  get: [77, 28],
  'get-scope': [102, 31],
  list: [98, 34],
  'list-scope': [123, 37],
  patch: [145, 42],
  'patch-scope': [182, 49],
  post: [144, 42],
  'post-scope': [171, 45],
}

describe('a warm request', () => {
  let counts: Counts

  before(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/count-functions.ts', '--json'])
    counts = JSON.parse(stdout) as Counts
  })

  for (const [name, [functions, files]] of Object.entries(BOUNDS)) {
    it(`of the case ${name} runs at most ${functions} functions in ${files} files`, () => {
      const counted = counts[name]!
      assert.ok(counted.functions <= functions && counted.files <= files, `${counted.functions} functions in ${counted.files} files`)
    })
  }
})
