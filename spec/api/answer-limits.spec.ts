/**
 * Limits of an answer: records of all levels and bytes, counted while the answer is made; a record that is shown in several places counts
 * in each.
 */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { after, before, describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/sqlite'
import { RestEngine } from '../../lib/index.ts'
import sampleModel, { sampleData } from '../../fixtures/sample/index.ts'
import { check } from '../helpers/check.ts'
import { leastTime } from '../helpers/least.ts'
import { watchStatements } from '../helpers/statements.ts'

const Owner = defineEntity({
  name: 'Owner',
  properties: {
    id: p.integer().primary(),
    name: p.string().nullable(),
    boss: () => p.manyToOne(Owner).nullable(),
    staff: () => p.oneToMany(Owner).mappedBy('boss'),
    marks: () => p.manyToMany(Mark),
  },
})
const Mark = defineEntity({
  name: 'Mark',
  properties: { id: p.integer().primary(), text: p.text().nullable(), owners: () => p.manyToMany(Owner).mappedBy('marks') },
})

interface Answered {
  readonly status: number
  readonly body: Record<string, unknown>
}

/** The records that a body shows, with what is in them; and the IDs in lists. */
function countIn(value: unknown): { records: number; ids: number } {
  if (Array.isArray(value)) {
    const inner = value.map(countIn)
    const ids = value.filter(item => typeof item !== 'object').length
    return { records: inner.reduce((sum, each) => sum + each.records, 0), ids: inner.reduce((sum, each) => sum + each.ids, ids) }
  }
  if (typeof value !== 'object' || value === null) return { records: 0, ids: 0 }
  const inner = Object.values(value).map(countIn)
  return { records: inner.reduce((sum, each) => sum + each.records, 1), ids: inner.reduce((sum, each) => sum + each.ids, 0) }
}

const create = async (limits: { maxRecords?: number; maxAnswerBytes?: number; timeout?: number }, text = 'x'): Promise<RestEngine> =>
  RestEngine.create({
    entities: [Owner, Mark],
    limits,
    seed: {
      marks: Array.from({ length: 5 }, (_, index) => ({ id: index + 1, text })),
      owners: Array.from({ length: 30 }, (_, index) => ({
        id: index + 1,
        name: `owner ${index}`,
        boss: index === 0 ? null : Math.ceil(index / 6),
        marks: [(index % 5) + 1, ((index + 1) % 5) + 1],
      })),
    },
  })

describe('limits of an answer', () => {
  let free: RestEngine
  before(async () => (free = await create({})))
  after(() => free.close())

  const EXPANDS = ['boss', 'boss.staff', 'staff.boss.staff', 'marks', 'marks.owners', 'staff.marks.owners.boss', 'boss.boss.marks']
  it('counts records as the answer shows them, at all levels', () =>
    check(
      fc.asyncProperty(
        fc.record({
          path: fc.constantFrom('/v1/owners', '/v1/owners/1', '/v1/owners/2/staff', '/v1/marks', '/v1/owners/3/boss'),
          expand: fc.subarray(EXPANDS),
          depth: fc.constantFrom(0, 1, 2),
          limit: fc.integer({ min: 1, max: 40 }),
        }),
        async ({ path, expand, depth, limit }) => {
          const isList = !/\/\d$|boss$/.test(path)
          const own = path.startsWith('/v1/marks') ? expand.flatMap(each => (each.startsWith('marks.') ? [each.slice(6)] : [])) : expand
          const query = { depth, expand: own.join(), ...(isList ? { limit } : {}) }
          const { status, body } = (await free.handle('GET', path, query)) as Answered
          assert.equal(status, 200, JSON.stringify(body))
          const { records, ids } = countIn(body[body['resource'] as string])
          const exact = records + ids / 10
          for (const [maxRecords, expected] of [
            [Math.ceil(exact), 200],
            [Math.ceil(exact) - 1, 400],
          ] as const) {
            const bounded = await boundedTo(maxRecords)
            const answer = (await bounded.handle('GET', path, query)) as Answered
            assert.equal(answer.status, expected, `${JSON.stringify(query)} of ${path}: ${exact}, ${maxRecords}`)
          }
        },
      ),
      { label: 'records of an answer', runs: 20 },
    ))

  const engines = new Map<number, Promise<RestEngine>>()
  const boundedTo = (maxRecords: number): Promise<RestEngine> => {
    const known = engines.get(maxRecords) ?? create({ maxRecords })
    engines.set(maxRecords, known)
    return known
  }
  after(async () => {
    for (const engine of engines.values()) await (await engine).close()
  })

  it('says what to narrow, and by which relation it got too much', async () => {
    const engine = await boundedTo(50)
    const { status, body } = (await engine.handle('GET', '/v1/owners', { expand: 'marks.owners' })) as Answered
    const [fault] = body['errors'] as { code: string; parameter: string; detail: string }[]
    assert.equal(status, 400)
    assert.equal(fault?.code, 'limit_exceeded')
    assert.equal(fault?.parameter, 'expand')
    assert.match(
      fault?.detail ?? '',
      /more than 50 records or 67108864 bytes, reached in "marks": ask for less by "limit", "expand", "depth"/,
    )
  })

  it('changes nothing when the answer to a write would be too much', async () => {
    const engine = await boundedTo(20)
    const { status } = await engine.handle('PUT', '/v1/owners/1', { expand: 'staff.boss.staff' }, { name: 'changed' })
    assert.equal(status, 400)
    const { body } = (await engine.handle('GET', '/v1/owners/1')) as { body: { owner: { name: string } } }
    assert.equal(body.owner.name, 'owner 0')
  })

  it('counts bytes, of long texts each time they are shown', async () => {
    const engine = await create({ maxAnswerBytes: 100_000 }, 'x'.repeat(3000))
    assert.equal((await engine.handle('GET', '/v1/marks')).status, 200)
    assert.equal((await engine.handle('GET', '/v1/owners', { expand: 'marks', limit: 10, depth: 1 })).status, 200)
    const { status, body } = (await engine.handle('GET', '/v1/owners', { expand: 'marks', limit: 30, depth: 1 })) as Answered
    assert.equal(status, 400, JSON.stringify(body).slice(0, 200))
    await engine.close()
  })

  it('counts rows as they come from a large database, before all are there', async () => {
    const engine = await create({ maxAnswerBytes: 60_000, maxRecords: 30 }, 'x'.repeat(40_000))
    for (const query of [{}, { depth: 0 }]) assert.equal((await engine.handle('GET', '/v1/marks', query)).status, 400)
    assert.equal((await engine.handle('GET', '/v1/marks', { limit: 1 })).status, 200)
    assert.equal((await engine.handle('GET', '/v1/owners', { expand: 'marks' })).status, 400)
    assert.equal((await engine.handle('GET', '/v1/owners', { attributes: 'name' })).status, 200)
    await engine.close()
  })

  it('counts them so with a time budget, too', async () => {
    for (const timeout of [0, 60_000]) {
      await using engine = await create({ maxAnswerBytes: 60_000, timeout }, 'x'.repeat(40_000))
      const { result, iterated } = await watchStatements(() => engine.handle('GET', '/v1/marks', { sort: 'text' }))
      assert.deepEqual([result.status, iterated.length], [400, 1])
    }
  })

  it('refuses in little time what comes back over the other side of a relation', async () => {
    const engine = await RestEngine.create({ ...sampleModel, seed: sampleData({ size: 12 }) })
    for (const expand of ['site.statistics.site.statistics.campaign', 'site.publisher.sites.statistics.site']) {
      const duration = await leastTime(async () => {
        const { status, body } = (await engine.handle('GET', '/v1/daily_statistics', { limit: 1000, expand })) as Answered
        assert.equal(status, 400, JSON.stringify(body).slice(0, 300))
      }, 2000)
      assert.ok(duration < 2000, `${duration} ms`)
    }
    assert.equal((await engine.handle('GET', '/v1/daily_statistics', { limit: 1000, expand: 'site.publisher,campaign' })).status, 200)
    for (const path of ['sites', 'publishers', 'campaigns', 'users', 'daily_statistics'])
      assert.equal((await engine.handle('GET', `/v1/${path}`, { depth: 2, limit: 1000 })).status, 200, path)
    await engine.close()
  })
})
