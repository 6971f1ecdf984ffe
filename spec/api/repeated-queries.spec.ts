/** Repeated queries: a query that comes again is not parsed again, and is answered as it was the first time, wherever it goes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'
import type { QueryInput } from '../../lib/index.ts'

const Tag = defineEntity({
  name: 'Tag',
  properties: { id: p.integer().primary(), name: p.string(), parent: () => p.manyToOne(Tag).nullable() },
})

const seed = {
  tags: [
    { id: 1, name: 'first' },
    { id: 2, name: 'second', parent: 1 },
  ],
}

const create = (): Promise<RestEngine> => RestEngine.create({ entities: [Tag], seed })

async function ask(engine: RestEngine, path: string, query?: QueryInput): Promise<string> {
  const { status, body } = await engine.handle('GET', path, query)
  return `${status} ${JSON.stringify({ ...body, timestamp: '' })}`
}

describe('repeated queries', () => {
  it('are answered as the first time, given as texts, objects or in the path', async () => {
    await using engine = await create()
    for (const depth of [0, 1, 2]) {
      const forms = [{ depth }, { depth: String(depth) }, `depth=${depth}`, new URLSearchParams({ depth: String(depth) })]
      const answers = []
      for (let time = 0; time < 3; time++) {
        for (const form of forms) answers.push(await ask(engine, '/v1/tags/2', form))
        answers.push(await ask(engine, `/v1/tags/2?depth=${depth}`))
      }
      assert.deepEqual(new Set(answers).size, 1, answers.join('\n'))
    }
    assert.notEqual(await ask(engine, '/v1/tags/2', { depth: 1 }), await ask(engine, '/v1/tags/2', { depth: 2 }))
  })

  it('are judged by what each path takes', async () => {
    await using engine = await create()
    for (let time = 0; time < 3; time++) {
      for (const query of ['?sort=name', '?name=first', '?limit=1']) {
        assert.match(await ask(engine, `/v1/tags${query}`), /^200 /)
        assert.match(await ask(engine, `/v1/tags/2${query}`), /^400 .*parameter_not_allowed/)
        assert.match(await ask(engine, `/v1/tags/2/name${query}`), /^400 .*parameter_not_allowed/)
        assert.match(await ask(engine, `/v1${query}`), /^400 .*parameter_not_allowed/)
      }
    }
  })

  it('are answered as the first time where they are long', async () => {
    await using engine = await create()
    for (const length of [10, 50, 100, 250]) {
      const others = Array.from({ length }, (_, index) => `x${index}`).join(',')
      for (let time = 0; time < 3; time++) {
        for (const name of ['first', 'second']) {
          const query = { name: `${others},${name}`, depth: '0', attributes: 'name' }
          for (const form of [query, new URLSearchParams(query)])
            assert.match(await ask(engine, '/v1/tags', form), new RegExp(`"count":1,.*"tags":\\[\\{"name":"${name}"\\}\\]`))
        }
      }
    }
  })

  it('are refused each time', async () => {
    await using engine = await create()
    for (let time = 0; time < 3; time++) {
      assert.match(await ask(engine, '/v1/tags/2', { depth: 3 }), /^400 .*value_invalid/)
      assert.match(await ask(engine, '/v1/tags/2?depth=%ZZ'), /^400 .*query_malformed/)
      assert.match(await ask(engine, '/v1/tags/2?depht=1'), /^400 .*parameter_not_allowed/)
    }
  })

  it('with a NUL never stand for others', async () => {
    await using engine = await create()
    assert.match(await ask(engine, '/v1/tags', { depth: 0, name: 'first' }), /^200 /)
    for (const query of [{ depth: '0\0name\0first' }, { 'depth\x000\0name': 'first' }]) {
      assert.match(await ask(engine, '/v1/tags', query), /^400 .*query_malformed/)
    }
    assert.match(await ask(engine, '/v1/tags?depth\x000\0name\0first\0'), /^400 .*query_malformed/)
  })

  it('may be more than are kept, and longer', async () => {
    await using engine = await create()
    const long = 'x'.repeat(500)
    for (let time = 0; time < 2; time++) {
      for (let each = 0; each < 300; each++)
        assert.match(await ask(engine, `/v1/tags?id=${each}`), each === 1 || each === 2 ? /"count":1/ : /"count":0/)
      assert.match(await ask(engine, '/v1/tags', { name: long }), /^200 .*"count":0/)
      assert.match(await ask(engine, '/v1/tags', { 'name!': long, id: 1 }), /^400 /)
    }
  })
})
