/** Classes of the application around values: what a type makes of a text, and what a constructor says of a value. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { EntitySchema, Type, defineEntity, p } from '@mikro-orm/core'
import { createEngine, describeStores } from '../helpers/stores.ts'

/** A class around one text. */
class Plain {
  readonly held: string
  constructor(text: string) {
    this.held = text
  }
}
/** One that has no JSON form: its text is shown. */
class Arrow extends Plain {
  override toString = (): string => this.held
}
/** One that is strict, and holds the text in another spelling. */
class Email extends Plain {
  constructor(text: string) {
    if (!text.includes('@')) throw new Error('An email address has an @.')
    super(text.trim().toLowerCase())
  }
  toJSON(): string {
    return this.held
  }
}
/** One that takes any text, and holds something else. */
class Amount extends Plain {
  constructor(text: string) {
    super(String(Number(text)))
  }
}

function typeOf(Value: new (text: string) => Plain) {
  return class extends Type<Plain, string> {
    override convertToDatabaseValue(value: unknown): string {
      return value instanceof Value ? value.held : (value as string)
    }
    override convertToJSValue(text: string): Plain {
      return new Value(text)
    }
    override getColumnType(): string {
      return 'varchar(36)'
    }
  }
}

function customerOf(Value: new (text: string) => Plain) {
  const Own = typeOf(Value)
  const Customer: EntitySchema = new EntitySchema<{ id: Plain; code: Plain; name: string; friend: unknown }>({
    name: 'Customer',
    properties: {
      id: { type: new Own() as never, primary: true },
      code: { type: new Own() as never, nullable: true },
      name: { type: 'string', nullable: true },
      friend: { kind: 'm:1', entity: () => Customer as never, nullable: true },
    },
  }) as never
  return Customer
}

describeStores('an object around a text', () => {
  const shown: Record<string, readonly [Value: new (text: string) => Plain, show: (text: string) => unknown]> = {
    'without a JSON form of its own': [Plain, text => ({ held: text })],
    'that JSON cannot show': [Arrow, text => text],
    'with toJSON': [Email, text => text],
  }
  for (const [what, [Value, show]] of Object.entries(shown)) {
    it(`is written and found by its text, and by what is shown of it: ${what}`, async () => {
      await using engine = await createEngine({ entities: [customerOf(Value)] })
      const made = await engine.handle('POST', '/v1/customers', undefined, { id: 'a@1', code: 'c@1', name: 'Ann' })
      assert.deepEqual([made.status, made.body.customer], [200, { id: 'a@1', code: show('c@1'), name: 'Ann', friend: null }])
      assert.equal((await engine.handle('POST', '/v1/customers', undefined, { id: 'a@2', code: show('c@2'), friend: 'a@1' })).status, 200)
      const ids = async (query: Record<string, string>): Promise<unknown> =>
        (await engine.handle('GET', '/v1/customers', query)).body.customers?.map(({ id }: { id: string }) => id)
      assert.deepEqual([await ids({ code: 'c@2' }), await ids({ friend: 'a@1' }), await ids({ id: 'a@1' })], [['a@2'], ['a@2'], ['a@1']])
      for (const code of ['c@3', show('c@4'), null]) {
        const { status, body } = await engine.handle('PATCH', '/v1/customers/a@2', undefined, { code })
        assert.deepEqual([status, body.customer?.code], [200, typeof code === 'string' ? show(code) : code])
      }
      assert.equal((await engine.handle('PUT', '/v1/customers/a@1', undefined, made.body.customer)).status, 200)
      for (const code of [5, {}, ['c@1'], { held: {} }, { other: 'c@1' }])
        assert.equal((await engine.handle('PATCH', '/v1/customers/a@2', undefined, { code })).status, 422, JSON.stringify(code))
      assert.equal((await engine.handle('DELETE', '/v1/customers/a@2')).status, 200)
    })
  }

  it('is taken in another case, and refused where its class refuses the text, or holds something else', async () => {
    await using engine = await createEngine({ entities: [customerOf(Email)] })
    const made = await engine.handle('POST', '/v1/customers', undefined, { id: 'Ann@A', code: ' Bob@b ' })
    assert.deepEqual([made.status, made.body.customer?.id, made.body.customer?.code], [200, 'ann@a', 'bob@b'])
    assert.equal((await engine.handle('POST', '/v1/customers', undefined, { id: 'none' })).status, 422)
    assert.equal((await engine.handle('GET', '/v1/customers?code=none')).status, 400)
    await using other = await createEngine({ entities: [customerOf(Amount)] })
    assert.equal((await other.handle('POST', '/v1/customers', undefined, { id: '5', code: '6' })).status, 200)
    assert.equal((await other.handle('POST', '/v1/customers', undefined, { id: '7', code: 'six' })).status, 422)
  })
})

class Address {
  street: string
  constructor(street: string) {
    if (street === '') throw new Error('An address has a street.')
    this.street = street
  }
}
class Account {
  id!: number
  name: string
  address?: Address
  constructor(name: string) {
    if (!/^[A-Z]/.test(name)) throw new TypeError(`"${name}" does not begin with a capital.`)
    this.name = name
  }
}
const Addresses = defineEntity({ class: Address, embeddable: true, properties: { street: p.string() } } as never)
const Accounts = defineEntity({
  class: Account,
  properties: {
    id: p.integer().primary(),
    name: p.string(),
    address: () => p.embedded(Addresses).nullable(),
  },
} as never)

describeStores('a class whose code throws for a value', () => {
  it('refuses the body with what it says', async () => {
    await using engine = await createEngine({ entities: [Accounts, Addresses] as never, onError: error => assert.fail(error as Error) })
    const refused = async (method: string, path: string, body: object): Promise<unknown> => {
      const { status, body: answer } = await engine.handle(method, path, undefined, body)
      return [status, answer.errors?.map(({ code, attribute, detail }: Record<string, string>) => [code, attribute, detail])]
    }
    const detail = 'Account refuses the values: "ann" does not begin with a capital.'
    assert.deepEqual(await refused('POST', '/v1/accounts', { name: 'ann' }), [422, [['value_invalid', undefined, detail]]])
    const many = await refused('POST', '/v1/accounts', [{ name: 'Ann' }, { name: 'ann' }] as never)
    assert.deepEqual((many as [number])[0], 422)
    assert.equal((await engine.handle('POST', '/v1/accounts', undefined, { id: 1, name: 'Ann', address: { street: 'x' } })).status, 200)
    await engine.handle('PATCH', '/v1/accounts/1', undefined, { address: null })
    assert.deepEqual(await refused('PATCH', '/v1/accounts/1', { address: { street: '' } }), [
      422,
      [['value_invalid', 'address', 'Address refuses "address": An address has a street.']],
    ])
    await assert.rejects(engine.seed({ accounts: [{ name: 'bob' }] }), /Account refuses "accounts.0": "bob"/)
    assert.equal((await engine.handle('GET', '/v1/accounts')).body.count, 1)
  })
})
