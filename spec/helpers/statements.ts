/**
 * Watches the SQL of this process: every statement of better-sqlite3, and of PostgreSQL's client, during some work. Nothing else may run at
 * the same time.
 */
import Database from 'better-sqlite3'
import { Client } from 'pg'

const METHODS = ['all', 'get', 'run', 'iterate'] as const

const LOOK_UPS =
  /^(?:select (?:page_count \* page_size|max\(rowid\) from|type, wr from)|pragma (?:schema_version|main\.(?:table_info|index_\w+)\(\S+\))$|explain query plan )/i

type Method = (this: Database.Statement, ...parameters: unknown[]) => unknown

const memory = new Database(':memory:')
/** The prototype of all statements of the process. */
const statements = Object.getPrototypeOf(memory.prepare('select 1')) as Record<(typeof METHODS)[number], Method>
memory.close()

/** What a session on a server does around the statements of a request. */
const AROUND = /^(?:begin|commit|rollback|savepoint|release|set|select set_config)\b/i

const client = Client.prototype as { query: (this: Client, ...parameters: unknown[]) => unknown }

/** Returns the result of the work, the text of each statement in order, and the texts of those whose rows were read one by one. */
export async function watchStatements<T>(work: () => Promise<T>): Promise<{ result: T; sql: string[]; iterated: string[] }> {
  const sql: string[] = []
  const iterated: string[] = []
  const originals = METHODS.map(name => [name, statements[name]] as const)
  for (const [name, original] of originals) {
    statements[name] = function (...parameters) {
      // The engine reads the size of the database, the rows and the indexes of tables once a second, for any request; and the plan of a
      // statement once.
      if (!LOOK_UPS.test(this.source)) sql.push(this.source)
      if (name === 'iterate') iterated.push(this.source)
      return original.apply(this, parameters)
    }
  }
  const { query } = client
  client.query = function (...parameters) {
    const [first] = parameters as [string | { readonly text?: string; readonly statements?: readonly { readonly sql: string }[] }]
    // The engine sends several at once.
    const texts = typeof first === 'string' ? [first] : (first.statements?.map(each => each.sql) ?? [first.text ?? ''])
    sql.push(...texts.filter(text => text !== '' && !AROUND.test(text)))
    return query.apply(this, parameters)
  }
  try {
    return { result: await work(), sql, iterated }
  } finally {
    client.query = query
    for (const [name, original] of originals) statements[name] = original
  }
}
