/** Many writes of one record at once on PostgreSQL: none is refused, and none is lost. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/postgresql'
import { Client } from 'pg'
import { RestEngine } from '../../lib/index.ts'
import { SERVER_URL, findNoServer, ownSchema } from './server-database.ts'
import type { OwnSchema } from './server-database.ts'

/** All of them wait while the others write: as many as a busy machine does in good time. */
const WRITERS = 200
const SOME = 50

const Plain = defineEntity({
  name: 'Plain',
  properties: {
    id: p.integer().primary(),
    ...Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`a${at}`, p.integer().default(0)])),
  },
})
const Counted = defineEntity({
  name: 'Counted',
  properties: { id: p.integer().primary(), text: p.string(), version: p.integer().version() },
})
const Hooked = defineEntity({
  name: 'Hooked',
  properties: { id: p.integer().primary(), text: p.string(), hits: p.integer().default(0) },
  hooks: {
    beforeUpdate: [
      ({ entity }) => {
        entity.hits++
      },
    ],
  },
})
const Box = defineEntity({ name: 'Box', properties: { id: p.integer().primary(), things: () => p.manyToMany(Thing) } })
const Thing = defineEntity({ name: 'Thing', properties: { id: p.integer().primary(), text: p.string() } })

const entities = [Plain, Counted, Hooked, Box, Thing]

const open = ({ database }: OwnSchema, options: object = {}): Promise<RestEngine> => RestEngine.create({ entities, database, ...options })

const seed = {
  plains: [{ id: 1 }],
  counteds: [{ id: 1, text: '' }],
  hookeds: [{ id: 1, text: '' }],
  things: [1, 2, 3].map(id => ({ id, text: '' })),
  boxes: [{ id: 1, things: [1] }],
}

/** Sends all writes at once; returns what each was answered with. */
const all = async (engines: readonly RestEngine[], path: string, body: (index: number) => object, writers = SOME): Promise<string[]> => {
  const answers = await Promise.all(
    Array.from({ length: writers }, (_, index) => engines[index % engines.length]!.handle('PATCH', path, undefined, body(index))),
  )
  return answers.map(({ status, body: { detail } }) => `${status} ${String(detail ?? '')}`)
}

const fine = (writers: number): string[] => Array.from({ length: writers }, () => '200 ')

describe('many writes of one record at once', { skip: await findNoServer() }, () => {
  for (const processes of [1, 3])
    describe(`by engines: ${processes}`, () => {
      let schema: OwnSchema
      let stack: AsyncDisposableStack
      const engines: RestEngine[] = []
      before(async () => {
        schema = ownSchema()
        stack = new AsyncDisposableStack()
        engines.push(stack.use(await open(schema, { seed })))
        while (engines.length < processes) engines.push(stack.use(await open(schema)))
      })
      after(async () => {
        await stack.disposeAsync()
        await schema[Symbol.asyncDispose]()
      })

      it('are all done, and none is lost', async () => {
        assert.deepEqual(await all(engines, '/v1/plains/1', index => ({ [`a${index % 20}`]: index }), WRITERS), fine(WRITERS))
        const { plain } = (await engines[0]!.handle('GET', '/v1/plains/1')).body as { plain: Record<string, number> }
        for (let at = 0; at < 20; at++) assert.equal(plain[`a${at}`]! % 20, at)
      })

      it('are all counted by a version', async () => {
        assert.deepEqual(await all(engines, '/v1/counteds/1', index => ({ text: String(index) })), fine(SOME))
        const { counted } = (await engines[0]!.handle('GET', '/v1/counteds/1')).body as { counted: { version: number } }
        assert.equal(counted.version, SOME + 1)
      })

      it('are all done to a list', async () => {
        assert.deepEqual(await all(engines, '/v1/boxes/1', index => ({ things: [1 + (index % 3)] })), fine(SOME))
        assert.equal((await schema.run('select * from box_things')).length, 1)
      })
    })

  it('are all done where code of the application runs in them, which cannot run twice', async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, { seed })
    assert.deepEqual(await all([engine], '/v1/hookeds/1', index => ({ text: String(index) })), fine(SOME))
    const { hooked } = (await engine.handle('GET', '/v1/hookeds/1')).body as { hooked: { hits: number } }
    assert.equal(hooked.hits, SOME)
  })

  it('begin anew where another session commits a change of the record behind what they have read', { timeout: 60_000 }, async () => {
    await using schema = ownSchema()
    await using engine = await open(schema, { seed })
    const { headers } = await engine.handle('GET', '/v1/counteds/1')
    const other = new Client({ connectionString: SERVER_URL })
    await other.connect()
    try {
      await other.query(`begin; update ${schema.database.schema}.counted set text = 'theirs', version = 2 where id = 1`)
      const answer = engine.send('PATCH /v1/counteds/1', { body: { text: 'ours' }, headers: { 'if-match': String(headers?.['etag']) } })
      const waiting = 'select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))'
      while ((await other.query(waiting)).rows.length === 0) await sleep(20)
      await other.query('commit')
      assert.equal((await answer).status, 412)
      assert.deepEqual(await schema.run('select text from counted'), [{ text: 'theirs' }])
    } finally {
      await other.end()
    }
  })

  it('wait no longer than their requests may take, and end with their clients', async () => {
    await using schema = ownSchema()
    let go = (): void => {}
    let isIn = (): void => {}
    const inside = new Promise<void>(resolve => (isIn = resolve))
    const gone = new Promise<void>(resolve => (go = resolve))
    const Slow = defineEntity({
      name: 'Slow',
      properties: { id: p.integer().primary(), text: p.string() },
      hooks: {
        beforeUpdate: [
          () => {
            isIn()
            return gone
          },
        ],
      },
    })
    await using engine = await RestEngine.create({ entities: [Slow], database: schema.database, seed: { slows: [{ id: 1, text: '' }] } })
    const first = engine.handle('PATCH', '/v1/slows/1', undefined, { text: 'a' })
    await inside
    const caller = new AbortController()
    const left = engine.handle('PATCH', '/v1/slows/1', undefined, { text: 'b' }, { signal: caller.signal })
    caller.abort(new Error('gone'))
    await assert.rejects(left, /gone/)
    const last = engine.handle('PATCH', '/v1/slows/1', undefined, { text: 'c' })
    go()
    assert.deepEqual([(await first).status, (await last).status], [200, 200])
    assert.deepEqual(await schema.run('select text from slow'), [{ text: 'c' }])
  })
})
