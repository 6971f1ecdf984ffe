/** Where a text stops being JSON: the scanner behind the positions in `json_malformed`, held against JSON.parse. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { JsonBody } from '../../lib/doors/server/json-body.ts'
import { findJsonError } from '../../lib/foundation/json/json-position.ts'
import { check } from '../helpers/check.ts'
import { leastTime } from '../helpers/least.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** The message of JSON.parse, or nothing when it takes the text. */
function refusal(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const pieces = fc.array(fc.constantFrom(...'{}[]",:\\/ntrufalse0123.-+eE \n\t\u0001é😀', 'true', 'null', '\\u00e9', '"a":'), {
  maxLength: 8,
})

describe('JSON faults', () => {
  it('are found exactly where JSON.parse refuses, in texts that were JSON', async () => {
    const texts = fc.tuple(fc.json(), fc.nat(), fc.nat(3), pieces).map(([json, place, cut, inserted]) => {
      const at = place % (json.length + 1)
      return json.slice(0, at) + inserted.join('') + json.slice(at + cut)
    })
    await check(fc.property(texts, assertAgrees), { label: 'faults in damaged JSON', runs: 2_000 })
  })

  it('are found exactly where JSON.parse refuses, in any text', async () => {
    await check(
      fc.property(pieces, list => assertAgrees(list.join(''))),
      { label: 'faults in any text', runs: 2_000 },
    )
  })

  it('take time in proportion to the length', async () => {
    for (const text of [
      `"${'x'.repeat(1e6)}`,
      '['.repeat(1e6),
      `"${'\\n'.repeat(5e5)}\u0000`,
      `[${'1,'.repeat(5e5)}`,
      '1'.repeat(1e6) + 'x',
    ]) {
      const duration = await leastTime(() => assert.notEqual(findJsonError(text), undefined), 2000)
      assert.ok(duration < 2000, `${duration} ms`)
    }
  })
})

describe('JSON bodies', () => {
  it('are undefined when empty', () => {
    assert.equal(new JsonBody({}, { maxBytes: 10 }).value(), undefined)
    assert.equal(new JsonBody({ 'content-type': 'text/plain' }, { maxBytes: 10 }).value(), undefined)
  })

  it('keep a name like __proto__ as data', () => {
    const body = new JsonBody(JSON_TYPE, { maxBytes: 100 })
    body.add(Buffer.from('{"__proto__":{"a":1}}'))
    assert.deepEqual(Object.keys(body.value() as object), ['__proto__'])
  })

  it('take the largest numbers, and refuse larger ones', () => {
    for (const [text, isTaken] of [
      ['1.7976931348623157e308', true],
      ['[1e-999]', true],
      ['"1e999"', true],
      ['1e309', false],
      ['[-1e309]', false],
      [`{"a":[${'9'.repeat(400)}]}`, false],
      [`${'9'.repeat(250)}e99`, false],
    ] as const) {
      const body = new JsonBody(JSON_TYPE, { maxBytes: 1_000 })
      body.add(Buffer.from(text))
      if (isTaken) assert.deepEqual(body.value(), JSON.parse(text))
      else assert.throws(() => body.value(), { code: 'json_malformed' }, text)
    }
  })
})

function assertAgrees(text: string): void {
  const message = refusal(text)
  const fault = findJsonError(text)
  assert.equal(fault === undefined, message === undefined)
  const position = /position (\d+)/.exec(message ?? '')?.[1]
  if (position !== undefined) assert.equal(fault?.position, Number(position))
  if (fault === undefined) return
  assert.equal(
    text
      .split('\n')
      .slice(0, fault.line - 1)
      .join('\n').length +
      (fault.line > 1 ? 1 : 0) +
      fault.column -
      1,
    fault.position,
  )
}
