/**
 * `Accept` headers: weights, how specific a range is, and texts that are none. A model that does without the code checks random headers.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { Accept, asksForJson } from '../../lib/foundation/http/accept.ts'
import type { MediaType } from '../../lib/foundation/http/accept.ts'
import { check } from '../helpers/check.ts'

const CSV: MediaType = { name: 'text/csv', parameters: { charset: 'utf-8', header: 'present' } }
const PLAIN: MediaType = { name: 'application/json', parameters: { charset: 'utf-8' } }

/** Header, media type, weight, whether the type is named. */
const CASES: readonly (readonly [string, MediaType, number, boolean])[] = [
  ['text/csv', CSV, 1, true],
  ['TEXT/CSV;Q=0.5', CSV, 0.5, true],
  ['text/*;q=0.3', CSV, 0.3, false],
  ['*/*;q=0.1', CSV, 0.1, false],
  ['application/json', CSV, 0, false],
  // The most specific range decides, whatever stands first (RFC 9110 section 12.5.1).
  ['*/*, text/*;q=0.4, text/csv;q=0.2, text/csv;header=present;q=0.9', CSV, 0.9, true],
  ['text/csv;header=absent', CSV, 0, false],
  ['text/csv;header=absent, text/*;q=0.5', CSV, 0.5, false],
  ['text/csv; header="present" ; q=0.7', CSV, 0.7, true],
  ['application/json;charset=UTF-8', PLAIN, 1, true],
  ['application/json;odata=verbose', PLAIN, 0, false],
  ['text/csv;q=0, */*', CSV, 0, true],
  ['text/csv ; q=1.000', CSV, 1, true],
  // Not of the grammar: ignored.
  ['text/csv;q=2', CSV, 0, false],
  ['text/csv;q=0.1234, text/*;q=0.2', CSV, 0.2, false],
  ['text/csv;q=, */*;q=0.3', CSV, 0.3, false],
  ['csv, , ;, text/csv;header, */*;q=0.6', CSV, 0.6, false],
  ['', CSV, 0, false],
  ['"text/csv', CSV, 0, false],
  // A comma or a semicolon inside of a quoted text separates nothing.
  ['text/html;a="x,text/csv;q=1;\\",";q=0.4, */*;q=0.2', CSV, 0.2, false],
  // Extensions behind the weight are of RFC 7231.
  ['text/csv;q=0.5;ext=1', CSV, 0.5, true],
]

describe('Accept', () => {
  for (const [header, type, weight, isNamed] of CASES) {
    it(`weighs ${type.name} by ${JSON.stringify(header)}`, () => {
      assert.deepEqual(new Accept(header).preferenceFor(type), { weight, isNamed })
    })
  }

  it('asks for JSON alone by the headers that most clients send', () => {
    for (const header of [undefined, '*/*', 'application/json']) assert.equal(asksForJson(header), true)
    for (const header of ['', 'text/csv', 'application/json, text/csv']) assert.equal(asksForJson(header), false)
  })

  it('agrees with a model that sorts the ranges', async () => {
    const name = fc.constantFrom('text/csv', 'text/*', '*/*', 'application/json', 'text/html', 'TEXT/CSV')
    const range = fc.record({ name, weight: fc.constantFrom('', '1', '0', '0.5', '0.25', '0.999'), space: fc.constantFrom('', ' ', '\t ') })
    await check(
      fc.property(fc.uniqueArray(range, { selector: ({ name: each }) => each.toLowerCase(), maxLength: 5 }), ranges => {
        const header = ranges
          .map(({ name: each, weight, space }) => `${space}${each}${weight === '' ? '' : `${space};${space}q=${weight}`}${space}`)
          .join(',')
        for (const type of [CSV, PLAIN]) {
          const wanted = [type.name, `${type.name.split('/')[0]}/*`, '*/*']
          const found = wanted.map(each => ranges.find(other => other.name.toLowerCase() === each)).find(each => each !== undefined)
          const weight = found === undefined ? 0 : found.weight === '' ? 1 : Number(found.weight)
          assert.equal(new Accept(header).preferenceFor(type).weight, weight, header)
        }
      }),
      { label: 'accept headers', runs: 500 },
    )
  })
})
