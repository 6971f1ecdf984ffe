/** Opens the contenders that answer the trials. Each has its own database with the same tables, rows and pragmas. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Size } from './seed.ts'
import { TABLES, entities, rowsOf } from './seed.ts'
import type { Trial } from './trials.ts'

export const CONTENDERS = ['by hand', 'engine'] as const
export type ContenderName = (typeof CONTENDERS)[number]

/** The source of the rows: made in memory, or read from a file. */
export type Source = ({ readonly size: Size } | { readonly file: string }) & {
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

/** Opens a contender, without loading the other one. */
export function open(name: ContenderName, source: Source): Promise<Contender> {
  return name === 'engine' ? openEngine(source) : openByHand(source)
}

const SCHEMA = "select sql from sqlite_schema where name not like 'sqlite_%' order by rowid"

async function openByHand(source: Source): Promise<Contender> {
  const { default: Database } = await import('better-sqlite3')
  const { ByHand } = await import('./by-hand.ts')
  const db = new Database('file' in source ? source.file : ':memory:')
  if ('size' in source) for (const statement of [...TABLES, ...rowsOf(source.size)]) db.exec(statement)
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

async function openEngine(source: Source): Promise<Contender> {
  const { RestEngine, createServer } = await import('../lib/index.ts')
  const options = { entities, ...(source.journal === true ? {} : { journal: 0 }) }
  const engine = await RestEngine.create('file' in source ? { ...options, database: source.file, schema: 'keep' } : options)
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
 * Compares the answers of both contenders to the first calls of a trial, each on its own rows.
 *
 * @throws Error when the texts of an answer differ, or it is a failure.
 */
export async function compare(trial: Trial, source: Source, calls: number): Promise<void> {
  const [byHand, engine] = await Promise.all([open('by hand', source), open('engine', source)])
  try {
    for (let call = 0; call < calls; call++) {
      assertSame(trial.name, call, await byHand.answer(trial, call), await engine.answer(trial, call))
    }
  } finally {
    await byHand.close()
    await engine.close()
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
