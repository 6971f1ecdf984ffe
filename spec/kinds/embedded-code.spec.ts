/** Getters and serializers of embeddables: what they give is what the code of the class gives, on the values that the database holds. */
import assert from 'node:assert/strict'
import { EntitySchema, defineEntity, p } from '@mikro-orm/sqlite'
import { it } from 'node:test'
import { resource } from '../../lib/index.ts'
import { parseColumn } from '../helpers/stores.ts'
import { describeTargets } from '../helpers/targets.ts'
import type { Answer } from '../helpers/targets.ts'

class Amount {
  cents!: number
  currency!: string
  on?: Date | null
  get text(): string {
    return `${(this.cents / 100).toFixed(2)} ${this.currency}`
  }
  get year(): number | null {
    // MikroORM asks it as well, when it writes an object as JSON that has no date yet.
    return this.on?.getUTCFullYear() ?? null
  }
}
const AmountSchema = new EntitySchema<Amount>({
  class: Amount,
  embeddable: true,
  properties: {
    cents: { type: 'integer' },
    currency: { type: 'string', default: 'EUR', serializer: (value: string) => value.toLowerCase() },
    on: { type: 'datetime', nullable: true, serializedName: 'paid_on' },
    text: { type: 'string', persist: false, getter: true },
    year: { type: 'integer', persist: false, getter: true },
  },
})

class Line {
  count!: number
  price!: Amount
  get double(): number {
    return this.count * 2
  }
}
const LineSchema = new EntitySchema<Line>({
  class: Line,
  embeddable: true,
  properties: {
    count: { type: 'integer' },
    price: { kind: 'embedded', entity: () => Amount },
    double: { type: 'integer', persist: false, getter: true },
  },
})

class Pet {
  kind!: 'cat' | 'dog'
  name!: string
}
class Cat extends Pet {
  get says(): string {
    return `${this.name} meows`
  }
}
class Dog extends Pet {
  tricks!: number
  get says(): string {
    return `${this.name} barks ${this.tricks}`
  }
}
const PetSchema = new EntitySchema<Pet>({
  class: Pet,
  embeddable: true,
  abstract: true,
  discriminatorColumn: 'kind',
  properties: { kind: { enum: true, type: 'string', items: ['cat', 'dog'] }, name: { type: 'string' } },
})
const CatSchema = new EntitySchema<Cat, Pet>({
  class: Cat,
  extends: PetSchema,
  embeddable: true,
  discriminatorValue: 'cat',
  properties: { says: { type: 'string', persist: false, getter: true } },
})
const DogSchema = new EntitySchema<Dog, Pet>({
  class: Dog,
  extends: PetSchema,
  embeddable: true,
  discriminatorValue: 'dog',
  properties: { tricks: { type: 'integer' }, says: { type: 'string', persist: false, getter: true } },
})

const Bill = defineEntity({
  name: 'Bill',
  properties: {
    id: p.integer().primary(),
    total: () => p.embedded(AmountSchema),
    doc: () => p.embedded(AmountSchema).object().nullable(),
    lines: () => p.embedded(LineSchema).array().nullable(),
    pet: () => p.embedded([CatSchema, DogSchema] as never).nullable(),
    pets: () =>
      p
        .embedded([CatSchema, DogSchema] as never)
        .array()
        .nullable(),
  },
})

const amount = { cents: 1250, currency: 'EUR', paid_on: '2026-03-01T00:00:00.000Z' }
const shown = { ...amount, currency: 'eur', text: '12.50 EUR', year: 2026 }
const body = {
  id: 1,
  total: amount,
  doc: { cents: 5 },
  lines: [
    { count: 2, price: amount },
    { count: 3, price: { cents: 1, currency: 'USD' } },
  ],
  pet: { kind: 'dog', name: 'Rex', tricks: 3 },
  pets: [
    { kind: 'cat', name: 'Tom' },
    { kind: 'dog', name: 'Bo', tricks: 0 },
  ],
}
const whole = {
  id: 1,
  total: shown,
  doc: { cents: 5, currency: 'eur', paid_on: null, text: '0.05 EUR', year: null },
  lines: [
    { count: 2, price: shown, double: 4 },
    { count: 3, price: { cents: 1, currency: 'usd', paid_on: null, text: '0.01 USD', year: null }, double: 6 },
  ],
  pet: { kind: 'dog', name: 'Rex', tricks: 3, says: 'Rex barks 3' },
  pets: [
    { kind: 'cat', name: 'Tom', says: 'Tom meows' },
    { kind: 'dog', name: 'Bo', tricks: 0, says: 'Bo barks 0' },
  ],
}

const entities = [AmountSchema, LineSchema, PetSchema, CatSchema, DogSchema, Bill] as never
const sorted = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_key, item: unknown) =>
      typeof item === 'object' && item !== null && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : item,
    ),
  ) as unknown

