/**
 * Every row of the reference's table of values: write, read, filter, sort, NULL, and a value that is none. A row that is added there has to
 * be added here.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p, quote, Type } from '@mikro-orm/sqlite'
import type { RestEngine } from '../../lib/index.ts'
import { tableBelow } from '../helpers/markdown.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

class CentsType extends Type<number, number> {
  override convertToDatabaseValue(value: number): number {
    if (value === null) return value
    if (typeof value !== 'number') throw new TypeError('not an amount')
    return Math.round(value * 100)
  }

  override convertToJSValue(value: number): number {
    return value === null ? value : value / 100
  }

  override getColumnType(): string {
    return 'integer'
  }
}

const Place = defineEntity({ name: 'Place', embeddable: true, properties: { city: p.string(), zip: p.integer().nullable() } })
const Pet = defineEntity({
  name: 'Pet',
  embeddable: true,
  abstract: true,
  discriminatorColumn: 'type',
  properties: { type: p.enum(['cat', 'dog']) },
})
const Cat = defineEntity({ name: 'Cat', embeddable: true, extends: Pet, discriminatorValue: 'cat', properties: { lives: p.integer() } })
const Dog = defineEntity({ name: 'Dog', embeddable: true, extends: Pet, discriminatorValue: 'dog', properties: { tricks: p.integer() } })
const Extra = defineEntity({ name: 'Extra', properties: { id: p.integer().primary() } })
const Other = defineEntity({ name: 'Other', properties: { id: p.integer().primary(), of: () => p.manyToOne(Thing).nullable() } })
const ThingSchema = defineEntity({
  name: 'Thing',
  properties: {
    id: p.integer().primary(),
    integer: p.integer().nullable(),
    float: p.float().nullable(),
    double: p.double().nullable(),
    bigint: p.bigint().nullable(),
    decimal: p.decimal().precision(10).scale(2).nullable(),
    string: p.string().length(5).nullable(),
    text: p.text().nullable(),
    enum: p.enum(['a', 'b']).nullable(),
    boolean: p.boolean().nullable(),
    datetime: p.datetime(3).nullable(),
    date: p.date().nullable(),
    time: p.time().nullable(),
    uuid: p.uuid().nullable(),
    blob: p.blob().nullable(),
    uint8array: p.uint8array().nullable(),
    json: p.json<unknown>().nullable(),
    array: p.array().nullable(),
    enumArray: p.enum(['a', 'b']).array().nullable(),
    custom: p.type(CentsType).nullable(),
    embedded: () => p.embedded(Place).nullable(),
    embeddedArray: () => p.embedded(Place).array().nullable(),
    polymorphic: () => p.embedded([Cat, Dog]).nullable(),
    generated: p
      .integer()
      .generated(columns => quote`(${columns.integer!} * 2) virtual`)
      .nullable(),
    formula: p.formula(columns => quote`${columns.integer!} + 1`).type('integer' as never),
    getter: p.integer().persist(false).getter(),
    serializer: p
      .integer()
      .serializer((value: number | null) => (value === null ? null : `#${value}`))
      .nullable(),
    unstored: p.string().persist(false).nullable(),
    hidden: p.string().hidden().nullable(),
    lazy: p.text().lazy().nullable(),
    groups: p.string().groups('private').nullable(),
    version: p.integer().version(),
    one: () => p.manyToOne(Other).nullable(),
    many: () => p.oneToMany(Other).mappedBy('of'),
    several: () => p.manyToOne([Other, Extra]).nullable(),
  },
})
class Thing extends ThingSchema.class {
  override get getter(): number {
    return (this.integer ?? 0) * 3
  }
}
ThingSchema.setClass(Thing)

const NEVER = Symbol('never shown, or refused')

interface Row {
  readonly property: string
  /** Two values as they are written, the first the smaller one; NEVER: refused in bodies. */
  readonly write: readonly [unknown, unknown] | typeof NEVER
  /** What is shown of them; default: the same. */
  readonly read?: readonly [unknown, unknown] | typeof NEVER
  /** A filter that finds the first, and only it; NEVER: refused. */
  readonly filter: readonly [name: string, value: string] | typeof NEVER
  /** The path that sorts them; NEVER: refused. */
  readonly sort: string | typeof NEVER
  /** What `null` is shown as; NEVER: it is refused. */
  readonly empty: unknown
  readonly bad: unknown
}

