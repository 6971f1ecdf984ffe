/**
 * Watches the SQL of this process: every statement that better-sqlite3 runs while some work is done, whoever runs it. Nothing else may run
 * beside the work.
 */
import Database from 'better-sqlite3'

const METHODS = ['all', 'get', 'run', 'iterate'] as const

const LOOK_UPS =
  /^(?:select (?:page_count \* page_size|max\(rowid\) from|type, wr from)|pragma (?:schema_version|main\.(?:table_info|index_\w+)\(\S+\))$)/i

type Method = (this: Database.Statement, ...parameters: unknown[]) => unknown

const memory = new Database(':memory:')
/** What all statements of the process inherit from. */
const statements = Object.getPrototypeOf(memory.prepare('select 1')) as Record<(typeof METHODS)[number], Method>
memory.close()

/** The result of the work, the text of each statement that it ran, in order, and of those whose rows it took one by one. */
export async function watchStatements<T>(work: () => Promise<T>): Promise<{ result: T; sql: string[]; iterated: string[] }> {
  const sql: string[] = []
  const iterated: string[] = []
  const originals = METHODS.map(name => [name, statements[name]] as const)
  for (const [name, original] of originals) {
    statements[name] = function (...parameters) {
      // How large the database is, and how many rows and which indexes its tables have, is looked up once a second, whatever is asked.
      if (!LOOK_UPS.test(this.source)) sql.push(this.source)
      if (name === 'iterate') iterated.push(this.source)
      return original.apply(this, parameters)
    }
  }
  try {
    return { result: await work(), sql, iterated }
  } finally {
    for (const [name, original] of originals) statements[name] = original
  }
}
