/**
 * Watches the SQL of this process: every statement that better-sqlite3 runs while some work is done, whoever runs it. Nothing else may run
 * beside the work.
 */
import Database from 'better-sqlite3'

const METHODS = ['all', 'get', 'run', 'iterate'] as const

type Method = (this: Database.Statement, ...parameters: unknown[]) => unknown

const memory = new Database(':memory:')
/** What all statements of the process inherit from. */
const statements = Object.getPrototypeOf(memory.prepare('select 1')) as Record<(typeof METHODS)[number], Method>
memory.close()

/** The result of the work, and the text of each statement that it ran, in order. */
export async function watchStatements<T>(work: () => Promise<T>): Promise<{ result: T; sql: string[] }> {
  const sql: string[] = []
  const originals = METHODS.map(name => [name, statements[name]] as const)
  for (const [name, original] of originals) {
    statements[name] = function (...parameters) {
      // How large the database is, and how many rows its tables have, is looked up once a second, whatever is asked.
      if (!/^select (?:page_count \* page_size|max\(rowid\) from)/.test(this.source)) sql.push(this.source)
      return original.apply(this, parameters)
    }
  }
  try {
    return { result: await work(), sql }
  } finally {
    for (const [name, original] of originals) statements[name] = original
  }
}
