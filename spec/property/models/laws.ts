/** What holds of every model: laws that ask an engine and the oracle the same. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { RestEngine } from '../../../lib/index.ts'
import { idOf, keyParts, ordered, render, select } from '../../helpers/oracle.ts'
import type { FilterPair, Json, Row, View } from '../../helpers/oracle.ts'
import { createEngine } from '../../helpers/stores.ts'
import { attributesArb, expandArb, filterArb, formArb, sortArb, written, type Form } from '../world/queries.ts'
import { Random, type Model, type Node } from './build.ts'

type Body = Record<string, Json>
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body
}

/** All rows, as `seed` takes them. */
export function seedOf(model: Model): Record<string, Body[]> {
  const seed: Record<string, Body[]> = {}
  for (const row of [...model.rows.values()].flat()) (seed[row.of.name] ??= []).push(model.body(row))
  return seed
}

/** Skips a model with an entity that MikroORM cannot load, which cannot be written either. */
export function skipUnserved(error: unknown): never {
  fc.pre(!/are read-only/.test((error as Error).message))
  throw error
}

/** A model that is served, and the requests to it. No answer is ever a 500. */
export class Asking implements AsyncDisposable {
  readonly model: Model
  readonly engine: RestEngine
  readonly #causes: unknown[]

  constructor(model: Model, engine: RestEngine, causes: unknown[]) {
    this.model = model
    this.engine = engine
    this.#causes = causes
  }

  /** @param database a file; default: the store of the suite */
  static async of(model: Model, database?: string): Promise<Asking> {
    const causes: unknown[] = []
    const options = { entities: model.entities as never, seed: seedOf(model), onError: (error: unknown) => void causes.push(error) }
    const opened = database === undefined ? createEngine(options) : RestEngine.create({ ...options, database })
    const engine = await opened.catch(skipUnserved)
    const asking = new Asking(model, engine, causes)
    await asking.takeVersions()
    return asking
  }

  /** MikroORM counts versions as it likes; what is asserted is that they never go down. */
  async takeVersions(): Promise<void> {
    for (const node of this.model.nodes.filter(each => each.parent === undefined && each.versioned)) {
      const rows = new Map(this.model.world[node.resource.name]!.map(row => [keyText(row), row]))
      for (const record of await this.list(node, { depth: '1' })) {
        const row = rows.get(keyText(record, node))
        if (row === undefined) continue
        assert.ok(Number(record['version']) >= Number(row.values['version']), `a version of ${node.resource.name} went back`)
        row.values['version'] = record['version'] as number
      }
    }
  }

  async send(method: string, path: string, query?: unknown, body?: unknown): Promise<Answer> {
    const response = await this.engine.handle(method, path, query as never, body)
    const told = (): string =>
      `${method} ${path} ${JSON.stringify(query)} ${JSON.stringify(body)} answered ${JSON.stringify(response.body)}`
    assert.ok(
      response.status < 500,
      `${told()} ${this.#causes.map(cause => (cause instanceof Error ? cause.stack : String(cause))).join()}`,
    )
    return response
  }

  /** The body of what must be a success. */
  async get(path: string, query?: unknown): Promise<Body> {
    const { status, body } = await this.send('GET', path, query)
    assert.equal(status, 200, `GET ${path} ${JSON.stringify(query)} answered ${JSON.stringify(body)}`)
    return body
  }

  /** All records of a resource at a depth. */
  async list(node: Node, query: Record<string, string> = {}): Promise<Body[]> {
    const body = await this.get(`/v1/${node.resource.name}`, { limit: '1000', ...query })
    return body[node.resource.name] as unknown as Body[]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine.close()
  }
}

/** What tells records of one table apart. */
function keyText(row: Row | Body, node?: Node): string {
  if (node === undefined) return JSON.stringify(Object.values(pick(render(row as Row, { depth: 1 }), (row as Row).of.key)))
  return JSON.stringify(Object.values(pick(row as Body, node.resource.key)))
}

const pick = (body: Body, names: readonly string[]): Body => Object.fromEntries(names.map(name => [name, body[name]!]))

/** The path of a record, also through a class above its own. */
export function pathOf(row: Row, node?: Node): string {
  const id = String(idOf(row))
  return `/v1/${(node?.resource ?? row.of).name}/${keyParts(row).length > 1 ? id : encodeURIComponent(id)}`
}

/** Same keys in the same order, same values. */
export function same(actual: unknown, expected: unknown, told: string): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) assert.deepEqual(actual, expected, told)
  assert.equal(JSON.stringify(actual), JSON.stringify(expected), told)
}

const sortedRows = (rows: readonly Row[]): Row[] => ordered(rows)

