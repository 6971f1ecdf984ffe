/** Changes and deletions of the records that filters choose: `PATCH /v1/notes?done=true&limit=50`. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { client, resource } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { describeTargets, type Target } from '../helpers/targets.ts'

const Note = defineEntity({
  name: 'Note',
  properties: {
    id: p.integer().primary(),
    title: p.string().length(20),
    code: p.string().unique().nullable(),
    stars: p.integer().default(0),
    parent: () => p.manyToOne(Note).nullable().deleteRule('cascade'),
    notes: () => p.oneToMany(Note).mappedBy('parent'),
  },
})
const entities = [Note]
const seed = { notes: [1, 2, 3, 4, 5].map(id => ({ id, title: `note ${id}`, code: `c${id}`, stars: id % 2, parent: id === 3 ? 1 : null })) }

type Shown = Record<string, unknown>

async function all(target: Target): Promise<unknown[]> {
  const { body } = await target.call('GET', '/v1/notes')
  return (body['notes'] as Shown[]).map(({ id, stars }) => `${id as number}:${stars as number}`)
}

const WHOLE = ['1:1', '2:0', '3:1', '4:0', '5:1']

describeTargets('changes of many records', { entities, seed, limits: { maxLimit: 10 } }, target => {
  it('change what the filters choose, and nothing else', async () => {
    const { status, body } = await target.call('PATCH', '/v1/notes', { stars: 1, limit: 3, attributes: 'id,stars' }, { stars: 7 })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body['count'], body['status'], body['resource']], [3, 'OK', 'notes'])
    assert.deepEqual(
      body['notes'],
      [1, 3, 5].map(id => ({ id, stars: 7 })),
    )
    assert.deepEqual(await all(target), ['1:7', '2:0', '3:7', '4:0', '5:7'])
    const none = await target.call('PATCH', '/v1/notes', { title: 'nope', limit: 1 }, { stars: 1 })
    assert.deepEqual([none.status, none.body['count'], none.body['notes']], [200, 0, []])
  })

  it('delete what the filters choose, also what goes with another', async () => {
    const { status, body } = await target.call('DELETE', '/v1/notes', { 'id<': 4, limit: 3 })
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal((body['notes'] as Shown[])[0]!['title'], 'note 1')
    assert.deepEqual(await all(target), ['4:0', '5:1'])
  })

  it('change nothing where more records match, one is refused, or a filter or the limit is missing', async () => {
    const cases: [method: string, query: object, body: unknown, status: number, detail: RegExp][] = [
      ['PATCH', { stars: 1, limit: 2 }, { stars: 7 }, 400, /3 notes match, and "limit" is 2/],
      ['DELETE', { stars: 1, limit: 2 }, undefined, 400, /3 notes match/],
      ['DELETE', { stars: 1, limit: 0 }, undefined, 400, /3 notes match/],
      ['PATCH', { stars: 1 }, { stars: 7 }, 400, /needs a filter and a limit.*lacks "limit"/],
      ['DELETE', { stars: 1 }, undefined, 400, /lacks "limit"/],
      ['DELETE', { limit: 3 }, undefined, 400, /lacks a filter/],
      ['DELETE', { depth: 0, limit: 3 }, undefined, 400, /lacks a filter/],
      ['DELETE', { stars: 1, limit: 11 }, undefined, 400, /at most 10 records/],
      ['DELETE', { stars: 1, limit: 3, sort: 'id' }, undefined, 400, /not "sort"/],
      ['DELETE', { star: 1, limit: 3 }, undefined, 400, /Did you mean "stars"/],
      ['PATCH', { stars: 1, limit: 3 }, { code: 'same' }, 409, /^note 3: /],
      ['PATCH', { stars: 1, limit: 3 }, { title: 'x'.repeat(30) }, 422, /^note 1: .*title/],
      ['PATCH', { stars: 1, limit: 3 }, { titel: 'x' }, 422, /titel/],
      ['PATCH', { title: 'nope', limit: 3 }, [1], 400, /object/],
      ['DELETE', {}, undefined, 405, /A filter and a limit choose records/],
      ['PATCH', {}, { stars: 1 }, 405, /not allowed/],
      ['PUT', { stars: 1, limit: 3 }, { stars: 1 }, 405, /not allowed/],
    ]
    for (const [method, query, body, status, detail] of cases) {
      const answer = await target.call(method, '/v1/notes', query as never, body)
      assert.equal(answer.status, status, `${method} ${JSON.stringify(query)}: ${JSON.stringify(answer.body)}`)
      assert.match(answer.body['detail'] as string, detail)
      assert.deepEqual(await all(target), WHOLE)
    }
    const refused = await target.call('DELETE', '/v1/notes', { stars: 1, limit: 2 })
    assert.deepEqual((refused.body['errors'] as Shown[])[0]!['code'], 'limit_exceeded')
  })
})

describeStores('changes of many records, by rules', () => {
  it('ask rules, wrappers and write rules for each record', async () => {
    const seen: unknown[] = []
    const resources = [
      resource(Note, {
        scope: () => ({ id: { $lt: 5 } }),
        write: ctx => (ctx.headers['x-admin'] === undefined ? { id: { $ne: 3 } } : true),
        access: { delete: ctx => ctx.headers['x-admin'] !== undefined },
        update: (ctx, next) => {
          seen.push(ctx.id)
          return next()
        },
      }),
    ]
    await using engine = await createEngine({ entities, seed, resources })
    const send = (method: string, headers = {}) =>
      engine.handle(method, '/v1/notes', { stars: 1, limit: 5 }, method === 'PATCH' ? { stars: 9 } : undefined, { headers })
    assert.equal((await send('PATCH')).status, 403)
    assert.equal(((await engine.handle('GET', '/v1/notes', { stars: 9 })).body as { count: number }).count, 0)
    const done = await send('PATCH', { 'x-admin': '1' })
    assert.deepEqual([done.status, (done.body as { count: number }).count], [200, 2])
    assert.deepEqual(seen.map(String), ['1', '3', '1', '3'])
    assert.equal((await engine.handle('DELETE', '/v1/notes', { stars: 9, limit: 5 })).status, 403)
    const gone = await engine.handle('DELETE', '/v1/notes', { stars: 9, limit: 5 }, undefined, { headers: { 'x-admin': '1' } })
    assert.equal(gone.status, 200)
  })

  it('work by the typed client', async () => {
    await using engine = await createEngine({ entities, seed })
    const api = client(engine, { notes: Note })
    const changed = await api.notes.updateWhere({ stars: 1, limit: 5 }, { stars: 2 })
    assert.deepEqual([changed.count, changed.items.map(({ stars }) => stars)], [3, [2, 2, 2]])
    assert.equal((await api.notes.deleteWhere({ stars: 0, limit: 5 })).count, 2)
  })
})
