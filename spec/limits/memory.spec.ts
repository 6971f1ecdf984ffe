/** What is kept of requests is bounded by bytes: plans, statements, journal. Measured after a full collection, in this process. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { defineEntity, p } from '@mikro-orm/sqlite'
import library from '../../fixtures/library/index.ts'
import { RestEngine } from '../../lib/index.ts'
import { lowThresholds } from '../helpers/low-thresholds.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function held(): number {
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

/** Bytes of the process, which SQLite's own are among. */
function resident(): number {
  return process.memoryUsage.rss() / 2 ** 20
}

const times = (count: number, text: (index: number) => string, separator: string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(separator)

const PATHS = ['name', 'mentor.name', 'books.title', 'mentor.mentor.name', 'pupils.name', 'mentor.books.title']

describe('what is kept of requests', () => {
  it('is bounded by bytes, however long and many the queries are', async () => {
    // Few bytes are full after a few queries.
    using _ = lowThresholds({ planBytes: 1 << 20 })
    const engine = await RestEngine.create({ ...library })
    const start = { held: held(), resident: resident() }
    for (let round = 0; round < 24; round++) {
      // Each is a shape of its own, of several KB.
      const filter = (index: number): string => {
        const paths = times(4, at => PATHS[(round + index * at + at) % PATHS.length]!, '|')
        return `${paths}=${times(12, at => ((round >> (at % 9)) & 1 ? 'a' : 'a*'), ',')}`
      }
      const { status, body } = await engine.handle('GET', `/v1/authors?depth=${round % 3}&${times(50, filter, '&')}`)
      assert.equal(status, 200, JSON.stringify(body).slice(0, 300))
      // Statements are freed by Node between two turns of its loop.
      await nextTurn()
    }
    const kept = held() - start.held
    // Without the bound those of the plans alone are 16.
    assert.ok(kept < 8, `${kept.toFixed(0)} MiB are kept`)
    const grown = resident() - start.resident
    assert.ok(grown < 150, `the process has grown by ${grown.toFixed(0)} MiB`)
    await engine.close()
  })

  it('is bounded by bytes in the journal, whose newest requests keep their bodies', async () => {
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text() } })
    const engine = await RestEngine.create({ entities: [Note] })
    const start = held()
    for (let round = 0; round < 80; round++) {
      await engine.handle('PUT', '/v1/notes/7', {}, { text: `${round} `.padEnd(2 ** 20, 'x') })
      await engine.handle('GET', `/v1/notes?text=${round}${'x'.repeat(2 ** 19)}`)
    }
    await engine.handle('POST', '/v1/notes', {}, { id: 1, text: 'x'.repeat(2 ** 20) })
    for (let round = 0; round < 80; round++) await engine.handle('GET', `/v1/notes?round=${round}`.replace(/round=\d+/, ''))
    const kept = held() - start
    assert.ok(kept < 80, `${kept.toFixed(0)} MiB are kept`)
    assert.equal(engine.requests.at(-1)?.response.count, 1)
    assert.equal(engine.requests[0]?.body, undefined)
    await engine.close()
  })

  it('is bounded by bytes in the journal, with the rows that requests have changed', async () => {
    const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text(), seen: p.boolean() } })
    const engine = await RestEngine.create({ entities: [Note] })
    await engine.handle('POST', '/v1/notes', {}, { id: 1, text: 'x'.repeat(2 ** 20), seen: false })
    await engine.handle('GET', '/v1/notes')
    const start = held()
    // A small body, and the whole row before and after.
    for (let round = 0; round < 80; round++) {
      const { status } = await engine.handle('PUT', '/v1/notes/1', { attributes: 'id' }, { seen: round % 2 === 0 })
      assert.equal(status, 200)
    }
    const kept = held() - start
    assert.ok(kept < 80, `${kept.toFixed(0)} MiB are kept`)
    assert.equal(engine.requests.at(-1)?.changes?.length, 1)
    assert.equal(engine.requests.at(-1)?.changes?.[0]?.after.seen, false)
    assert.equal(engine.requests[0]?.changes, undefined)
    // What has changed no row has nothing to forget.
    assert.deepEqual(engine.requests[1]?.changes, [])
    await engine.close()
  })
})
