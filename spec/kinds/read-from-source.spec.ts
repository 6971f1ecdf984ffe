/**
 * Entities whose types MikroORM's TsMorphMetadataProvider reads from the source: what plain MikroORM makes of them is what the engine
 * serves.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { it } from 'node:test'
import { TsMorphMetadataProvider } from '@mikro-orm/reflection'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { Address, Author, Book } from './read-from-source/entities.ts'

/** Reads the sources once for all stores: to load them takes a processor seconds. */
class SharedSources extends TsMorphMetadataProvider {
  static #first: SharedSources | undefined

  override loadEntityMetadata(...given: Parameters<TsMorphMetadataProvider['loadEntityMetadata']>): void {
    const first = (SharedSources.#first ??= this)
    this['project'] ??= first['project']
    this['sources'] ??= first['sources']
    super.loadEntityMetadata(...given)
  }
}

const ANN = {
  id: 1,
  name: 'Ann',
  age: null,
  big: '9007199254740993',
  born: '2020-01-01T00:00:00.000Z',
  active: true,
  nicknames: ['An', 'A'],
  size: 'small',
  kind: 1,
  colour: 'red',
  colours: ['red', 'blue'],
  extra: { level: 3 },
  address: { street: 'High Street', zip: 12 },
  friend: null,
  books: [],
}

describeStores('types that are read from the source', () => {
  it('are served as those that decorators say, enums and unions of texts included', async () => {
    const entities = [Author, Book, Address]
    await using engine = await createEngine({ entities, orm: { metadataProvider: SharedSources } })
    assert.deepEqual(
      engine.notes.filter(note => /size|kind|colour\b/.test(note)),
      [],
    )
    assert.equal(existsSync('temp'), false)
    const { books: _books, ...body } = ANN
    const created = await engine.handle('POST', '/v1/authors', undefined, body)
    assert.deepEqual(created.body.author ?? created.body, ANN)
    await engine.handle('POST', '/v1/books', undefined, { id: 'b', title: 'One', author: 1, readers: [1] })
    for (const query of ['kind=1', 'kind>0', 'colour=red', 'size=small', 'big=9007199254740993', 'address.zip>=12', 'books.title=One'])
      assert.equal((await engine.handle('GET', '/v1/authors', query)).body.count, 1, query)
    const refused = await engine.handle('POST', '/v1/authors', undefined, {
      ...body,
      id: 2,
      kind: 9,
      colour: 'green',
      size: 'huge',
      colours: ['x'],
    })
    assert.equal(refused.status, 422)
    const of = (name: string): string =>
      refused.body.errors.find(({ attribute }: { attribute: string }) => attribute.startsWith(name)).detail
    assert.equal(of('kind'), '"kind" must be one of 0, 1.')
    assert.equal(of('size'), '"size" must be one of "small", "large".')
    assert.match(of('colour'), /must be one of "red", "blue"\.$/)
    assert.match(of('colours'), /must be an array of "red", "blue"/)
    const em = engine.orm.em.fork()
    const { kind, colour, size, big } = await em.findOneOrFail(Author, { id: 1 })
    assert.deepEqual([kind, colour, size, big], [1, 'red', 'small', 9007199254740993n])
  })
})
