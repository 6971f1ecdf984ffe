/**
 * When a planned write begins a transaction in the database: in memory not before it writes, and not at all where one statement is all of
 * it.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'
import type { EngineOptions, RestResponse } from '../../lib/index.ts'
import { watchStatements } from '../helpers/statements.ts'

let whenMade: (() => void) | undefined

const Shelf = defineEntity({ name: 'Shelf', properties: { id: p.integer().primary(), label: p.string().length(10) } })
const Jar = defineEntity({
  name: 'Jar',
  properties: {
    id: p.integer().primary(),
    label: p.string().unique(),
    number: p.integer().onCreate(() => {
      whenMade?.()
      return 1
    }),
    shelf: () => p.manyToOne(Shelf).nullable().deleteRule('restrict'),
  },
})

const seed = {
  shelves: [
    { id: 1, label: 'one' },
    { id: 2, label: 'two' },
  ],
  jars: [{ id: 1, label: 'salt', shelf: 1 }],
}

async function open(options: EngineOptions = {}): Promise<RestEngine> {
  return RestEngine.create({ entities: [Shelf, Jar], seed, ...options })
}

/** The status of the answer, and the first words of the statements that do more than read. */
async function wordsOf(work: () => Promise<RestResponse>): Promise<(string | number)[]> {
  const { result, sql } = await watchStatements(work)
  return [result.status, ...sql.map(text => text.split(' ', 1)[0]!).filter(word => word !== 'select' && word !== 'pragma')]
}

async function labels(engine: RestEngine, path: string): Promise<unknown[]> {
  const { body } = await engine.handle('GET', path)
  return body[body.resource].map(({ label }: { label: unknown }) => label)
}

describe('a planned write', () => {
  it('that is one statement is a transaction by itself, in memory', async () => {
    await using engine = await open()
    assert.deepEqual(await wordsOf(() => engine.handle('DELETE', '/v1/jars/1')), [200, 'delete'])
    assert.deepEqual(await labels(engine, '/v1/jars'), [])
    assert.deepEqual(
      engine.requests.flatMap(({ changes }) => changes ?? []),
      [{ type: 'delete', resource: 'jars', id: 1, before: { id: 1, label: 'salt', number: 1, shelf: 1 }, after: null }],
    )
    await engine.reset()
    assert.deepEqual(await labels(engine, '/v1/jars'), ['salt'])
  })

  it('that is read for its answer is taken back where the answer is refused', async () => {
    await using engine = await open({ limits: { maxAnswerBytes: 20 } })
    const create = { label: 'a'.repeat(40) }
    assert.deepEqual(await wordsOf(() => engine.handle('POST', '/v1/jars', undefined, create)), [400, 'begin', 'insert', 'rollback'])
    assert.deepEqual((await engine.handle('GET', '/v1/jars?limit=0')).body.count, 1)
  })

  it('that is refused before it writes begins none, in memory', async () => {
    await using engine = await open()
    assert.deepEqual(await wordsOf(() => engine.handle('DELETE', '/v1/jars/7')), [404])
    assert.deepEqual(await wordsOf(() => engine.handle('PUT', '/v1/jars/1', undefined, { shelf: 7 })), [422])
    assert.deepEqual(await wordsOf(() => engine.handle('DELETE', '/v1/shelves/1')), [409])
    assert.equal((await engine.handle('DELETE', '/v1/shelves/2')).status, 200)
  })

  it('that the database refuses leaves nothing behind', async () => {
    await using engine = await open()
    await engine.orm.em.getConnection().execute("create trigger kept before delete on shelf begin select raise(abort, 'shelves stay'); end")
    const refused = await engine.handle('DELETE', '/v1/shelves/2')
    assert.equal(refused.status, 422, JSON.stringify(refused.body))
    assert.deepEqual(await labels(engine, '/v1/shelves'), ['one', 'two'])
    assert.deepEqual(engine.requests.at(-2)!.changes, [])
    assert.equal((await engine.handle('POST', '/v1/shelves', undefined, { label: 'three' })).status, 200)
  })

  it('begins one with a time budget, and in a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mikro-rest-alone-'))
    try {
      for (const options of [{ limits: { timeout: 1000 } }, { database: join(folder, 'jars.db') }]) {
        await using engine = await open(options)
        const words = await wordsOf(() => engine.handle('DELETE', '/v1/jars/1'))
        assert.deepEqual(words, [200, 'begin', 'delete', 'commit'])
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('is known to what a function of the model asks the engine meanwhile', async () => {
    await using engine = await open()
    const asked: Promise<RestResponse>[] = []
    whenMade = () => {
      whenMade = undefined
      asked.push(engine.handle('GET', '/v1/jars'), engine.handle('POST', '/v1/shelves', undefined, { label: 'new' }))
    }
    assert.equal((await engine.handle('POST', '/v1/jars', undefined, { label: 'pepper' })).status, 200)
    assert.deepEqual(
      (await Promise.all(asked)).map(({ status }) => status),
      [200, 200],
    )
    assert.deepEqual(
      engine.requests.map(({ method, path, nested, changes }) => [method, path, nested, changes?.length]),
      [
        ['GET', '/v1/jars', true, 0],
        ['POST', '/v1/shelves', true, 1],
        ['POST', '/v1/jars', false, 1],
      ],
    )
    assert.deepEqual(await labels(engine, '/v1/jars'), ['salt', 'pepper'])
    assert.deepEqual(await labels(engine, '/v1/shelves'), ['one', 'two', 'new'])
  })
})
