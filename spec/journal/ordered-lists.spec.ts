/**
 * The changes of lists with an order of their own: `before` is the list as it was read before the request, whichever way of writing the
 * request took.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import type { Change, RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores, suiteEngine } from '../helpers/stores.ts'

const Song = defineEntity({
  name: 'Song',
  properties: { id: p.string().primary(), length: p.integer(), charts: () => p.manyToMany(Album).mappedBy('songs') },
})
const Seat = defineEntity({
  name: 'Seat',
  properties: { row: p.integer().primary(), letter: p.string().primary() },
})
const Album = defineEntity({
  name: 'Album',
  properties: {
    id: p.integer().primary(),
    songs: () => p.manyToMany(Song).inversedBy('charts').fixedOrder(),
    longest: () => p.manyToMany(Song).orderBy({ length: 'desc' }),
    seats: () => p.manyToMany(Seat),
    places: () => p.manyToMany(Seat).fixedOrder(),
  },
})
const entities = [Song, Seat, Album]
const seed = {
  songs: [...'abcd'].map((id, index) => ({ id, length: [3, 1, 4, 2][index] })),
  seats: [10, 9].flatMap(row => ['a', 'b'].map(letter => ({ row, letter }))),
  albums: [{ id: 1, songs: ['d', 'a', 'c'], longest: ['a', 'b', 'c'], seats: ['9~b', '10~a', '9~a'], places: ['10~b', '9~a', '10~a'] }],
}

/** The two ways of writing: by statements of a plan, and, since a subscriber listens, by the unit of work. */
const WAYS = [
  ['statements', {}],
  ['the unit of work', { subscribers: [{ afterFlush: (): void => {} }] }],
] as const

async function changesOf(engine: RestEngine, ...request: Parameters<RestEngine['handle']>): Promise<readonly Change[]> {
  const { status, body } = await engine.handle(...request)
  assert.ok(status < 300, JSON.stringify(body))
  return engine.requests.at(-1)!.changes!
}

async function readList(engine: RestEngine, name: string): Promise<unknown> {
  const { body } = await engine.handle('GET', '/v1/albums/1')
  return (body as { album: Record<string, unknown> }).album[name]
}

describeStores('the journal of ordered lists', () => {
  for (const [way, orm] of WAYS) {
    describe(`written by ${way}`, () => {
      const served = suiteEngine({ entities, seed, orm })

      it('shows a list with a fixed order as it was', async () => {
        const engine = served()
        const steps: [unknown, unknown[]][] = [
          [
            ['c', 'd', 'a'],
            ['d', 'a', 'c'],
          ],
          [
            ['c', 'a'],
            ['c', 'd', 'a'],
          ],
          [
            ['b', 'a', 'd'],
            ['c', 'a'],
          ],
          [
            ['a', 'd', 'c', 'b'],
            ['b', 'a', 'd'],
          ],
          [['d'], ['a', 'd', 'c', 'b']],
          [[], ['d']],
        ]
        for (const [songs, before] of steps) {
          const changes = await changesOf(engine, 'PUT', '/v1/albums/1', undefined, { songs })
          assert.deepEqual(changes, [{ type: 'update', resource: 'albums', id: 1, before: { songs: before }, after: { songs } }])
          assert.deepEqual(await readList(engine, 'songs'), songs)
        }
      })

      it('shows it as it was, when a member leaves from the other side or is deleted', async () => {
        const engine = served()
        assert.deepEqual(await changesOf(engine, 'PUT', '/v1/songs/a/charts', undefined, []), [
          { type: 'update', resource: 'albums', id: 1, before: { songs: ['d', 'a', 'c'] }, after: { songs: ['d', 'c'] } },
        ])
        const [change] = (await changesOf(engine, 'DELETE', '/v1/songs/d')).filter(({ resource }) => resource === 'albums')
        assert.deepEqual([change?.before, change?.after], [{ songs: ['d', 'c'] }, { songs: ['c'] }])
      })

      it('shows it in the order of the keys, when members with a key of several parts are deleted', async () => {
        const engine = served()
        const seatsOf = (changes: readonly Change[]): unknown => changes.find(({ resource }) => resource === 'albums')?.before?.['seats']
        await engine.handle('POST', '/v1/seats', undefined, { row: 100, letter: 'a' })
        await engine.handle('PUT', '/v1/albums/1', undefined, { seats: ['100~a', '10~b', '9~b', '10~a', '9~a'] })
        const whole = ['9~a', '9~b', '10~a', '10~b', '100~a']
        assert.deepEqual(seatsOf(await changesOf(engine, 'DELETE', '/v1/albums/1/seats', { row: 10 })), whole)
        await engine.handle('POST', '/v1/albums/1/seats', undefined, { row: 10, letter: 'a' })
        await engine.handle('POST', '/v1/albums/1/seats', undefined, { row: 10, letter: 'b' })
        assert.deepEqual(seatsOf(await changesOf(engine, 'DELETE', '/v1/albums/1/seats')), whole)
      })

      it('shows the members of an order of the model that are deleted by their keys, at its end', async () => {
        const engine = served()
        const [change] = (await changesOf(engine, 'DELETE', '/v1/albums/1/longest')).filter(({ resource }) => resource === 'albums')
        assert.deepEqual(change?.before, { songs: ['d', 'a', 'c'], longest: ['a', 'b', 'c'] })
      })

      it('shows the list of a record that is deleted', async () => {
        const engine = served()
        const [change] = await changesOf(engine, 'DELETE', '/v1/albums/1')
        assert.deepEqual(change, {
          type: 'delete',
          resource: 'albums',
          id: 1,
          before: {
            id: 1,
            songs: ['d', 'a', 'c'],
            longest: ['c', 'a', 'b'],
            seats: ['9~a', '9~b', '10~a'],
            places: ['10~b', '9~a', '10~a'],
          },
          after: null,
        })
      })

      it('shows a list in an order of the model, or of a key of several parts, as it was', async () => {
        const engine = served()
        assert.deepEqual(await changesOf(engine, 'PUT', '/v1/albums/1', undefined, { longest: ['d', 'b'] }), [
          { type: 'update', resource: 'albums', id: 1, before: { longest: ['c', 'a', 'b'] }, after: { longest: ['d', 'b'] } },
        ])
        assert.deepEqual(await changesOf(engine, 'PUT', '/v1/albums/1', undefined, { seats: ['10~b', '9~b'] }), [
          { type: 'update', resource: 'albums', id: 1, before: { seats: ['9~a', '9~b', '10~a'] }, after: { seats: ['9~b', '10~b'] } },
        ])
        assert.deepEqual(await changesOf(engine, 'PUT', '/v1/albums/1', undefined, { places: ['10~a', '10~b'] }), [
          {
            type: 'update',
            resource: 'albums',
            id: 1,
            before: { places: ['10~b', '9~a', '10~a'] },
            after: { places: ['10~a', '10~b'] },
          },
        ])
      })
    })
  }

  it('shows it at the end of a list in an order of the model, when a member is gone that the order went by', async () => {
    await using engine = await createEngine({ entities, seed })
    const changes = await changesOf(engine, 'DELETE', '/v1/songs/c')
    const [change] = changes.filter(({ resource }) => resource === 'albums')
    assert.deepEqual(change?.before, { songs: ['d', 'a', 'c'], longest: ['a', 'b', 'c'] })
  })
})
