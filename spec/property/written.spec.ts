/**
 * The law of writes, over random models and random bodies, contradictory and impossible ones among them: after a write that is answered 200 a GET says what the
 * answer said, and the record has what the body asked for; a write that is answered with an error has changed nothing in any table.
 *
 * A long run by hand: `FC_SEED=7 FC_RUNS=2000 node --import tsx --test spec/property/written.spec.ts`.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { check } from '../helpers/check.ts'
import { idOf, render } from '../helpers/oracle.ts'
import type { Attribute, Json, Row } from '../helpers/oracle.ts'
import { build, Random, type Model, type Node } from './models/build.ts'
import { bodyOf } from './models/kinds.ts'
import { Asking, pathOf, same } from './models/laws.ts'
import { ALL, shapeOf } from './models/shape.ts'

type Body = Record<string, Json>

/** A body, and what the record is to show of it. */
interface Asked {
  readonly body: Body
  readonly expects: ((shown: Body, told: string) => void)[]
}

const isVirtual = (node: Node): boolean => node.key === 'view'
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** All rows of all tables. */
async function content({ engine }: Asking): Promise<Record<string, string[]>> {
  const connection = engine.orm.em.fork().getConnection()
  const tables = await connection.execute<{ name: string }[]>(
    `select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\'`,
  )
  const rows: Record<string, string[]> = {}
  for (const { name } of tables) {
    const all = await connection.execute<object[]>(`select * from ${quoted(name)}`)
    rows[name] = all
      .map((row: object) => JSON.stringify(Object.values(row), (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)))
      .toSorted()
  }
  return rows
}

class Bodies {
  readonly #model: Model
  readonly #random: Random

  constructor(model: Model, random: Random) {
    this.#model = model
    this.#random = random
  }

  /** A body of some attributes of a record. */
  of(row: Row, names: readonly string[], depth: number): Asked {
    const asked: Asked = { body: {}, expects: [] }
    for (const name of names) this.#add(row, name, row.of.attributes[name]!, depth, asked)
    return asked
  }

  #add(row: Row, name: string, attribute: Attribute, depth: number, { body, expects }: Asked): void {
    if (attribute.kind === 'many') {
      const items = this.#members(attribute.target().name, depth)
      const ids = new Set(items.filter(item => typeof item !== 'object').map(String))
      const made = items.filter(item => typeof item === 'object').length
      body[name] = items
      expects.push((shown, told) => {
        const now = (shown[name] as Json[]).map(String)
        assert.ok([...ids].every(id => now.includes(id)) && now.length === ids.size + made, `${told}: ${name} is ${JSON.stringify(now)}`)
      })
      return
    }
    if (attribute.kind === 'one') {
      const given = this.#random.chance(4) ? null : (this.#members(attribute.target().name, depth)[0] ?? null)
      body[name] = given
      expects.push((shown, told) => {
        if (given !== null && typeof given === 'object') assert.notEqual(shown[name], null, `${told}: ${name}`)
        else same(shown[name], given, `${told}: ${name}`)
      })
      return
    }
    const field = this.#model.fieldsOf(this.#model.nodeOf(row)).find(each => each.name === name)
    if (field === undefined) return
    const value = this.#model.valueOf(field, this.#random)
    body[name] = bodyOf(attribute, value)
    const expected = render({ ...row, values: { ...row.values, [name]: value } }, {})[name]
    // An embedded object merges.
    if (attribute.kind === 'plain') expects.push((shown, told) => same(shown[name], expected, `${told}: ${name}`))
  }

  /** IDs of records and bodies of new ones. */
  #members(target: string, depth: number): Json[] {
    const { nodes, world } = this.#model
    const node = nodes.find(({ resource }) => resource.name === target)!
    const chosen = this.#random.some(world[target] ?? [], 3).map((row): Json => idOf(row))
    if (depth < 2 && !isVirtual(node) && this.#random.chance(2)) {
      const made = this.made(node, depth + 1)
      if (made !== undefined) chosen.splice(this.#random.below(chosen.length + 1), 0, made.body)
    }
    return chosen
  }

  /** The body of a new record: what it needs, and some of what it may have. */
  made(node: Node, depth: number): (Asked & { row: Row }) | undefined {
    const row = this.#model.draw(node, this.#random)
    if (row === undefined) return undefined
    const drawn = this.#model.body(row)
    const relations = Object.keys(row.of.attributes).filter(name => ['one', 'many'].includes(row.of.attributes[name]!.kind))
    const { body, expects } = this.of(
      row,
      this.#random.some(
        relations.filter(name => !row.of.key.includes(name)),
        2,
      ),
      depth,
    )
    return { row, body: { ...drawn, ...body }, expects }
  }
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

describe('writes to random models', () => {
  it('do what was asked and say so, or change nothing', async () => {
    const statuses = new Map<number, number>()
    await check(
      fc.asyncProperty(shapeOf(ALL), async shape => {
        const model = build(shape)
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
    assert.ok((statuses.get(200) ?? 0) >= 15, 'too few writes are possible')
  })
})
