/**
 * Keys of several parts of which one has a type that stores another value: the records that link such an owner are found, and lose their
 * link.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p, Type } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

class Slug extends Type<string, string> {
  override convertToDatabaseValue(value: string): string {
    return `slug:${value}`
  }
  override convertToJSValue(value: string): string {
    return value.replace('slug:', '')
  }
  override getColumnType(): string {
    return 'varchar(40)'
  }
}

const Page = defineEntity({
  name: 'Page',
  properties: {
    path: p.type(Slug).primary(),
    number: p.integer().primary(),
    lines: () => p.oneToMany(Line).mappedBy('page'),
    cover: () => p.oneToOne(Cover).mappedBy('page').nullable(),
  },
})
const Line = defineEntity({ name: 'Line', properties: { id: p.integer().primary(), page: () => p.manyToOne(Page).nullable() } })
const Cover = defineEntity({
  name: 'Cover',
  properties: { id: p.integer().primary(), page: () => p.oneToOne(Page).nullable() },
})
const seed = {
  pages: [
    { path: 'a', number: 1 },
    { path: 'a', number: 2 },
  ],
  lines: [1, 2, 3].map(id => ({ id, page: 'a~1' })),
  covers: [{ id: 1, page: 'a~1' }, { id: 2 }],
}

describeStores('a key with a converted part', () => {
  const make = (): ReturnType<typeof createEngine> => createEngine({ entities: [Page, Line, Cover], seed })

  it('is that of the owner of a list, which is replaced', async () => {
    await using engine = await make()
    const { status, body } = await engine.handle('PUT', '/v1/pages/a~1/lines', undefined, [2])
    assert.equal(status, 200)
    assert.deepEqual(body.page.lines, [2])
    assert.deepEqual(
      (await engine.handle('GET', '/v1/lines', { page: 'null' })).body.lines.map(({ id }: { id: number }) => id),
      [1, 3],
    )
  })

  it('is that of the other side of a one-to-one, which is replaced', async () => {
    await using engine = await make()
    assert.deepEqual((await engine.handle('PATCH', '/v1/pages/a~1', undefined, { cover: 2 })).body.page.cover, 2)
    assert.equal((await engine.handle('GET', '/v1/covers/1')).body.cover.page, null)
  })

  it('is that of a record that goes, while those that have linked it stay', async () => {
    await using engine = await make()
    assert.equal((await engine.handle('DELETE', '/v1/pages/a~1')).status, 200)
    assert.deepEqual(
      (await engine.handle('GET', '/v1/lines')).body.lines.map(({ page }: { page: unknown }) => page),
      [null, null, null],
    )
  })
})
