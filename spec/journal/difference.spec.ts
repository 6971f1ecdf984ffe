/** The difference of two states: the records that a test has changed, whatever has happened in between. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { resource } from '../../lib/index.ts'
import type { Change } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), label: p.string() } })
const Note = defineEntity({
  name: 'Note',
  properties: {
    id: p.integer().primary(),
    slug: p.string().unique(),
    text: p.string(),
    secret: p.string().hidden().nullable(),
    tags: () => p.manyToMany(Tag),
  },
})
const Rank = defineEntity({
  name: 'Rank',
  properties: { note: () => p.manyToOne(Note).primary(), place: p.string().primary(), points: p.integer() },
})
const seed = {
  tags: [
    { id: 1, label: 'a' },
    { id: 2, label: 'b' },
  ],
  notes: [
    { id: 1, slug: 'one', text: 'One', tags: [1] },
    { id: 2, slug: 'two', text: 'Two', secret: 'hush-hush' },
  ],
  ranks: [{ note: 1, place: 'x~y', points: 1 }],
}

const brief = (changes: readonly Change[]): string[] => changes.map(({ type, resource: name, id }) => `${type} ${name} ${id}`)

describeStores('the difference of two states', () => {
  it('has what was inserted, changed and deleted, also past the engine, and nothing else', async () => {
    await using engine = await createEngine({ entities: [Tag, Note, Rank], seed })
    const before = await engine.snapshot()
    assert.deepEqual(await engine.difference(before), [])
    await engine.send('POST /v1/notes', { body: { slug: 'three', text: 'Three' } })
    await engine.send('PATCH /v1/notes/1', { body: { text: 'Uno' } })
    await engine.send('DELETE /v1/tags/2')
    const em = engine.orm.em.fork()
    await em.nativeUpdate(Rank, { place: 'x~y' }, { points: 7 })
    const changes = await engine.difference(before)
    assert.deepEqual(brief(changes).toSorted(), ['delete tags 2', 'insert notes 3', 'update notes 1', 'update ranks 1~x%7Ey'])
    assert.deepEqual(
      changes.find(({ resource: name }) => name === 'ranks'),
      {
        type: 'update',
        resource: 'ranks',
        id: '1~x%7Ey',
        before: { note: 1, place: 'x~y', points: 1 },
        after: { note: 1, place: 'x~y', points: 7 },
      },
    )
    const after = await engine.snapshot()
    await engine.reset()
    assert.deepEqual(await engine.difference(before), [], 'what was taken back is no difference')
    assert.deepEqual(brief(await engine.difference(before, after)).toSorted(), brief(changes).toSorted())
    assert.deepEqual(
      brief(await engine.difference(after, before)).filter(each => each.includes('tags')),
      ['insert tags 2'],
    )
  })

  it('is what the journal has of one request, lists included', async () => {
    await using engine = await createEngine({ entities: [Tag, Note, Rank], seed })
    for (const [line, body] of [
      ['PATCH /v1/notes/1', { text: 'Uno' }],
      ['PUT /v1/notes/1/tags', [2, 1]],
      ['POST /v1/notes', { slug: 'three', text: 'Three', tags: [1] }],
      ['DELETE /v1/notes/2', undefined],
    ] as const) {
      const before = await engine.snapshot()
      const { status } = await engine.send(line, { body })
      assert.equal(status, 200)
      const found = await engine.difference(before)
      const noted = engine.requests.at(-1)!.changes!
      assert.deepEqual(brief(found), brief(noted), line)
      // The journal shows lists where they have changed; here they are part of each record.
      for (const [index, { before: was, after: is }] of noted.entries()) {
        assert.deepEqual({ ...found[index]!.before, ...was }, found[index]!.before ?? {})
        assert.deepEqual({ ...found[index]!.after, ...is }, found[index]!.after ?? {})
      }
      assert.doesNotMatch(JSON.stringify(found), /hush|secret/)
    }
  })

  it('calls records by the key that clients know', async () => {
    await using engine = await createEngine({
      entities: [Tag, Note],
      seed: { tags: seed.tags, notes: seed.notes },
      resources: [resource(Note, { key: 'slug' })],
    })
    const before = await engine.snapshot()
    await engine.send('PATCH /v1/notes/two', { body: { text: 'Dos' } })
    assert.deepEqual(brief(await engine.difference(before)), ['update notes two'])
  })
})
