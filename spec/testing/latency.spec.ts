/** Delays of a distribution, and rate limits: what they give, in which order, and what they refuse. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import { Clock } from '../../lib/foundation/async/clock.ts'
import { createLatency } from '../../lib/engine/testing/latency.ts'
import { TokenBucket } from '../../lib/engine/testing/rate-limit.ts'
import { check } from '../helpers/check.ts'
import { describeTargets } from '../helpers/targets.ts'

const Order = defineEntity({ name: 'Order', properties: { id: p.integer().primary(), item: p.string() } })

function draw(count: number, p50: number, p99: number, seed?: number): number[] {
  const next = createLatency(seed === undefined ? { p50, p99 } : { p50, p99, seed }, 'delay')
  return Array.from({ length: count }, next)
}

function share(delays: readonly number[], meets: (ms: number) => boolean): number {
  return delays.filter(meets).length / delays.length
}

describe('a latency profile', () => {
  it('has the percentiles that were asked for, and the form of a log-normal distribution', () => {
    const delays = draw(50_000, 1000, 8000, 7)
    assert.ok(Math.abs(share(delays, ms => ms <= 1000) - 0.5) < 0.01)
    assert.ok(Math.abs(share(delays, ms => ms <= 8000) - 0.99) < 0.002)
    // Symmetric about the median by ratio: as many below a quarter of it as above four times it.
    assert.ok(Math.abs(share(delays, ms => ms < 250) - share(delays, ms => ms > 4000)) < 0.01)
    // One standard deviation of the logarithm.
    assert.ok(Math.abs(share(delays, ms => ms <= 1000 * Math.exp(Math.log(8) / 2.3263)) - 0.8413) < 0.01)
  })

  it('is the same for the same seed, another for another, and 1 without one', () => {
    assert.deepEqual(draw(50, 80, 900, 7), draw(50, 80, 900, 7))
    assert.notDeepEqual(draw(50, 80, 900, 7), draw(50, 80, 900, 8))
    assert.deepEqual(draw(50, 80, 900), draw(50, 80, 900, 1))
    // Fixed: a test that passes today has the same delays after an upgrade.
    assert.deepEqual(draw(5, 80, 900, 7), FIXED)
  })

  it('is a constant where both percentiles are the same', () => {
    assert.deepEqual(new Set(draw(100, 30, 30, 5)), new Set([30]))
  })
})

const FIXED = [138, 54, 67, 78, 54]

describe('a token bucket', () => {
  it('agrees with a model that keeps the times of all requests', async () => {
    const step = fc.record({ wait: fc.integer({ min: 0, max: 3000 }), count: fc.integer({ min: 1, max: 4 }) })
    await check(
      fc.property(
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom(1000, 333, 60_000, 7),
        fc.array(step, { maxLength: 30 }),
        (requests, per, steps) => {
          const clock = new Clock()
          clock.set(0)
          const bucket = new TokenBucket({ requests, per }, clock)
          // Thousandths of thousandths of a request, as whole numbers.
          let room = BigInt(requests * per)
          for (const { wait, count } of steps) {
            clock.advance(wait)
            room = room + BigInt(wait * requests) > BigInt(requests * per) ? BigInt(requests * per) : room + BigInt(wait * requests)
            for (let each = 0; each < count; each++) {
              const isAllowed = room >= BigInt(per)
              if (isAllowed) room -= BigInt(per)
              const refusal = bucket.take('x')
              assert.equal(refusal === undefined, isAllowed)
              if (refusal !== undefined) checkRetry(Number(refusal.headers['retry-after']), { requests, per, room })
            }
          }
        },
      ),
      { label: 'token buckets', runs: 200 },
    )
  })

  it('gives nothing when the clock is set back', () => {
    const clock = new Clock()
    clock.set(10_000)
    const bucket = new TokenBucket({ requests: 1, per: '1s' }, clock)
    assert.equal(bucket.take('x'), undefined)
    clock.set(0)
    assert.notEqual(bucket.take('x'), undefined)
    clock.advance('1s')
    assert.equal(bucket.take('x'), undefined)
  })
})

/** After the seconds of `Retry-After` the next request passes; a second before, it does not. */
function checkRetry(seconds: number, { requests, per, room }: { requests: number; per: number; room: bigint }): void {
  assert.ok(seconds >= 1)
  const after = (waited: number): boolean => room + BigInt(waited * requests) >= BigInt(per)
  assert.ok(after(seconds * 1000))
  assert.ok(!after((seconds - 1) * 1000))
}

