/** The trials of the benchmark on PostgreSQL: all contenders give the same answers. No time is measured. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compare, withApart } from '../../bench/postgres/contenders.ts'
import type { Contender } from '../../bench/postgres/contenders.ts'
import { LARGE_READINGS, READINGS, WRITES } from '../../bench/postgres/trials.ts'
import { findNoServer } from '../postgres/server-database.ts'

describe('the trials of the benchmark on PostgreSQL', { skip: await findNoServer() }, () => {
  it('are answered alike by all contenders', async () => {
    await withApart({ users: 1000, sites: 5000 }, async contenders => {
      for (const trial of [...READINGS, ...LARGE_READINGS, ...WRITES]) {
        await compare(trial, contenders, 5)
        const who = contenders.filter(contender => contender.answers(trial)).map(({ name }) => name)
        assert.deepEqual(who.slice(0, 2), ['by hand', 'engine'], trial.name)
      }
    })
  })

  it('are told apart where an answer differs', async () => {
    const [trial] = READINGS
    const say = (name: Contender['name'], text: string): Contender => ({
      name,
      answers: () => true,
      answer: () => Promise.resolve(`{"success":true,"timestamp":"2026-01-01T00:00:00.000Z",${text}}`),
      close: () => Promise.resolve(),
    })
    const byHand = say('by hand', '"users":[1,2]')
    await compare(trial!, [byHand, say('MikroORM', '"users": [1, 2]')], 1)
    await assert.rejects(
      compare(trial!, [byHand, say('engine', '"users": [1, 2]')], 1),
      /depth 0 by engine: call 0 is answered differently/,
    )
    await assert.rejects(compare(trial!, [byHand, say('MikroORM', '"users":[2]')], 1), /depth 0 by MikroORM: call 0/)
  })
})
