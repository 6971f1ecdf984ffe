/** What a page gives the engine in place of Node gives the same answers as Node. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import nacl from 'tweetnacl'
import { SigningKey, loadSignatures } from '../../lib/engine/auth/tokens.ts'
import { makeAssertionError as makeInPage } from '../../lib/foundation/page/page-assertion-error.ts'
import { runtime as page } from '../../lib/foundation/page/page-runtime.ts'
import { secrets as pageSecrets } from '../../lib/foundation/page/page-secrets.ts'
import { makeAssertionError } from '../../lib/foundation/runtime/assertion-error.ts'
import { runtime as node } from '../../lib/foundation/runtime/runtime.ts'
import { secrets as nodeSecrets } from '../../lib/foundation/runtime/secrets.ts'
import { check } from '../helpers/check.ts'

const FORMS = ['hex', 'base64', 'base64url'] as const
const form = fc.constantFrom(...FORMS)
const bytes = fc.uint8Array({ maxLength: 40 })

describe('the runtime of a page', () => {
  test('writes and reads bytes as Node does', async () => {
    await check(fc.property(bytes, form, (given, as) => {
      const text = page.formatBytes(given, as)
      assert.equal(text, node.formatBytes(given, as))
      assert.deepEqual(page.parseBytes(text, as), given)
    }), { label: 'bytes of a page', runs: 300 }) // prettier-ignore
    const large = Uint8Array.from({ length: 100_000 }, (_, index) => index * 7)
    for (const as of FORMS) assert.equal(page.formatBytes(large, as), node.formatBytes(large, as))
  })

  test('reads texts that nobody has written as bytes as Node does', async () => {
    const odd = fc.string({ unit: fc.constantFrom(...'aZ09-_+/ \nfF!é'), maxLength: 30 })
    await check(
      fc.property(odd, form, (text, as) => assert.deepEqual(page.parseBytes(text, as), new Uint8Array(node.parseBytes(text, as)))),
      { label: 'odd texts of bytes', runs: 500 },
    )
  })

  test('counts the bytes of texts, lone surrogates among them', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', '\uD800', '\uDC00'), maxLength: 20 })
    await check(
      fc.property(text, given => assert.equal(page.countBytes(given), node.countBytes(given))),
      { label: 'lengths of texts', runs: 200 },
    )
  })

  test('compares values as Node does', async () => {
    const value = fc.anything({
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withBigInt: true,
    })
    await check(
      fc.property(value, value, (a, b) => {
        assert.equal(page.isSame(a, b), isDeepStrictEqual(a, b))
        assert.ok(page.isSame(a, structuredClone(strip(a))) === isDeepStrictEqual(a, structuredClone(strip(a))))
      }),
      { label: 'the same values', runs: 1000 },
    )
    class Point {
      x = 1
    }
    const round: { self?: unknown } = {}
    round.self = round
    const pairs: readonly (readonly [unknown, unknown])[] = [
      [0, -0], [Number.NaN, Number.NaN], [new Point(), { x: 1 }], [new Point(), new Point()], [Array(1), [undefined]],
      [/a/g, /a/i], [/a/g, /a/g], [new Date(1), new Date(2)], [new Error('a'), new Error('b')], [[], {}], [{ a: undefined }, {}],
      [new Set([{ a: 1 }, 2]), new Set([2, { a: 1 }])], [Object(1), Object(2)], [round, round], [new ArrayBuffer(2), new ArrayBuffer(3)],
    ] // prettier-ignore
    for (const [a, b] of pairs) assert.equal(page.isSame(a, b), isDeepStrictEqual(a, b), String(a))
  })

  test('has the reason phrases and the hashes of Node', async () => {
    for (let status = 100; status < 600; status++) assert.equal(page.nameStatus(status), node.nameStatus(status))
    const name = fc.constantFrom('sha256', 'sha1', 'md5')
    await check(
      fc.property(name, fc.string(), form, (hash, text, as) => assert.equal(page.hash(hash, text, as), node.hash(hash, text, as))),
      { label: 'hashes of a page' },
    )
  })

  test('lets others work before the next turn', async () => {
    const order: string[] = []
    setTimeout(() => order.push('timer'))
    for (let turn = 0; turn < 50 && order.length === 0; turn++) await page.nextTurn()
    assert.deepEqual(order, ['timer'])
  })

  test('fails an assertion with the error of Node', () => {
    const mismatch = { message: 'no', expected: { a: 1 }, actual: { a: 2 }, operator: 'same', stackStartFn: () => {} }
    const [inPage, onNode] = [makeInPage(mismatch), makeAssertionError(mismatch)] as unknown as Record<string, unknown>[]
    for (const member of ['name', 'message', 'code', 'expected', 'actual', 'operator', 'generatedMessage'])
      assert.deepEqual(inPage![member], onNode![member], member)
    assert.ok(inPage instanceof Error)
  })
})

describe('the secrets of a page', () => {
  test('makes keys, marks and hashes of Node', async () => {
    for (const [secret, text] of [
      ['s'.repeat(40), 'ü'],
      [Uint8Array.of(1, 2, 3), ''],
    ] as const) {
      // prettier-ignore
      assert.deepEqual(pageSecrets.deriveKey(secret, 'about'), nodeSecrets.deriveKey(secret, 'about'))
      const key = nodeSecrets.deriveKey(secret, text)
      assert.deepEqual(pageSecrets.authenticate(key, text), new Uint8Array(nodeSecrets.authenticate(key, text)))
    }
    const salt = nodeSecrets.randomBytes(16)
    const [inPage, onNode] = await Promise.all(
      [pageSecrets, nodeSecrets].map(each => each.scrypt('pässword', salt, 32, { N: 1024, r: 8, p: 1 })),
    )
    assert.deepEqual(inPage, new Uint8Array(onNode!))
  })

  test('has no verifier of signatures: tweetnacl verifies those of Ed25519, as Node does, and refuses others', async () => {
    await loadSignatures()
    const { verifier } = nodeSecrets
    for (const own of [verifier, pageSecrets.verifier]) {
      Object.assign(nodeSecrets, { verifier: own })
      const { isSigned, secretKey } = new SigningKey('a secret')
      const signature = nacl.sign.detached(new TextEncoder().encode('text'), secretKey)
      assert.ok(isSigned('text', signature))
      assert.ok(!isSigned('other', signature))
      assert.ok(!isSigned('text', signature.subarray(1)))
    }
    assert.equal(pageSecrets.verifier, undefined)
    Object.assign(nodeSecrets, { verifier })
  })

  test('compares bytes, and has random bytes and IDs', () => {
    assert.ok(pageSecrets.isSame(Uint8Array.of(1, 2), Uint8Array.of(1, 2)))
    assert.ok(!pageSecrets.isSame(Uint8Array.of(1, 2), Uint8Array.of(1, 3)))
    for (const { isSame } of [pageSecrets, nodeSecrets]) assert.throws(() => isSame(new Uint8Array(1), new Uint8Array(2)), RangeError)
    assert.notDeepEqual(pageSecrets.randomBytes(16), pageSecrets.randomBytes(16))
    assert.match(page.randomUUID(), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  })
})

/** Functions and symbols cannot be cloned. */
function strip(value: unknown): unknown {
  try {
    structuredClone(value)
    return value
  } catch {
    return undefined
  }
}
