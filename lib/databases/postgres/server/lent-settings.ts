/**
 * Sends settings anew with each transaction, behind a pooler with connections for each transaction (pgbouncer, Supavisor, PgCat): settings
 * of a session would reach another client.
 */
import { Connection, type PoolClient } from 'pg'
import type { Answered, AskedStatement } from './statement-batch.ts'

const settingsBySession = new WeakMap<object, string>()

const BEGINS = /^begin\b/

export function lendSettings(session: object, sql: string): void {
  settingsBySession.set(session, sql)
}

export function isLent(session: PoolClient): boolean {
  return settingsBySession.has(session)
}

export function withSettings(session: PoolClient, text: string): string {
  const settings = settingsBySession.get(session)
  return settings !== undefined && BEGINS.test(text) ? `${text}; ${settings}` : text
}

/** Each message is at least a transaction. */
export async function sendWithSettings(
  session: PoolClient,
  statements: readonly AskedStatement[],
  send: (statements: readonly AskedStatement[]) => Promise<Answered>,
): Promise<Answered> {
  const sql = settingsBySession.get(session)
  if (sql === undefined) return send(statements)
  const place = BEGINS.test(statements[0]?.sql ?? '') ? 1 : 0
  const answered = await send(statements.toSpliced(place, 0, { sql, parameters: [] }))
  const without = Object.entries(answered).map(([name, values]: [string, readonly unknown[]]) => [name, values.toSpliced(place, 1)])
  return Object.fromEntries(without)
}

interface Cancelled {
  readonly processID: number
  readonly secretKey: number
  readonly host: string
  readonly port: number
}

/** By the protocol: the server does not know a pooler's process number. */
export function cancel(session: PoolClient): Promise<void> {
  // The types of pg leave the fields out.
  const { processID, secretKey, host, port } = session as unknown as Cancelled
  return new Promise(resolve => {
    const connection = new Connection() as unknown as CancellingConnection
    connection.on('connect', () => connection.cancel(processID, secretKey))
    // Otherwise `statement_timeout` ends the statement.
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
