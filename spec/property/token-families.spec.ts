/**
 * Families of tokens: whatever is done in whatever order (log-ins, refreshes, log-outs, new passwords, time, snapshots), each token is
 * taken or refused as a plain model of them says: a refresh token is good for one time, and a second time ends its family.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { defineEntity, p } from '@mikro-orm/core'
import { auth } from '../../lib/index.ts'
import type { RestEngine } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), password: p.string().hidden() } })

const TTL = 10
const REFRESH_TTL = 60

interface Family {
  readonly user: number
  ended: boolean
}

interface Token {
  readonly text: string
  readonly family: Family
  /** The number of the password under which it was made. */
  readonly password: number
  /** Minutes. */
  readonly expires: number
  used: boolean
}

/** What the engine is to know. Times are minutes. */
class Model {
  now = 0
  passwords = [0, 0]
  access: Token[] = []
  refresh: Token[] = []

  isEnded({ family, password }: Token): boolean {
    return family.ended || password !== this.passwords[family.user]
  }

  expected(token: Token): string {
    if (token.expires <= this.now) return 'token_expired'
    return this.isEnded(token) || token.used ? 'token_revoked' : 'taken'
  }

  add({ auth_token: access, refreshToken: refresh }: { auth_token: string; refreshToken: string }, family: Family): void {
    const password = this.passwords[family.user]!
    this.access.push({ text: access, family, password, expires: this.now + TTL, used: false })
    this.refresh.push({ text: refresh, family, password, expires: this.now + REFRESH_TTL, used: false })
  }

  copy(): Model {
    const families = new Map<Family, Family>()
    const copyOf = (token: Token): Token => {
      const family = families.get(token.family) ?? { ...token.family }
      families.set(token.family, family)
      return { ...token, family }
    }
    const copy = new Model()
    copy.now = this.now
    copy.passwords = [...this.passwords]
    copy.access = this.access.map(copyOf)
    copy.refresh = this.refresh.map(copyOf)
    return copy
  }
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ logIn: fc.nat(1) }) },
  { weight: 5, arbitrary: fc.record({ refresh: fc.nat(6) }) },
  fc.record({ logOut: fc.nat(6) }),
  fc.record({ password: fc.nat(1) }),
  { weight: 2, arbitrary: fc.record({ minutes: fc.constantFrom(1, 9, 10, 11, 59) }) },
  fc.record({ world: fc.constantFrom('keep', 'restore') }),
)
type Step = Partial<Record<'logIn' | 'refresh' | 'logOut' | 'password' | 'minutes', number>> & { readonly world?: string }

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

async function outcomeOf(engine: RestEngine, token: Token): Promise<string> {
  const { status, body } = await engine.send('GET /v1/users', { headers: bearer(token.text) })
  return status === 200 ? 'taken' : (body as { code: string }).code
}

/** Runs steps on an engine and on the model, and compares after each. */
class Course {
  readonly #engine: RestEngine
  #model = new Model()
  #passwords = 0
  #kept: { readonly snapshot: Awaited<ReturnType<RestEngine['snapshot']>>; readonly model: Model } | undefined

  constructor(engine: RestEngine) {
    this.#engine = engine
  }

  async take(each: Step): Promise<void> {
    const model = this.#model
    const engine = this.#engine
    if (each.logIn !== undefined) {
      const { body } = await engine.send('POST /v1/login', { body: { id: each.logIn + 1 } })
      model.add(body, { user: each.logIn, ended: false })
    } else if (each.refresh !== undefined) await this.#refresh(each.refresh)
    else if (each.logOut !== undefined) await this.#logOut(each.logOut)
    else if (each.password !== undefined) {
      await engine.orm.em.fork().nativeUpdate(User, { id: each.password + 1 }, { password: `p${++this.#passwords}` })
      model.passwords[each.password] = this.#passwords
    } else if (each.minutes !== undefined) {
      engine.clock.advance(`${each.minutes}m`)
      model.now += each.minutes
    } else if (each.world === 'keep') this.#kept = { snapshot: await engine.snapshot(), model: model.copy() }
    else if (this.#kept !== undefined) {
      await engine.restore(this.#kept.snapshot)
      this.#model = this.#kept.model.copy()
    }
    for (const token of this.#model.access) assert.equal(await outcomeOf(engine, token), this.#model.expected(token))
  }

  async #refresh(index: number): Promise<void> {
    const model = this.#model
    const token = model.refresh[index % Math.max(1, model.refresh.length)]
    if (token === undefined) return
    const expected = model.expected(token)
    const { status, body } = await this.#engine.send('POST /v1/refresh', { body: { refreshToken: token.text } })
    assert.equal(status === 200 ? 'taken' : body.code, expected)
    if (expected === 'token_revoked') token.family.ended = true
    if (expected !== 'taken') return
    token.used = true
    model.add(body, token.family)
  }

  async #logOut(index: number): Promise<void> {
    const model = this.#model
    const token = model.access[index % Math.max(1, model.access.length)]
    if (token === undefined) return
    const expected = model.expected(token)
    const { status, body } = await this.#engine.send('POST /v1/logout', { headers: bearer(token.text) })
    assert.equal(status === 200 ? 'taken' : body.code, expected)
    if (expected === 'taken') token.family.ended = true
  }
}

describeStores('families of tokens', store => {
  it('are what a plain model of them says (property)', async () => {
    await using engine = await createEngine({
      entities: [User],
      clock: () => new Date('2026-05-01T12:00:00.000Z'),
      auth: auth({
        entity: User,
        secret: 'of the specs',
        ttl: TTL * 60,
        refresh: { ttl: REFRESH_TTL * 60 },
        authenticate: credentials => (credentials as { id: number }).id,
      }),
      seed: { users: [1, 2].map(id => ({ id, password: 'p0' })) },
    })
    const start = await engine.snapshot()
    await check(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async steps => {
        await engine.restore(start)
        const course = new Course(engine)
        for (const each of steps) await course.take(each)
      }),
      { label: 'families of tokens', runs: store.name === 'postgres' ? 8 : 60 },
    )
  })
})
