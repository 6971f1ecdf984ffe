/**
 * Lent settings: the settings of sessions behind a pooler that lends its connections for one transaction each (pgbouncer, Supavisor,
 * PgCat). What a session sets would be found by another client there, so such settings go with each transaction.
 */
import { Connection, type PoolClient } from 'pg'
import type { Answered, AskedStatement } from './statement-batch.ts'

/** The statement that makes the settings of a transaction. */
const lent = new WeakMap<object, string>()

/** What begins a transaction. */
const BEGINS = /^begin\b/

/** From now on each transaction of a session has these settings. */
export function lendSettings(session: object, sql: string): void {
  lent.set(session, sql)
}

/** Whether a session is one behind a pooler. */
export function isLent(session: PoolClient): boolean {
  return lent.has(session)
}

/** Returns a statement without parameters, with the settings behind it where it begins a transaction. */
export function withSettings(session: PoolClient, text: string): string {
  const settings = lent.get(session)
  return settings !== undefined && BEGINS.test(text) ? `${text}; ${settings}` : text
}

/** Sends statements in one message with the settings, of which a message alone is a transaction, too. */
export async function sendWithSettings(
  session: PoolClient,
  statements: readonly AskedStatement[],
  send: (statements: readonly AskedStatement[]) => Promise<Answered>,
): Promise<Answered> {
  const sql = lent.get(session)
  if (sql === undefined) return send(statements)
  const place = BEGINS.test(statements[0]?.sql ?? '') ? 1 : 0
  const answered = await send(statements.toSpliced(place, 0, { sql, parameters: [] }))
  const without = Object.entries(answered).map(([name, values]: [string, readonly unknown[]]) => [name, values.toSpliced(place, 1)])
  return Object.fromEntries(without)
}

/** The parts of a session that its end of a statement takes. */
interface Cancelled {
  readonly processID: number
  readonly secretKey: number
  readonly host: string
  readonly port: number
}

/** Asks for the end of the statement of a session by the protocol: the process that a pooler names is none of the server. */
export function cancel(session: PoolClient): Promise<void> {
  // The types of pg leave out what a cancellation needs.
  const { processID, secretKey, host, port } = session as unknown as Cancelled
  return new Promise(resolve => {
    const connection = new Connection() as unknown as CancellingConnection
    connection.on('connect', () => connection.cancel(processID, secretKey))
    // `statement_timeout` ends the statement where nobody can be asked.
    connection.on('error', () => resolve())
    connection.on('end', () => resolve())
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
    else connection.connect(port, host)
  })
}

interface CancellingConnection {
  connect(port: number | string, host?: string): void
  cancel(processID: number, secretKey: number): void
  on(event: 'connect' | 'error' | 'end', listener: () => void): void
}
