/** Opens the contenders that answer the trials. Each has its own database with the same tables, rows and pragmas. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Database } from 'better-sqlite3'
import type { Size } from './seed.ts'
import { TABLES, entities, rowsOf } from './seed.ts'
import type { Trial } from './trials.ts'

export const CONTENDERS = ['by hand', 'engine'] as const
export type ContenderName = (typeof CONTENDERS)[number]

/** Who answers a trial: a contender, or the least that any engine must do, of the trials that have one. */
export type Answerer = ContenderName | 'floor'

/** The source of the rows: made in memory, read from a file, or made in a file that is not there yet. */
export type Source = ({ readonly size: Size } | { readonly file: string } | { readonly size: Size; readonly file: string }) & {
  /** Whether the engine keeps a journal of requests, as by default. Hand-written code keeps none. */
  readonly journal?: boolean
}

export interface Contender {
  /** The answer to a call of a trial, as JSON text. */
  answer(trial: Trial, call: number): string | Promise<string>
  /** Serves the contender over HTTP until it is closed; returns the port. */
  serve(): Promise<number>
  /** The tables and indexes of its database, as SQL. */
  tables(): Promise<string[]>
  close(): Promise<void>
}

/** Opens a contender, without loading the others. */
export async function open(name: Answerer, source: Source): Promise<Contender> {
  if (name === 'engine') return openEngine(source)
  const db = await openDatabase(source)
  return name === 'floor' ? openFloor(db) : openByHand(db)
}

const SCHEMA = "select sql from sqlite_schema where name not like 'sqlite_%' order by rowid"

async function openDatabase(source: Source): Promise<Database> {
  const { default: Sqlite } = await import('better-sqlite3')
  const db = new Sqlite('file' in source ? source.file : ':memory:')
  // The journal that the engine gives a file of its own.
  if ('size' in source && 'file' in source) db.pragma('journal_mode = wal')
  if ('size' in source) for (const statement of [...TABLES, ...rowsOf(source.size)]) db.exec(statement)
  return db
}

async function openByHand(db: Database): Promise<Contender> {
  const { ByHand } = await import('./by-hand.ts')
  const api = new ByHand(db)
  let server: Server | undefined
  return {
    answer: (trial, call) => trial.byHand(api, call),
    serve: async () => listen((server = (await import('./serve-by-hand.ts')).serveByHand(api))),
    tables: async () => db.prepare<[], string>(SCHEMA).pluck().all(),
    async close() {
      server?.close()
      server?.closeAllConnections()
      db.close()
    },
  }
}

async function openFloor(db: Database): Promise<Contender> {
  const { Floor } = await import('./floor.ts')
  const floor = new Floor(db)
  let server: Server | undefined
  return {
    answer: (trial, call) => floor.answer(trial.request(call)),
    serve: async () => listen((server = (await import('./serve-floor.ts')).serveFloor(floor))),
    tables: async () => db.prepare<[], string>(SCHEMA).pluck().all(),
    async close() {
      server?.close()
      server?.closeAllConnections()
      db.close()
    },
  }
}

async function openEngine(source: Source): Promise<Contender> {
  const { RestEngine, createServer } = await import('../lib/index.ts')
  const options = { entities, ...(source.journal === true ? {} : { journal: 0 }) }
  const schema = 'size' in source ? 'update' : 'keep'
  const engine = await RestEngine.create('file' in source ? { ...options, database: source.file, schema } : options)
  const connection = engine.orm.em.getConnection()
  if ('size' in source) for (const statement of rowsOf(source.size)) await connection.execute(statement)
  let server: Server | undefined
  return {
    answer(trial, call) {
      const { method, path, query, body } = trial.request(call)
      return engine.handle(method, path, query, body).then(response => JSON.stringify(response.body))
    },
    serve: async () => listen((server = createServer(engine))),
    tables: async () => ((await connection.execute(SCHEMA)) as { sql: string }[]).map(({ sql }) => sql),
    async close() {
      server?.close()
      server?.closeAllConnections()
      await engine.close()
    },
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Returns the answer without its timestamp, the only part in which two contenders may differ. */
export function comparable(answer: string): string {
  return answer.replace(/"timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/, '"timestamp":""')
}

/**
 * Compares the answers of all contenders to the first calls of a trial, each on its own rows.
 *
 * @throws Error when the texts of an answer differ, or it is a failure.
 */
export async function compare(trial: Trial, source: Source, calls: number): Promise<void> {
  const [byHand, ...others] = await Promise.all(
    [...CONTENDERS, ...(trial.floor === true ? (['floor'] as const) : [])].map(name => open(name, source)),
  )
  try {
    for (let call = 0; call < calls; call++) {
      const wanted = await byHand!.answer(trial, call)
      for (const other of others) assertSame(trial.name, call, wanted, await other.answer(trial, call))
    }
  } finally {
    for (const contender of [byHand!, ...others]) await contender.close()
  }
}

/**
 * Compares an answer with the one by hand.
 *
 * @throws Error when the texts differ, or the answer is a failure.
 */
export function assertSame(name: string, call: number, byHand: string, engine: string): void {
  const [wanted, given] = [comparable(byHand), comparable(engine)]
  if (!wanted.startsWith('{"success":true,"timestamp":""')) throw new Error(`${name}: call ${call} is not a success: ${wanted}`)
  if (given !== wanted) throw new Error(`${name}: call ${call} is answered differently.\n${difference(wanted, given)}`)
}

/** Returns the texts around their first difference. */
function difference(wanted: string, given: string): string {
  let at = 0
  while (wanted[at] === given[at]) at++
  const part = (text: string): string => text.slice(Math.max(0, at - 80), at + 80)
  return `by hand: ${part(wanted)}\nengine:  ${part(given)}`
}