const plain = (property: string, write: readonly [unknown, unknown], text: string, bad: unknown, more: Partial<Row> = {}): Row => ({
  property,
  write,
  filter: [property, text],
  sort: property,
  empty: null,
  bad,
  ...more,
})
const opaque = (property: string, write: readonly [unknown, unknown], bad: unknown): Row => ({
  property,
  write,
  filter: NEVER,
  sort: NEVER,
  empty: null,
  bad,
})
const derived = (property: string, read: readonly [unknown, unknown], filter: Row['filter'], empty: unknown): Row => ({
  property,
  write: NEVER,
  read,
  filter,
  sort: filter === NEVER ? NEVER : property,
  empty,
  bad: 1,
})

/** By the names of the reference's first column. */
const ROWS: Record<string, Row> = {
  integer: plain('integer', [1, 2], '1', 1.5),
  float: plain('float', [-0.5, 2], '-0.5', 'x'),
  double: plain('double', [0.1, 0.2], '0.1', true),
  bigint: plain('bigint', ['9007199254740992', '9007199254740993'], '9007199254740992', '9223372036854775808'),
  decimal: plain('decimal', ['1.50', '2.00'], '1.5', '1.555'),
  string: plain('string', ['a', 'b'], 'a*', '123456'),
  text: plain('text', ['a', 'b'], 'a', 5),
  enum: plain('enum', ['a', 'b'], 'a', 'c'),
  boolean: plain('boolean', [false, true], 'false', 0),
  datetime: plain('datetime', ['2026-01-31T12:00:00.000Z', '2026-02-01T12:00:00.000Z'], '2026-01-31T13:00:00+01:00', '2026-02-30'),
  date: plain('date', ['2026-01-31', '2026-02-01'], '2026-01-31', '2026-02-30'),
  time: plain('time', ['12:00:00', '13:00:00'], '12:00', '25:00:00'),
  uuid: plain(
    'uuid',
    ['0a000000-0000-4000-8000-000000000000', '0b000000-0000-4000-8000-000000000000'],
    '0A000000-0000-4000-8000-000000000000',
    'x',
  ),
  blob: opaque('blob', ['AAE=', 'AQ=='], '?'),
  Uint8Array: opaque('uint8array', ['AAE=', 'AQ=='], 5),
  json: { ...plain('json', [{ a: 1 }, { a: 2 }], '', undefined), filter: ['json.a', '1'], sort: 'json.a' },
  array: opaque('array', [['a', 'b,c'], ['']], 'a'),
  'enum array': opaque('enumArray', [['a'], ['a', 'b']], ['c']),
  'custom type': plain('custom', [1.5, 2.25], '1.5', 'x'),
  embedded: {
    ...plain(
      'embedded',
      [
        { city: 'a', zip: 1 },
        { city: 'b', zip: null },
      ],
      '',
      { zip: 'x' },
    ),
    filter: ['embedded.city', 'a'],
    sort: 'embedded.city',
  },
  'embedded array': opaque('embeddedArray', [[{ city: 'a', zip: 1 }], []], [{ zip: 1 }]),
  'polymorphic embeddable': {
    ...plain(
      'polymorphic',
      [
        { type: 'cat', lives: 1 },
        { type: 'dog', tricks: 2 },
      ],
      '',
      { type: 'cow' },
    ),
    filter: ['polymorphic.lives', '1'],
    sort: 'polymorphic.type',
  },
  'generated column': derived('generated', [2, 4], ['generated', '2'], null),
  formula: derived('formula', [2, 3], ['formula', '2'], null),
  getter: derived('getter', [3, 6], NEVER, 0),
  serializer: { ...opaque('serializer', [1, 2], 'x'), read: ['#1', '#2'] },
  'persist: false': { ...opaque('unstored', ['a', 'b'], 5), read: NEVER, empty: undefined },
  hidden: { ...opaque('hidden', ['a', 'b'], 5), read: NEVER, empty: undefined },
  lazy: plain('lazy', ['a', 'b'], 'a', 5),
  groups: plain('groups', ['a', 'b'], 'a', 5),
  version: { ...derived('version', [1, 2], ['version', '1'], NEVER), bad: 'x' },
  'to-one': { ...plain('one', [1, 2], '1', 99), sort: 'one.id' },
  'to-one of several entities': {
    ...plain(
      'several',
      [
        { type: 'other', id: 1 },
        { type: 'other', id: 2 },
      ],
      'other:1',
      { type: 'extra', id: 99 },
    ),
    sort: 'several.id',
  },
  'to-many': { ...plain('many', [[1], [2]], '1', [99]), sort: 'many.id', empty: NEVER },
}

