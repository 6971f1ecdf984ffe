/** Types by the names that decorators and EntitySchema take, and those that the compiler has emitted nothing for. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { EntitySchema } from '@mikro-orm/core'
import { ReflectMetadataProvider } from '@mikro-orm/decorators/legacy'
import * as legacy from '@mikro-orm/decorators/legacy'
// oxlint-disable-next-line import/no-unassigned-import -- it adds to the global Reflect
import 'reflect-metadata'
import type { RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

/** By the name of a type: a value that it takes, as it is shown, and one that it does not take. */
const NAMES: Record<string, readonly [good: unknown, bad: unknown]> = {
  string: ['a', 5],
  varchar: ['a', 5],
  'character varying': ['a', 5],
  character: ['a', 5],
  text: ['a', 5],
  interval: ['1 day', 5],
  int: [5, 'a'],
  integer: [5, 1.5],
  number: [5, 'a'],
  smallint: [5, 'a'],
  tinyint: [5, 'a'],
  mediumint: [5, 'a'],
  bigint: ['9007199254740993', 'a'],
  float: [1.5, 'a'],
  double: [1.5, 'a'],
  'double precision': [1.5, 'a'],
  decimal: ['5', 'a'],
  numeric: ['5', 'a'],
  boolean: [true, 'a'],
  blob: ['aGVsbG8=', '?'],
  buffer: ['aGVsbG8=', '?'],
  Buffer: ['aGVsbG8=', '?'],
  uint8array: ['aGVsbG8=', '?'],
  Uint8Array: ['aGVsbG8=', '?'],
  uuid: ['5f0c2ab6-4ea4-4d1b-9d2f-0a5a1b1f4b33', 'nope'],
  date: ['2026-01-31', '2026-13-31'],
  datetime: ['2026-01-31T12:00:00.000Z', 'a'],
  Date: ['2026-01-31T12:00:00.000Z', 'a'],
  timestamp: ['2026-01-31T12:00:00.000Z', 'a'],
  'timestamp with time zone': ['2026-01-31T12:00:00.000Z', 'a'],
  time: ['12:00:00', 'a'],
  json: [{ a: [1] }, undefined],
  jsonb: [{ a: [1] }, undefined],
  object: [{ a: [1] }, undefined],
  array: [['a', 'b'], 'a'],
  'string[]': [['a', 'b'], 'a'],
}

class Note {
  declare id: number
  declare title: string | null
  declare short: string | null
  declare draft: unknown
}

function decorate(target: object, name: string, type: unknown, decorator: unknown): void {
  Reflect.defineMetadata('design:type', type, target, name)
  ;(decorator as (target: object, name: string) => void)(target, name)
}
// As the compiler emits it: `Object` for a union, and for what has no class.
decorate(Note.prototype, 'id', Number, legacy.PrimaryKey())
decorate(Note.prototype, 'title', Object, legacy.Property({ nullable: true }))
decorate(Note.prototype, 'short', Object, legacy.Property({ nullable: true, length: 3 }))
decorate(Note.prototype, 'draft', Object, legacy.Property({ persist: false }))
;(legacy.Entity() as (target: object) => void)(Note)

/** The types that PostgreSQL's own words do not name. */
const FOREIGN: readonly string[] = ['mediumint']

