/** The Buffer of pages whose models have no bytes does what Node's does, as far as it goes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SmallBuffer } from '../../lib/foundation/page/small-buffer.ts'

const TEXTS = ['', 'a', 'Grüße', '\u{1f600}', '\ufeffmark', 'é\0']
const BYTES = [[], [0], [255, 254, 0], [104, 195, 164], [1, 2, 3, 4, 5]]

describe('the Buffer of a page', () => {
  it('writes and reads texts as Node does', () => {
    for (const text of TEXTS) {
      assert.deepEqual([...SmallBuffer.from(text)], [...Buffer.from(text)])
      assert.equal(SmallBuffer.byteLength(text), Buffer.byteLength(text))
      assert.equal(SmallBuffer.from(text).toString(), text)
      for (const encoding of ['hex', 'base64', 'base64url', 'utf-8'] as const) {
        const encoded = Buffer.from(text).toString(encoding)
        assert.equal(SmallBuffer.from(text).toString(encoding), encoded)
        assert.equal(SmallBuffer.from(encoded, encoding).toString(), text)
      }
    }
    assert.throws(() => SmallBuffer.from('x').toString('ucs2'), /Unknown encoding: ucs2.*the package "buffer"/)
    assert.throws(() => SmallBuffer.from('x', 'latin1'), /Unknown encoding: latin1/)
  })

  it('copies arrays, and shares the bytes of an ArrayBuffer', () => {
    for (const bytes of BYTES) {
      for (const given of [bytes, Uint8Array.from(bytes), new Set(bytes), { type: 'Buffer' as const, data: bytes }])
        assert.deepEqual([...SmallBuffer.from(given)], bytes)
      assert.deepEqual(JSON.parse(JSON.stringify(SmallBuffer.from(bytes))), JSON.parse(JSON.stringify(Buffer.from(bytes))))
    }
    const shared = Uint8Array.of(1, 2, 3)
    const part = SmallBuffer.from(shared.buffer, 1, 2)
    shared[1] = 9
    assert.deepEqual([...part], [9, 3])
  })

  it('tells its own from other bytes, and compares, joins and allocates', () => {
    assert.ok(SmallBuffer.isBuffer(SmallBuffer.alloc(2)))
    assert.ok(SmallBuffer.isBuffer(SmallBuffer.allocUnsafe(2).subarray(1)))
    assert.ok(!SmallBuffer.isBuffer(new Uint8Array(2)))
    for (const one of BYTES)
      for (const other of BYTES) {
        const [a, b] = [SmallBuffer.from(one), SmallBuffer.from(other)]
        assert.equal(SmallBuffer.compare(a, b), Buffer.compare(Buffer.from(one), Buffer.from(other)))
        assert.equal(a.equals(b), one === other)
        assert.deepEqual(Array.from(SmallBuffer.concat([a, b])), [...one, ...other])
      }
  })
})
