/**
 * POST of an array of plain records: they are written together, by a number of statements that hardly grows; what is refused is said as for
 * records that are created one by one.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineEntity, p, raw } from '@mikro-orm/core'
import * as fc from 'fast-check'
import { resource } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import { lowThresholds } from '../helpers/low-thresholds.ts'
import { createEngine, describeStores, suiteEngine } from '../helpers/stores.ts'

const Team = defineEntity({ name: 'Team', properties: { id: p.integer().primary(), name: p.string() } })
const User = defineEntity({
  name: 'User',
  properties: {
    id: p.integer().primary(),
    name: p.string().length(5),
    email: p.string().unique().nullable(),
    points: p.integer().default(7),
    born: p.datetime().nullable(),
    team: () => p.manyToOne(Team).nullable(),
  },
})
let calls = 0
let isOdd = false
const Stamped = defineEntity({
  name: 'Stamped',
  properties: {
    id: p.integer().primary(),
    code: p.string(),
    call: p.integer().onCreate(() => (isOdd ? raw('1 + 1') : ++calls)),
  },
  checks: [{ name: 'short', expression: 'length(code) < 4' }],
})
const entities = [Team, User]
const seed = { teams: [{ id: 1, name: 'a' }], users: [{ id: 1, name: 'Ann', email: 'taken' }] }

/** The code of the error of a member, by what this spec knows of the model. */
function findFault(body: Record<string, unknown>, before: readonly Record<string, unknown>[]): string | undefined {
  if (typeof body['name'] !== 'string') return 'value_invalid'
  if (body['name'].length > 5) return 'too_long'
  if (![undefined, null, 1].includes(body['team'] as never)) return 'reference_not_found'
  const isTaken = body['email'] === 'taken' || before.some(({ email }) => email === body['email'])
  return isTaken && (body['email'] ?? null) !== null ? 'not_unique' : undefined
}

const bodies = fc.uniqueArray(fc.constantFrom('email', 'points', 'born', 'team'), { maxLength: 3 }).chain(names =>
  fc.array(
    fc.record({
      name: fc.oneof(
        { weight: 12, arbitrary: fc.constantFrom('Bob', 'Cid', '') },
        { weight: 1, arbitrary: fc.constantFrom(7, 'too long') },
      ),
      ...(names.includes('email') ? { email: fc.oneof({ weight: 9, arbitrary: fc.uuid() }, fc.constantFrom(null, 'taken', 'same')) } : {}),
      ...(names.includes('points') ? { points: fc.integer({ min: 0, max: 9 }) } : {}),
      ...(names.includes('born') ? { born: fc.constantFrom(null, '2026-01-01T00:00:00.000Z') } : {}),
      ...(names.includes('team') ? { team: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(null, 1) }, fc.constant(9)) } : {}),
    }),
    { minLength: 2, maxLength: 20 },
  ),
)

