/**
 * Random models on SQLite and on PostgreSQL: the same requests, right and wrong ones, are answered by the same bytes: status, headers and
 * body. What cannot be the same (docs/postgresql.md) is not drawn.
 *
 * A long run by hand: `FC_SEED=7 FC_RUNS=500 npm run specs -- spec/postgres/same-models.spec.ts`.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { RestEngine } from '../../lib/index.ts'
import { check } from '../helpers/check.ts'
import type { FilterPair } from '../helpers/oracle.ts'
import { Bodies, isVirtual } from '../property/models/bodies.ts'
import { build, Random, type Model, type Node } from '../property/models/build.ts'
import { pathOf, seedOf, skipUnserved } from '../property/models/laws.ts'
import { ALL, shapeOf } from '../property/models/shape.ts'
import type { ModelShape } from '../property/models/shape.ts'
import { attributesArb, expandArb, filterArb, formArb, refusedArb, sortArb, written } from '../property/world/queries.ts'
import { findNoServer, ownDatabase, ownSchema } from './server-database.ts'
import type { OwnSchema } from './server-database.ts'

const NOW = new Date('2026-01-31T12:00:00.250Z')

interface Answer {
  readonly status: number
  readonly body: unknown
}

/** One model on both databases. */
class Pair implements AsyncDisposable {
  readonly model: Model
  readonly #lite: RestEngine
  readonly #server: RestEngine
  readonly #schema: OwnSchema
  readonly #causes: unknown[]

  private constructor(model: Model, [lite, server]: readonly [RestEngine, RestEngine], schema: OwnSchema, causes: unknown[]) {
    this.model = model
    this.#lite = lite
    this.#server = server
    this.#schema = schema
    this.#causes = causes
  }

