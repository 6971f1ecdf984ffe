/**
 * Errors: what PostgreSQL's errors mean: a broken constraint, a refusal of the schema's own, a conflict of transactions, or a server that
 * cannot be reached.
 */
import { restError, type RestError } from '../../../foundation/base/errors.ts'
import type { DatabaseFailure } from '../../../records/database/dialect.ts'

/** The fields of an error of the server. MikroORM's exceptions keep them. */
interface ServerError {
  readonly code?: unknown
  readonly message: string
  readonly detail?: string
  readonly schema?: string
  readonly table?: string
  readonly column?: string
  readonly constraint?: string
  /** Where in the statement, in one that the server runs for itself, and in which function: what an error about a value does not have. */
  readonly position?: string
  readonly internalQuery?: string
  readonly where?: string
  /** Of the source of the server. */
  readonly file?: string
}

/** What `pg` says of a connection that it has lost, or could not make: errors without a code. */
const LOST =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/

/** Codes of the system for a connection that does not work. */
const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])

/** Returns the errors behind an error, itself first: MikroORM and the engine keep what they translate as the cause. */
function* listCauses(error: unknown): Generator<ServerError & Error> {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    yield cause
    // Several addresses of one name were tried.
    if (cause instanceof AggregateError) yield* cause.errors as (ServerError & Error)[]
  }
}

/** Whether the connection is lost, or could not be made: class 08, a server that shuts down or has no connections left. */
export function isLost(error: unknown): boolean {
  for (const { code, message } of listCauses(error)) {
    if (typeof code === 'string' && (NETWORK.has(code) || /^(?:08|57P0[1-5]|53300)/.test(code))) return true
    if (code === undefined && LOST.test(message)) return true
  }
  return false
}

/** Whether a transaction has failed since others ran at the same time, and may succeed when it runs again. */
export function isConflict(error: unknown): boolean {
  for (const { code } of listCauses(error)) if (code === '40001' || code === '40P01') return true
  return false
}

/** Whether a prepared statement does not fit the tables any more, which others have changed. */
export function isOutdated(error: unknown): boolean {
  const { code, message } = error as ServerError
  return code === '26000' || (code === '0A000' && message.includes('cached plan'))
}

/** See `Dialect.failure`. */
export function failure(error: unknown): DatabaseFailure | undefined {
  if (isLost(error) || isConflict(error)) return 'busy'
  for (const cause of listCauses(error)) {
    const { code } = cause
    if (typeof code !== 'string' || isAboutValue(cause)) continue
    // A standby, or a database that the server keeps from being written.
    if (code === '25006') return 'readOnly'
    if (code === '42501') return 'denied'
    // A statement that was ended, a lock that was not free.
    if (/^(?:57014|55P03)/.test(code)) return 'busy'
    // Resources of the server, its system and its files.
    if (/^(?:53|58|XX|F0)/.test(code)) return 'failed'
  }
  return undefined
}

/** Returns the error for a text that PostgreSQL cannot store, as the server would give it. */
export function nulError(): Error {
  return Object.assign(new Error('a string with the character U+0000 cannot be stored'), { code: '22021' })
}

/** Returns the error for a server that cannot be reached. */
export function unreachable(cause: unknown): RestError {
  return restError('database_busy', 'The database server cannot be reached, or has no connection left; nothing was changed. Try again.', {
    headers: { 'retry-after': '1' },
    cause,
  })
}

/**
 * Whether a statement that a session has prepared is unknown to the server: where it comes again, a pooler has lent the session another
 * connection.
 */
export function isUnprepared(error: unknown): boolean {
  for (const { code } of listCauses(error)) if (code === '26000') return true
  return false
}

/** Returns the error for a pooler that lends its connections by the transaction. */
export function pooled(cause: unknown): RestError {
  const detail =
    'A pooler that lends its connections by the transaction stands between the engine and the database, ' +
    'so that prepared statements are lost: give "prepare: false" (in the URL "?prepare=false").'
  return restError('database_failed', detail, { cause })
}

