/**
 * Planned writes against the unit of work, on PostgreSQL: two engines have the same model and get the same requests. In one of them a
 * subscriber does nothing, so that all of its writes go through MikroORM's unit of work; the other one writes by statements where it can.
 * Answers, rows and journals are the same.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineEntity, p } from '@mikro-orm/postgresql'
import * as fc from 'fast-check'
import { RestEngine } from '../../lib/index.ts'
import { PostgresConnection, RowWriter } from '../../lib/databases/postgres/connection.ts'
import { check, costly, runs } from '../helpers/check.ts'
import { Cars, carRequests } from '../property/world/cars.ts'
import { clubRules, ruledRequests } from '../property/world/club-rules.ts'
import { CLUBS, Clubs, clubRequests, clubSeeds } from '../property/world/clubs.ts'
import { countWritten, leaveUnnamed, orderedLists, sortChanges } from '../property/world/ways-of-writing.ts'
import type { Request } from '../property/world/ways-of-writing.ts'
import { findNoServer, ownSchema } from './server-database.ts'
import type { OwnSchema } from './server-database.ts'

/** How many statements the engine has written rows with, by their first word. */
const written = countWritten(RowWriter.prototype)

/**
 * Every row of every table as the server writes it. What a row holds does not depend on when its key was drawn: a write that was undone
 * leaves a gap.
 */
async function dump({ engine, schema: { run: ask, database } }: Side): Promise<unknown> {
  const lists = orderedLists(engine)
  const tables = await ask(
    "select relname from pg_class where relnamespace = to_regnamespace($1) and relkind = 'r' and relname <> 'mikro_changes' order by 1",
    [database.schema],
  )
  return Promise.all(
    tables.map(async ({ relname }) => {
      const list = lists.get(relname as string)
      const row = list === undefined ? 't::text' : `(to_jsonb(t) - '${list.position}')::text`
      const order = list === undefined ? '1' : `"${list.owner}", "${list.position}"`
      return [relname, await ask(`select ${row} as row from "${relname as string}" as t order by ${order}`)]
    }),
  )
}

interface Side {
  readonly engine: RestEngine
  readonly schema: OwnSchema
}

class Twins implements AsyncDisposable {
  readonly #sides: readonly Side[]
  readonly #causes: unknown[]

  private constructor(sides: readonly Side[], causes: unknown[]) {
    this.#sides = sides
    this.#causes = causes
  }

  /** @param entities makes the entities, for each engine anew */
  static async of(
    entities: () => unknown[],
    seed: Record<string, unknown[]> = {},
    rules: (entities: unknown[]) => unknown[] = () => [],
  ): Promise<Twins> {
    const causes: unknown[] = []
    const make = async (orm: object): Promise<Side> => {
      const schema = ownSchema()
      const own = entities()
      const engine = await RestEngine.create({
        database: schema.database,
        entities: own as never,
        resources: rules(own) as never,
        seed: seed as never,
        orm,
        clock: () => new Date('2026-01-01T00:00:00Z'),
        onError: error => causes.push(error),
      })
      return { engine, schema }
    }
    return new Twins([await make({ subscribers: [{ afterFlush: () => {} }] }), await make({})], causes)
  }