const REFERENCE = readFileSync(new URL('../../docs/reference-requests.md', import.meta.url), 'utf8')

describeStores('kinds of values', () => {
  let engine: RestEngine
  before(async () => {
    engine = await createEngine({
      entities: [Thing, Other, Extra, Place, Pet, Cat, Dog] as never,
      seed: { others: [{ id: 1 }, { id: 2 }] },
    })
  })
  after(() => engine.close())

  it('are all of those that the reference lists', () => {
    const listed = tableBelow(REFERENCE, 'Values').flatMap(([first]) => first!.split(', '))
    assert.deepEqual(Object.keys(ROWS).toSorted(), listed.toSorted())
  })

  for (const [name, { property, write, read, filter, sort, empty, bad }] of Object.entries(ROWS)) {
    describe(name, () => {
      const call = async (method: string, path: string, query: Record<string, string> = {}, body?: unknown) => {
        const answer = await engine.handle(method, `/v1/things${path}`, query, body)
        assert.ok(answer.status < 500, `${method} ${path}`)
        return answer as { status: number; body: Record<string, Record<string, unknown> & never[]> }
      }
      const ids = async (query: Record<string, string>): Promise<number[]> =>
        ((await call('GET', '', query)).body['things'] as unknown as { id: number }[]).map(({ id }) => id)
      const valueOf = (record: Record<string, unknown>): unknown => record[property]
      const expected = read === NEVER ? [undefined, undefined] : (read ?? (write as readonly unknown[]))
      before(async () => {
        await engine.reset()
        for (const [id, value] of [
          [2, 1],
          [1, 0],
        ] as const) {
          const given = write === NEVER ? {} : { [property]: write[value] }
          const { status, body } = await call('POST', '', {}, { id, integer: value + 1, ...given })
          assert.equal(status, 200, JSON.stringify(body))
        }
        if (name === 'version') await call('PUT', '/2', {}, { integer: 3 })
      })

      it('write', async () => {
        const given = write === NEVER ? bad : write[0]
        const { status, body } = await call('PUT', '/1', {}, { [property]: given })
        assert.equal(status, write === NEVER ? 422 : 200, JSON.stringify(body))
      })

      it('read', async () => {
        for (const id of [1, 2]) {
          const { body } = await call('GET', `/${id}`)
          if (name !== 'version' || id === 2) assert.deepEqual(valueOf(body['thing']!), expected[id - 1])
          const attribute = await call('GET', `/${id}/${property}`)
          assert.equal(attribute.status, read === NEVER ? 404 : 200)
        }
      })

      it('filter', async () => {
        if (filter !== NEVER) {
          assert.deepEqual(await ids({ [filter[0]]: filter[1] }), [1])
          assert.deepEqual(await ids({ [`!${filter[0]}`]: filter[1] }), [2])
          return
        }
        for (const key of [property, `!${property}`, `${property}>=`])
          assert.equal((await call('GET', '', { [key]: 'x' })).status, 400, key)
      })

      it('sort', async () => {
        if (sort === NEVER) {
          assert.equal((await call('GET', '', { sort: property })).status, 400)
          return
        }
        assert.deepEqual(await ids({ sort }), [1, 2])
        assert.deepEqual(await ids({ sort: `${sort}.desc` }), [2, 1])
      })

      it('NULL', async () => {
        if (write === NEVER) {
          if (empty === NEVER) return
          await call('PUT', '/2', {}, { integer: null })
        } else {
          const { status, body } = await call('PUT', '/2', {}, { [property]: null })
          assert.equal(status, empty === NEVER ? 422 : 200, JSON.stringify(body))
          if (empty === NEVER) return
        }
        assert.deepEqual(valueOf((await call('GET', '/2')).body['thing']!), empty)
        if (filter !== NEVER) assert.deepEqual(await ids({ [filter[0]]: 'null' }), [2])
        if (sort !== NEVER) assert.deepEqual(await ids({ sort }), [2, 1])
      })

      it('bad value', async () => {
        // Any JSON value is one of a JSON attribute.
        if (bad === undefined) return
        for (const [method, path] of [
          ['POST', ''],
          ['PUT', '/1'],
        ] as const) {
          const { status, body } = await call(method, path, {}, { [property]: bad })
          assert.equal(status, 422, JSON.stringify(body))
          assert.ok((body['errors'] as unknown as { attribute: string }[])[0]!.attribute.startsWith(property))
        }
      })
    })
  }
})
