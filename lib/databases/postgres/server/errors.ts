/** Explains errors of PostgreSQL by their codes: broken constraints, refusals, conflicts of transactions, lost connections. */
import { restError, type RestError } from '../../../foundation/errors/errors.ts'
import type { DatabaseFailure } from '../../../records/database/dialect.ts'

/** MikroORM's exceptions keep the fields. */
interface ServerError {
  readonly code?: unknown
  readonly message: string
  readonly detail?: string
  readonly schema?: string
  readonly table?: string
  readonly column?: string
  readonly constraint?: string
  /** In the statement, an inner statement or a function: an error about a value has no position. */
  readonly position?: string
  readonly internalQuery?: string
  readonly where?: string
  /** A source file. */
  readonly file?: string
}

/** Messages of `pg` without a code. */
const LOST_MESSAGE =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/

const NETWORK_CODES = new Set([
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

/** MikroORM and the engine keep a translated error as the cause. */
function* listCauses(error: unknown): Generator<ServerError & Error> {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    yield cause
    // Several addresses of one name were tried.
    if (cause instanceof AggregateError) yield* cause.errors as (ServerError & Error)[]
  }
}

/** The network fails (class 08), the server shuts down, or has no connection left. */
export function isLost(error: unknown): boolean {
  for (const { code, message } of listCauses(error)) {
    if (typeof code === 'string' && (NETWORK_CODES.has(code) || /^(?:08|57P0[1-5]|53300)/.test(code))) return true
    if (code === undefined && LOST_MESSAGE.test(message)) return true
  }
  return false
}

/** Another try may succeed. */
export function isConflict(error: unknown): boolean {
  for (const { code } of listCauses(error)) if (code === '40001' || code === '40P01') return true
  return false
}

/** A prepared statement is gone, or does not fit changed tables. */
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
    // A standby, or a read-only database.
    if (code === '25006') return 'readOnly'
    if (code === '42501') return 'denied'
    // `statement_timeout`, which counts the time of waiting for a lock, too.
    if (code === '57014') return 'ended'
    if (code === '55P03') return 'busy'
    // Resources, system and files of the server.
    if (/^(?:53|58|XX|F0)/.test(code)) return 'failed'
  }
  return undefined
}

export function nulError(): Error {
  return Object.assign(new Error('a string with the character U+0000 cannot be stored'), { code: '22021' })
}

export function unreachable(cause: unknown): RestError {
  return restError('database_busy', 'The database server cannot be reached, or has no connection left; nothing was changed. Try again.', {
    headers: { 'retry-after': '1' },
    cause,
  })
}

/** The server does not know a prepared statement: repeatedly, if a pooler lends other connections. */
export function isUnprepared(error: unknown): boolean {
  for (const { code } of listCauses(error)) if (code === '26000') return true
  return false
}

export function pooled(cause: unknown): RestError {
  const detail =
    'A pooler that lends its connections by the transaction stands between the engine and the database, ' +
    'so that prepared statements are lost: give "prepare: false" (in the URL "?prepare=false").'
  return restError('database_failed', detail, { cause })
}

export function uncertain(cause: unknown): RestError {
  const detail =
    'The connection to the database was lost while the change was committed: it may have been made or not. ' +
    'Read the record before trying again.'
  return restError('database_busy', detail, { headers: { 'retry-after': '1' }, cause })
}

export function conflicting(cause: unknown): RestError {
  return restError('database_busy', 'Another request has changed the same records at the same time; nothing was changed. Try again.', {
    headers: { 'retry-after': '1' },
    cause,
  })
}

/** See `Dialect.violation`. Only the detail names the columns of a key: `Key (a, "B")=(1, 2) ...`. */
export function violation(error: Error): { schema?: string; table: string; columns: string[] } | undefined {
  const { code, schema, table, column, detail = '' } = error as ServerError
  if (table === undefined) return undefined
  const place = schema === undefined ? { table } : { schema, table }
  if (code === '23502') return { ...place, columns: column === undefined ? [] : [column] }
  if (code !== '23505' && (code !== '23503' || !detail.includes(' is not present in '))) return undefined
  const key = /\((.+?)\)=\(/s.exec(detail)?.[1] ?? ''
  // Words of an expression such as `lower(name)` are columns, functions and types.
  const columns = [...key.replaceAll(/::[\w ]+/g, '').matchAll(/"((?:[^"]|"")+)"|([^",\s()]+)/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!,
  )
  // With several columns, the detail does not name the wrong column.
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
 * See `Dialect.refusal`: unfit values (22), triggers (P0001, and other codes), identity and generated columns, read-only views, exclusions,
 * check options.
 */
export function refusal(error: Error): string | undefined {
  const { code, message } = error as ServerError
  if (typeof code !== 'string') return undefined
  return /^(?:22|P0001|428C9|55000|0A000|23P01|44000)/.test(code) || isAboutValue(error) ? firstLine(message) : undefined
}

const PARAMETER_PLACE = /^(?:unnamed portal|portal ".*") parameter \$(\d+)/m

/**
 * Some types refuse a text with a code for faulty statements: no such object (`regclass`), wrong syntax (`jsonpath`, `tsvector`, `ltree`,
 * `hstore`). Without a position, the error is about a value.
 */
function isAboutValue(error: Error): boolean {
  const { code, position, internalQuery, where, file } = error as ServerError
  // Up to version 15, only the file tells.
  const isHstore = code === 'XX000' && file === 'hstore_io.c'
  if (!isHstore && !/^(?:42601|42602|42704|42725|42883|42P01|3F000)$/.test(String(code))) return false
  return where === undefined ? position === undefined && internalQuery === undefined : PARAMETER_PLACE.test(where)
}

/** A refused parameter, counted from 0. */
export function findRefusedParameter(error: unknown): { readonly place: number; readonly reason: string } | undefined {
  const { where = '', message } = error as Partial<ServerError>
  const [, number] = PARAMETER_PLACE.exec(where) ?? []
  return number === undefined ? undefined : { place: Number(number) - 1, reason: firstLine(message!) }
}

/** Omits MikroORM's additions. */
function firstLine(message: string): string {
  return message.split('\n', 1)[0]!
}