describeStores('an array of plain records', () => {
  const served = suiteEngine({ entities, seed })

  it('is created as a whole, in its order, or refused with the errors of all members', async () => {
    using _ = lowThresholds()
    const engine = served()
    await check(
      fc.asyncProperty(bodies, async members => {
        const faults = members.flatMap((body, index) => {
          const code = findFault(body, members.slice(0, index))
          return code === undefined ? [] : [`${index} ${code}`]
        })
        const before = (await engine.handle('GET', '/v1/users')).body as { count: number }
        const { status, body } = await engine.handle('POST', '/v1/users', undefined, members)
        const after = (await engine.handle('GET', '/v1/users')).body as { count: number }
        if (faults.length === 0) {
          assert.equal(status, 200, JSON.stringify(body))
          const { users } = body as { users: Record<string, unknown>[] }
          assert.deepEqual(
            users.map(({ id: _id, ...user }) => user),
            members
              .map(member => ({ email: null, points: 7, born: null, team: null, ...member }))
              .map(({ name, email, points, born, team }) => ({ name, email, points, born, team })),
          )
          const ids = users.map(({ id }) => id as number)
          assert.deepEqual(
            ids,
            [...new Set(ids)].toSorted((a, b) => a - b),
          )
          assert.equal(after.count, before.count + members.length)
          for (const user of users) await engine.handle('DELETE', `/v1/users/${String(user['id'])}`)
        } else {
          const { errors } = body as { errors: { code: string; attribute: string }[] }
          const found = new Set(errors.map(({ code, attribute }) => `${attribute.split('.')[0]} ${code}`))
          // Values that are taken are found among what is valid.
          const told = faults.filter(fault => !fault.endsWith('not_unique'))
          assert.ok([409, 422].includes(status))
          for (const fault of told.length > 0 ? told : faults) assert.ok(found.has(fault), `${fault} of ${[...found].join()}`)
          assert.equal(after.count, before.count)
        }
      }),
      { label: 'bulk', runs: 60 },
    )
  })

  it('takes a number of statements that hardly grows, and says so', async () => {
    const engine = served()
    const members = (count: number): object[] =>
      Array.from({ length: count }, (_, index) => ({ name: `n${index % 100}`, email: `${count} ${index}`, team: 1 }))
    for (const [count, most] of [
      [64, 10],
      [500, 20],
    ] as const) {
      const { statements, writes, response } = await engine.explain('POST', '/v1/users', undefined, members(count))
      assert.equal(response.status, 200)
      assert.ok(statements.length <= most, `${statements.length} statements for ${count}`)
      assert.deepEqual(writes, ['by statements of a plan'])
    }
  })

  it('is seen by the journal record by record', async () => {
    const engine = served()
    await engine.handle('POST', '/v1/users', undefined, [{ name: 'Bob' }, { name: 'Cid' }])
    assert.deepEqual(
      (engine.requests.at(-1)?.changes ?? []).map(({ type, after }) => [type, after?.['name']]),
      [
        ['insert', 'Bob'],
        ['insert', 'Cid'],
      ],
    )
  })

  it('calls functions of the model once for each member, also where one is refused, or gives what statements cannot write', async () => {
    await using engine = await createEngine({ entities: [Stamped], seed: {} })
    calls = 0
    const refused = await engine.handle('POST', '/v1/stampeds', undefined, [{ code: 'a' }, { code: 'b' }, { code: 'too long' }])
    assert.equal(refused.status, 422)
    assert.equal(calls, 3)
    const { body } = await engine.handle('POST', '/v1/stampeds', undefined, [{ code: 'a' }, { code: 'b' }])
    assert.deepEqual(
      (body as { stampeds: { call: number }[] }).stampeds.map(({ call }) => call),
      [4, 5],
    )
    isOdd = true
    try {
      const odd = await engine.handle('POST', '/v1/stampeds', undefined, [{ code: 'c' }, { code: 'd' }])
      assert.deepEqual(
        (odd.body as { stampeds: { call: number }[] }).stampeds.map(({ call }) => call),
        [2, 2],
      )
    } finally {
      isOdd = false
    }
  })

  it('answers with its own records where a trigger of the table inserts others between', async () => {
    await using engine = await createEngine({ entities: [Team], seed: { teams: [{ id: 1, name: 'a' }] } })
    const run = (sql: string): Promise<unknown> => engine.orm.em.fork().getConnection().execute(sql)
    const insert = `insert into team (name) values ('more')`
    if (engine.orm.em.getPlatform().getDefaultSchemaName() !== undefined) {
      const body = `if new.name <> 'more' then ${insert}; end if; return null;`
      await run(`create function adds_more() returns trigger language plpgsql as $$ begin ${body} end $$`)
      await run('create trigger adds_more after insert on team for each row execute function adds_more()')
    } else await run(`create trigger adds_more after insert on team when new.name <> 'more' begin ${insert}; end`)
    const { body } = await engine.send('POST /v1/teams', { body: [{ name: 'b' }, { name: 'c' }, { name: 'd' }] })
    assert.deepEqual(
      (body.teams as { name: string }[]).map(({ name }) => name),
      ['b', 'c', 'd'],
    )
  })

  it('is a request for each member where a wrapper or a rule has to see one', async () => {
    const seen: unknown[] = []
    await using engine = await createEngine({
      entities,
      seed,
      resources: [
        resource(User, {
          create: async (ctx, next) => {
            seen.push(ctx.data)
            return next()
          },
        }),
      ],
    })
    assert.equal((await engine.handle('POST', '/v1/users', undefined, [{ name: 'Bob' }, { name: 'Cid' }])).status, 200)
    assert.deepEqual(seen, [{ name: 'Bob' }, { name: 'Cid' }])
  })
})
