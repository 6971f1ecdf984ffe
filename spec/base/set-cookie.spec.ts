/** Several cookies in one text, as an answer of the engine has them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { joinSetCookies, separateCookies, splitSetCookies } from '../../lib/foundation/http/set-cookie.ts'

const DATED = 'a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/'

describe('cookies of an answer', () => {
  it('are told apart, whatever commas their dates have', () => {
    for (const cookies of [
      ['a=1'],
      [DATED],
      [DATED, 'b=2; HttpOnly'],
      ['b=; Max-Age=0', DATED, 'c=x=y'],
      ['__Host-s=e.f-g_h; Secure', 'b=2'],
    ])
      assert.deepEqual(splitSetCookies(joinSetCookies(cookies)), cookies)
  })

  it('are a list where there are several, and leave other headers alone', () => {
    const one = { 'set-cookie': DATED, vary: 'a, b=c' }
    assert.equal(separateCookies(one), one)
    assert.deepEqual(separateCookies({ 'set-cookie': `${DATED}, b=2`, vary: 'a, b=c' }), { 'set-cookie': [DATED, 'b=2'], vary: 'a, b=c' })
    const none = { vary: 'a, b=c' }
    assert.equal(separateCookies(none), none)
  })
})
