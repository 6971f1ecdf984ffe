/** Bodies that ask for much: the records they speak of and the faults they have are bounded, and so is the time that they take. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/core'
import { RestEngine } from '../../lib/index.ts'
import type { RestResponse } from '../../lib/foundation/base/response.ts'
import { leastOf, timeOf } from '../helpers/least.ts'

const Tag = defineEntity({ name: 'Tag', properties: { id: p.integer().primary(), name: p.string().length(10).unique() } })
const Place = defineEntity({ name: 'Place', embeddable: true, properties: { city: p.string(), zip: p.string() } })
const Site = defineEntity({
  name: 'Site',
  properties: {
    id: p.integer().primary(),
    title: p.string().nullable(),
    meta: p.json().nullable(),
    tags: () => p.manyToMany(Tag),
    parent: () => p.manyToOne(Site).nullable(),
    children: () => p.oneToMany(Site).mappedBy('parent'),
    places: () => p.embedded(Place).array().nullable(),
  },
})

interface Refused {
  readonly code: string
  readonly detail: string
  readonly errors: readonly { readonly code: string; readonly attribute?: string }[]
}

let engine: RestEngine

const post = (body: unknown): Promise<RestResponse> => engine.handle('POST', '/v1/sites', undefined, body)

function refused(response: RestResponse, status: number): Refused {
  assert.equal(response.status, status)
  return response.body
}

const ids = (length: number): number[] => Array.from({ length }, (_, index) => index + 1)

/** Hooks of each suite. */
function begin(): void {
  before(async () => {
    engine = await RestEngine.create({
      entities: [Site, Tag],
      seed: { tags: Array.from({ length: 1_000 }, (_, index) => ({ id: index + 1, name: `t${index}` })), sites: [{ id: 1 }] },
    })
  })
  after(() => engine.close())
}

describe('the records of a body', () => {
  begin()

  it('are 1000 at most, made or linked, however deep they lie', async () => {
    assert.equal((await post({ tags: ids(1_000) })).status, 200)
    assert.equal((await post({ tags: ids(1_000).map(() => 7) })).status, 200)
    for (const body of [
      { tags: ids(1_001) },
      { children: Array.from({ length: 1_001 }, () => ({})) },
      { children: Array.from({ length: 10 }, () => ({ tags: ids(100) })) },
      { children: [{ parent: null, children: Array.from({ length: 1_000 }, () => ({ title: 'x' })) }] },
    ]) {
      const { code, detail, errors } = refused(await post(body), 400)
      assert.deepEqual([code, errors.map(fault => fault.code)], ['body_invalid', ['limit_exceeded']])
      assert.match(detail, /more than 1000 records \(limits\.maxBodyRecords\), of which each linked ID is one: /)
    }
    const list = refused(await engine.handle('PUT', '/v1/sites/1/tags', undefined, ids(1_001)), 400)
    assert.equal(list.errors[0]!.code, 'limit_exceeded')
  })

  it('are as many as limits.maxBodyRecords says; a seed has no such limit', async () => {
    await using own = await RestEngine.create({
      entities: [Site, Tag],
      limits: { maxBodyRecords: 2 },
      seed: { tags: [{ id: 1, name: 'a' }], sites: [{ id: 1, children: [{ id: 2 }, { id: 3 }, { id: 4 }] }] },
    })
    assert.equal((await own.handle('POST', '/v1/sites', undefined, { children: [{}, {}] })).status, 200)
    assert.equal((await own.handle('POST', '/v1/sites', undefined, { children: [{}, {}], tags: [1] })).status, 400)
  })

  it('are looked up once each', async () => {
    const { statements } = await engine.explain('POST', '/v1/sites', undefined, {
      tags: ids(200).map(() => 3),
      children: [{ tags: [3, 3, 4] }],
    })
    const looked = statements.filter(({ sql, parameters }) => /^select 1/i.test(sql) && JSON.stringify(parameters).includes('3'))
    assert.ok(looked.length <= 1, `${looked.length} statements: ${looked[0]?.sql}`)
    const { errors } = refused(await post({ tags: [5000, 5000, 1, 5000] }), 422)
    assert.deepEqual(
      errors.map(({ attribute }) => attribute),
      ['tags.0', 'tags.1', 'tags.3'],
    )
  })
})

