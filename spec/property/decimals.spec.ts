/**
 * Decimals with more digits than can be stored: in filters, against arithmetic with all digits; in bodies; and none in generated records.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import * as fc from 'fast-check'
import { check } from '../helpers/check.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Price = defineEntity({ name: 'Price', properties: { id: p.integer().primary(), amount: p.decimal().precision(26).scale(6) } })
const Sum = defineEntity({ name: 'Sum', properties: { id: p.integer().primary(), amount: p.decimal().precision(40).scale(20) } })

/** In units of 10^-60. */
function unitsOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  const units = BigInt(whole + fraction.padEnd(60, '0'))
  return text.startsWith('-') ? -units : units
}

const digits = (min: number, max: number) => fc.string({ unit: fc.constantFrom('0', '1', '4', '5', '9'), minLength: min, maxLength: max })

/** Of up to 15 significant digits, some in the tens of the integers beyond that. */
const stored = fc.oneof(
  fc.tuple(fc.constantFrom('', '-'), digits(15, 15), fc.integer({ min: 1, max: 15 })).map(([sign, text, point]) => {
    const [whole, fraction] = [text.slice(0, point).replace(/^0+(?=\d)/, ''), text.slice(point)]
    return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`
  }),
  fc.integer({ min: 10 ** 15, max: Number.MAX_SAFE_INTEGER }).map(String),
)

describeStores('decimals in filters', () => {
  it('compare with all their digits', async () => {
    await using engine = await createEngine({ entities: [Sum] })
    await check(
      fc.asyncProperty(
        fc.array(stored, { minLength: 1, maxLength: 5 }),
        fc.nat({ max: 4 }),
        digits(0, 25),
        fc.constantFrom('=', '>', '>=', '<', '<='),
        async (values, at, more, operator) => {
          await engine.reset()
          await engine.seed({ sums: values.map(amount => ({ amount })) })
          const near = values[at % values.length]!
          const text = more === '' ? near : `${near}${near.includes('.') ? '' : '.'}${more}`
          const asked = unitsOf(text)
          const { status, body } = await engine.handle('GET', '/v1/sums', { [operator === '=' ? 'amount' : `amount${operator}`]: text })
          assert.equal(status, 200)
          const expected = values.flatMap((value, index) => {
            const units = unitsOf(value)
            const holds =
              operator === '='
                ? units === asked
                : operator === '>'
                  ? units > asked
                  : operator === '>='
                    ? units >= asked
                    : operator === '<'
                      ? units < asked
                      : units <= asked
            return holds ? [index + 1] : []
          })
          assert.deepEqual(
            (body as { sums: { id: number }[] }).sums.map(({ id }) => id),
            expected,
            `${values.join(' ')}: ${operator}${text}`,
          )
        },
      ),
      { label: 'decimals', runs: 200 },
    )
  })
})

describeStores('decimals in bodies', store => {
  it('are refused where SQLite would not store all their digits', store.except('long decimals'), async () => {
    await using engine = await createEngine({ entities: [Price] })
    const post = async (amount: string): Promise<unknown> => {
      const { status, body } = await engine.handle('POST', '/v1/prices', {}, { amount })
      return status === 200 ? (body as { price: { amount: string } }).price.amount : (body as { detail: string }).detail
    }
    assert.equal(await post('123456789.012345'), '123456789.012345')
    assert.equal(await post('9007199254740991'), '9007199254740991.000000')
    const refused = '"amount" must be a decimal number of at most 15 digits, because SQLite stores no more exactly.'
    assert.deepEqual([await post('1234567890.012345'), await post('9007199254740993')], [refused, refused])
    const tooLong = '"amount" must be a decimal number with at most 20 digits before and 6 after the point.'
    assert.deepEqual([await post('1.0000001'), await post('123456789012345678901')], [tooLong, tooLong])
  })

  it('that are generated can be stored, whatever the scale', async () => {
    await using engine = await createEngine({ entities: [Sum] })
    const [sum, other] = await engine.given.many('sums', 2)
    assert.notEqual(sum!['amount'], other!['amount'])
  })
})
