/**
 * What statements say of those that follow is checked on every database, so that a mistake in a reading does not show on a server alone.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { internalsOf } from '../../lib/engine/assembly/internals.ts'
import type { Reading, ReadingStep } from '../../lib/records/database/dialect.ts'
import { createEngine, describeStores } from '../helpers/stores.ts'

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary(), text: p.string() } })

/** Reads one after another, each of which says whether it is the last. */
function* read(...last: boolean[]): Reading<number> {
  for (const isLast of last) {
    const step: ReadingStep = { statement: { sql: 'select 1', bindings: [] }, parameters: [], isLast }
    yield [step, step]
  }
  return last.length
}

describeStores('a reading', () => {
  it('has no statement behind one that says it is the last', async () => {
    await using engine = await createEngine({ entities: [Note] })
    const { connection } = internalsOf(engine).parts
    const run = async (...last: boolean[]): Promise<number> => connection.read(() => read(...last))
    const inside = (...last: boolean[]): Promise<number> => connection.write(async () => connection.read(() => read(...last)))
    for (const way of [run, inside]) {
      assert.equal(await way(false, false, true), 3)
      await assert.rejects(way(false, true, false), /^Error: A reading has said that no statement follows, and one does\.$/)
      await assert.rejects(way(true, true), /no statement follows/)
    }
    // And what goes on behind it is as before.
    assert.equal(await run(false, true), 2)
  })
})