describeTargets('code of embeddables', { entities, fresh: 'test' }, target => {
  const call = async (method: string, path: string, query?: Record<string, string>, given?: unknown): Promise<Answer> => {
    const answer = await target.call(method, path, query, given)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer
  }

  it('is asked for what is made, changed, listed and shown alone', async () => {
    assert.deepEqual(sorted((await call('POST', '/v1/bills', {}, body)).body.bill), sorted(whole))
    await call('POST', '/v1/bills', {}, { total: { cents: 7 } })
    const list = (await call('GET', '/v1/bills', { sort: 'id' })).body.bills
    assert.deepEqual(sorted(list[0]), sorted(whole))
    assert.deepEqual([list[1].doc, list[1].lines, list[1].pet, list[1].total.text], [null, null, null, '0.07 EUR'])
    assert.deepEqual(sorted((await call('GET', '/v1/bills/1/lines')).body.value), sorted(whole.lines))
    const changed = (
      await call('PUT', '/v1/bills/1', {}, { total: { cents: 3 }, doc: { currency: 'CHF' }, pet: { kind: 'cat', name: 'Mia' } })
    ).body.bill
    assert.deepEqual(
      [changed.total.text, changed.total.year, changed.doc.text, changed.doc.currency],
      ['0.03 EUR', 2026, '0.05 CHF', 'chf'],
    )
    assert.equal(changed.pet.says, 'Mia meows')
    assert.equal((await call('PUT', '/v1/bills/1', {}, { doc: null })).body.bill.doc, null)
    assert.equal((await call('PUT', '/v1/bills/1/doc', {}, { cents: 9 })).body.bill.doc.text, '0.09 EUR')
  })

  it('is given all values, whatever else is shown', async () => {
    await call('POST', '/v1/bills', {}, body)
    const one = await call('GET', '/v1/bills/1', { attributes: 'total.text,lines.price.text,pet.says' })
    assert.deepEqual(one.body.bill, {
      total: { text: '12.50 EUR' },
      lines: [{ price: { text: '12.50 EUR' } }, { price: { text: '0.01 USD' } }],
      pet: { says: 'Rex barks 3' },
    })
    const without = (await call('GET', '/v1/bills/1', { attributes: '!total.text,!lines.double' })).body.bill
    assert.deepEqual([without.total.text, without.total.year, without.lines[0].double], [undefined, 2026, undefined])
  })

  it('cannot be written, filtered or sorted by; the stored values can', async () => {
    await call('POST', '/v1/bills', {}, body)
    const { body: refused } = await target.call('PUT', '/v1/bills/1', {}, { total: { text: 'x' }, doc: { year: 1 } })
    assert.deepEqual(
      refused.errors.map(({ code, attribute }: { code: string; attribute: string }) => [code, attribute]),
      [
        ['read_only', 'total.text'],
        ['read_only', 'doc.year'],
      ],
    )
    for (const path of ['total.text', 'doc.text', 'total.currency', 'doc.currency']) {
      assert.equal((await target.call('GET', '/v1/bills', { [path]: 'eur' })).body.errors[0].code, 'not_filterable', path)
      assert.equal((await target.call('GET', '/v1/bills', { sort: path })).body.errors[0].code, 'not_sortable', path)
    }
    assert.equal((await call('GET', '/v1/bills', { 'total.cents>': '1249', 'doc.cents': '5', sort: 'doc.cents' })).body.count, 1)
    const [row] = await target.engine.orm.em.fork().getConnection().execute<{ total_currency: string; doc: string }[]>('select * from bill')
    assert.equal(row!.total_currency, 'EUR')
    assert.equal((parseColumn(row!.doc) as Amount).currency, 'EUR')
  })

  it('is in what given answers, and not in the journal', async () => {
    const given = await target.engine.given('bill', { doc: {} }, { seed: 3 })
    assert.match(given['total'].text, /^-?\d+\.\d\d EUR$/)
    assert.match(given['doc'].text, /^-?\d+\.\d\d EUR$/)
    const { changes } = (await call('POST', '/v1/bills', {}, { total: amount })) && target.engine.requests.at(-1)!
    assert.deepEqual(changes![0]!.after.total, amount)
  })
})

describeTargets(
  'code of embeddables under rules of the application',
  { entities, resources: [resource(Bill, { attributes: { total: { render: value => (value as { text: string }).text } } })] },
  target => {
    it('comes before the renderer of the object', async () => {
      const { body: answer } = await target.call('POST', '/v1/bills', {}, body)
      assert.equal(answer.bill.total, '12.50 EUR')
    })
  },
)

class Initialled {
  name!: string
  initial(): string {
    return this.name[0]!
  }
}
const InitialledSchema = new EntitySchema<Initialled>({
  class: Initialled,
  embeddable: true,
  properties: { name: { type: 'string' }, initial: { type: 'string', persist: false, getter: true, getterName: 'initial' } } as never,
})
const Badge = defineEntity({ name: 'Badge', properties: { id: p.integer().primary(), of: () => p.embedded(InitialledSchema) } })

describeTargets('methods of embeddables as getters', { entities: [InitialledSchema, Badge] }, target => {
  it('are asked', async () => {
    const { body: answer } = await target.call('POST', '/v1/badges', {}, { of: { name: 'Zoe' } })
    assert.deepEqual(answer.badge.of, { name: 'Zoe', initial: 'Z' })
  })
})
