/**
 * The defects that `npm run defects` plants can be planted: each finds its text once in its file, and the specs that are to find it exist.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { DEFECTS } from '../../scripts/defects/list.ts'

const root = new URL('../../', import.meta.url)

describe('the list of defects', () => {
  for (const { name, file, find, replace, specs } of DEFECTS)
    it(`can plant: ${name}`, () => {
      const source = readFileSync(new URL(`lib/${file}`, root), 'utf8')
      assert.equal(source.split(find).length - 1, 1, `lib/${file} has ${JSON.stringify(find)} not once`)
      assert.notEqual(find, replace)
      for (const spec of specs) assert.ok(existsSync(new URL(`spec/${spec}.spec.ts`, root)), `spec/${spec}.spec.ts`)
    })
})
