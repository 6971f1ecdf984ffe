/** The meaning of SQLite's errors for a write. */
import type { DatabaseFailure } from '../../records/database/dialect.ts'

/** SQLite's refusals to write to views, generated columns, and internal tables. */
const UNWRITABLE =
  /^(?:cannot modify .+ because it is a view|cannot (?:INSERT into|UPDATE) generated column .+|table .+ may not be modified)$/

/** SQLite's message where a trigger, a strict table, a broken foreign key, a missing function or an unwritable table refuses a write. */
export function refusal(error: Error): string | undefined {
  const { code = '', message } = error as { code?: string; message: string }
  const called = /^no such function: (.+)$/.exec(message)?.[1]
  if (called !== undefined)
    return (
      `${message}. A trigger or an index of the file calls it, which nothing in the request can change; ` +
      'the option "functions" of the engine gives it (engine.notes names the trigger)'
    )
  const isRule = /^SQLITE_(?:CONSTRAINT_(?:TRIGGER|DATATYPE|VTAB)|MISMATCH)$/.test(code)
  return isRule ||
    UNWRITABLE.test(message) ||
    /^(?:foreign key mismatch|no such table: main\.|no such (?:function|module|collation sequence): )/.test(message)
    ? message
    : undefined
}

/** See `Dialect.failure`. MikroORM's exceptions keep SQLite's code. */
export function failure(error: unknown): DatabaseFailure | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    const { code } = cause as { code?: unknown }
    if (typeof code !== 'string') continue
    if (/^SQLITE_(?:BUSY|LOCKED)/.test(code)) return 'busy'
    if (/^SQLITE_(?:FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN|PERM|AUTH|NOMEM|PROTOCOL)/.test(code)) return 'failed'
  }
  return undefined
}

/** SQLite names columns and checks only in the text of an error. */
export function violation(error: Error): { table: string; columns: string[] } | undefined {
  const match = /(?:UNIQUE|NOT NULL|FOREIGN KEY) constraint failed: (.+)$/m.exec(error.message)
  if (match === null) return undefined
  const names = match[1]!.split(', ').map(item => item.split('.'))
  return { table: names[0]![0]!, columns: names.map(([, column]) => column ?? '') }
}

/** See `Dialect.brokenCheck`. */
export function brokenCheck(error: Error): string | undefined {
  return /CHECK constraint failed: (.+)$/m.exec(error.message)?.[1]
}

/** See `Dialect.breaksConstraint`. */
export function breaksConstraint(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code?.startsWith('SQLITE_CONSTRAINT') === true
}

/** See `Dialect.breaksReference`. */
export function breaksReference(error: Error): boolean {
  return (error as { code?: string }).code === 'SQLITE_CONSTRAINT_FOREIGNKEY'
}
