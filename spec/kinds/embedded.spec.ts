/** Embedded objects of every kind: in columns, as JSON, lists of them, and objects of one of several classes. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { RestEngine } from '../../lib/index.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'
import { entities } from './plain.ts'

const PART = {
  name: 'n',
  size: 1,
  words: ['a', 'b,c', ''],
  choices: ['a'],
  point: { x: 1, y: 2 },
  blob: 'AAE=',
  big: '9007199254740993',
  decimal: '1.50',
  day: '2020-01-01',
  made: '2020-01-01T00:00:00.000Z',
  json: { k: [1, { z: 'q' }] },
}
const BARE = {
  name: 'm',
  size: 7,
  words: null,
  choices: null,
  point: null,
  blob: null,
  big: null,
  decimal: null,
  day: null,
  made: null,
  json: null,
}

type Body = Record<string, unknown> & { errors?: { code: string; attribute?: string }[] }

describeStores('kinds of embedded objects', () => {
  let engine: RestEngine
  const causes: unknown[] = []
  before(async () => {
    engine = await createEngine({ entities, onError: error => causes.push(error) })
  })
  after(() => engine.close())
  const call = async (
    method: string,
    path: string,
    query?: Record<string, string>,
    body?: unknown,
  ): Promise<{ status: number; body: Body }> => {
    const response = await engine.handle(method, path, query, body)
    assert.ok(response.status < 500, `${method} ${path}: ${causes.splice(0).join()}`)
    return response
  }
  const make = async (body: unknown): Promise<string> => {
    const { status, body: answer } = await call('POST', '/v1/plains', {}, body)
    assert.equal(status, 200, JSON.stringify(answer))
    return `/v1/plains/${(answer['plain'] as { id: number }).id}`
  }
  const shown = async (path: string, name: string): Promise<unknown> => (await call('GET', `${path}/${name}`)).body['value']
  const put = async (path: string, body: unknown): Promise<void> => {
    const { status, body: answer } = await call('PUT', path, {}, body)
    assert.equal(status, 200, JSON.stringify(answer))
  }

  for (const name of ['part', 'partDoc']) {
    it(`${name}: every kind of value in it is written, merged, emptied and read by MikroORM`, async () => {
      const path = await make({ [name]: PART })
      assert.deepEqual(await shown(path, name), PART)
      await put(path, { [name]: { point: { x: 5, y: 5 }, blob: 'AAEC', words: null } })
      assert.deepEqual(await shown(path, name), { ...PART, point: { x: 5, y: 5 }, blob: 'AAEC', words: null })
      const em = engine.orm.em.fork()
      const entity = (await em.findOneOrFail(entities[0] as never, Number(path.split('/').at(-1)))) as Record<
        string,
        Record<string, unknown>
      >
      assert.deepEqual({ ...(entity[name]!['point'] as object) }, { x: 5, y: 5 })
      assert.deepEqual(Buffer.from(entity[name]!['blob'] as Uint8Array).toString('base64'), 'AAEC')
      assert.equal(entity[name]!['big'], 9007199254740993n)
      await put(path, { [name]: null })
      assert.equal(await shown(path, name), null)
      await put(path, { [name]: { name: 'm' } })
      assert.deepEqual(await shown(path, name), BARE)
      for (const bad of [{ point: 5 }, { words: [1] }, { choices: ['z'] }, { blob: '?' }, { big: 'x' }, { name: null }, 5, []]) {
        assert.equal((await call('PUT', path, {}, { [name]: bad })).status, 422, JSON.stringify(bad))
      }
    })

    it(`${name}: what is in it is filtered and sorted by`, async () => {
      await engine.orm.em.getConnection().execute('delete from plain')
      const [first, second] = [
        await make({ [name]: PART }),
        await make({ [name]: { ...PART, name: 'o', size: 2, big: '9007199254740992', decimal: '10.00', point: { x: 1, y: 3 } } }),
      ]
      const found = async (query: Record<string, string>): Promise<unknown[]> => {
        const { status, body } = await call('GET', '/v1/plains', query)
        assert.equal(status, 200, JSON.stringify({ query, body }))
        return (body['plains'] as { id: number }[]).map(({ id }) => `/v1/plains/${id}`)
      }
      assert.deepEqual(await found({ [`${name}.big`]: '9007199254740993' }), [first])
      assert.deepEqual(await found({ [`${name}.point`]: '{"x":1\\,"y":3}' }), [second])
      assert.deepEqual(await found({ [`${name}.decimal>`]: '1.5' }), [second])
      assert.deepEqual(await found({ sort: `${name}.decimal.desc` }), [second, first])
      assert.deepEqual(await found({ [`${name}.made>=`]: '2020-01-01', [`${name}.name`]: 'n*' }), [first])
      for (const query of [{ [`${name}.words`]: 'a' }, { [`${name}.blob`]: 'null' }, { sort: `${name}.choices` }]) {
        assert.equal((await call('GET', '/v1/plains', query)).status, 400)
      }
    })
  }

  it('a list of objects is written whole, with defaults, emptied, selected from, and refused what it cannot be', async () => {
    const path = await make({ parts: [PART, { name: 'm' }] })
    assert.deepEqual(await shown(path, 'parts'), [PART, BARE])
    await put(path, { parts: [{ name: 'm' }] })
    assert.deepEqual(await shown(path, 'parts'), [BARE])
    await put(`${path}/parts`, [])
    assert.deepEqual(await shown(path, 'parts'), [])
    await put(path, { parts: null })
    assert.equal(await shown(path, 'parts'), null)
    await put(path, { parts: [PART] })
    assert.deepEqual((await call('GET', path, { attributes: 'parts.name,parts.point' })).body['plain'], {
      parts: [{ name: 'n', point: { x: 1, y: 2 } }],
    })
    const faults: [unknown, string, string][] = [
      [{}, 'value_invalid', 'parts'],
      [[5], 'value_invalid', 'parts.0'],
      [[PART, {}], 'required', 'parts.1.name'],
      [[{ name: 'x', nmae: 'y' }], 'attribute_unknown', 'parts.0.nmae'],
      [[{ name: 'x', point: 'y' }], 'value_invalid', 'parts.0.point'],
    ]
    for (const [bad, code, attribute] of faults) {
      const { status, body } = await call('PUT', path, {}, { parts: bad })
      assert.equal(status, 422)
      assert.deepEqual(
        body.errors?.map(fault => [fault.code, fault.attribute]),
        [[code, attribute]],
      )
    }
    for (const query of [{ parts: 'x' }, { 'parts.name': 'x' }, { sort: 'parts' }, { sort: 'parts.name' }]) {
      assert.equal((await call('GET', '/v1/plains', query)).status, 400, JSON.stringify(query))
    }
  })

  for (const name of ['pet', 'petDoc']) {
    it(`${name}: an object of one of two classes has the attributes of its class, and changes class when it is replaced`, async () => {
      const path = await make({ [name]: { type: 'cat', name: 'Tom', lives: 9 } })
      assert.deepEqual(await shown(path, name), { type: 'cat', name: 'Tom', lives: 9 })
      await put(path, { [name]: { type: 'dog', name: 'Rex' } })
      assert.deepEqual(await shown(path, name), { type: 'dog', name: 'Rex', tricks: null })
      const entity = (await engine.orm.em.fork().findOneOrFail(entities[0] as never, Number(path.split('/').at(-1)))) as Record<
        string,
        object
      >
      assert.equal(entity[name]!.constructor.name, 'Dog')
      const faults: [unknown, string, string][] = [
        [{ name: 'x' }, 'required', `${name}.type`],
        [{ type: 'cow', name: 'x' }, 'not_allowed', `${name}.type`],
        [{ type: 'dog', name: 'x', lives: 1 }, 'attribute_unknown', `${name}.lives`],
        [{ type: 'cat', name: 'x' }, 'required', `${name}.lives`],
      ]
      for (const [bad, code, attribute] of faults) {
        const { status, body } = await call('PUT', path, {}, { [name]: bad })
        assert.equal(status, 422)
        assert.deepEqual(
          body.errors?.map(fault => [fault.code, fault.attribute]),
          [[code, attribute]],
        )
      }
      const { body } = await call('GET', '/v1/plains', { [`${name}.type`]: 'dog', [`${name}.name`]: 'R*', sort: `${name}.tricks` })
      assert.equal(body['count'], 1)
      await put(path, { [name]: null })
      assert.equal(await shown(path, name), null)
    })
  }

  it('a list of objects of several classes', async () => {
    const pets = [
      { type: 'dog', name: 'Rex', tricks: 2 },
      { type: 'cat', name: 'Tom', lives: 9 },
    ]
    const path = await make({ pets })
    assert.deepEqual(await shown(path, 'pets'), pets)
    await put(path, { pets: pets.toReversed() })
    assert.deepEqual(await shown(path, 'pets'), pets.toReversed())
    assert.equal((await call('PUT', path, {}, { pets: [{ type: 'dog', name: 'x', lives: 1 }] })).status, 422)
  })
})
