/** The contexts of interceptions: where each holds, and what is refused because it could be meant for several. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../../lib/index.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })
const API = 'https://contexts.example.test'
/** Older versions of Node do not say which test runs: there a request goes to the only interception that stands. */
const TELLS_TESTS = 'getTestContext' in process.getBuiltinModule('node:test')

/** An engine with so many notes: whoever answers tells by the count who it is. */
function engineOf(count: number): Promise<RestEngine> {
  return RestEngine.create({ entities: [Note], seed: { notes: Array.from({ length: count }, (_, index) => ({ text: `${index}` })) } })
}

async function countAt(origin: string): Promise<number> {
  return ((await (await fetch(`${origin}/v1/notes`)).json()) as { count: number }).count
}

let one: RestEngine
let two: RestEngine
/**
 * An app that was started before any test: it asks for the API in a context of its own, and answers with the count, or the code of the
 * error.
 */
let app: Server
let appUrl: string
/** A server on the network, whose count is -1. */
let network: Server
let real: string
describe('interceptions in their contexts', () => {
  before(async () => {
    ;[one, two] = await Promise.all([engineOf(1), engineOf(2)])
    app = createServer((_, response) => {
      countAt(API).then(
        count => response.end(`${count}`),
        (error: Error) => response.end((error.cause as NodeJS.ErrnoException).code),
      )
    }).listen(0, '127.0.0.1')
    network = createServer((_, response) => response.end('{"count":-1}')).listen(0, '127.0.0.1')
    await Promise.all([once(app, 'listening'), once(network, 'listening')])
    appUrl = `http://127.0.0.1:${(app.address() as AddressInfo).port}`
    real = `http://127.0.0.1:${(network.address() as AddressInfo).port}`
  })
  after(async () => {
    for (const server of [app, network]) {
      server.close()
      server.closeAllConnections()
    }
    await Promise.all([one.close(), two.close()])
  })

  async function askApp(): Promise<string> {
    return (await fetch(appUrl)).text()
  }

  describe('an interception', () => {
    it('holds for what the function calls, awaits and times out into, and for no other at the same time', async () => {
      const ask = async (engine: RestEngine, count: number): Promise<void> => {
        await sleep(1)
        using _ = engine.intercept(API)
        for (let round = 0; round < 5; round++) {
          await sleep(1)
          assert.equal(await countAt(API), count)
          const { promise, resolve } = Promise.withResolvers<number>()
          setTimeout(() => resolve(countAt(API)), 1)
          assert.equal(await promise, count)
        }
      }
      await Promise.all([ask(one, 1), ask(two, 2), ask(one, 1), ask(two, 2)])
    })

    it('is refused where one of the same origin was made in the same context', async () => {
      {
        using first = one.intercept(API)
        assert.throws(() => two.intercept([real, API]), {
          code: 'ERR_ALREADY_INTERCEPTED',
          message:
            `intercept: ${API} is intercepted already, by another engine, in the same asynchronous context. ` +
            'Dispose of that interception first, or give each a context of its own: "await engine.within(() => ...)".',
        })
        await sleep(1)
        assert.throws(() => one.intercept(API), /is intercepted already, by this engine/)
        // What was refused is not in force.
        assert.equal(await countAt(real), -1)
        using below = two.intercept(`${API}/below`)
        assert.deepEqual([await countAt(API), await countAt(`${API}/below`), first.origins, below.origins], [1, 2, [API], [`${API}/below`]])
      }
      using _ = two.intercept(API)
      assert.equal(await countAt(API), 2)
    })

    it('answers requests of no test while it is the only one, and they are refused while several stand', async () => {
      const opened = [one, two].map(async (engine, index) => {
        await sleep(index)
        return engine.intercept(API)
      })
      const [first, second] = await Promise.all(opened)
      assert.equal(await askApp(), 'ERR_AMBIGUOUS_INTERCEPTION')
      await assert.rejects(fetch(API), ({ cause }: Error) => {
        assert.match(
          (cause as Error).message,
          /^https:\/\/contexts\.example\.test is intercepted by 2 engines at the same time, .*engine\.within/,
        )
        return true
      })
      first!.dispose()
      assert.deepEqual([await askApp(), await countAt(API)], ['2', 2])
      second!.dispose()
    })

    it('of one test does not answer another test', { skip: !TELLS_TESTS, concurrency: 2, timeout: 60_000 }, async t => {
      const [made, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      await Promise.all([
        t.test('that intercepts', async () => {
          using _ = one.intercept(real)
          made.resolve()
          await asked.promise
          assert.equal(await countAt(real), 1)
        }),
        t.test('that does not', async () => {
          await made.promise
          assert.equal(await countAt(real), -1)
          asked.resolve()
        }),
      ])
    })

    it('holds for tests within its test', async t => {
      using _ = one.intercept(API)
      await t.test('inner', async inner => {
        assert.equal(await countAt(API), 1)
        if (!TELLS_TESTS) return
        const api = two.intercept(API)
        inner.after(() => api.dispose())
        assert.equal(await countAt(API), 2)
      })
      assert.equal(await countAt(API), 1)
    })
  })

  describe('an interception of the whole process', () => {
    describe('made outside of any test', () => {
      before(() => {
        one.intercept(API)
      })

      it('answers tests and servers', async () => {
        assert.deepEqual([await countAt(API), await askApp()], [1, '1'])
      })

      it('leaves a test its own', { skip: !TELLS_TESTS }, async () => {
        using _ = two.intercept(API)
        assert.deepEqual([await countAt(API), await askApp()], [2, '1'])
      })

      it('ends as others do', async () => {
        await one.close()
        one = await engineOf(1)
        using _ = two.intercept(API)
        assert.deepEqual([await countAt(API), await askApp()], [2, '2'])
      })
    })

    it('may be made anywhere, once for an origin', async () => {
      const begin = async (): Promise<Disposable> => {
        await sleep(1)
        return one.intercept(API, { everywhere: true })
      }
      using _ = await begin()
      assert.deepEqual([await countAt(API), await askApp()], [1, '1'])
      assert.throws(() => two.intercept(API, { everywhere: true }), {
        code: 'ERR_ALREADY_INTERCEPTED',
        message: /by another engine, in the whole process/,
      })
      using other = two.intercept(API)
      assert.deepEqual(other.origins, [API])
      assert.deepEqual([await countAt(API), await askApp()], [2, '1'])
      assert.throws(() => two.intercept(API, { everywhere: 1 } as object), /"everywhere" must be true or false/)
    })
  })

  describe('within', () => {
    it('gives interceptions a context that ends with it, whatever function makes them', async () => {
      const begin = async (engine: RestEngine): Promise<void> => {
        await sleep(1)
        engine.intercept(API)
      }
      using _ = one.intercept(API)
      const inner = await two.within(async () => {
        await begin(two)
        await sleep(1)
        return countAt(API)
      })
      assert.deepEqual([inner, await countAt(API), await askApp()], [2, 1, '1'])
    })

    it('prefers the interceptions of its engine, wherever they were made', async () => {
      const [first, second] = await Promise.all(
        [one, two].map(async engine => {
          await sleep(1)
          return engine.intercept(API)
        }),
      )
      assert.deepEqual([await one.within(() => countAt(API)), await two.within(() => countAt(API))], [1, 2])
      first!.dispose()
      second!.dispose()
    })

    it('returns the result of the work, and its error', async () => {
      assert.equal(await one.within(() => 5), 5)
      await assert.rejects(
        one.within(() => {
          throw new RangeError('no')
        }),
        RangeError,
      )
      await assert.rejects(one.within(5 as unknown as () => void), { name: 'TypeError', message: /^within: give it a function/ })
      await using closed = await engineOf(1)
      await closed.close()
      await assert.rejects(
        closed.within(() => 5),
        /The engine is closed/,
      )
    })
  })

  describe('a request that nobody intercepts', () => {
    async function warnings(work: () => Promise<unknown>): Promise<string[]> {
      const seen: string[] = []
      const listen = (warning: Error & { code?: string }): void => {
        if (warning.code === 'MIKRO_REST_NOT_INTERCEPTED') seen.push(warning.message)
      }
      process.on('warning', listen)
      try {
        await work()
        await new Promise(setImmediate)
      } finally {
        process.off('warning', listen)
      }
      return seen
    }

    it('is warned of, once for an origin, unless the option says that it may pass', async () => {
      const server = createServer((_, response) => response.end('{"count":-1}')).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      try {
        {
          using _ = one.intercept(API, { strict: false })
          assert.deepEqual(await warnings(() => countAt(origin)), [])
        }
        using _ = one.intercept(API)
        const [text, ...more] = await warnings(async () => [await countAt(origin), await countAt(origin)])
        assert.match(
          text!,
          /^A request to http:\/\/127\.0\.0\.1:\d+ went to the network, for no engine intercepts it\. "\{ strict: true \}"/,
        )
        assert.deepEqual(more, [])
      } finally {
        server.close()
        server.closeAllConnections()
      }
    })
  })

  describe('requests that come after the world of their test was closed', () => {
    let late: () => Promise<string>

    /** What a request that nobody awaits comes to: it is made in the context of the caller, when `begin` is called. */
    function later(url: string): { readonly begin: () => void; readonly outcome: Promise<string> } {
      const { promise, resolve: begin } = Promise.withResolvers<void>()
      const outcome = promise
        .then(() => countAt(url))
        .then(
          count => `count ${count}`,
          (error: Error) => `${(error.cause as NodeJS.ErrnoException | undefined)?.code}: ${(error.cause as Error | undefined)?.message}`,
        )
      return { begin, outcome }
    }

    it('belong to this test', { skip: !TELLS_TESTS && 'this Node does not tell which test runs' }, async () => {
      const engine = await engineOf(3)
      engine.intercept(API, { strict: true })
      // Another engine stands for the whole process, as that of a suite does.
      const suite = two.intercept('https://suite.example.test', { everywhere: true })
      assert.equal(await countAt(API), 3)
      const [own, other] = [later(API), later('http://127.0.0.1:9999')]
      await engine.close()
      late = () => {
        own.begin()
        other.begin()
        return Promise.all([own.outcome, other.outcome]).then(all => (suite.dispose(), all.join('\n')))
      }
    })

    it(
      'are refused in the next one, with the name of their own',
      { skip: !TELLS_TESTS && 'this Node does not tell which test runs' },
      async () => {
        const [own, other] = (await late()).split('\n')
        for (const [origin, text] of [
          [API, own],
          ['http://127.0.0.1:9999', other],
        ] as const)
          assert.equal(
            text,
            `ERR_WORLD_CLOSED: A request of the test "belong to this test" to ${origin} came after its world was closed, and would have gone ` +
              'to the network: await in the test what the test begins, or end it there; what several tests use, such as a server, is ' +
              'begun before all of them.',
          )
      },
    )

    it('are refused behind "within", and only from inside of it', async () => {
      let inside: ReturnType<typeof later>
      using _ = two.intercept('https://suite.example.test', { everywhere: true, strict: false })
      await one.within(() => {
        one.intercept(real)
        inside = later(real)
      })
      assert.equal(await countAt(real), -1)
      inside!.begin()
      assert.match(await inside!.outcome, /^ERR_WORLD_CLOSED: A request of .*test/)
    })

    it('pass where the interception was disposed of by hand', async () => {
      const api = one.intercept(real)
      const request = later(real)
      api.dispose()
      request.begin()
      assert.equal(await request.outcome, 'count -1')
    })
  })
})
