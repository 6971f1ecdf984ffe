/** Numbers with more digits than JavaScript keeps: exact or refused wherever a number can stand, and never another value. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import * as fc from 'fast-check'
import { findOddities, findRounded, parseExact, parseKept } from '../../lib/foundation/json/json-numbers.ts'
import { check } from '../helpers/check.ts'
import { describeStores, suiteEngine } from '../helpers/stores.ts'

const Place = defineEntity({ name: 'Place', embeddable: true, properties: { code: p.string(), extra: p.json().nullable() } })
const Note = defineEntity({
  name: 'Note',
  properties: {
    id: p.integer().primary(),
    data: p.json().nullable(),
    count: p.bigint().nullable(),
    price: p.decimal().nullable(),
    place: () => p.embedded(Place).object().nullable(),
  },
})

const LONG = '4634343214213523454'

describeStores('numbers with many digits', () => {
  const engineOf = suiteEngine({ entities: [Note] })
  const post = async (body: string): Promise<{ status: number; text: string }> => {
    const request = new Request('http://localhost/v1/notes', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const response = await engineOf().fetch(request)
    return { status: response.status, text: await response.text() }
  }

  it('are refused in bodies, with their place', async () => {
    const { status, text } = await post(`{ "data": { "orders": [1, { "id": ${LONG} }] } }`)
    assert.equal(status, 400)
    const { code, detail } = JSON.parse(text) as { code: string; detail: string }
    assert.equal(code, 'body_invalid')
    assert.match(detail, new RegExp(`under "data.orders\\[1\\].id": ${LONG} would become 4634343214213523000; send it as a string`))
    for (const body of [
      `[{"data":-${LONG}}]`,
      `{"price":12345678901234567.89}`,
      `{"price":9007199254740.993}`,
      `{"count":9007199254740993}`,
      `{"data":1.23456789012345678901}`,
    ])
      assert.equal((await post(body)).status, 400, body)
    assert.equal((await engineOf().handle('GET', '/v1/notes')).body['count'], 0)
  })

  it('are taken where they are kept', async () => {
    for (const number of [
      '9007199254740992',
      '1e300',
      '0.30000000000000004',
      '0.1000000000000000055511151231257827021181583404541015625',
      '174322306148984900',
    ]) {
      const { status, text } = await post(`{"data":[${number}],"count":"${LONG}"}`)
      assert.equal(status, 200, text)
      assert.ok(text.includes(`"data":[${JSON.stringify(Number(number))}]`) && text.includes(`"count":"${LONG}"`), text)
    }
  })

  it('are shown with all their digits where another program has stored them, found by these, and left alone', async () => {
    const engine = engineOf()
    const { id } = JSON.parse((await post('{"data":1}')).text).note as { id: number }
    const stored = async (column: string): Promise<string> => {
      const rows = await engine.orm.em.fork().getConnection().execute(`select cast(${column} as text) as text from note where id = ${id}`)
      return (rows as { text: string }[])[0]!.text.replaceAll(' ', '')
    }
    const document = `{"code":"a","extra":{"n":${LONG}}}`
    await engine.orm.em.fork().getConnection().execute(`update note set data = '{"n":${LONG}}', place = '${document}' where id = ${id}`)
    const shown = { data: { n: LONG }, place: { code: 'a', extra: { n: LONG } } }
    const get = async (query: string): Promise<unknown> =>
      (await engine.handle('GET', `/v1/notes?${query}&attributes=data,place`)).body['notes']
    assert.deepEqual(await get(`id=${id}`), [shown])
    assert.deepEqual(await get(`data.n=${LONG}`), [shown])
    assert.deepEqual(await get(`data.n=4634343214213523455`), [])
    assert.deepEqual(await get(`data={"n":${LONG}}`), [shown])
    assert.deepEqual(await get(`data={"n":4634343214213523455}`), [])
    const put = await engine.handle('PUT', `/v1/notes/${id}`, undefined, { data: shown.data, place: { code: 'b' } })
    assert.equal(put.status, 200)
    assert.equal(await stored('data'), `{"n":${LONG}}`)
    assert.equal(await stored('place'), document.replace('"a"', '"b"'))
  })
})

describe('JSON numbers', () => {
  it('are what they were, as numbers or as texts of their digits', async () => {
    const integer = fc.oneof(
      fc.bigInt(-(2n ** 80n), 2n ** 80n),
      fc.bigInt(-9n, 9n).map(off => 2n ** 53n + off),
    )
    await check(
      fc.property(integer, number => {
        const exact = parseExact(`[${number}]`) as [number | string]
        assert.equal(typeof exact[0] === 'string', findRounded(`[${number}]`) !== undefined)
        // What JavaScript prints of a number that it keeps has the same digits, or the power of ten that they are.
        if (typeof exact[0] === 'string') assert.equal(exact[0], String(number))
        else assert.match(String(number), new RegExp(`^${String(exact[0]).replace('.', '').replace(/e.*/, '')}0*$`))
        const kept = JSON.stringify(parseKept(`[${number}]`))
        assert.ok(kept === `[${number}]` || !Number.isSafeInteger(exact[0]), kept)
      }),
      { label: 'JSON numbers', runs: 1000 },
    )
    const double = fc.double({ noNaN: true, noDefaultInfinity: true })
    await check(
      fc.property(double, value => assert.equal(findRounded(`{"a":${JSON.stringify(value)}}`), undefined)),
      { label: 'JSON numbers', runs: 1000 },
    )
  })

  it('are found at their places, and so are names that stand twice', () => {
    const text = `{"a":[{"b, ]}\\"":${LONG}},"${LONG}"],"a":{"\\u0063":1,"c":2,"d":{"c":1}},"e":[]}`
    assert.deepEqual(
      [...findOddities(text)].map(({ kind, path }) => [kind, path]),
      [
        ['rounded', 'a[0].b, ]}"'],
        ['repeated', 'a'],
        ['repeated', 'a.c'],
      ],
    )
  })
})
