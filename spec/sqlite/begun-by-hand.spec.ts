/**
 * Transactions that the application begins by hand: nothing tells what belongs to them, so whoever asks the engine meanwhile waits, and not
 * for ever.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.text() } })

describe('a transaction of em.begin()', () => {
  it('is waited for', async () => {
    await using engine = await RestEngine.create({ entities: [Note] })
    const em = engine.orm.em.fork()
    await em.begin()
    await em.insert(Note, { text: 'by hand' })
    const [reading, writing] = [engine.handle('GET', '/v1/notes'), engine.handle('POST', '/v1/notes', undefined, { text: 'asked' })]
    await em.commit()
    assert.equal(((await reading).body as { count: number }).count, 1)
    assert.equal((await writing).status, 200)
  })

  it('that is left open ends in a clear refusal of all that waits for it, and can still be committed', async () => {
    const errors: unknown[] = []
    await using engine = await RestEngine.create({ entities: [Note], onError: error => errors.push(error) })
    await engine.seed({ notes: [{ text: 'before' }] })
    const em = engine.orm.em.fork()
    await em.begin()
    await em.insert(Note, { text: 'by hand' })
    const began = performance.now()
    const answers = await Promise.all([
      engine.handle('GET', '/v1/notes'),
      engine.handle('POST', '/v1/notes', undefined, { text: 'asked' }),
      engine.handle('DELETE', '/v1/notes/1'),
    ])
    // Five seconds for all of them: one after another they would take fifteen.
    assert.ok(performance.now() - began < 14_000)
    for (const { status, headers, body } of answers) {
      const { code, detail } = body as { code: string; detail: string }
      assert.deepEqual([status, code, headers['retry-after']], [503, 'database_busy', '1'])
      assert.match(detail, /em\.begin\(\) has been open for 5 seconds\. Commit it or roll it back .* em\.transactional\(\)/)
    }
    assert.equal(errors.length, 3)
    const other = engine.orm.em.fork()
    await Promise.all(
      [engine.seed({ notes: [{ text: 'seed' }] }), engine.snapshot(), engine.reset(), other.count(Note)].map(async waiting =>
        assert.rejects(waiting, /em\.begin\(\) has been open/),
      ),
    )
    await em.commit()
    const { body } = await engine.handle('GET', '/v1/notes')
    assert.deepEqual(
      (body as { notes: { text: string }[] }).notes.map(({ text }) => text),
      ['before', 'by hand'],
    )
  })

  it('is not that of em.transactional(), which may take as long as it takes, and which the engine takes part in', async () => {
    await using engine = await RestEngine.create({ entities: [Note] })
    const outside = wait(300).then(async () => engine.handle('GET', '/v1/notes'))
    await engine.orm.em.fork().transactional(async () => {
      assert.equal((await engine.handle('POST', '/v1/notes', undefined, { text: 'inside' })).status, 200)
      await wait(6500)
    })
    assert.equal(((await outside).body as { count: number }).count, 1)
  })
})
