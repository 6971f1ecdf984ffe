/**
 * Code of the application that writes at the same time on PostgreSQL: what may run again is never refused since another write got in its
 * way.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/postgresql'
import { resource, RestEngine, RestError } from '../../lib/index.ts'
import type { HookContext, Wrapper } from '../../lib/index.ts'
import { findNoServer, ownSchema } from './server-database.ts'

const ORDERS = 20

const Product = defineEntity({
  name: 'Product',
  properties: { id: p.integer().primary(), stock: p.integer() },
})
const Sale = defineEntity({
  name: 'Sale',
  properties: { id: p.integer().primary(), product: () => p.manyToOne(Product), note: p.string().default('') },
})

async function takeOne(ctx: Readonly<HookContext>, id: number): Promise<void> {
  const { stock } = await ctx.ask<{ stock: number }>('GET', `/products/${id}`)
  if (stock === 0) throw new RestError(409, 'sold_out', 'There is none left.')
  await ctx.ask('PATCH', `/products/${id}`, {}, { stock: stock - 1 })
}

interface Runs {
  readonly ctx: { readonly note: unknown; readonly state: number }[]
}

/** Sells what it can; notes how it has found its context. */
const sell = ({ ctx: runs }: Runs): Wrapper => {
  return async (ctx, next) => {
    const seen = ctx.state as { count?: number }
    seen.count = (seen.count ?? 0) + 1
    runs.push({ note: ctx.data.note, state: seen.count })
    ctx.data.note = `${ctx.data.note}!`
    const answer = await next()
    await takeOne(ctx, ctx.data.product)
    return answer
  }
}

const open = (database: object, runs: Runs, repeatable: boolean): Promise<RestEngine> =>
  RestEngine.create({
    entities: [Product, Sale],
    database: database as never,
    createdStatus: 201,
    onError: () => {},
    resources: [resource(Sale, { create: sell(runs), repeatable })],
    routes: [
      {
        method: 'POST',
        path: '/{version}/take/{id}',
        repeatable,
        handler: async ctx => {
          await takeOne(ctx, Number(ctx.params['id']))
          return { status: 200, body: {} }
        },
      },
    ],
    seed: { products: [{ id: 1, stock: ORDERS - 5 }] },
  })

const countOf = (statuses: readonly number[], status: number): number => statuses.filter(each => each === status).length

describe('writes of one row by code of the application', { skip: await findNoServer() }, () => {
  const serve = async (repeatable: boolean, work: (engine: RestEngine, runs: Runs) => Promise<void>): Promise<void> => {
    await using schema = ownSchema()
    const runs: Runs = { ctx: [] }
    await using engine = await open(schema.database, runs, repeatable)
    await work(engine, runs)
  }
  const sellAll = async (engine: RestEngine): Promise<number[]> => {
    const answers = await Promise.all(
      Array.from({ length: ORDERS }, () => engine.handle('POST', '/v1/sales', undefined, { product: 1, note: 'a' })),
    )
    const others = answers.filter(({ status, body }) => status !== 201 && body.code !== 'sold_out' && body.code !== 'database_busy')
    assert.deepEqual(others, [])
    return answers.map(({ status }) => status)
  }
  const stockOf = async (engine: RestEngine): Promise<number> =>
    ((await engine.handle('GET', '/v1/products/1')).body as { product: { stock: number } }).product.stock

  it('in wrappers that may run again: each is done or refused by the wrapper, and none is lost', () =>
    serve(true, async (engine, runs) => {
      const statuses = await sellAll(engine)
      assert.deepEqual([countOf(statuses, 201), countOf(statuses, 409)], [ORDERS - 5, 5])
      assert.equal(await stockOf(engine), 0)
      const { body } = await engine.handle('GET', '/v1/sales')
      const { count, sales } = body as { count: number; sales: { note: string }[] }
      assert.equal(count, ORDERS - 5)
      assert.ok(runs.ctx.length > ORDERS, 'none has run again')
      assert.ok(sales.every(({ note }) => note === 'a!'))
      for (const seen of runs.ctx) assert.deepEqual(seen, { note: 'a', state: 1 })
    }))

  it('in handlers of routes that may run again', () =>
    serve(true, async engine => {
      const answers = await Promise.all(Array.from({ length: ORDERS }, () => engine.handle('POST', '/v1/take/1')))
      const statuses = answers.map(({ status }) => status)
      assert.deepEqual([countOf(statuses, 200), countOf(statuses, 409)], [ORDERS - 5, 5])
      assert.equal(await stockOf(engine), 0)
    }))

  it('in an array of records, which is one transaction', () =>
    serve(true, async engine => {
      const bodies = [1, 2].map(() => ({ product: 1, note: 'a' }))
      const answers = await Promise.all(Array.from({ length: 6 }, () => engine.handle('POST', '/v1/sales', undefined, bodies)))
      assert.deepEqual(
        answers.map(({ status }) => status),
        Array.from({ length: 6 }, () => 201),
      )
      assert.equal(await stockOf(engine), ORDERS - 5 - 12)
    }))

  it('in wrappers that may not: one that meets another is 503, with nothing done, and has run once', () =>
    serve(false, async (engine, runs) => {
      const statuses = await sellAll(engine)
      assert.equal(runs.ctx.length, ORDERS)
      assert.equal(countOf(statuses, 201) + countOf(statuses, 503) + countOf(statuses, 409), ORDERS)
      assert.equal(await stockOf(engine), ORDERS - 5 - countOf(statuses, 201))
    }))
})

describe('what may run again', () => {
  it('is said by true or false', async () => {
    const create = (options: object): Promise<RestEngine> => RestEngine.create({ entities: [Product, Sale], ...options })
    await assert.rejects(
      create({ resources: [resource(Sale, { repeatable: 'yes' as never })] }),
      /resource\(Sale\): "repeatable" must be true or false/,
    )
    const route = { method: 'POST', path: '/{version}/take', handler: () => ({ status: 204 }), repeatable: 1 }
    await assert.rejects(create({ routes: [route] }), /routes: "repeatable" of POST \/\{version\}\/take must be true or false/)
  })
})
