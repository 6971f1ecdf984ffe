/** Classes of one table that have one property name each with a type or a column of its own. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { JsonType, Type, defineEntity, p } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

class Tags extends Type<string[], string> {
  override convertToDatabaseValue(value: string[]): string {
    return value.join(' ')
  }
  override convertToJSValue(value: string | string[]): string[] {
    return Array.isArray(value) ? value : value.split(' ')
  }
}

const Pet = defineEntity({
  name: 'Pet',
  discriminatorColumn: 'kind',
  discriminatorMap: { cat: 'Cat', dog: 'Dog' } as never,
  abstract: true,
  properties: { id: p.integer().primary(), kind: p.enum(['cat', 'dog']) },
})
const Cat = defineEntity({
  name: 'Cat',
  extends: Pet,
  properties: { detail: p.type(Tags), weight: p.integer().fieldName('cat_weight'), name: p.string() },
})
const Dog = defineEntity({
  name: 'Dog',
  extends: Pet,
  properties: { detail: p.type(JsonType).$type<object>(), weight: p.integer().fieldName('dog_weight'), name: p.string() },
})

describeStores('siblings in one table with one property name', { except: 'column types' }, () => {
  it('of two types or two columns are created, shown, changed and made up', async () => {
    await using engine = await createEngine({ entities: [Pet, Cat, Dog] })
    const send = async (method: string, path: string, body?: unknown) => {
      const answer = await engine.handle(method, `/v1/${path}`, undefined, body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body
    }
    assert.deepEqual((await send('POST', 'cats', { detail: ['a', 'b'], weight: 4, name: 'Tom' })).cat, {
      id: 1,
      kind: 'cat',
      detail: ['a', 'b'],
      weight: 4,
      name: 'Tom',
    })
    assert.deepEqual((await send('POST', 'dogs', { detail: { fetch: true }, weight: 9, name: 'Rex' })).dog, {
      id: 2,
      kind: 'dog',
      detail: { fetch: true },
      weight: 9,
      name: 'Rex',
    })
    assert.deepEqual((await send('PUT', 'cats/1', { detail: ['c'], weight: 5 })).cat, {
      id: 1,
      kind: 'cat',
      detail: ['c'],
      weight: 5,
      name: 'Tom',
    })
    assert.deepEqual((await send('PUT', 'dogs/2', { detail: {}, weight: 8 })).dog, {
      id: 2,
      kind: 'dog',
      detail: {},
      weight: 8,
      name: 'Rex',
    })
    assert.deepEqual(
      (await send('GET', 'pets')).pets.map(({ weight, detail }: Record<string, unknown>) => [weight, detail]),
      [
        [5, ['c']],
        [8, {}],
      ],
    )
    assert.deepEqual((await send('GET', 'dogs?weight=8')).count, 1)
    const dog = await engine.given('dog', { detail: {} })
    assert.equal(typeof dog['weight'], 'number')
    const em = engine.orm.em.fork()
    assert.deepEqual([(await em.findOneOrFail(Cat, 1)).weight, (await em.findOneOrFail(Dog, 2)).weight], [5, 8])
  })

  it('are no records of each other, whatever condition a request has', async () => {
    const Chip = defineEntity({ name: 'Chip', embeddable: true, properties: { code: p.integer() } })
    const Pet = defineEntity({
      name: 'Pet',
      discriminatorColumn: 'kind',
      discriminatorValue: 'pet',
      properties: { id: p.integer().primary(), kind: p.string(), chip: () => p.embedded(Chip).nullable() },
    })
    const Dog = defineEntity({ name: 'Dog', extends: Pet, discriminatorValue: 'dog', properties: { bark: p.integer().nullable() } })
    const Cat = defineEntity({ name: 'Cat', extends: Pet, discriminatorValue: 'cat', properties: { lives: p.integer().nullable() } })
    await using engine = await createEngine({ entities: [Chip, Pet, Dog, Cat], seed: { dogs: [{ id: 1 }], cats: [{ id: 2 }] } })
    const statusOf = async (id: number): Promise<number> => {
      const body = { chip: { code: 2 } }
      return (await engine.handle('PUT', `/v1/dogs/${id}`, undefined, body, { headers: { 'if-none-match': '*' } })).status
    }
    assert.deepEqual([await statusOf(1), await statusOf(2), await statusOf(3)], [412, 404, 404])
  })
})