describeStores('types by name', store => {
  const served = Object.keys(NAMES).filter(name => store.name === 'memory' || !FOREIGN.includes(name))
  /** By the name of a type, that of its entity: types may differ in case alone. */
  const entityOf = (name: string): string => `thing${served.indexOf(name)}`
  let engine: RestEngine
  before(async () => {
    const entities = served.map(name => {
      const properties = { id: { type: 'integer', primary: true }, it: { type: name as 'string', nullable: true } } as const
      return new EntitySchema<{ id: number; it: unknown }>({ name: entityOf(name), properties })
    })
    engine = await createEngine({ entities })
  })
  after(() => engine.close())

  for (const [name, [good, bad]] of Object.entries(NAMES)) {
    it(
      `${name}: takes what it is, refuses what it is not, and finds it again`,
      store.except(FOREIGN.includes(name) && 'foreign words'),
      async () => {
        const path = `/v1/${entityOf(name)}s`
        const made = await engine.handle('POST', path, undefined, { it: good })
        assert.equal(made.status, 200, JSON.stringify(made.body))
        const { body } = await engine.handle('GET', `${path}/1`)
        assert.deepEqual(body, { ...(body as object), [entityOf(name)]: { id: 1, it: good } })
        if (bad !== undefined) assert.equal((await engine.handle('POST', path, undefined, { it: bad })).status, 422)
        if (typeof good === 'object' || /blob|buffer|uint8/i.test(name)) return
        const found = await engine.handle('GET', path, { it: good as string })
        assert.equal((found.body as { count: number }).count, 1, JSON.stringify(found.body))
      },
    )
  }

  it('a union with null under reflect-metadata, where the compiler emits no type, is a text like the column', async () => {
    await using engine = await createEngine({ entities: [Note], orm: { metadataProvider: ReflectMetadataProvider } })
    const made = await engine.handle('POST', '/v1/notes', undefined, { title: '007', draft: { any: 1 } })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    assert.deepEqual((made.body as { note: object }).note, { id: 1, title: '007', short: null })
    const long = await engine.handle('PUT', '/v1/notes/1', undefined, { title: 'x'.repeat(300), short: 'abcd' })
    assert.deepEqual(
      long.body.errors.map(({ code, attribute }: { code: string; attribute: string }) => [code, attribute]),
      [['too_long', 'short']],
    )
    const refused = await engine.handle('PUT', '/v1/notes/1', undefined, { title: 5 })
    assert.equal(refused.status, 422)
    assert.ok(
      engine.notes.some(note => note.startsWith('Note.title: ')),
      engine.notes.join('\n'),
    )
  })

  it(
    'a name that MikroORM does not know is a text, as MikroORM stores it, and a note names it',
    store.except('foreign words'),
    async () => {
      const Place = new EntitySchema<{ _id: string; email: string; at: unknown; code: unknown }>({
        name: 'Place',
        properties: {
          _id: { type: 'ObjectId', primary: true },
          // As the compiler emits it of `Ref<string>`, and of a class of the application with the type of a column.
          email: { type: 'Reference' as 'string', runtimeType: 'Reference', unique: true, lazy: true },
          at: { type: 'point', runtimeType: 'Point', nullable: true },
          code: { type: 'strng' as 'string', nullable: true },
        },
      })
      await using engine = await createEngine({ entities: [Place] })
      const place = { _id: '123456789012345678901234', email: '007', at: '1,2', code: '1e3' }
      const made = await engine.handle('POST', '/v1/places', undefined, place)
      assert.deepEqual([made.status, (made.body as { place: object }).place], [200, place])
      const changed = await engine.handle('PUT', '/v1/places/123456789012345678901234', undefined, { code: '0x1', email: '0.10' })
      assert.deepEqual((changed.body as { place: object }).place, { ...place, code: '0x1', email: '0.10' })
      assert.equal((await engine.handle('PUT', '/v1/places/123456789012345678901234', undefined, { code: 1 })).status, 422)
      const found = await engine.handle('GET', '/v1/places', { code: '0x*', 'email>=': '0', sort: 'at' })
      assert.equal((found.body as { count: number }).count, 1)
      const given = await engine.given('place')
      assert.equal(typeof given['_id'], 'string')
      const noted = engine.notes.filter(note => note.includes('is not known'))
      assert.deepEqual(
        noted.map(note => /^Place\.\w+: its type "\w+"/.exec(note)?.[0]),
        ['Place._id: its type "ObjectId"', 'Place.email: its type "Reference"', 'Place.code: its type "strng"'],
      )
    },
  )
})
