import assert from 'node:assert/strict'
import { it } from 'node:test'
import { JsonType, Type, defineEntity, p } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

/** Milliseconds, in a column that PostgreSQL keeps as an interval. */
class Interval extends Type<number, number | null> {
  override getColumnType(): string {
    return 'interval'
  }
  override get runtimeType(): string {
    return 'number'
  }
  override compareAsType(): string {
    return 'number'
  }
  override convertToJSValueSQL(key: string): string {
    return `(extract (epoch from ${key}::interval) * 1000)::int`
  }
  override convertToDatabaseValueSQL(key: string): string {
    return `(${key} || 'milliseconds')::interval`
  }
}

class Polygon extends JsonType {
  override convertToJSValueSQL(key: string): string {
    return `ST_AsGeoJSON(${key}, 15)`
  }
  override convertToDatabaseValueSQL(key: string): string {
    return `ST_GeomFromGeoJSON(${key})`
  }
  override getColumnType(): string {
    return 'geography'
  }
}

class Label extends Type<string, string> {
  override getColumnType(): string {
    return 'text'
  }
  override convertToJSValueSQL(key: string): string {
    return `(${key})::text`
  }
  override convertToDatabaseValueSQL(key: string): string {
    return `${key}::text`
  }
}

class Shout extends Type<string, string> {
  override getColumnType(): string {
    return 'text'
  }
  override convertToDatabaseValueSQL(key: string): string {
    return `upper(${key})`
  }
}

const label = new Label()
const Zone = defineEntity({
  name: 'Zone',
  properties: {
    id: p.integer().primary(),
    length: p.type(Interval),
    area: p.type(Polygon).$type<object>(),
    label: p.type(label),
    call: p.type(Shout),
  },
})

describeStores('SQL of custom types that was written for another database', { except: 'foreign words' }, () => {
  it('is left out, translated or kept, so that values are stored, filtered, sorted and written back', async () => {
    await using engine = await createEngine({ entities: [Zone] })
    const area = { type: 'Polygon', coordinates: [[[44.25, 46.33]]] }
    const made = await engine.handle('POST', '/v1/zones', undefined, { length: 10, area, label: 'a', call: 'hey' })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    assert.deepEqual(made.body.zone, { id: 1, length: 10, area, label: 'a', call: 'HEY' })
    await engine.seed({ zones: [{ length: 9, area: { type: 'Point' }, label: '2', call: 'x' }] })
    const list = async (query: string) => (await engine.handle('GET', `/v1/zones?${query}`)).body.zones.map(({ id }: { id: number }) => id)
    assert.deepEqual(await list('sort=length'), [2, 1])
    assert.deepEqual(await list('length>=10'), [1])
    assert.deepEqual(await list('length=9'), [2])
    assert.deepEqual(await list('label=2'), [2])
    assert.deepEqual(await list('call=hey'), [1])
    const put = await engine.handle('PUT', '/v1/zones/2', undefined, { length: 500, area: { type: 'Line' } })
    assert.deepEqual([put.status, put.body.zone.length, put.body.zone.area], [200, 500, { type: 'Line' }])
    const zone = await engine.orm.em.fork().findOneOrFail(Zone, 2)
    assert.deepEqual([zone.length, zone.area, zone.label], [500, { type: 'Line' }, '2'])
    await engine.given('zone', { area: {} })
  })

  it('is noted where it is not what the model says, and the types of the application stay as they are', async () => {
    await using engine = await createEngine({ entities: [Zone] })
    assert.deepEqual(
      engine.notes.filter(note => note.includes('SQL')),
      [
        'Zone.length: SQLite cannot run the SQL of its type, ' +
          "(extract (epoch from null::interval) * 1000)::int and (null || 'milliseconds')::interval: the column holds the plain value.",
        'Zone.area: SQLite cannot run the SQL of its type, ST_AsGeoJSON(null, 15) and ST_GeomFromGeoJSON(null): ' +
          'the column holds the plain value.',
        "Zone.label: the SQL of its type is in SQLite's words here.",
      ],
    )
    assert.equal(label.convertToJSValueSQL('x'), '(x)::text')
  })
})
