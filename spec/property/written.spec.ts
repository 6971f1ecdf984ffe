/**
 * The law of writes, over random models and random bodies, contradictory and impossible ones among them: after a write that is answered 200
 * a GET says what the answer said, and the record has what the body asked for; a write that is answered with an error has changed nothing
 * in any table.
 *
 * A long run by hand: `FC_SEED=7 FC_RUNS=2000 node --import tsx --test spec/property/written.spec.ts`.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { check } from '../helpers/check.ts'
import type { Json } from '../helpers/oracle.ts'
import { describeStores, readTables } from '../helpers/stores.ts'
import { Bodies, isVirtual } from './models/bodies.ts'
import { build, Random } from './models/build.ts'
import { Asking, pathOf, same } from './models/laws.ts'
import { ALL, shapeOf } from './models/shape.ts'

type Body = Record<string, Json>

/** All rows of all tables, in any order. */
async function content({ engine }: Asking): Promise<unknown> {
  const tables = await readTables(engine)
  return tables.map(({ name, rows }) => [
    name,
    rows
      .map(row => JSON.stringify(Object.values(row), (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)))
      .toSorted(),
  ])
}

/** One write, judged; gives its status. */
async function write(asking: Asking, bodies: Bodies, random: Random): Promise<number> {
  const { model } = asking
  const node = random.pick(model.nodes.filter(each => !isVirtual(each)))!
  const existing = random.pick(model.world[node.resource.name] ?? [])
  const isNew = existing === undefined || random.chance(3)
  const made = isNew ? bodies.made(node, 0) : undefined
  if (isNew && made === undefined) return 0
  const asked = made ?? bodies.of(existing!, random.some(Object.keys(existing!.of.attributes), 4), 0)
  const path = isNew ? `/v1/${node.resource.name}` : pathOf(existing)
  const before = await content(asking)
  const answer = await asking.send(isNew ? 'POST' : 'PUT', path, {}, asked.body)
  const told = `${isNew ? 'POST' : 'PUT'} ${path} ${JSON.stringify(asked.body)} answered ${JSON.stringify(answer.body)}`
  if (answer.status !== 200) {
    assert.deepEqual(await content(asking), before, told)
    return answer.status
  }
  const shown = answer.body[answer.body['resource'] as string] as Body
  const read = await asking.send('GET', isNew ? answer.headers['location']! : path)
  if (answer.body['status'] === 'OK' && !isNew) {
    assert.equal(read.status, 404, told)
    return 200
  }
  assert.equal(read.status, 200, told)
  same(read.body[read.body['resource'] as string], shown, told)
  for (const expects of asked.expects) expects(shown, told)
  return 200
}

describeStores('writes to random models', store => {
  it('do what was asked and say so, or change nothing', async () => {
    const statuses = new Map<number, number>()
    await check(
      fc.asyncProperty(shapeOf(ALL), async shape => {
        const model = build(shape, store.name)
        const random = new Random(shape.salt + 2)
        await using asking = await Asking.of(model)
        const bodies = new Bodies(model, random)
        for (let count = 0; count < 10; count++) {
          const status = await write(asking, bodies, random)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
      }),
      { label: 'writes', runs: 6, usualSeed: 1 },
    )
    console.log(`# answered: ${[...statuses].map(([status, count]) => `${status || 'not sent'} ${count}`).join(', ')}`)
    assert.ok((statuses.get(200) ?? 0) >= 10, 'too few writes are possible')
  })
})