  /** Lets each run of a property begin with what the engines had at their start. */
  resetBefore<Given>(property: fc.IAsyncPropertyWithHooks<Given>): fc.IAsyncPropertyWithHooks<Given> {
    return property.beforeEach(async () => {
      this.#causes.length = 0
      await Promise.all(this.#sides.map(({ engine }) => engine.reset()))
    })
  }

  async ask({ method, path, body, headers = {} }: Request): Promise<void> {
    const told = `${method} ${path} ${JSON.stringify(body)} ${JSON.stringify(headers)}`
    const [left, right] = await Promise.all(
      this.#sides.map(async ({ engine }) => {
        const { status, headers: of, body: shown } = await engine.handle(method, path, {}, body, { headers })
        return leaveUnnamed({ status, etag: of['etag'], location: of['location'], body: { ...(shown as object), timestamp: '' } })
      }),
    )
    const causes = this.#causes.map(cause => (cause instanceof Error ? cause.stack : String(cause))).join()
    assert.deepEqual(right, left, `${told} ${causes}`)
    if (right!.status >= 400) await this.#align()
    const [before, now] = this.#sides.map(({ engine }) => sortChanges(engine.requests.at(-1)!.changes!))
    assert.deepEqual(now, before, `the journal of ${told}`)
  }

  /** Lets both count keys from where the further one is: what was undone has drawn some, and how many is nobody's business. */
  async #align(): Promise<void> {
    const ask = async ({ engine }: Side, sql: string): Promise<Record<string, string | null>[]> =>
      engine.orm.em.getConnection().execute(sql)
    const found = await Promise.all(
      this.#sides.map(side =>
        ask(side, 'select sequencename as name, last_value as last from pg_sequences where schemaname = current_schema'),
      ),
    )
    const highest = new Map<string, number>()
    for (const { name, last } of found.flat()) highest.set(name!, Math.max(highest.get(name!) ?? 0, Number(last ?? 0)))
    const raised = [...highest].filter(([, last]) => last > 0).map(([name, last]) => `setval('"${name}"', ${last})`)
    if (raised.length > 0) for (const side of this.#sides) await ask(side, `select ${raised.join(', ')}`)
  }

  async seed(data: Record<string, unknown[]>): Promise<void> {
    const [left, right] = await Promise.all(
      this.#sides.map(({ engine }) =>
        engine.seed(data as never).then(
          () => 'done',
          (error: Error) => error.message,
        ),
      ),
    )
    assert.equal(right, left, JSON.stringify(data))
    if (right !== 'done') await this.#align()
  }

  async compare(): Promise<void> {
    const [left, right] = await Promise.all(this.#sides.map(dump))
    assert.deepEqual(right, left)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { engine, schema } of this.#sides) {
      await engine.close()
      await schema[Symbol.asyncDispose]()
    }
  }
}

describe('planned writes on PostgreSQL', { skip: await findNoServer() }, () => {
  it('answer and store as the unit of work, with all that a model can add to a value', async () => {
    await using twins = await Twins.of(() => new Cars().entities)
    const property = fc.asyncProperty(fc.array(carRequests, { minLength: 30, maxLength: 60, size: 'max' }), async requests => {
      for (const request of requests) await twins.ask(request)
      await twins.compare()
    })
    await check(twins.resetBefore(property), { label: 'cars', runs: costly(4) })
  })

  it('answer and store as the unit of work, in lists and nested bodies', async () => {
    await using twins = await Twins.of(() => new Clubs().entities, CLUBS)
    const requestsOfRun = fc.array(clubRequests, { minLength: 20, maxLength: 40, size: 'max' })
    const property = fc.asyncProperty(requestsOfRun, clubSeeds, async (requests, seed) => {
      await twins.seed(seed)
      for (const request of requests) await twins.ask(request)
      await twins.compare()
    })
    await check(twins.resetBefore(property), { label: 'clubs', runs: costly(4) })
  })

  it('answer and store as the unit of work, under the rules of any caller', async () => {
    await using twins = await Twins.of(() => new Clubs().entities, CLUBS, clubRules)
    const property = fc.asyncProperty(fc.array(ruledRequests, { minLength: 15, maxLength: 30, size: 'max' }), async requests => {
      for (const request of requests) await twins.ask(request)
      await twins.compare()
    })
    await check(twins.resetBefore(property), { label: 'rules', runs: costly(4) })
  })

  it('ask for the answer of a change without waiting for the change, and begin anew where another one got in the way', async () => {
    const Note = defineEntity({
      name: 'Note',
      properties: { id: p.integer().primary(), text: p.string(), version: p.integer().version() },
    })
    await using schema = ownSchema()
    const engine = await RestEngine.create({ entities: [Note], database: schema.database, seed: { notes: [{ text: 'a' }] } })
    const own = { run: PostgresConnection.prototype.run, read: PostgresConnection.prototype.read }
    let pending = 0
    let together = 0
    PostgresConnection.prototype.run = function (...given) {
      pending++
      return own.run.apply(this, given).finally(() => pending--)
    }
    PostgresConnection.prototype.read = function (...given) {
      if (pending > 0) together++
      return own.read.apply(this, given) as never
    }
    try {
      await engine.handle('PATCH', '/v1/notes/1', {}, { text: 'b' })
      assert.equal(together, 1)
    } finally {
      Object.assign(PostgresConnection.prototype, own)
    }
    const answers = await Promise.all(['c', 'd'].map(text => engine.handle('PATCH', '/v1/notes/1', {}, { text })))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    )
    assert.equal(((await engine.handle('GET', '/v1/notes/1')).body as { note: { version: number } }).note.version, 4)
    await engine.close()
  })

  it('are what most of these requests were', () => {
    console.log(`# statements: ${[...written].map(([word, count]) => `${word} ${count}`).join(', ')}`)
    assert.ok((written.get('insert') ?? 0) + (written.get('with') ?? 0) > runs(costly(4)))
  })
})
