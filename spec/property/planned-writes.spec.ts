/**
 * Planned writes against the unit of work: two engines have the same model, and get the same requests. In one of them a subscriber does nothing, so that all
 * of its writes go through MikroORM's unit of work; the other one writes by statements where it can. Answers, rows and journals are the same.
 *
 * A long run by hand: `FC_RUNS=2000 node --import tsx --test spec/property/planned-writes.spec.ts`.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import Database from 'better-sqlite3'
import * as fc from 'fast-check'
import { RestEngine } from '../../lib/index.ts'
import type { Change } from '../../lib/index.ts'
import { RowWriter } from '../../lib/sqlite/row-writer.ts'
import { check, runs } from '../helpers/check.ts'
import type { Json, Row } from '../helpers/oracle.ts'
import { build, Random } from './models/build.ts'
import type { Model } from './models/build.ts'
import { pathOf, seedOf } from './models/laws.ts'
import { ALL, shapeOf } from './models/shape.ts'
import type { ModelShape } from './models/shape.ts'
import { Cars, carRequests } from './world/cars.ts'

export interface Request {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

/** How many statements the engine has written rows with, by their first word. */
const written = new Map<string, number>()
const { run } = RowWriter.prototype
RowWriter.prototype.run = function (statement, parameters) {
  const [word] = statement.sql.split(' ', 1)
  written.set(word!, (written.get(word!) ?? 0) + 1)
  return run.call(this, statement, parameters)
}

/** Every row of every table, its values as SQLite writes them with their types, and how far keys have been counted. */
async function dump({ orm }: RestEngine): Promise<unknown> {
  const ask = (sql: string): Promise<Record<string, string>[]> => orm.em.getConnection().execute(sql)
  const tables = await ask("select name from sqlite_schema where type = 'table' order by name")
  return Promise.all(
    tables.map(async ({ name }) => {
      const columns = await ask(`select name from pragma_table_xinfo('${name}')`)
      return [name, await ask(`select ${columns.map(column => `quote("${column['name']}") as "${column['name']}"`).join()} from "${name}"`)]
    }),
  )
}

/** Whether a row has changed: the unit of work may write a linked record again as it is. */
function isChange({ before, after }: Change): boolean {
  return !isDeepStrictEqual(before, after)
}

/** Two engines that must not differ. */
export class Twins implements AsyncDisposable {
  readonly planned: RestEngine
  readonly flushed: RestEngine
  readonly #causes: unknown[]

  constructor(planned: RestEngine, flushed: RestEngine, causes: unknown[]) {
    this.planned = planned
    this.flushed = flushed
    this.#causes = causes
  }

  /** @param entities makes the entities, for each engine anew */
  static async of(entities: () => unknown[], seed: Record<string, unknown[]> = {}, files: readonly string[] = []): Promise<Twins> {
    const causes: unknown[] = []
    const [first, second] = files
    const make = (orm: object, database = ':memory:'): Promise<RestEngine> =>
      RestEngine.create({
        database,
        entities: entities() as never,
        seed: seed as never,
        orm,
        clock: () => new Date('2026-01-01T00:00:00Z'),
        onError: error => causes.push(error),
      })
    return new Twins(await make({}, first), await make({ subscribers: [{ afterFlush: () => {} }] }, second), causes)
  }

  async ask({ method, path, body, headers = {} }: Request): Promise<void> {
    const told = `${method} ${path} ${JSON.stringify(body)} ${JSON.stringify(headers)}`
    const answers = [
      await this.flushed.handle(method, path, {}, body, { headers }),
      await this.planned.handle(method, path, {}, body, { headers }),
    ]
    const [left, right] = answers.map(({ status, headers: of, body: shown }) => ({
      status,
      etag: of['etag'],
      location: of['location'],
      body: { ...(shown as object), timestamp: '' },
    }))
    const causes = this.#causes.map(cause => (cause instanceof Error ? cause.stack : String(cause))).join()
    assert.deepEqual(right, left, `${told} ${causes}`)
    const [before, now] = [this.flushed, this.planned].map(engine => engine.requests.at(-1)!.changes!.filter(isChange))
    assert.deepEqual(now, before, `the journal of ${told}`)
  }

  async compare(): Promise<void> {
    assert.deepEqual(await dump(this.planned), await dump(this.flushed))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.planned.close()
    await this.flushed.close()
  }
}

/** Skips a model with an entity that MikroORM cannot load, which cannot be written either. */
function skipUnserved(error: unknown): never {
  fc.pre(!/are read-only/.test((error as Error).message))
  throw error
}

/** Whether the unit of work writes what it is asked to: a record of a hierarchy with a custom type for its key it takes for changed when others are written. */
function isWellWritten({ entities }: ModelShape): boolean {
  return entities.every(({ key, inheritance }) => inheritance === 'none' || !/^(?:slug|customPair)$/.test(key))
}

