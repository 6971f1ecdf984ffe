/** Made-up values of arrays, enum arrays, lists of embedded objects, polymorphic objects and custom types. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Type, defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../../lib/index.ts'

class Hex extends Type<string, string> {
  override convertToDatabaseValue(value: string): string {
    return Buffer.from(value).toString('hex')
  }
  override convertToJSValue(value: string): string {
    return Buffer.from(value, 'hex').toString()
  }
  override getColumnType(): string {
    return 'text'
  }
}
class Cents extends Type<number, number> {
  override convertToDatabaseValue(value: number): number {
    if (typeof value !== 'number') throw new TypeError('not a number')
    return Math.round(value * 100)
  }
  override convertToJSValue(value: number): number {
    return value / 100
  }
  override compareAsType(): string {
    return 'number'
  }
  override getColumnType(): string {
    return 'integer'
  }
}
class Nothing extends Type<string, string> {
  override convertToDatabaseValue(): string {
    throw new TypeError('not of the secret form')
  }
  override getColumnType(): string {
    return 'text'
  }
}

const Line = defineEntity({ name: 'Line', embeddable: true, properties: { text: p.string(), amount: p.integer() } })
const Shape = defineEntity({
  name: 'Shape',
  embeddable: true,
  abstract: true,
  discriminatorColumn: 'kind',
  properties: { kind: p.enum(['circle', 'box']) },
})
const Size = defineEntity({ name: 'Size', embeddable: true, properties: { radius: p.integer() } })
const Sides = defineEntity({ name: 'Sides', embeddable: true, properties: { width: p.integer(), height: p.integer() } })
const Circle = defineEntity({
  name: 'Circle',
  embeddable: true,
  extends: Shape,
  discriminatorValue: 'circle',
  properties: { size: () => p.embedded(Size).object(), it: p.string() },
})
const Box = defineEntity({
  name: 'Box',
  embeddable: true,
  extends: Shape,
  discriminatorValue: 'box',
  properties: { size: () => p.embedded(Sides).object(), it: p.boolean() },
})
const Thing = defineEntity({
  name: 'Thing',
  properties: {
    id: p.integer().primary(),
    tags: p.array(),
    colors: p.enum(['red', 'green']).array(),
    unique: p.enum(['a', 'b']).array().unique(),
    lines: () => p.embedded(Line).array(),
    shape: () => p.embedded([Circle, Box]).object(),
    hex: p.type(Hex).unique(),
    price: p.type(Cents),
  },
})
const Locked = defineEntity({ name: 'Locked', properties: { id: p.integer().primary(), code: p.type(Nothing) } })

describe('given', () => {
  it('makes up arrays, enum arrays, lists of embedded objects, polymorphic objects and custom types', async () => {
    await using engine = await RestEngine.create({ entities: [Thing, Locked] })
    const { hex, price, unique, shape, ...thing } = await engine.given('thing')
    assert.deepEqual(thing, { id: 1, tags: [], colors: [], lines: [] })
    assert.deepEqual(unique, [])
    assert.equal(typeof hex, 'string')
    assert.equal(typeof price, 'number')
    assert.equal((shape as { kind: string }).kind, 'box')
    const other = await engine.given('thing', { lines: [{ text: 'one' }], shape: { kind: 'circle' } })
    assert.deepEqual(
      (other['lines'] as { text: string; amount: number }[]).map(({ text, amount }) => [text, typeof amount]),
      [['one', 'number']],
    )
    assert.notDeepEqual(other['unique'], [])
    assert.notEqual(other['hex'], hex)
    const { kind, it: flag, size } = other['shape'] as { kind: string; it: unknown; size: { radius: unknown } }
    assert.deepEqual([kind, typeof flag, typeof size.radius], ['circle', 'string', 'number'])
  })

  it('names what cannot be made up, and says how to give it', async () => {
    await using engine = await RestEngine.create({ entities: [Locked] })
    await assert.rejects(engine.given('locked'), /"code" has a type of the model's own.*give it, \{ code: \.\.\. \}/)
  })
})

describe('a polymorphic embedded object whose classes differ in the type of one name', () => {
  it('takes and shows of each class what it has', async () => {
    await using engine = await RestEngine.create({ entities: [Thing] })
    const base = { tags: [], colors: [], unique: [], lines: [], hex: 'x', price: 1 }
    const post = async (shape: object, id: number): Promise<{ status: number; body: unknown }> =>
      engine.handle('POST', '/v1/things', undefined, { ...base, id, hex: `x${id}`, unique: id === 1 ? [] : ['a'], shape })
    const made = await post({ kind: 'circle', size: { radius: 3 }, it: 'round' }, 1)
    assert.equal(made.status, 200, JSON.stringify(made.body))
    const box = await post({ kind: 'box', size: { width: 1, height: 2 }, it: true }, 2)
    assert.equal(box.status, 200, JSON.stringify(box.body))
    assert.equal((await post({ kind: 'circle', size: { radius: 3 }, it: true }, 3)).status, 422)
    assert.equal((await post({ kind: 'box', size: { radius: 3 }, it: true }, 3)).status, 422)
    const { things } = (await engine.handle('GET', '/v1/things', { sort: 'id' })).body as { things: { shape: Record<string, unknown> }[] }
    assert.deepEqual(
      things.map(({ shape }) => [shape['kind'], shape['it']]),
      [
        ['circle', 'round'],
        ['box', true],
      ],
    )
    assert.deepEqual(things[0]!.shape['size'], { radius: 3 })
    assert.deepEqual(things[1]!.shape['size'], { width: 1, height: 2 })
  })
})
