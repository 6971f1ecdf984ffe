/**
 * One suite, several stores: engines that `createEngine` makes in it are in memory, and then, where a server answers, on PostgreSQL. Each
 * of these has a schema of its own, which is dropped after the test, or after the suite when no test has made it.
 *
 * ```ts
 * describeStores('versions', store => {
 *   it('keeps a text with NUL', store.except('NUL'), async () => {
 *     await using engine = await createEngine({ entities: [Note] })
 *   })
 * })
 * ```
 */
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { RestEngine } from '../../lib/index.ts'
import { findNoServer, ownDatabase, ownSchema } from '../postgres/server-database.ts'
import type { OwnDatabase, OwnSchema } from '../postgres/server-database.ts'
import { reasonOf, type Exception } from './differences.ts'
import { setOnServer } from './running-store.ts'

export type EngineOptions = Parameters<typeof RestEngine.create>[0]

/** Whether this run has PostgreSQL. */
export const WITH_POSTGRES = process.env['SPEC_POSTGRES'] === '1'

/** Why suites on PostgreSQL are skipped; false when they are not. */
export const NO_SERVER = WITH_POSTGRES ? await findNoServer() : false

let database: Promise<OwnDatabase> | undefined

/** Schemas that nobody uses any more. */
const left: string[] = []
/** So many are dropped together, on one connection: to open that takes as long as to drop one. */
const TOGETHER = 4

/** Makes a schema in the database of this process. Forks copy the database: nobody else is connected to it. */
export async function newSchema(): Promise<OwnSchema> {
  const own = await (database ??= makeDatabase())
  const schema = ownSchema(own.database.url)
  return {
    ...schema,
    async [Symbol.asyncDispose]() {
      left.push(schema.database.schema)
      if (left.length < TOGETHER) return
      await own.run(`set client_min_messages = warning; drop schema if exists ${left.splice(0).join(', ')} cascade`)
    },
  }
}

/** Makes a database that is dropped after the last spec of the process: a hook would drop it after the first file. */
async function makeDatabase(): Promise<OwnDatabase> {
  const made = await ownDatabase()
  process.once('beforeExit', () => void made[Symbol.asyncDispose]())
  return made
}

export interface Store {
  readonly name: 'memory' | 'postgres'
  /** Options of a test that cannot run on PostgreSQL; `false`: of one that can. */
  except(exception: Exception | false): { readonly skip: string | false }
}

/** The schemas of the suite that runs on PostgreSQL, and of its test. */
interface Schemas {
  readonly ofSuite: OwnSchema[]
  ofTest: OwnSchema[] | undefined
}

/** The suite that runs now: tests of one process run one after another. Undefined: in memory. */
let running: Schemas | undefined

interface StoreOptions {
  /** Why the suite cannot run on PostgreSQL. */
  readonly except: Exception
}
type Given<Body> = [Body] | [StoreOptions, Body]
type SuiteBody = (store: Store) => void
type TestBody = () => Promise<void>

/** Declares one `describe` per store, each with the same tests. */
export function describeStores(name: string, ...[given, last]: Given<SuiteBody>): void {
  const body = typeof given === 'function' ? given : last!
  describe(`${name} [memory]`, () => body({ name: 'memory', except: () => ({ skip: false }) }))
  if (!WITH_POSTGRES) return
  const skip = typeof given === 'function' ? NO_SERVER : reasonOf(given.except)
  describe(`${name} [postgres]`, { skip }, () => {
    const schemas: Schemas = { ofSuite: [], ofTest: undefined }
    before(() => {
      running = schemas
      setOnServer(true)
    })
    beforeEach(() => {
      schemas.ofTest = []
    })
    body({ name: 'postgres', except: exception => ({ skip: exception !== false && reasonOf(exception) }) })
    // Hooks run in the order of their declaration: the engines are closed by now.
    afterEach(async () => {
      for (const schema of schemas.ofTest ?? []) await schema[Symbol.asyncDispose]()
      schemas.ofTest = undefined
    })
    after(async () => {
      running = undefined
      setOnServer(false)
      for (const schema of schemas.ofSuite) await schema[Symbol.asyncDispose]()
    })
  })
}

/** Declares one test per store. */
export function testStores(name: string, ...[given, last]: Given<TestBody>): void {
  if (typeof given === 'function') describeStores(name, () => void it('holds', given))
  else describeStores(name, given, () => void it('holds', last))
}

/** Creates an engine in the store of the suite that runs. */
export async function createEngine(options: Omit<EngineOptions, 'database'>): Promise<RestEngine> {
  if (running === undefined) return RestEngine.create(options)
  const schema = await newSchema()
  ;(running.ofTest ?? running.ofSuite).push(schema)
  return RestEngine.create({ ...options, database: schema.database })
}

/**
 * Declares an engine that all tests of the suite have: it is made before the first of them, reset before each, and closed behind the last.
 * On a server that costs a thirtieth of an engine for each. Tests that try what outlives a reset, or that copy the database from another
 * engine, need one of their own.
 *
 * @returns the engine, while the suite runs
 */
export function suiteEngine(options: Omit<EngineOptions, 'database'>): () => RestEngine {
  let engine: RestEngine | undefined
  before(async () => {
    engine = await createEngine(options)
  })
  beforeEach(() => engine!.reset())
  after(async () => {
    await engine?.close()
    // The suite is kept until the process ends.
    engine = undefined
  })
  return () => engine!
}

/** Reads all rows of all tables, by the names of the tables. */
export async function readTables(engine: RestEngine): Promise<{ readonly name: string; readonly rows: object[] }[]> {
  const em = engine.orm.em.fork()
  const sql =
    em.getPlatform().getDefaultSchemaName() === undefined
      ? "select name from sqlite_master where type = 'table' and name <> 'sqlite_sequence' order by name"
      : "select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' order by 1"
  const tables: { name: string; rows: object[] }[] = []
  for (const { name } of await em.getConnection().execute<{ name: string }[]>(sql)) {
    tables.push({ name, rows: await em.getConnection().execute<object[]>(`select * from "${name.replaceAll('"', '""')}"`) })
  }
  return tables
}

/** The value of a JSON column, which only PostgreSQL's driver parses. */
export const parseColumn = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value)
