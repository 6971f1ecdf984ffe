/** Throttling: five failed log-ins of one identifier within a minute of the engine's clock. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, auth } from '../../lib/index.ts'
import { assertSound } from '../helpers/sound.ts'
import { describeTargets } from '../helpers/targets.ts'
import { HASH, PASSWORD, logIn, world } from './world.ts'

const WRONG = { email: 'ann@example.test', password: 'wrong' }
/** Costs no hashing: most of these specs are about counting. */
const cheap = {
  identifier: 'email',
  authenticate: (credentials: unknown) => ((credentials as { password?: string }).password === PASSWORD ? 1 : undefined),
}

describeTargets('throttling', world(), target => {
  it('refuses the sixth log-in, a right one too, and says when to come back', async () => {
    for (let attempt = 0; attempt < 5; attempt++) assert.equal((await logIn(target, WRONG)).status, 401)
    for (const credentials of [WRONG, { ...WRONG, password: PASSWORD }]) {
      const answer = await logIn(target, credentials)
      assertSound(answer, credentials)
      assert.deepEqual([answer.status, answer.body.code, answer.headers['retry-after']], [429, 'login_throttled', '60'])
    }
    assert.equal((await logIn(target, { email: 'bob@example.test', password: PASSWORD })).status, 200, 'others are not concerned')
    target.engine.clock.advance('60s')
    assert.equal((await logIn(target)).status, 200)
  })
})

describe('the window of throttling', () => {
  async function withEngine(
    work: (engine: RestEngine, attempt: (password: string) => Promise<number | string[]>) => Promise<void>,
  ): Promise<void> {
    await using engine = await RestEngine.create(world(cheap))
    await work(engine, async password => {
      const { status, headers } = await engine.handle('POST', '/v1/login', undefined, { email: 'ann@example.test', password })
      return status === 429 ? ['retry', headers['retry-after']!] : status
    })
  }

  it('slides: each failure counts for a minute', () =>
    withEngine(async (engine, attempt) => {
      for (let index = 0; index < 5; index++) {
        assert.equal(await attempt('wrong'), 401)
        engine.clock.advance('10s')
      }
      assert.deepEqual(await attempt('wrong'), ['retry', '10'])
      engine.clock.advance('9500ms')
      assert.deepEqual(await attempt('wrong'), ['retry', '1'])
      engine.clock.advance('500ms')
      assert.equal(await attempt('wrong'), 401)
      assert.deepEqual(await attempt('wrong'), ['retry', '10'])
    }))

  it('does not end while the clock is frozen', () =>
    withEngine(async (engine, attempt) => {
      engine.clock.set('2026-05-01T12:00:00Z')
      for (let index = 0; index < 5; index++) await attempt('wrong')
      for (let index = 0; index < 20; index++) assert.deepEqual(await attempt('wrong'), ['retry', '60'])
      engine.clock.set('2026-05-01T12:01:00Z')
      assert.equal(await attempt('wrong'), 401)
    }))

  it('is over when the log-in succeeds', () =>
    withEngine(async (_, attempt) => {
      for (let round = 0; round < 3; round++) {
        for (let index = 0; index < 4; index++) assert.equal(await attempt('wrong'), 401)
        assert.equal(await attempt(PASSWORD), 200)
      }
    }))

  it('is not got round by trying at the same time', () =>
    withEngine(async (_, attempt) => {
      const answers = await Promise.all(Array.from({ length: 40 }, () => attempt('wrong')))
      assert.equal(answers.filter(answer => answer === 401).length, 5)
    }))

  it('lets any number of right log-ins through at the same time', () =>
    withEngine(async (_, attempt) => {
      const answers = await Promise.all(Array.from({ length: 40 }, () => attempt(PASSWORD)))
      assert.deepEqual(new Set(answers), new Set([200]))
    }))

  it('counts no log-in that lacks its fields', async () => {
    await using engine = await RestEngine.create(world())
    for (let index = 0; index < 8; index++) {
      assert.equal((await engine.handle('POST', '/v1/login', undefined, { email: 'ann@example.test' })).status, 422)
    }
  })
})

describe('throttling by what a database takes for equal', () => {
  it('gives five guesses in all, however the identifier is spelled', async () => {
    const Member = defineEntity({
      name: 'Member',
      properties: {
        id: p.integer().primary(),
        email: p.string().columnType('text collate nocase').unique(),
        password: p.string().hidden(),
      },
    })
    await using engine = await RestEngine.create({
      entities: [Member],
      auth: auth({ entity: Member }),
      seed: { members: [{ email: 'ann', password: HASH }] },
    })
    const attempt = async (email: string, password = 'wrong'): Promise<number> =>
      (await engine.send('POST /v1/login', { body: { email, password } })).status
    const statuses: number[] = []
    for (const email of ['ann', 'ANN', 'Ann', 'aNN', 'anN', 'AnN', 'ANn', 'ann']) statuses.push(await attempt(email))
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429, 429])
    assert.equal(await attempt('aNn', PASSWORD), 429)
    // Whether there is such a user is not to be seen by it.
    const unknown: number[] = []
    for (const email of ['zed', 'ZED', 'Zed', 'zED', 'zeD', 'ZeD']) unknown.push(await attempt(email))
    assert.deepEqual(unknown, [401, 401, 401, 401, 401, 429])
  })

  it('counts users whom a database tells apart by themselves: no log-in of one clears what failed for another', async () => {
    await using engine = await RestEngine.create(
      world({}, { seed: { users: ['Ann', 'ann'].map((email, at) => ({ id: at + 1, name: email, email, password: HASH })) } }),
    )
    const attempt = async (email: string, password: string): Promise<number> =>
      (await engine.send('POST /v1/login', { body: { email, password } })).status
    const statuses: number[] = []
    for (let round = 0; round < 7; round++) {
      statuses.push(await attempt('Ann', 'wrong'))
      await attempt('ann', PASSWORD)
    }
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429])
  })
})
