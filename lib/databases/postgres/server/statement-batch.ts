/**
 * Statement batch: statements of readings that are sent in one message, and answered in one. `pg` would send each in a message of its own,
 * have its columns described and build its rows twice, which costs more than the server needs to find a record. Rows are arrays of texts,
 * as the server sends them.
 */
import { randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'
import { Query, type Connection, type PoolClient } from 'pg'
import type { Row } from '../../../records/database/dialect.ts'

/** A statement with its parameters. */
export interface AskedStatement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** What the statements of a batch have found. */
export interface Answered {
  readonly rows: readonly (readonly Row[])[]
  /** When each was answered, by performance.now(). */
  readonly times: readonly number[]
  /** What the server says that each has done: `UPDATE 1`. */
  readonly tags: readonly string[]
}

/** The statements that a session keeps prepared, by their texts. */
class PreparedBatch {
  readonly names = new Map<string, string>()
  /** Those that are being prepared: another batch cannot count on them yet. */
  readonly pending = new Set<string>()
  /** Begins the names: behind a pooler a session may meet what others have prepared, which must not run in the place of its own. */
  readonly prefix = `mikro_${randomBytes(6).toString('base64url')}_`
  /** Names are never given twice: those of a failed batch are closed when its error has come back, behind what was sent meanwhile. */
  count = 0
}

const prepared = new WeakMap<PoolClient, PreparedBatch>()

/**
 * Sends statements to a session, which runs the statements in this order and stops at the first that fails.
 *
 * @param isKept whether a session is to keep a statement prepared
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

/** The statements that errors of the server are about. */
const failed = new WeakMap<Error, string | undefined>()

/** Returns the text of the statement of a batch that has failed. */
export function findFailed(error: unknown): string | undefined {
  return error instanceof Error ? failed.get(error) : undefined
}

/** The streams whose writes are held back until the code that runs has come to its end. */
const gathering = new WeakSet<Writable>()

/**
 * Has all that is sent from now on, until the code that runs waits for something, go to the server as one packet: a transaction begins,
 * writes, and asks for what has changed. Each packet by itself is a call of the system on both sides, which costs about as much as to find
 * a row.
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

/**
 * The interface of `pg` for what runs on a connection: it calls `submit`, and then `handle…` with what comes back up to the end of the
 * message.
 */
class StatementBatch extends Query {
  /** The statements of the batch. Whoever watches a client reads them here. */
  readonly statements: readonly AskedStatement[]
  readonly #prepared: PreparedBatch
  readonly #isKept: (sql: string) => boolean
  resolve!: (answered: Answered) => void
  reject!: (error: unknown) => void
  readonly #rows: Row[][] = [[]]
  readonly #times: number[] = []
  readonly #tags: string[] = []
  /** The texts that this batch prepares, with their names. */
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
    // pg changes no values, but its types ask for a mutable array.
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
    if (error instanceof Error) failed.set(error, this.statements[this.#tags.length]?.sql)
    for (const [sql, name] of this.#preparing) {
      this.#prepared.pending.delete(sql)
      // The server keeps what it has prepared before the error. The client closes all of them: the server takes it without an error if one
      // does not exist.
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

/** Returns a parameter as the protocol takes it: a text, or bytes. */
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

/** What needs no quotes: most keys. */
const PLAIN = /^(?!null$)[\w-]+$/i

function formatElement(value: unknown): string {
  if (Array.isArray(value)) return formatArray(value)
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`
  const text = formatParameter(value) as string | null
  if (text === null) return 'null'
  return PLAIN.test(text) ? text : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}
