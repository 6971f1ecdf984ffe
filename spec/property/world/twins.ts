/**
 * Twins: two engines with one model, which get the same requests. In one of them a subscriber does nothing, so that all of its writes go
 * through MikroORM's unit of work; the other one writes by statements where it can. Answers, rows and journals are compared.
 */
import assert from 'node:assert/strict'
import { RestEngine } from '../../../lib/index.ts'
import { leaveUnnamed, orderedLists, sortChanges } from './ways-of-writing.ts'
import type { Request } from './ways-of-writing.ts'

/**
 * Every row of every table, its values as SQLite writes them with their types, and how far keys have been counted. Rows come in the order
 * of their keys: nothing shows in which one they were inserted. Nor does it which table counted its first key before others. For those of
 * ordered lists see `orderedLists`.
 */
async function dump(engine: RestEngine): Promise<unknown> {
  const ask = (sql: string): Promise<Record<string, string>[]> => engine.orm.em.getConnection().execute(sql)
  const lists = orderedLists(engine)
  const tables = await ask("select name from sqlite_schema where type = 'table' order by name")
  return Promise.all(
    tables.map(async ({ name }) => {
      const columns = await ask(`select name, pk from pragma_table_xinfo('${name}')`)
      const list = lists.get(name!)
      const keys = columns.filter(({ pk }) => Number(pk) > 0).map(column => `"${column['name']}"`)
      const inserted = name === 'sqlite_sequence' ? 'name' : 'rowid'
      const order = list !== undefined ? `"${list.owner}", "${list.position}"` : keys.length > 0 ? keys.join() : inserted
      const shown = columns
        .filter(column => column['name'] !== list?.position)
        .map(column => `quote("${column['name']}") as "${column['name']}"`)
        .join()
      return [name, await ask(`select ${shown} from "${name}" order by ${order}`)]
    }),
  )
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

  /**
   * @param entities makes the entities, for each engine anew; nothing: the files are served as they are
   * @param rules makes the configuration of their resources
   */
  static async of(
    entities: () => unknown[] | undefined,
    seed: Record<string, unknown[]> = {},
    files: readonly string[] = [],
    rules?: (entities: unknown[]) => unknown[],
  ): Promise<Twins> {
    const causes: unknown[] = []
    const [first, second] = files
    const make = (orm: object, database = ':memory:'): Promise<RestEngine> => {
      const own = entities()
      return RestEngine.create({
        database,
        ...(own === undefined ? {} : { entities: own as never, seed: seed as never }),
        ...(rules === undefined || own === undefined ? {} : { resources: rules(own) as never }),
        orm,
        clock: () => new Date('2026-01-01T00:00:00Z'),
        onError: error => causes.push(error),
      })
    }
    return new Twins(await make({}, first), await make({ subscribers: [{ afterFlush: () => {} }] }, second), causes)
  }

  /** Two others with the data of these: a fork costs a hundredth of an engine. */
  async fork(): Promise<Twins> {
    return new Twins(await this.planned.fork(), await this.flushed.fork(), this.#causes)
  }

  async ask({ method, path, body, headers = {} }: Request): Promise<void> {
    const told = `${method} ${path} ${JSON.stringify(body)} ${JSON.stringify(headers)}`
    const answers = [
      await this.flushed.handle(method, path, {}, body, { headers }),
      await this.planned.handle(method, path, {}, body, { headers }),
    ]
    const [left, right] = answers.map(({ status, headers: of, body: shown }) =>
      leaveUnnamed({ status, etag: of['etag'], location: of['location'], body: { ...(shown as object), timestamp: '' } }),
    )
    const causes = this.#causes.map(cause => (cause instanceof Error ? cause.stack : String(cause))).join()
    assert.deepEqual(right, left, `${told} ${causes}`)
    const [before, now] = [this.flushed, this.planned].map(engine => sortChanges(engine.requests.at(-1)!.changes!))
    assert.deepEqual(now, before, `the journal of ${told}`)
  }

  /** Writes into both databases what an API would not write, unless their constraints refuse it. */
  async spoil(sql: string): Promise<void> {
    const run = ({ orm }: RestEngine): Promise<unknown> => orm.em.getConnection().execute(sql)
    const refused = ({ name }: Error): string => name
    assert.equal(await run(this.planned).then(() => '', refused), await run(this.flushed).then(() => '', refused))
  }

  async seed(data: Record<string, unknown[]>): Promise<void> {
    const [left, right] = await Promise.all(
      [this.flushed, this.planned].map(async engine => {
        try {
          await engine.seed(data as never)
          return 'done'
        } catch (error) {
          return (error as Error).message
        }
      }),
    )
    assert.equal(right, left, JSON.stringify(data))
  }

  async compare(): Promise<void> {
    assert.deepEqual(await dump(this.planned), await dump(this.flushed))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.planned.close()
    await this.flushed.close()
  }
}
