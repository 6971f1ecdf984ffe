/**
 * `em.flush` in the application's code: wherever MikroORM allows it, in the transaction of the request; where MikroORM refuses it,
 * `onError` is told why.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/core'
import { RestEngine, resource } from '../../lib/index.ts'
import type { EngineOptions, Wrapper } from '../../lib/index.ts'

const Log = defineEntity({ name: 'Log', properties: { id: p.integer().primary(), text: p.string() } })
const Item = defineEntity({ name: 'Item', properties: { id: p.integer().primary(), name: p.string() } })

async function log(em: EntityManager): Promise<void> {
  em.create(Log, { text: 'flushed' })
  await em.flush()
}

const everywhere = (wrapper: Wrapper) => ({ create: wrapper, update: wrapper, delete: wrapper, get: wrapper, list: wrapper })
const PLACES = {
  'a wrapper, before what it wraps': resource(
    Item,
    everywhere(async (ctx, next) => {
      await log(ctx.em)
      return next()
    }),
  ),
  'a wrapper, afterwards': resource(
    Item,
    everywhere(async (ctx, next) => {
      const response = await next()
      await log(ctx.em)
      return response
    }),
  ),
  'a wrapper, meanwhile and twice at once': resource(
    Item,
    everywhere(async (ctx, next) => {
      const [response] = await Promise.all([next(), log(ctx.em), ctx.em.flush()])
      return response
    }),
  ),
  'a wrapper, in a transaction of its own': resource(
    Item,
    everywhere(async (ctx, next) => {
      await ctx.em.transactional(log)
      return next()
    }),
  ),
  'an access rule': resource(Item, { access: async ctx => (await log(ctx.em), true) }),
  'a scope': resource(Item, { scope: async ctx => (await log(ctx.em), { id: { $gt: 0 } }) }),
  'a renderer': resource(Item, { attributes: { name: { render: async (name, _, ctx) => (await log(ctx.em), name) } } }),
}

async function failuresOf(options: Partial<EngineOptions>, work: (engine: RestEngine) => Promise<void>): Promise<string[]> {
  const failures: string[] = []
  await using engine = await RestEngine.create({
    entities: [Item, Log],
    seed: { items: [{ id: 1, name: 'a' }] },
    onError: error => void failures.push((error as Error).message),
    ...options,
  })
  await work(engine)
  return failures
}

describe('em.flush', () => {
  for (const [place, rules] of Object.entries(PLACES)) {
    it(`writes in ${place}`, async () => {
      const failures = await failuresOf({ resources: [rules] }, async engine => {
        let logs = 0
        for (const [method, path, body] of [
          ['POST', '/v1/items', { name: 'b' }],
          ['PUT', '/v1/items/1', { name: 'c' }],
          ['GET', '/v1/items'],
          ['GET', '/v1/items/1'],
          ['DELETE', '/v1/items/1'],
        ] as const) {
          assert.equal((await engine.handle(method, path, undefined, body)).status, 200, `${method} ${path}`)
          const now = await engine.orm.em.fork().count(Log)
          assert.ok(now > logs, `${method} ${path}`)
          logs = now
        }
      })
      assert.deepEqual(failures, [])
    })
  }

  for (const [event, flush] of [
    ['afterCreate', (em: EntityManager) => log(em.fork())],
    ['beforeUpdate', (em: EntityManager) => em.transactional(log)],
    ['onLoad', log],
    ['beforeTransactionCommit', log],
  ] as const) {
    it(`writes in ${event}, as MikroORM allows it`, async () => {
      // Not while the seed is loaded.
      let done = true
      const subscriber = {
        [event]: async ({ em }: { em: EntityManager }) => {
          if (done) return
          done = true
          await flush(em)
        },
      }
      const failures = await failuresOf({ orm: { subscribers: [subscriber] } }, async engine => {
        done = false
        assert.equal((await engine.handle('POST', '/v1/items', undefined, { name: 'b' })).status, 200)
        assert.equal((await engine.handle('PUT', '/v1/items/1', undefined, { name: 'c' })).status, 200)
        assert.equal(await engine.orm.em.fork().count(Log, { text: 'flushed' }), 1)
      })
      assert.deepEqual(failures, [])
    })
  }

  for (const event of ['beforeFlush', 'onFlush', 'afterFlush', 'beforeCreate', 'afterCreate']) {
    it(`is refused in ${event} by MikroORM, which onError is told, and nothing is written`, async () => {
      let isArmed = false
      const subscriber = { [event]: async ({ em }: { em: EntityManager }) => (isArmed ? em.flush() : undefined) }
      const failures = await failuresOf({ orm: { subscribers: [subscriber] } }, async engine => {
        isArmed = true
        const { status, body } = await engine.handle('POST', '/v1/items', undefined, { name: 'b' })
        assert.deepEqual([status, (body as { code: string }).code], [500, 'internal_error'])
        assert.equal(await engine.orm.em.fork().count(Item), 1)
      })
      assert.deepEqual(failures, ['You cannot call em.flush() from inside lifecycle hook handlers'])
    })
  }
})
