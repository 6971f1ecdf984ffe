import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RestEngine, fromJson } from '../../lib/index.ts'

describe('the notes of an engine', () => {
  it('begin with those of its options, and are shared with forks', async () => {
    await using engine = await RestEngine.create({ ...fromJson({ users: [] }), notes: ['first.', 'second.', 'first.'] })
    assert.deepEqual(engine.notes, ['first.', 'second.'])
    await using fork = await engine.fork()
    assert.deepEqual(fork.notes, engine.notes)
  })

  it('say what was guessed of plain data', async () => {
    await using engine = await RestEngine.create(fromJson({ users: [] }))
    assert.match(engine.notes.join('\n'), /^users is empty: .*\.$/)
  })

  it('must be texts', async () => {
    await assert.rejects(RestEngine.create({ ...fromJson({ users: [] }), notes: [1] as never }), /"notes" must be an array of strings/)
  })
})