/** Everything there is, at each depth, and each record by its ID and attribute by attribute. */
export async function shows(asking: Asking): Promise<void> {
  const { model } = asking
  for (const node of model.nodes) {
    const rows = sortedRows(model.world[node.resource.name]!)
    const isVirtual = node.resource.name.endsWith('_sums')
    for (const depth of [0, 1, 2] as const) {
      const records = await asking.list(node, { depth: String(depth), ...(isVirtual ? { sort: 'key' } : {}) })
      same(
        records,
        rows.map(row => render(row, { depth })),
        `${node.resource.name} at depth ${depth}`,
      )
    }
    if (isVirtual) continue
    for (const row of rows) {
      const path = pathOf(row, node)
      const one = await asking.get(path)
      assert.equal(one['resource'], node.resource.singular)
      same(one[node.resource.singular], render(row, {}), path)
    }
  }
}

/** Random questions: filters, sorts, pages, depths, expansions, selections, paths of attributes. */
export async function reads(asking: Asking, salt: number, questions = 12): Promise<void> {
  await shows(asking)
  const random = new Random(salt + 1)
  const { model } = asking
  for (let count = 0; count < questions; count++) await ask(asking, random.pick(model.nodes)!, random)
  for (let count = 0; count < questions / 2; count++) {
    const node = random.pick(model.nodes)!
    const row = random.pick(model.world[node.resource.name]!)
    if (row !== undefined && !node.resource.name.endsWith('_sums')) await askAttribute(asking, node, row, random)
  }
}

function view(asking: Asking, node: Node, random: Random): { shown: View; pairs: FilterPair[] } {
  const { world } = asking.model
  const depth = random.below(3) as 0 | 1 | 2
  const hasRelations = Object.values(node.resource.attributes).some(({ kind }) => kind === 'one' || kind === 'many')
  const expand = hasRelations && random.chance(3) ? random.of(expandArb(world, node.resource)) : []
  const attributes = random.chance(3) ? random.of(attributesArb(world, node.resource)) : []
  const pairs: FilterPair[] = [['depth', String(depth)]]
  if (expand.length > 0) pairs.push(['expand', expand.join()])
  if (attributes.length > 0) pairs.push(['attributes', attributes.join()])
  return { shown: { depth, expand, attributes }, pairs }
}

async function ask(asking: Asking, node: Node, random: Random): Promise<void> {
  const { world } = asking.model
  const { resource } = node
  const filters = Array.from({ length: random.below(3) }, () => random.of(filterArb(world, resource)))
  const isVirtual = resource.name.endsWith('_sums')
  const sort = isVirtual ? 'key' : random.chance(3) ? '' : random.of(sortArb(world, resource))
  const { shown, pairs } = view(asking, node, random)
  const limit = random.chance(2) ? 1000 : random.below(4)
  const offset = random.chance(2) ? 0 : random.below(4)
  const all = select(world[resource.name]!, filters, sort, resource)
  const asked: FilterPair[] = [...filters, ...pairs, ['limit', String(limit)], ['offset', String(offset)]]
  if (sort !== '') asked.push(['sort', sort])
  const request = written(`/v1/${resource.name}`, asked, random.of(formArb) satisfies Form)
  const body = await asking.get(request.path, request.query)
  const told = `${resource.name} ${JSON.stringify(asked)}`
  same(
    body[resource.name],
    all.slice(offset, offset + limit).map(row => render(row, shown)),
    told,
  )
  assert.equal(body['count'], all.length, told)
  same(body['filter'], filters, told)
}

async function askAttribute(asking: Asking, node: Node, row: Row, random: Random): Promise<void> {
  const [name, attribute] = random.pick(Object.entries(row.of.attributes))!
  const path = `${pathOf(row, node)}/${name}`
  const value = row.values[name] ?? null
  if (attribute.kind === 'one') {
    const target = attribute.target()
    const body = await asking.get(path, { depth: '1' })
    same(body[body['resource'] as string], value === null ? null : render(value as Row, { depth: 1 }), path)
    assert.equal(body['resource'], target.singular)
  } else if (attribute.kind === 'many') {
    const target = attribute.target()
    const pairs: FilterPair[] = random.chance(2) ? [random.of(filterArb(asking.model.world, target))] : []
    const sort = random.of(sortArb(asking.model.world, target))
    const request = written(path, [...pairs, ['sort', sort], ['depth', '0']], 'object')
    const body = await asking.get(request.path, request.query)
    const expected = select(value as Row[], pairs, sort, target)
    same(
      body[target.name],
      expected.map(each => render(each, { depth: 0 })),
      `${path} ${JSON.stringify(pairs)} ${sort}`,
    )
    assert.equal(body['count'], expected.length)
  } else {
    const body = await asking.get(path)
    same(body['value'], render(row, {})[name], path)
  }
}
