/** Tokens: what they are, how long they live, and which are refused. */
import assert from 'node:assert/strict'
import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import * as jose from 'jose'
import { RestEngine } from '../../lib/index.ts'
import { assertSound } from '../helpers/sound.ts'
import { describeTargets } from '../helpers/targets.ts'
import { Note, START, User, bearer, logIn, refusal, world } from './world.ts'

const NOW = START.getTime() / 1000

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** A token with the header and claims given, and whatever signs it. */
function forge(header: object, claims: object, signature: (text: string) => Buffer | string): string {
  const text = `${encode(header)}.${encode(claims)}`
  const signed = signature(text)
  return `${text}.${typeof signed === 'string' ? signed : signed.toString('base64url')}`
}

const CLAIMS = { sub: '1', iat: NOW, exp: NOW + 3600, jti: 'forged' }

describeTargets('a token', world(), target => {
  const ask = (token: string) => target.call('GET', '/v1/notes', undefined, undefined, bearer(token))
  const code = async (token: string) => (await ask(token)).body.code

  it('is a JSON Web Token that others can verify with the public key', async () => {
    const { auth_token: token } = (await logIn(target)).body
    const key = await jose.importJWK({ ...target.engine.publicKey })
    const { payload, protectedHeader } = await jose.jwtVerify(token, key, { currentDate: START })
    assert.deepEqual(protectedHeader, { alg: 'EdDSA', typ: 'JWT' })
    assert.deepEqual(Object.keys(payload), ['sub', 'iat', 'exp', 'jti'])
    assert.deepEqual([payload.sub, payload.iat, payload.exp], ['1', NOW, NOW + 3600])
    assert.ok(typeof payload.jti === 'string' && payload.jti !== '')
  })

  it('has a public key that holds nothing secret', () => {
    const { publicKey } = target.engine
    assert.deepEqual(Object.keys(publicKey).toSorted(), ['alg', 'crv', 'kty', 'use', 'x'])
    assert.deepEqual([publicKey.kty, publicKey.crv, publicKey.alg], ['OKP', 'Ed25519', 'EdDSA'])
    assert.ok(Object.isFrozen(publicKey))
  })

  it('is refused in the four ways that a client can tell apart, and each says so to an authenticating proxy', async () => {
    const revoked = target.engine.token(1)
    await target.call('POST', '/v1/logout', undefined, undefined, bearer(revoked))
    const cases: [Record<string, string> | undefined, unknown[]][] = [
      [undefined, [401, 'token_missing', 'Bearer']],
      [{ authorization: 'Basic YW5uOnB3' }, [401, 'token_malformed', 'Bearer error="invalid_request"']],
      [{ authorization: 'Bearer' }, [401, 'token_malformed', 'Bearer error="invalid_request"']],
      [{ authorization: 'Bearer a b' }, [401, 'token_malformed', 'Bearer error="invalid_request"']],
      [bearer('abc'), [401, 'token_malformed', 'Bearer error="invalid_token"']],
      [bearer('a.b.c'), [401, 'token_malformed', 'Bearer error="invalid_token"']],
      [bearer('e30.e30.'), [401, 'token_malformed', 'Bearer error="invalid_token"']],
      [bearer(`${encode([])}.${encode(CLAIMS)}.AAAA`), [401, 'token_malformed', 'Bearer error="invalid_token"']],
      [bearer(forge({ alg: 'EdDSA' }, CLAIMS, () => 'AAAA')), [401, 'token_invalid', 'Bearer error="invalid_token"']],
      [bearer(target.engine.token(1, { ttl: -1 })), [401, 'token_expired', 'Bearer error="invalid_token"']],
      [bearer(revoked), [401, 'token_revoked', 'Bearer error="invalid_token"']],
    ]
    for (const [headers, expected] of cases) {
      const answer = await target.call('GET', '/v1/notes', undefined, undefined, headers)
      assertSound(answer, headers)
      assert.deepEqual(refusal(answer), expected, JSON.stringify(headers))
    }
  })

  it('goes with a scheme in any case', async () => {
    const token = target.engine.token(1)
    for (const authorization of [`bearer ${token}`, `BEARER  ${token}`]) {
      assert.equal((await target.call('GET', '/v1/notes', undefined, undefined, { authorization })).status, 200)
    }
  })

  it('is refused when a single bit of any part is another', async () => {
    const token = target.engine.token(1)
    assert.equal((await ask(token)).status, 200)
    const [header = '', payload = '', signature = ''] = token.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
    assert.equal(await code([header, encode({ ...claims, sub: '2' }), signature].join('.')), 'token_invalid')
    assert.equal(await code([header, encode({ ...claims, exp: NOW + 999_999 }), signature].join('.')), 'token_invalid')
    assert.equal(await code([encode({ alg: 'EdDSA', typ: 'JWT', kid: '1' }), payload, signature].join('.')), 'token_invalid')
    for (const at of [0, 1, 20, 42, 43, 64, signature.length - 2]) {
      const other = signature[at] === 'A' ? 'B' : 'A'
      assert.equal(await code([header, payload, signature.slice(0, at) + other + signature.slice(at + 1)].join('.')), 'token_invalid')
    }
  })

  it('has one spelling', async () => {
    const token = target.engine.token(1)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const last = alphabet.indexOf(token.at(-1)!)
    // The last character of 64 bytes in base64 has four bits that no byte holds.
    const twin = token.slice(0, -1) + alphabet[last ^ 1]
    assert.deepEqual(Buffer.from(twin.split('.')[2]!, 'base64url'), Buffer.from(token.split('.')[2]!, 'base64url'))
    assert.equal(await code(twin), 'token_invalid')
    assert.equal(await code(`${token}=`), 'token_malformed')
    // The order of the group, added to the second half of the signature, changes nothing of what it says (RFC 8032 section 5.1.7).
    const [header = '', payload = '', signature = ''] = token.split('.')
    const bytes = Buffer.from(signature, 'base64url')
    const half = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`)
    const other = half + 2n ** 252n + 27742317777372353535851937790883648493n
    const added = Buffer.from(other.toString(16).padStart(64, '0'), 'hex').reverse()
    const malleable = [header, payload, Buffer.concat([bytes.subarray(0, 32), added]).toString('base64url')].join('.')
    assert.equal(await code(malleable), 'token_invalid')
  })

  it('is refused unverified when it is too long', async () => {
    assert.equal(
      await code(`${encode({ alg: 'EdDSA' })}.${encode({ ...CLAIMS, more: 'x'.repeat(9000) })}.${'A'.repeat(86)}`),
      'token_malformed',
    )
  })

  it('is refused with any other algorithm than ours', async () => {
    const { x } = target.engine.publicKey
    const raw = Buffer.from(x, 'base64url')
    const pem = createPublicKey({ key: { ...target.engine.publicKey }, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    const none = [{ alg: 'none' }, { alg: 'None', typ: 'JWT' }, { alg: 'NONE' }, {}]
    for (const header of none) {
      assert.equal(await code(`${encode(header)}.${encode(CLAIMS)}.`), 'token_malformed')
      assert.equal(await code(forge(header, CLAIMS, () => Buffer.alloc(64))), 'token_invalid')
    }
    for (const secret of [raw, x, pem]) {
      for (const alg of ['HS256', 'EdDSA']) {
        assert.equal(
          await code(forge({ alg, typ: 'JWT' }, CLAIMS, text => createHmac('sha256', secret).update(text).digest())),
          'token_invalid',
        )
      }
    }
    const hs512 = forge({ alg: 'HS512' }, CLAIMS, text => createHmac('sha512', raw).update(text).digest())
    assert.equal(await code(hs512), 'token_invalid')
  })

  it('is refused when another key signed it, whatever it says of the key', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const signer = (text: string): Buffer => sign(null, Buffer.from(text), privateKey)
    assert.equal(await code(forge({ alg: 'EdDSA', typ: 'JWT' }, CLAIMS, signer)), 'token_invalid')
    const jwk = publicKey.export({ format: 'jwk' })
    assert.equal(await code(forge({ alg: 'EdDSA', typ: 'JWT', jwk }, CLAIMS, signer)), 'token_invalid')
    await using other = await RestEngine.create(world({ secret: 'of others' }))
    assert.equal(await code(other.token(1)), 'token_invalid')
  })

  it('lives for its ttl by the engine’s clock', async () => {
    const { clock } = target.engine
    const token = target.engine.token(1)
    clock.advance('59m')
    assert.equal((await ask(token)).status, 200)
    clock.advance('59s')
    assert.equal((await ask(token)).status, 200)
    clock.advance('1s')
    assert.equal(await code(token), 'token_expired')
    clock.advance('-1s')
    assert.equal((await ask(token)).status, 200)
  })

  it('lives for ever while the clock is frozen, and is of the future when it is set back', async () => {
    const { clock } = target.engine
    clock.set('2030-01-01T00:00:00Z')
    const token = target.engine.token(1)
    assert.equal((await ask(token)).status, 200)
    clock.set('2029-12-31T23:59:59Z')
    assert.equal(await code(token), 'token_invalid')
    clock.set('2030-01-01T01:00:00Z')
    assert.equal(await code(token), 'token_expired')
  })

  it('of a user who is gone is refused', async () => {
    const token = target.engine.token(2)
    assert.equal((await ask(token)).status, 200)
    assert.equal((await target.call('DELETE', '/v1/users/2', undefined, undefined, bearer(target.engine.token(1)))).status, 200)
    assert.deepEqual(refusal(await ask(token)), [401, 'token_invalid', 'Bearer error="invalid_token"'])
  })
})

describe('engine.token', () => {
  it('takes an entity, its ID in any form, and an object with the key', async () => {
    await using engine = await RestEngine.create(world())
    const entity = await engine.orm.em.fork().findOneOrFail(User, 1)
    for (const user of [entity, 1, '1', 1n, { id: 1 }]) {
      const { body } = await engine.handle('GET', '/v1/notes', undefined, undefined, { headers: bearer(engine.token(user)) })
      assert.equal(body.count, 1)
      assert.equal(jose.decodeJwt(engine.token(user)).sub, '1')
    }
  })

  it('takes a life in seconds, a negative one too', async () => {
    await using engine = await RestEngine.create(world({ ttl: 60 }))
    assert.equal(jose.decodeJwt(engine.token(1)).exp, NOW + 60)
    assert.equal(jose.decodeJwt(engine.token(1, { ttl: 5 })).exp, NOW + 5)
    assert.equal(jose.decodeJwt(engine.token(1, { ttl: -30 })).exp, NOW - 30)
    for (const ttl of [NaN, Infinity, '5' as never, null as never])
      assert.throws(() => engine.token(1, { ttl }), /token: "ttl" must be a number/)
    assert.throws(() => engine.token(1, { tll: 5 } as never), /unknown option "tll"\. Did you mean "ttl"\?/)
  })

  it('refuses what cannot be a user', async () => {
    await using engine = await RestEngine.create(world())
    const note = await engine.orm.em.fork().findOneOrFail(Note, 1)
    for (const user of ['abc', 1.5, true, null, undefined, {}, { id: null }]) {
      assert.throws(() => engine.token(user), /^TypeError: token: not a user, nor an ID of one/, inspect(user))
    }
    assert.throws(() => engine.token(note), /a user must be a User, not a Note/)
  })

  it('mints for an ID that nobody has; the token is refused', async () => {
    await using engine = await RestEngine.create(world())
    const { status, body } = await engine.handle('GET', '/v1/notes', undefined, undefined, { headers: bearer(engine.token(99)) })
    assert.deepEqual([status, body.code], [401, 'token_invalid'])
  })

  it('says that the module is off', async () => {
    await using engine = await RestEngine.create({ entities: [User, Note] })
    assert.throws(() => engine.token(1), /switch it on with the option "auth"/)
    assert.throws(() => engine.publicKey, /switch it on with the option "auth"/)
    assert.equal((await engine.handle('POST', '/v1/login', undefined, {})).status, 404)
  })
})

describe('secret', () => {
  it('gives the same key in every engine, so that a token of one goes with the other', async () => {
    await using one = await RestEngine.create(world({ secret: 'of the team' }))
    await using two = await RestEngine.create(world({ secret: 'of the team' }))
    await using other = await RestEngine.create(world({ secret: 'of the Team' }))
    assert.deepEqual(one.publicKey, two.publicKey)
    assert.notEqual(one.publicKey.x, other.publicKey.x)
    const headers = bearer(one.token(1))
    assert.equal((await two.handle('GET', '/v1/notes', undefined, undefined, { headers })).status, 200)
    assert.equal((await other.handle('GET', '/v1/notes', undefined, undefined, { headers })).body.code, 'token_invalid')
  })

  it('is another random one in each engine without it', async () => {
    await using one = await RestEngine.create(world({ secret: undefined }))
    await using two = await RestEngine.create(world({ secret: undefined }))
    assert.notEqual(one.publicKey.x, two.publicKey.x)
  })

  it('refuses a well-signed token that lacks claims or comes from the future', async () => {
    await using engine = await RestEngine.create(world({ secret: 's' }))
    const { hkdfSync } = await import('node:crypto')
    const { default: nacl } = await import('tweetnacl')
    const pair = nacl.sign.keyPair.fromSeed(Buffer.from(hkdfSync('sha256', 's', '', 'mikro-rest ed25519', 32)))
    assert.equal(Buffer.from(pair.publicKey).toString('base64url'), engine.publicKey.x)
    const signed = (claims: object): string =>
      forge({ alg: 'EdDSA', typ: 'JWT' }, claims, text => Buffer.from(nacl.sign.detached(Buffer.from(text), pair.secretKey)))
    const ask = async (claims: object) => {
      const { status, body } = await engine.handle('GET', '/v1/notes', undefined, undefined, { headers: bearer(signed(claims)) })
      return status === 200 ? 200 : body.code
    }
    const { jti } = jose.decodeJwt(engine.token(1))
    assert.equal(await ask({ ...CLAIMS, jti }), 200)
    assert.equal(await ask({ ...CLAIMS, jti, role: 'admin' }), 200)
    assert.equal(await ask({ ...CLAIMS, jti, iat: NOW + 1 }), 'token_invalid')
    assert.equal(await ask({ ...CLAIMS, jti, exp: NOW }), 'token_expired')
    // Those of another make say nothing of the password.
    assert.equal(await ask(CLAIMS), 'token_revoked')
    assert.equal(await ask({ ...CLAIMS, sub: '2', jti }), 'token_revoked')
    for (const lacking of [
      { sub: undefined },
      { iat: undefined },
      { exp: undefined },
      { jti: undefined },
      { sub: 1 },
      { exp: '9' },
      { exp: null },
    ]) {
      assert.equal(await ask({ ...CLAIMS, ...lacking }), 'token_invalid', JSON.stringify(lacking))
    }
    for (const sub of ['', 'abc', '1 ', '01', '99', '__proto__']) assert.equal(await ask({ ...CLAIMS, sub }), 'token_invalid', sub)
  })
})
