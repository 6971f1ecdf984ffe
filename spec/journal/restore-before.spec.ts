/** Going back to before a request: exactly the data that it met, also what no answer shows, or a refusal that says why. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine, createServer } from '../../lib/index.ts'
import type { Snapshot } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), label: p.string().unique() } })
const Note = defineEntity({
  name: 'Note',
  properties: {
    id: p.integer().primary(),
    text: p.string(),
    secret: p.string().hidden().nullable(),
    tags: () => p.manyToMany(Tag),
  },
})
const options = {
  entities: [Tag, Note],
  seed: {
    tags: [
      { id: 1, label: 'a' },
      { id: 2, label: 'b' },
    ],
    notes: [{ text: 'One', secret: 'old', tags: [1] }, { text: 'Two' }],
  },
}

/** Somebody looks from now on. */
async function look(engine: RestEngine): Promise<void> {
  const events = engine.events()
  await events.return?.()
}

async function secretOf(engine: RestEngine, id: number): Promise<unknown> {
  const found = await engine.orm.em.fork().findOneOrFail(Note, id)
  return found.secret
}

const idOfLast = (engine: RestEngine): number => engine.requests.at(-1)!.id

describeStores('the state before a request', () => {
  it('is that of each request that may write, and what no answer shows comes back, too', async () => {
    await using engine = await createEngine(options)
    await look(engine)
    const steps: (() => Promise<unknown>)[] = [
      () => engine.send('PATCH /v1/notes/1', { body: { text: 'Uno', secret: 'new' } }),
      () => engine.send('PUT /v1/notes/1/tags', { body: [2] }),
      () => engine.send('POST /v1/notes', { body: { text: 'Three', tags: [1, 2] } }),
      () => engine.send('POST /v1/tags', { body: { label: 'a' } }),
      () => engine.send('DELETE /v1/notes/2'),
      () => engine.send('GET /v1/notes'),
      () => engine.send('POST /v1/notes', { body: { text: 'Four' } }),
    ]
    const states: [number, Snapshot][] = []
    for (const step of steps) {
      const state = await engine.snapshot()
      await step()
      states.push([idOfLast(engine), state])
    }
    assert.equal(states.length, engine.requests.length)
    // Back and forth: the journal stays as it is.
    for (const [id, state] of [...states.toReversed(), states.at(-1)!]) {
      await engine.restore({ before: id })
      assert.deepEqual(await engine.difference(state), [], `before request ${id}`)
    }
    await engine.restore({ before: 1 })
    assert.equal(await secretOf(engine, 1), 'old')
    const { body } = await engine.send('POST /v1/notes', { body: { text: 'Again' } })
    assert.equal((body as { note: { id: number } }).note.id, 3, 'IDs go on as they did')
    assert.equal(engine.requests.length, states.length + 1)
  })

  it('is known of one that reads, unless something else has changed the data before the next write', async () => {
    await using engine = await createEngine(options)
    await look(engine)
    await engine.send('GET /v1/notes/1')
    const first = idOfLast(engine)
    await engine.restore({ before: first })
    await engine.send('DELETE /v1/notes/1')
    await engine.restore({ before: first })
    assert.equal((await engine.send('GET /v1/notes/1')).status, 200)
    const second = idOfLast(engine)
    await engine.orm.em.fork().nativeUpdate(Note, { id: 1 }, { text: 'past the engine' })
    await assert.rejects(engine.restore({ before: second }), /^Error: engine\.restore: the request has changed nothing, and something/)
    await engine.send('DELETE /v1/notes/1')
    const third = idOfLast(engine)
    await assert.rejects(engine.restore({ before: second }), /something that was not kept has changed the data/)
    await engine.restore({ before: third })
    assert.equal(((await engine.send('GET /v1/notes/1')).body as { note: { text: string } }).note.text, 'past the engine')
    await engine.reset()
    await engine.send('GET /v1/notes/1')
    const fourth = idOfLast(engine)
    await engine.restore(await engine.snapshot())
    await engine.send('DELETE /v1/notes/2')
    await assert.rejects(engine.restore({ before: fourth }), /not kept has changed/, 'what goes back has changed the data, too')
  })

  it('comes back by undo where only its requests have changed data since, and no write is lost that was running meanwhile', async () => {
    let begun: (() => void) | undefined
    let release = (): void => {}
    const Memo = defineEntity({
      name: 'Memo',
      properties: { id: p.integer().primary(), text: p.string() },
      hooks: {
        beforeUpdate: [
          async () => {
            if (begun === undefined) return
            const released = new Promise<void>(resolve => (release = resolve))
            begun()
            await released
          },
        ],
      },
    })
    await using engine = await createEngine({ entities: [Memo], seed: { memos: [{ text: 'One' }, { text: 'Two' }] } })
    await look(engine)
    const texts = async (): Promise<unknown[]> =>
      ((await engine.handle('GET', '/v1/memos')).body as { memos: { text: string }[] }).memos.map(({ text }) => text)
    const change = async (id: number, text: string): Promise<number> => {
      await engine.send(`PATCH /v1/memos/${id}`, { body: { text } })
      return idOfLast(engine)
    }
    const first = await change(1, 'Uno')
    const second = await change(2, 'Due')
    await assert.rejects(engine.restore({ undo: [first] }), {
      message: `engine.restore: PATCH /v1/memos/2 (request ${second}) has changed data since, and would be undone with it.`,
    })
    await engine.restore({ undo: [second, first] })
    assert.deepEqual(await texts(), ['One', 'Two'])
    await assert.rejects(engine.restore({ undo: [first, second] }), /the data were reset or restored/)

    const third = await change(1, 'Mine')
    await engine.orm.em.fork().nativeUpdate(Memo, { id: 2 }, { text: 'past the API' })
    await assert.rejects(engine.restore({ undo: [third] }), /something beside these requests has changed data/)

    const fourth = await change(1, 'Mine again')
    const running = new Promise<void>(resolve => (begun = resolve))
    const theirs = engine.send('PATCH /v1/memos/2', { body: { text: 'Theirs' } })
    await running
    begun = undefined
    const undone = assert.rejects(engine.restore({ undo: [fourth] }), /has changed data since/)
    await setImmediate()
    release()
    await undone
    assert.equal((await theirs).status, 200)
    assert.deepEqual(await texts(), ['Mine again', 'Theirs'])
    for (const undo of [[], [0], 7, ['7']])
      await assert.rejects(engine.restore({ undo } as never), { name: 'TypeError', message: /"undo" must be IDs of requests/ })
    await assert.rejects(engine.restore({ undo: [fourth], before: 1 }), { name: 'TypeError', message: /without "before"/ })
  })

  it('is refused where nobody has looked, and for what is no request', async () => {
    await using engine = await createEngine(options)
    await engine.send('POST /v1/tags', { body: { label: 'c' } })
    await assert.rejects(
      engine.restore({ before: 1 }),
      /^Error: engine\.restore: no state of the data was kept at that time: .* listens to its events/,
    )
    await assert.rejects(engine.restore({ before: 2 }), { name: 'RangeError', message: 'engine.restore: the journal has no request 2.' })
    await assert.rejects(engine.restore({ before: '1' as never }), { name: 'TypeError', message: /"before" must be the ID of a request/ })
    await assert.rejects(engine.restore({ before: 1, after: 2 } as never), { name: 'TypeError', message: /"after"/ })
    await assert.rejects(engine.restore({} as never), { name: 'TypeError', message: /not a snapshot/ })
  })
})