/** Values that are wrong for some attribute, or right for some other. */
const ODD: readonly Json[] = [null, 0, -1, 1.5, true, '', 'x', '5', '2024-01-01', [], {}, 'a', 2]

/** A body that is nearly right: some values left out, some replaced. */
function spoil(body: Record<string, Json>, random: Random): Record<string, Json> {
  const names = Object.keys(body)
  const result = { ...body }
  for (const name of random.some(names, 3)) {
    if (random.chance(2)) delete result[name]
    else result[name] = random.pick(ODD)!
  }
  if (random.chance(10)) result['nope'] = 1
  return result
}

function drawRequest(model: Model, random: Random): Request | undefined {
  const nodes = model.nodes.filter(({ key }) => key !== 'view')
  const node = random.pick(nodes)!
  const row = model.draw(node, random)
  if (row === undefined) return undefined
  const whole = model.body(row)
  const kind = random.below(10)
  if (kind < 4) {
    const body = random.chance(3) ? spoil(whole, random) : { ...whole }
    if (node.root.key === 'integer' && random.chance(3)) delete body['id']
    else model.rows.get(node.root)!.push(row)
    for (const [name, value] of Object.entries(body)) if (value === null && random.chance(2)) delete body[name]
    return { method: 'POST', path: `/v1/${node.resource.name}`, body }
  }
  const known = random.chance(8) ? row : random.pick([...model.world[node.resource.name]!])
  if (known === undefined) return undefined
  // With a subscriber, MikroORM inserts a removed record again that a loaded one links by a one-to-one.
  const deletes = !model.nodes.some(({ inverses }) => inverses.some(({ kind: how }) => how === 'one'))
  return changeRequest(known, whole, random, deletes)
}

function changeRequest(known: Row, whole: Record<string, Json>, random: Random, deletes: boolean): Request {
  const path = pathOf(known)
  if (deletes && random.chance(4)) return { method: 'DELETE', path }
  const names = random.some(
    Object.keys(whole).filter(name => !known.of.key.includes(name)),
    4,
  )
  const some = Object.fromEntries(names.map(name => [name, whole[name]!]))
  const [name] = names
  if (name !== undefined && random.chance(5)) return { method: 'PUT', path: `${path}/${name}`, body: some[name] }
  const body = random.chance(4) ? spoil(some, random) : some
  if ('version' in known.values && random.chance(3)) body['version'] = random.below(3) + 1
  const headers: Record<string, string> = random.chance(8)
    ? { [random.pick(['if-match', 'if-none-match'])!]: random.pick(['*', '"1"', '"2"'])! }
    : {}
  return { method: random.chance(2) ? 'PUT' : 'PATCH', path, body, headers }
}

/**
 * Makes a file with the tables of the model.
 *
 * @param counts whether SQLite keeps the highest keys; else the engine does
 */
async function createFile(path: string, counts: boolean): Promise<void> {
  await using engine = await RestEngine.create({ entities: new Cars().entities as never })
  const statements = await engine.orm.schema.getCreateSchemaSQL({ wrap: false })
  const db = new Database(path)
  db.exec(counts ? statements : statements.replaceAll(' autoincrement', ''))
  db.close()
}

describe('planned writes', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mikro-rest-planned-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('answer and store as the unit of work, in random models', () =>
    check(
      fc.asyncProperty(shapeOf(ALL).filter(isWellWritten), async shape => {
        const model = build(shape)
        const random = new Random(shape.salt)
        const seed = seedOf(model)
        await using twins = await Twins.of(() => build(shape).entities, seed).catch(skipUnserved)
        await twins.compare()
        for (let count = 0; count < 40; count++) {
          const request = drawRequest(model, random)
          if (request !== undefined) await twins.ask(request)
        }
        await twins.compare()
      }),
      { label: 'random models', runs: 15 },
    ))

  it('answer and store as the unit of work, with all that a model can add to a value', () =>
    check(
      fc.asyncProperty(fc.array(carRequests, { minLength: 15, maxLength: 40, size: 'max' }), async requests => {
        await using twins = await Twins.of(() => new Cars().entities)
        for (const request of requests) await twins.ask(request)
        await twins.compare()
      }),
      { label: 'cars', runs: 40 },
    ))

  it('answer and store as the unit of work, in files that were there', () =>
    check(
      fc.asyncProperty(fc.boolean(), fc.array(carRequests, { minLength: 15, maxLength: 40, size: 'max' }), async (counts, requests) => {
        const files = ['a', 'b'].map(name => join(folder, `${name}${crypto.randomUUID()}.sqlite`))
        for (const file of files) await createFile(file, counts)
        await using twins = await Twins.of(() => new Cars().entities, {}, files)
        for (const request of requests) await twins.ask(request)
        await twins.compare()
      }),
      { label: 'files', runs: 15 },
    ))

  it('are what most of these requests were', () => {
    console.log(`# statements: ${[...written].map(([word, count]) => `${word} ${count}`).join(', ')}`)
    assert.ok((written.get('insert') ?? 0) > runs(40))
  })
})