describe('the faults of a body', () => {
  begin()

  it('are listed up to a hundred, and the others are counted', async () => {
    const body = Object.fromEntries(ids(250).map(index => [`titel${index}`, index]))
    const { detail, errors } = refused(await post(body), 422)
    assert.equal(errors.length, 100)
    assert.match(detail, /And 150 more errors, which are not listed \(limits\.maxErrors\)\.$/)
    const exactly = refused(await post(Object.fromEntries(Object.entries(body).slice(0, 100))), 422)
    assert.equal(exactly.errors.length, 100)
    assert.doesNotMatch(exactly.detail, /more errors/)
  })

  it('are a conflict only where those that are not listed are, too', async () => {
    await using own = await RestEngine.create({
      entities: [Site, Tag],
      limits: { maxErrors: 1 },
      seed: {
        tags: [
          { id: 1, name: 'a' },
          { id: 2, name: 'b' },
        ],
      },
    })
    const taken = { tags: [{ name: 'a' }, { name: 'b' }] }
    assert.equal(refused(await own.handle('POST', '/v1/sites', undefined, taken), 409).errors.length, 1)
    assert.equal((await own.handle('POST', '/v1/sites', undefined, { ...taken, parent: 99 })).status, 422)
  })
})

describe('a body of a megabyte', () => {
  begin()

  const many = (of: (index: number) => string, size = 1_000_000): string => {
    const parts: string[] = []
    for (let length = 0, index = 0; length < size; index++) {
      parts.push(of(index))
      length += parts.at(-1)!.length + 1
    }
    return parts.join()
  }

  const bodies: Readonly<Record<string, string>> = {
    'unknown attributes': `{${many(index => `"titl${index}":1`)}}`,
    'IDs of one record': `{"tags":[${many(() => '1')}]}`,
    'IDs of records that are not there': `{"tags":[${many(index => String(index + 5_000))}]}`,
    'wrong members of a list': `{"tags":[${many(() => '"x"')}]}`,
    'new records with faults': `{"children":[${many(() => '{"x":1}')}]}`,
    'embedded objects with faults': `{"places":[${many(() => '{}')}]}`,
    'embedded objects of unknown attributes': `{"places":[{${many(index => `"citi${index}":1`)}}]}`,
    'a long text': `{"title":"${'x'.repeat(1_000_000)}","titel":1}`,
    'a long name': `{"${'x'.repeat(1_000_000)}":1}`,
    'arrays in arrays': `{"meta":[${many(() => `${'['.repeat(150)}${']'.repeat(150)}`)}]}`,
    'numbers out of range': `{"meta":[${many(() => '1e308')},1e999]}`,
    'text that is not JSON': `{"meta":[${many(() => '1')}`,
  }

  const plain = bodies['embedded objects with faults']!

  for (const [what, body] of Object.entries(bodies)) {
    it(`of ${what} is answered in milliseconds, and briefly`, async () => {
      const ask = async (): Promise<void> => {
        const request = new Request('http://api.test/v1/sites', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
        const response = await engine.fetch(request)
        const { length } = await response.text()
        assert.ok(response.status < 500, String(response.status))
        assert.ok(response.status === 200 || length < 3 * body.length + 100_000, `${length} characters`)
      }
      // So many times what it takes to read and write a megabyte of JSON on this machine.
      const isQuick = (parsed: number, answered: number): boolean => answered < 80 * parsed
      const [parsed, answered] = await leastOf([() => timeOf(() => JSON.stringify(JSON.parse(plain))), () => timeOf(ask)], isQuick)
      if (process.env['SHOW_TIMES'] !== undefined) console.log(what, answered.toFixed(0), 'ms,', (answered / parsed).toFixed(1))
      assert.ok(isQuick(parsed, answered), `${answered} ms, parsed in ${parsed}`)
    })
  }
})