describe('the state before a request', () => {
  it('is that of the whole request, of what a handler asks for', async () => {
    await using engine = await RestEngine.create({
      ...options,
      routes: [
        {
          method: 'POST',
          path: '/{version}/both',
          handler: async ctx => ({
            body: [await ctx.ask('POST', '/tags', undefined, { label: 'c' }), await ctx.ask('DELETE', '/notes/1')],
          }),
        },
      ],
    })
    await look(engine)
    const before = await engine.snapshot()
    assert.equal((await engine.send('POST /v1/both')).status, 200)
    const nested = engine.requests.find(entry => entry.nested)!
    await assert.rejects(engine.restore({ before: nested.id }), /a part of another request/)
    await engine.restore({ before: engine.requests.find(entry => !entry.nested)!.id })
    assert.deepEqual(await engine.difference(before), [])
  })

  it('is kept of the newest requests, and of data that are not too large', async () => {
    await using engine = await RestEngine.create(options)
    await look(engine)
    for (let each = 0; each < 203; each++) await engine.send('POST /v1/tags', { body: { label: `tag ${each}` } })
    await assert.rejects(engine.restore({ before: 3 }), /not kept any more/)
    await engine.restore({ before: 4 })
    assert.equal(((await engine.send('GET /v1/tags')).body as { count: number }).count, 5)
    await engine.orm.em.fork().insert(Note, { text: 'x'.repeat(17 << 20) })
    await engine.send('DELETE /v1/notes/1')
    await assert.rejects(engine.restore({ before: idOfLast(engine) }), /the data have more than 16 MiB/)
  })

  it('is that of a file, too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'restore-before-'))
    try {
      await using engine = await RestEngine.create({ ...options, database: join(folder, 'a.sqlite') })
      await look(engine)
      await engine.send('DELETE /v1/notes/1')
      await engine.restore({ before: 1 })
      assert.equal((await engine.send('GET /v1/notes/1')).status, 200)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('is gone back to over HTTP, which says of each request whether that is possible', async () => {
    await using engine = await RestEngine.create(options)
    const server = createServer(engine, { testControls: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const ask = async (method: string, path: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }> => {
        const sent = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
        const answer = await fetch(origin + path, { method, ...sent })
        return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
      }
      await ask('DELETE', '/v1/notes/2')
      assert.match(
        ((await ask('GET', '/_test/requests/1')).body['unavailable'] as { restore: string }).restore,
        /^No state of the data was kept .*\.$/,
      )
      const refused = await ask('POST', '/_test/restore', { before: 1 })
      assert.deepEqual([refused.status, refused.body['code']], [405, 'method_not_allowed'])
      assert.equal((await ask('POST', '/_test/restore', { before: 99 })).status, 400)
      assert.equal((await ask('POST', '/_test/restore', { befor: 1 })).status, 400)
      assert.equal((await ask('POST', '/_test/restore', { undo: [99] })).status, 400)
      const end = new AbortController()
      const events = await fetch(`${origin}/_test/events`, { signal: end.signal })
      await events.body!.getReader().read()
      await ask('DELETE', '/v1/notes/1')
      assert.deepEqual((await ask('GET', '/_test/requests/2')).body['unavailable'], {})
      assert.equal((await ask('POST', '/_test/restore', { undo: [2] })).status, 200)
      assert.equal((await ask('GET', '/v1/notes/1')).status, 200)
      await ask('GET', '/v1/notes/1')
      await engine.orm.em.fork().nativeUpdate(Note, { id: 1 }, { text: 'past the engine' })
      await ask('GET', '/v1/notes/1')
      assert.match(
        ((await ask('GET', '/_test/requests/4')).body['unavailable'] as { restore: string }).restore,
        /^The request has changed nothing, .*\.$/,
      )
      const { marks } = (await ask('GET', '/_test/requests')).body as { marks: { type: string; snapshot: string }[] }
      assert.deepEqual(
        marks.map(({ type, snapshot }) => [type, snapshot]),
        [['restore', 'before request 2']],
      )
      end.abort()
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })
})
