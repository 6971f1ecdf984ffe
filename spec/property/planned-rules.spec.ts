/**
 * Planned writes under rules: access functions, scopes and conditions beyond a link do not take a write out of a plan, and it is refused,
 * hidden and answered as the unit of work does it. Two engines have the same model and rules, and get the same requests of the same
 * callers; in one of them a subscriber does nothing. See `Twins`.
 *
 * A long run by hand: `FC_RUNS=2000 node --import tsx --test spec/property/planned-rules.spec.ts`.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { RestEngine } from '../../lib/index.ts'
import { UnitsOfWork } from '../../lib/databases/sqlite/units-of-work.ts'
import { check } from '../helpers/check.ts'
import { clubRules, ruledRequests } from './world/club-rules.ts'
import { CLUBS, Clubs } from './world/clubs.ts'
import { Twins } from './world/twins.ts'
import type { Request } from './world/ways-of-writing.ts'

/** Requests that statements write, whoever asks. */
const PLANNED: readonly Request[] = [
  { method: 'PATCH', path: '/v1/clubs/1', body: { name: 'x' } },
  { method: 'POST', path: '/v1/teams', body: { name: 'n', club: 1 } },
  { method: 'POST', path: '/v1/clubs', body: { name: 'z', tags: ['a'], notes: [{ text: 'p' }] } },
  { method: 'POST', path: '/v1/clubs/1/players', body: { name: 'q', number: 3 } },
  { method: 'PUT', path: '/v1/clubs/1/tags', body: ['b', 'd'] },
  { method: 'PATCH', path: '/v1/clubs/1', body: { players: ['2'] } },
  { method: 'PUT', path: '/v1/players/2/club', body: { name: 'y' } },
  { method: 'DELETE', path: '/v1/events/2' },
  { method: 'DELETE', path: '/v1/clubs/1/events' },
]

/** How many units of work there have been. */
let units = 0
const { write } = UnitsOfWork.prototype
UnitsOfWork.prototype.write = function (work, end) {
  units++
  return write.call(this, work, end) as Promise<never>
}

describe('planned writes under rules', () => {
  it('answer and store as the unit of work, whoever asks', async () => {
    await using origin = await Twins.of(() => new Clubs().entities, CLUBS, [], clubRules)
    await check(
      fc.asyncProperty(fc.array(ruledRequests, { minLength: 10, maxLength: 30, size: 'max' }), async asked => {
        await using twins = await origin.fork()
        for (const request of asked) await twins.ask(request)
        await twins.compare()
      }),
      { label: 'rules', runs: 25 },
    )
  })

  it('say that a unique value is taken before what a caller may not change in a list', async () => {
    await using twins = await Twins.of(() => new Clubs().entities, CLUBS, [], clubRules)
    await twins.ask({ method: 'PUT', path: '/v1/tags/a', body: { name: 'b', clubs: [], ranked: [3] }, headers: { 'x-own': '1' } })
  })

  it('are what the requests of any caller are, where nobody listens', async () => {
    const { entities } = new Clubs()
    await using engine = await RestEngine.create({ entities: entities as never, seed: CLUBS, resources: clubRules(entities) as never })
    for (const { method, path, body } of PLANNED) {
      const before = units
      const answer = await engine.handle(method, path, {}, body)
      assert.equal(answer.status, 200, `${method} ${path} ${JSON.stringify(answer.body)}`)
      assert.equal(units, before, `${method} ${path}`)
    }
  })
})