describeTargets('rate limits and latency', { entities: [Order], seed: { orders: [{ id: 1, item: 'pen' }] } }, target => {
  // What a test injects is no part of the API, whose description `target.call` holds answers against.
  const send = (method: string, body?: unknown) =>
    target.door === 'handle'
      ? target.engine.handle(method, '/v1/orders', undefined, body)
      : target.call(method, '/v1/orders', undefined, body)
  const list = () => send('GET')

  it('answers with 429 and Retry-After when the bucket is empty, and fills by the clock', async () => {
    const { engine } = target
    engine.clock.set('2026-01-01T00:00:00Z')
    using _ = engine.rateLimit('GET /v1/orders', { requests: 3, per: '1m' })
    for (let each = 0; each < 3; each++) assert.equal((await list()).status, 200)
    const refused = await list()
    assert.equal(refused.status, 429)
    assert.equal(refused.body.code, 'rate_limited')
    assert.equal(refused.headers['retry-after'], '20')
    assert.equal(refused.headers['content-type'], 'application/json; charset=UTF-8')
    // The headers RateLimit and RateLimit-Policy are a draft, no RFC.
    assert.deepEqual(
      Object.keys(refused.headers).filter(name => name.startsWith('ratelimit') || name.startsWith('x-ratelimit')),
      [],
    )
    engine.clock.advance('19s')
    assert.equal((await list()).headers['retry-after'], '1')
    engine.clock.advance('1s')
    assert.equal((await list()).status, 200)
    assert.equal((await list()).status, 429)
    engine.clock.advance('1h')
    assert.deepEqual(
      [await list(), await list(), await list(), await list()].map(({ status }) => status),
      [200, 200, 200, 429],
    )
    assert.equal((await target.call('GET', '/v1/orders/1')).status, 200)
  })

  it('does nothing of what it refuses, and ends when it is disposed or the engine reset', async () => {
    const { engine } = target
    const limit = engine.rateLimit('POST /v1/orders', { requests: 1, per: 86_400_000 })
    const order = () => send('POST', { item: 'ink' })
    assert.deepEqual(
      [await order(), await order()].map(({ status }) => status),
      [200, 429],
    )
    assert.equal((await list()).body.count, 2)
    limit.dispose()
    assert.equal((await order()).status, 200)
    engine.rateLimit('*', { requests: 1, per: '1h' })
    assert.deepEqual(
      [await list(), await list()].map(({ status }) => status),
      [200, 429],
    )
    await engine.reset()
    assert.deepEqual(
      [await list(), await list()].map(({ status }) => status),
      [200, 200],
    )
  })

  it('gives way to an older failure, which counts alone', async () => {
    const { engine } = target
    engine.fail('*', { status: 503, times: 2 })
    engine.rateLimit('*', { requests: 1, per: '1h' })
    assert.deepEqual(
      [await list(), await list(), await list(), await list()].map(({ status }) => status),
      [503, 503, 200, 429],
    )
  })

  it('lets pass what it allows to a younger failure', async () => {
    const { engine } = target
    engine.rateLimit('*', { requests: 2, per: '1h' })
    engine.fail('*', { status: 503, times: 1 })
    assert.deepEqual(
      [await list(), await list(), await list()].map(({ status }) => status),
      [503, 200, 429],
    )
  })

  it('delays by a profile, the same for the same seed', async () => {
    const { engine } = target
    const expected = draw(3, 30, 60, 3)
    using _ = engine.delay('GET /v1/orders', { p50: 30, p99: 60, seed: 3 }, { times: 3 })
    for (const ms of expected) {
      const started = performance.now()
      assert.equal((await list()).status, 200)
      // On a busy machine timers may be late, and early by what the turn of the event loop has taken that they were set in.
      assert.ok(performance.now() - started >= ms / 2, `${performance.now() - started} for ${ms}`)
    }
  })
})

describe('bad latencies and limits', () => {
  const cases: readonly (readonly [string, (engine: RestEngine) => unknown, RegExp])[] = [
    [
      'no p99',
      e => e.delay('*', { p50: 5 } as never),
      /delay: "p99" must be a number of milliseconds above 0, at most 2147483647, got undefined/,
    ],
    ['a p50 of 0', e => e.delay('*', { p50: 0, p99: 5 }), /"p50" must be a number of milliseconds above 0/],
    ['NaN', e => e.delay('*', { p50: 1, p99: NaN }), /"p99" must be .* got NaN/],
    ['percentiles in the wrong order', e => e.delay('*', { p50: 50, p99: 5 }), /"p99" must not be below "p50" \(50\), got 5/],
    ['a name misspelt', e => e.delay('*', { p50: 1, p95: 5 } as never), /delay: unknown option "p95"\. Did you mean "p99"/],
    ['a seed that is no integer', e => e.delay('*', { p50: 1, p99: 2, seed: 1.5 }), /"seed" must be an integer, got 1\.5/],
    ['null', e => e.delay('*', null as never), /the delay must be a number of milliseconds, a profile such as/],
    ['no requests', e => e.rateLimit('*', { per: '1m' } as never), /rateLimit: "requests" must be an integer above 0, got undefined/],
    ['0 requests', e => e.rateLimit('*', { requests: 0, per: '1m' }), /"requests" must be an integer above 0, got 0/],
    [
      'no time',
      e => e.rateLimit('*', { requests: 1 } as never),
      /"per" must be a whole number of milliseconds above 0, or a string such as "1m", got undefined/,
    ],
    [
      'a time of another form',
      e => e.rateLimit('*', { requests: 1, per: 'minute' }),
      /rateLimit: per: a duration must be written like "31d".*not "minute"/,
    ],
    ['a time below 0', e => e.rateLimit('*', { requests: 1, per: '-1m' }), /"per" must be .* got -1m/],
    ['more than can be counted', e => e.rateLimit('*', { requests: 2 ** 40, per: '365d' }), /more than can be counted/],
    ['an unknown option', e => e.rateLimit('*', { requests: 1, per: 1, time: 3 } as never), /rateLimit: unknown option "time"/],
    ['a match that is none', e => e.rateLimit('orders', { requests: 1, per: 1 }), /rateLimit: "orders" must be like/],
  ]
  for (const [name, make, error] of cases) {
    it(`are refused at once: ${name}`, async () => {
      await using engine = await RestEngine.create({ entities: [Order] })
      assert.throws(() => make(engine), error)
    })
  }
})
