/** Random bodies of writes, contradictory and impossible ones among them. */
import assert from 'node:assert/strict'
import { idOf, render } from '../../helpers/oracle.ts'
import type { Attribute, Json, Row } from '../../helpers/oracle.ts'
import type { Model, Node, Random } from './build.ts'
import { bodyOf } from './kinds.ts'
import { same } from './laws.ts'

type Body = Record<string, Json>

/** A body, and what the record is to show of it. */
export interface Asked {
  readonly body: Body
  readonly expects: ((shown: Body, told: string) => void)[]
}

/** Whether a resource is a view or a query. */
export const isVirtual = (node: Node): boolean => node.key === 'view'

export class Bodies {
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