/** Returns the error for a connection that was lost while a transaction was committed. */
export function uncertain(cause: unknown): RestError {
  const detail =
    'The connection to the database was lost while the change was committed: it may have been made or not. ' +
    'Read the record before trying again.'
  return restError('database_busy', detail, { headers: { 'retry-after': '1' }, cause })
}

/** Returns the error for transactions that got in each other's way. */
export function conflicting(cause: unknown): RestError {
  return restError('database_busy', 'Another request has changed the same records at the same time; nothing was changed. Try again.', {
    headers: { 'retry-after': '1' },
    cause,
  })
}

/**
 * See `Dialect.violation`. PostgreSQL names the column of a value that is missing, and the columns of a key only in its detail: `Key (a,
 * "B")=(1, 2) ...`.
 */
export function violation(error: Error): { schema?: string; table: string; columns: string[] } | undefined {
  const { code, schema, table, column, detail = '' } = error as ServerError
  if (table === undefined) return undefined
  const place = schema === undefined ? { table } : { schema, table }
  if (code === '23502') return { ...place, columns: column === undefined ? [] : [column] }
  if (code !== '23505' && (code !== '23503' || !detail.includes(' is not present in '))) return undefined
  const key = /\((.+?)\)=\(/s.exec(detail)?.[1] ?? ''
  // Of an expression, as `lower(name)`, the words are its columns, and names of functions and types.
  const columns = [...key.replaceAll(/::[\w ]+/g, '').matchAll(/"((?:[^"]|"")+)"|([^",\s()]+)/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!,
  )
  // Of a foreign key of several columns the detail does not say which of them is wrong.
  return code === '23503' && columns.length > 1 ? undefined : { ...place, columns }
}

/** See `Dialect.brokenCheck`. */
export function brokenCheck(error: Error): string | undefined {
  const { code, constraint, message } = error as ServerError
  return code === '23514' ? (constraint ?? firstLine(message)) : undefined
}

/** See `Dialect.breaksReference`. */
export function breaksReference(error: Error): boolean {
  return (error as ServerError).code === '23503'
}

/** See `Dialect.breaksConstraint`. */
export function breaksConstraint(error: unknown): boolean {
  const { code } = (error ?? {}) as Partial<ServerError>
  return typeof code === 'string' && code.startsWith('23')
}

/**
 * See `Dialect.refusal`: a value that a column cannot hold (22), a trigger (P0001, and codes of its own), an identity or generated column,
 * a view that takes no writes, an exclusion, a check option.
 */
export function refusal(error: Error): string | undefined {
  const { code, message } = error as ServerError
  if (typeof code !== 'string') return undefined
  return /^(?:22|P0001|428C9|55000|0A000|23P01|44000)/.test(code) || isAboutValue(error) ? firstLine(message) : undefined
}

/** Where a parameter is that cannot be read as a value of its type. */
const OF_PARAMETER = /^(?:unnamed portal|portal ".*") parameter \$(\d+)/m

/**
 * Whether the error is about a given text that its type refuses, although the server uses the code of a faulty statement for it: the name
 * of an object that does not exist (`regclass`), or a text with a syntax of its own (`jsonpath`, `tsvector`, `ltree`, `hstore`). An error
 * in a statement has a position.
 */
function isAboutValue(error: Error): boolean {
  const { code, position, internalQuery, where, file } = error as ServerError
  // Up to version 15 it says nothing else.
  const isHstore = code === 'XX000' && file === 'hstore_io.c'
  if (!isHstore && !/^(?:42601|42602|42704|42725|42883|42P01|3F000)$/.test(String(code))) return false
  return where === undefined ? position === undefined && internalQuery === undefined : OF_PARAMETER.test(where)
}

/** Returns the place of the parameter that the server cannot read as a value of its type, from 0, with what it says. */
export function findRefusedParameter(error: unknown): { readonly place: number; readonly reason: string } | undefined {
  const { where = '', message } = error as Partial<ServerError>
  const [, number] = OF_PARAMETER.exec(where) ?? []
  return number === undefined ? undefined : { place: Number(number) - 1, reason: firstLine(message!) }
}

/** Returns what the server says, without what MikroORM adds. */
function firstLine(message: string): string {
  return message.split('\n', 1)[0]!
}
