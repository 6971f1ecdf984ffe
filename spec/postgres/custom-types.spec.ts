/** Custom types, whose code is given what the driver of the database gives, and returns what it takes: the answers are those of SQLite. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Type, defineEntity, p } from '@mikro-orm/sqlite'
import type { Platform } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'
import { findNoServer, ownSchema } from './server-database.ts'

function isServer(platform: Platform): boolean {
  return platform.getBooleanTypeDeclarationSQL() === 'boolean'
}

/** An object, stored as a point in time. */
class When extends Type<{ at: string } | null, Date | null> {
  override convertToDatabaseValue(value: unknown): Date | null {
    return value === null || value === undefined ? null : new Date((value as { at: string }).at)
  }
  override convertToJSValue(value: unknown): { at: string } | null {
    return value === null || value === undefined ? null : { at: new Date(value as string).toISOString() }
  }
  override getColumnType(_: unknown, platform: Platform): string {
    return isServer(platform) ? 'timestamptz' : 'datetime'
  }
  override toJSON(value: { at: string }): never {
    return value.at as never
  }
  override fromJSON(json: string): { at: string } {
    return { at: json }
  }
}

/** Stored as a number or as a text. */
class Either extends Type<string, number | string> {
  override convertToDatabaseValue(value: string): number | string {
    return /^-?\d+$/.test(value) ? Number(value) : value
  }
  override convertToJSValue(value: number | string): string {
    return String(value)
  }
  override getColumnType(): string {
    return 'text'
  }
}

/** Reads a boolean as strictly as the driver gives it. */
class YesNo extends Type<string, boolean> {
  override convertToDatabaseValue(value: string): boolean {
    return value === 'yes'
  }
  override convertToJSValue(value: unknown): string {
    if (value === true || value === 1) return 'yes'
    if (value === false || value === 0) return 'no'
    return `odd ${String(value)}`
  }
  override getColumnType(): string {
    return 'boolean'
  }
}

class Hex extends Type<string, Uint8Array> {
  override convertToDatabaseValue(value: string): Uint8Array {
    return Buffer.from(value, 'hex')
  }
  override convertToJSValue(value: unknown): string {
    return Buffer.from(value as Uint8Array).toString('hex')
  }
  override getColumnType(_: unknown, platform: Platform): string {
    return isServer(platform) ? 'bytea' : 'blob'
  }
}

/** Doubles numbers, which it must be given as such. */
class Half extends Type<number, number> {
  override convertToDatabaseValue(value: number): number {
    return value * 2
  }
  override convertToJSValue(value: unknown): number {
    return typeof value === 'number' ? value / 2 : -1
  }
  override getColumnType(): string {
    return 'int'
  }
  override compareAsType(): string {
    return 'number'
  }
}

/** Gives the driver an object on a server, and a text in SQLite. */
class Pair extends Type<unknown, unknown> {
  override convertToDatabaseValue(value: unknown, platform: Platform): unknown {
    return isServer(platform) ? { pair: value } : JSON.stringify({ pair: value })
  }
  override convertToJSValue(value: unknown, platform: Platform): unknown {
    return (isServer(platform) ? (value as { pair: unknown }) : (JSON.parse(value as string) as { pair: unknown })).pair
  }
  override getColumnType(_: unknown, platform: Platform): string {
    return isServer(platform) ? 'jsonb' : 'text'
  }
}

/** Stored as a number, which it does not say. */
class Price extends Type<number, number> {
  override convertToDatabaseValue(value: number): number {
    return Math.round(value * 100)
  }
  override convertToJSValue(value: number): number {
    return value / 100
  }
  override getColumnType(): string {
    return 'integer'
  }
}

const Box = defineEntity({
  name: 'Box',
  embeddable: true,
  properties: { size: p.type(Half).nullable(), price: p.type(Price).nullable(), either: p.type(Either).nullable() },
})

