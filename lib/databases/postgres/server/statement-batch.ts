/**
 * Sends several statements in a single message. Rows are arrays of texts, as sent. `pg` would send single messages, ask for descriptions of
 * columns and build rows twice.
 */
import { randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'
import { Query, type Connection, type PoolClient } from 'pg'
import type { Row } from '../../../records/database/dialect.ts'

export interface AskedStatement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

export interface Answered {
  readonly rows: readonly (readonly Row[])[]
  /** By performance.now(). */
  readonly times: readonly number[]
  /** Such as `UPDATE 1`. */
  readonly tags: readonly string[]
}

class PreparedBatch {
  readonly names = new Map<string, string>()
  /** Not usable by other batches yet. */
  readonly pending = new Set<string>()
  /** Random: behind a pooler, names of two sessions must differ. */
  readonly prefix = `mikro_${randomBytes(6).toString('base64url')}_`
  /** Names of a failed batch are closed late: no name is given twice. */
  count = 0
}

const prepared = new WeakMap<PoolClient, PreparedBatch>()

/**
 * The session stops at the first statement that fails.
 *
 * @param isKept the session is to keep the statement prepared
 */
export function sendBatch(session: PoolClient, statements: readonly AskedStatement[], isKept: (sql: string) => boolean): Promise<Answered> {
  let known = prepared.get(session)
  if (known === undefined) prepared.set(session, (known = new PreparedBatch()))
  const batch = new StatementBatch(statements, known, isKept)
  return new Promise((resolve, reject) => {
    batch.resolve = resolve
    batch.reject = reject
    session.query(batch)
  })
}

const failedTexts = new WeakMap<Error, string | undefined>()

export function findFailed(error: unknown): string | undefined {
  return error instanceof Error ? failedTexts.get(error) : undefined
}

/** Streams whose writes wait until the running code waits. */
const gathering = new WeakSet<Writable>()

/**
 * Sends a single packet up to the next wait: `begin`, writes, the question for changed rows. A packet costs about as much as finding a row.
 */
export function gatherWrites({ stream }: Connection): void {
  if (gathering.has(stream)) return
  gathering.add(stream)
  stream.cork()
  process.nextTick(() => {
    gathering.delete(stream)
    stream.uncork()
  })
}

/** `pg` calls `submit`, then `handle…` for each answer. */
class StatementBatch extends Query {
  /** Watchers of a client read the statements here. */
  readonly statements: readonly AskedStatement[]
  readonly #prepared: PreparedBatch
  readonly #isKept: (sql: string) => boolean
  resolve!: (answered: Answered) => void
  reject!: (error: unknown) => void
  readonly #rows: Row[][] = [[]]
  readonly #times: number[] = []
  readonly #tags: string[] = []
  /** Names by text. */
  readonly #preparing = new Map<string, string>()

  constructor(statements: readonly AskedStatement[], known: PreparedBatch, isKept: (sql: string) => boolean) {
    super('')
    this.statements = statements
    this.#prepared = known
    this.#isKept = isKept
  }

  override submit = (connection: Connection): void => {
    const parameters = this.statements.map(statement => statement.parameters.map(formatParameter))
    gatherWrites(connection)
    for (const [index, statement] of this.statements.entries()) this.#send(statement.sql, parameters[index]!, connection)
    connection.sync()
  }

  #send(sql: string, values: readonly (string | Buffer | null)[], connection: Connection): void {
    const { names, pending } = this.#prepared
    let name = names.get(sql) ?? this.#preparing.get(sql)
    if (name === undefined) {
      name = ''
      if (!pending.has(sql) && this.#isKept(sql)) {
        name = `${this.#prepared.prefix}${this.#prepared.count++}`
        this.#preparing.set(sql, name)
        pending.add(sql)
      }
      connection.parse({ name, text: sql, types: [] }, true)
    }
    // The types of pg want a mutable array.
    connection.bind({ statement: name, values: values as never }, true)
    connection.execute({}, true)
  }

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.#rows.at(-1)!.push(fields)
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#times.push(performance.now())
    this.#tags.push(text)
    this.#rows.push([])
  }

  handleError(error: unknown, connection: Connection): void {
    if (error instanceof Error) failedTexts.set(error, this.statements[this.#tags.length]?.sql)
    for (const [sql, name] of this.#preparing) {
      this.#prepared.pending.delete(sql)
      // The server keeps statements prepared before the error.
      if (connection.stream.writable) connection.close({ type: 'S', name }, true)
    }
    this.reject(error)
  }

  handleReadyForQuery(): void {
    for (const [sql, name] of this.#preparing) {
      this.#prepared.pending.delete(sql)
      this.#prepared.names.set(sql, name)
    }
    this.resolve({ rows: this.#rows, times: this.#times, tags: this.#tags })
  }
}

function formatParameter(value: unknown): string | Buffer | null {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return formatArray(value)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : (value as number | bigint | boolean).toString()
}

function formatArray(values: readonly unknown[]): string {
  return `{${values.map(formatElement).join()}}`
}

/** Needs no quotes. */
const PLAIN = /^(?!null$)[\w-]+$/i

function formatElement(value: unknown): string {
  if (Array.isArray(value)) return formatArray(value)
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`
  const text = formatParameter(value) as string | null
  if (text === null) return 'null'
  return PLAIN.test(text) ? text : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}