  static async of(shape: ModelShape, schema: OwnSchema): Promise<Pair> {
    const model = build(shape, 'postgres')
    const causes: unknown[] = []
    const options = { seed: seedOf(model), clock: () => NOW, onError: (error: unknown) => void causes.push(error) }
    const lite = await RestEngine.create({ ...options, entities: model.entities as never }).catch(skipUnserved)
    try {
      const { entities } = build(shape, 'postgres')
      const server = await RestEngine.create({ ...options, entities: entities as never, database: schema.database })
      return new Pair(model, [lite, server], schema, causes)
    } catch (error) {
      await lite.close()
      await schema[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The answer that both give. */
  async ask(method: string, path: string, query?: unknown, body?: unknown): Promise<Answer> {
    const [lite, server] = await Promise.all(
      [this.#lite, this.#server].map(engine => engine.handle(method, path, query as never, structuredClone(body))),
    )
    const told = `${method} ${path} ${JSON.stringify(query)} ${JSON.stringify(body)}`
    assert.ok(lite!.status < 500 && server!.status < 500, `${told}: ${this.#causes.splice(0).join()}`)
    const [expected, actual] = [lite!, server!].map(({ status, headers, body: answered }) =>
      JSON.stringify({ status, headers: Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1)), body: answered }, null, 1),
    )
    assert.equal(actual, expected, told)
    return lite!
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lite.close()
    await this.#server.close()
    await this.#schema[Symbol.asyncDispose]()
  }
}

/** A list of a resource or of a relation, by GET, HEAD or QUERY, or one record or attribute. */
async function read(pair: Pair, random: Random): Promise<string> {
  const { model } = pair
  const node = random.pick(model.nodes)!
  const row = isVirtual(node) ? undefined : random.pick(model.world[node.resource.name] ?? [])
  if (row === undefined || !random.chance(3)) return readList(pair, random, node, `/v1/${node.resource.name}`)
  const [name, attribute] = random.pick(Object.entries(row.of.attributes)) ?? []
  if (name === undefined || random.chance(3)) return send(pair, 'GET', pathOf(row), { depth: String(random.below(3)) })
  const path = `${pathOf(row)}/${name}`
  const target = attribute!.kind === 'many' ? nodeOf(model, attribute!.target().name) : undefined
  if (target !== undefined && !isVirtual(target)) return readList(pair, random, target, path)
  return send(pair, random.pick(['GET', 'HEAD', 'OPTIONS'])!, path, undefined)
}

function nodeOf({ nodes }: Model, name: string): Node | undefined {
  return nodes.find(({ resource }) => resource.name === name)
}

/** Sends a request to both; tells its method and status. */
async function send(pair: Pair, method: string, path: string, query: unknown, body?: unknown): Promise<string> {
  return `${method} ${(await pair.ask(method, path, query, body)).status}`
}

/** Filters, sorts, pages, depths, expansions and selections; some that are refused. */
async function readList(pair: Pair, random: Random, node: Node, path: string): Promise<string> {
  const { model } = pair
  const { resource } = node
  const pairs: FilterPair[] = Array.from({ length: random.below(3) }, () => random.of(filterArb(model.world, resource)))
  if (random.chance(8)) pairs.push(random.of(refusedArb(model.world, resource)))
  if (isVirtual(node)) pairs.push(['sort', 'key'])
  else if (!random.chance(3)) pairs.push(['sort', random.of(sortArb(model.world, resource))])
  pairs.push(['depth', String(random.below(3))])
  const hasRelations = Object.values(resource.attributes).some(({ kind }) => kind === 'one' || kind === 'many')
  const expand = hasRelations && random.chance(3) ? random.of(expandArb(model.world, resource)) : []
  if (expand.length > 0) pairs.push(['expand', expand.join()])
  const attributes = random.chance(3) ? random.of(attributesArb(model.world, resource)) : []
  if (attributes.length > 0) pairs.push(['attributes', attributes.join()])
  if (random.chance(2)) pairs.push(['limit', String(random.below(4))], ['offset', String(random.below(4))])
  const isRepeated = new Set(pairs.map(([name]) => name)).size < pairs.length
  if (!isRepeated && random.chance(4)) return send(pair, 'QUERY', path, undefined, Object.fromEntries(pairs))
  const request = written(path, pairs, random.of(formArb))
  return send(pair, random.chance(8) ? 'HEAD' : 'GET', request.path, request.query)
}

/** Everything there is. */
async function readAll(pair: Pair): Promise<void> {
  for (const node of pair.model.nodes) await pair.ask('GET', `/v1/${node.resource.name}`, isVirtual(node) ? { sort: 'key' } : { depth: 1 })
}

/** One write by any method, right or wrong; tells its method and status. */
async function write(pair: Pair, bodies: Bodies, random: Random): Promise<string> {
  const { model } = pair
  const node = random.pick(model.nodes.filter((each: Node) => !isVirtual(each)))!
  const row = random.pick(model.world[node.resource.name] ?? [])
  // What an answer shows is asked for, too: a deleted record is shown as it was.
  const query = random.chance(2) ? {} : { depth: String(random.below(3)) }
  if (row === undefined || random.chance(4)) {
    const made = bodies.made(node, 0)
    return made === undefined ? 'not sent' : send(pair, 'POST', `/v1/${node.resource.name}`, query, made.body)
  }
  if (random.chance(3)) return send(pair, 'DELETE', pathOf(row), query)
  const attributes = Object.entries(row.of.attributes)
  const [name, attribute] = random.pick(attributes.filter(([, { kind }]) => kind === 'many' || kind === 'one')) ?? []
  if (name !== undefined && random.chance(3)) {
    const path = `${pathOf(row)}/${name}`
    const target = attribute!.kind === 'many' ? nodeOf(model, attribute!.target().name) : undefined
    if (random.chance(3)) {
      const isNarrowed = target !== undefined && !isVirtual(target) && random.chance(2)
      const filters = isNarrowed ? [random.of(filterArb(model.world, target.resource))] : []
      const request = written(path, [...Object.entries(query), ...filters], random.of(formArb))
      return send(pair, 'DELETE', request.path, request.query)
    }
    if (attribute!.kind === 'many' && random.chance(2)) {
      const made = target === undefined || isVirtual(target) ? undefined : bodies.made(target, 1)
      return made === undefined ? 'not sent' : send(pair, 'POST', path, query, made.body)
    }
    return send(pair, random.chance(2) ? 'PUT' : 'PATCH', path, query, bodies.of(row, [name], 0).body[name])
  }
  const { body } = bodies.of(
    row,
    random.some(
      attributes.map(([each]) => each),
      4,
    ),
    0,
  )
  return send(pair, random.chance(2) ? 'PUT' : 'PATCH', pathOf(row), query, random.chance(8) ? { ...body, nope: 1 } : body)
}

const noServer = await findNoServer()

describe('random models on SQLite and PostgreSQL', { skip: noServer }, () => {
  it('give the same answers, byte by byte', async () => {
    await using database = await ownDatabase()
    const statuses = new Map<string, number>()
    const count = (status: string): void => void statuses.set(status, (statuses.get(status) ?? 0) + 1)
    await check(
      fc.asyncProperty(shapeOf(ALL), async shape => {
        await using pair = await Pair.of(shape, ownSchema(database.database.url))
        const random = new Random(shape.salt + 3)
        await readAll(pair)
        for (let round = 0; round < 20; round++) count(await read(pair, random))
        const bodies = new Bodies(pair.model, random)
        for (let round = 0; round < 10; round++) {
          count(await write(pair, bodies, random))
          await readAll(pair)
          count(await read(pair, random))
        }
      }),
      { label: 'the same answers', runs: 8, usualSeed: 1 },
    )
    console.log(`# answered: ${[...statuses].map(([status, count]) => `${status}: ${count}`).join(', ')}`)
    for (const method of ['GET', 'HEAD', 'QUERY', 'POST', 'PUT', 'PATCH', 'DELETE'])
      assert.ok((statuses.get(`${method} 200`) ?? 0) > 0, `no ${method} was possible`)
  })
})
