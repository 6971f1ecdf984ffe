/** Databases that models evolve, one after another: a SQLite file, and a schema of a PostgreSQL server. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { describe } from 'node:test'
import { RestEngine } from '../../lib/index.ts'
import type { EngineOptions } from '../../lib/index.ts'
import { NO_SERVER, WITH_POSTGRES } from '../helpers/stores.ts'
import { ownSchema } from '../postgres/server-database.ts'
import { pathOf, rowsOf } from '../sqlite/introspect/world.ts'
import Database from 'better-sqlite3'

type Options = Partial<EngineOptions>
type Entities = NonNullable<EngineOptions['entities']>
// oxlint-disable-next-line typescript/no-explicit-any -- rows
type Row = any

export interface Evolved extends AsyncDisposable {
  readonly database: NonNullable<EngineOptions['database']>
  run(sql: string): Promise<void>
  rows(sql: string): Promise<Row[]>
  /** The names of the tables. */
  tables(): Promise<string[]>
  /** The database becomes what the entities say; gives the notes. */
  evolve(entities: Entities, options?: Options): Promise<readonly string[]>
  /** Nothing changes, and the error is one line with all that is said. */
  refuse(entities: Entities, options: Options, ...said: readonly string[]): Promise<void>
}

function complete(own: Pick<Evolved, 'database' | 'run' | 'rows' | 'tables'>, dispose: () => Promise<void>, state: () => Promise<string>) {
  return {
    ...own,
    async evolve(entities: Entities, options: Options = {}) {
      await using engine = await RestEngine.create({ entities, database: own.database, schema: 'evolve', ...options })
      return engine.notes
    },
    async refuse(entities: Entities, options: Options, ...said: readonly string[]) {
      const before = await state()
      await assert.rejects(this.evolve(entities, options), ({ message }: Error) => {
        assert.doesNotMatch(message, /\n/)
        for (const part of said) assert.ok(message.includes(part), `${message}\nlacks ${part}`)
        return true
      })
      assert.equal(await state(), before)
    },
    [Symbol.asyncDispose]: dispose,
  } satisfies Evolved
}

function onFile(): Evolved {
  const path = pathOf()
  return complete(
    {
      database: path,
      async run(sql) {
        const db = new Database(path)
        db.exec(sql)
        db.close()
      },
      rows: async sql => rowsOf(path, sql),
      tables: async () =>
        rowsOf(path, "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by name").map(
          ({ name }) => name,
        ),
    },
    async () => {},
    async () => (existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''),
  )
}

function onServer(): Evolved {
  const own = ownSchema()
  const tables = async (): Promise<string[]> =>
    (
      await own.run(
        "select relname from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname !~ 'mikro' order by 1",
      )
    ).map(({ relname }) => String(relname))
  return complete(
    {
      database: own.database,
      async run(sql) {
        await own.run(sql)
      },
      rows: sql => own.run(sql),
      tables,
    },
    async () => {
      await own[Symbol.asyncDispose]()
    },
    async () => {
      const states = [
        await own.run('select * from information_schema.columns where table_schema = current_schema() order by table_name, column_name'),
      ]
      for (const table of await tables()) states.push(await own.run(`select md5(string_agg(t::text, '|')) from "${table}" as t`))
      return JSON.stringify(states)
    },
  )
}

/** One suite on a file, and on a server where there is one. */
export function describeEvolved(title: string, suite: (make: () => Evolved, isServer: boolean) => void): void {
  describe(`${title}, on a file`, () => suite(onFile, false))
  describe(`${title}, on a server`, { skip: WITH_POSTGRES ? NO_SERVER : 'without PostgreSQL' }, () => suite(onServer, true))
}