const Thing = defineEntity({
  name: 'Thing',
  properties: {
    id: p.integer().primary(),
    at: p.type(When).nullable(),
    sure: p.type(YesNo).nullable(),
    code: p.type(Hex).nullable(),
    size: p.type(Half).nullable(),
    pair: p.type(Pair).nullable(),
    box: () => p.embedded(Box).object().nullable(),
    boxed: () => p.manyToOne(Thing).nullable(),
    boxes: () => p.oneToMany(Thing).mappedBy('boxed'),
  },
})

describe('custom types on PostgreSQL', { skip: await findNoServer() }, () => {
  it('are read, written, filtered and sorted as on SQLite', async () => {
    await using schema = ownSchema()
    await using server = await RestEngine.create({ entities: [Thing], database: schema.database })
    await using file = await RestEngine.create({ entities: [Thing] })
    const same = async (method: string, path: string, query?: Record<string, string>, body?: unknown): Promise<Record<string, unknown>> => {
      const [a, b] = await Promise.all(
        [server, file].map(async engine => {
          const { status, body: answer } = await engine.handle(method, path, query, body)
          return { status, body: answer as Record<string, unknown> }
        }),
      )
      for (const each of [a!, b!]) delete each.body['timestamp']
      assert.deepEqual(a, b, `${method} ${path} ${JSON.stringify(query)}`)
      assert.equal(a!.status, 200, JSON.stringify(a!.body))
      return a!.body
    }
    const thing = { at: '2026-01-02T03:04:05.678Z', sure: 'yes', code: 'ff00', size: 12, pair: [1, 'x'] }
    const made = await same('POST', '/v1/things', {}, thing)
    assert.deepEqual(made['thing'], { id: 1, ...thing, box: null, boxed: null, boxes: [] })
    await same('POST', '/v1/things', {}, { sure: 'no', size: 3 })
    await same('PUT', '/v1/things/1', {}, made['thing'])
    await same('PUT', '/v1/things/2', {}, { ...thing, size: 4 })
    for (const [name, value] of Object.entries(thing).slice(0, 4)) {
      const found = await same('GET', '/v1/things', { [name]: String(value) })
      assert.ok(
        (found['things'] as { id: number }[]).some(({ id }) => id === 1),
        name,
      )
      await same('GET', '/v1/things', { sort: `${name}.desc` })
    }
    await same('GET', '/v1/things', { 'at>': '2025-01-01T00:00:00.000Z', 'size>=': '4' })
    // Numbers inside of a JSON document sort as such.
    for (const size of [10, 9, -4, -1, 100]) await same('POST', '/v1/things', {}, { box: { size, price: size }, boxed: size === 9 ? 2 : 1 })
    for (const sort of ['box.size', 'box.price']) {
      const sorted = await same('GET', '/v1/things', { sort, attributes: 'box', 'id>': '2' })
      assert.deepEqual(
        (sorted['things'] as { box: { size: number } }[]).map(({ box }) => box.size),
        [-4, -1, 9, 10, 100],
        sort,
      )
    }
    await same('GET', '/v1/things', { 'box.size': '9,100' })
    for (const either of ['7', '10', '-3', 'a', 'B', '10a', '1e21']) await same('POST', '/v1/things', {}, { box: { either, price: 1e19 } })
    for (const operator of ['', '!=', '<', '<=', '>', '>=']) {
      for (const [name, values] of [
        ['size', ['-2', '-1', '9', '10', '100']],
        ['price', ['-1', '9', '9.5', '10000000000000000000']],
        ['either', ['-3', '7', '9', '10', '10a', 'a', 'Z', '1e21']],
      ] as const)
        for (const value of values) {
          const { things } = await same('GET', '/v1/things', { [`box.${name}${operator}`]: value, attributes: 'id' })
          if (operator === '>=' && name === 'size' && value === '-2')
            assert.deepEqual(
              (things as { id: number }[]).map(({ id }) => id),
              [3, 4, 6, 7],
            )
        }
    }
    await same('GET', '/v1/things', { 'boxes.box.size>': '9', sort: 'box.either.desc' })
    await same('GET', '/v1/things', { sort: 'boxes.box.price.desc' })
    await same('GET', '/v1/things', { sort: 'boxes.sure' })
  })
})
