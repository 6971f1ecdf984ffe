/**
 * Missing functions: which functions the triggers of a file call that this SQLite does not have, since only the program of the file brings
 * them; and which foreign keys lead nowhere. Takes an open database; gives a note for each such trigger and table.
 */
import type Database from 'better-sqlite3'
import type { Notes } from '../../../foundation/errors/notes.ts'
import { tokenize, word } from '../../sql/sql-tokens.ts'
import { findBrokenKey } from '../database/broken-keys.ts'

interface Trigger {
  readonly name: string
  readonly table: string
  readonly sql: string
}

export function noteMissingFunctions(db: Database.Database, notes: Notes): void {
  const triggers = db
    .prepare("select name, tbl_name as 'table', sql from sqlite_schema where type = 'trigger' order by tbl_name, name")
    .all() as Trigger[]
  const answers = new Map<string, boolean>()
  const isMissing = (called: string): boolean => {
    const known = answers.get(called)
    if (known !== undefined) return known
    const answer = lacks(db, called)
    answers.set(called, answer)
    return answer
  }
  for (const { name, table, sql } of triggers) {
    const tokens = tokenize(sql, 'sqlite')
    const calls = tokens.filter(({ kind }, at) => kind === 'word' && word(tokens[at + 1]) === '(' && word(tokens[at - 1]) !== '.')
    const missing = [...new Set(calls.map(({ text }) => text))].filter(isMissing)
    if (missing.length === 0) continue
    const [first = ''] = missing
    const what = missing.length === 1 ? `the function ${first}` : `the functions ${missing.join(', ')}`
    notes.add(
      `Table ${JSON.stringify(table)}: its trigger ${JSON.stringify(name)} calls ${what}, which only the program of the file has. ` +
        'Requests that set it off are refused (422) until the engine gets it: ' +
        `RestEngine.create({ functions: { ${first}: (...values) => ... } }).`,
    )
  }
}

/** Notes foreign keys that SQLite cannot apply. */
export function noteBrokenKeys(db: Database.Database, notes: Notes): void {
  const tables = db.prepare("select name from sqlite_schema where type = 'table' and sql like '%references%' order by rowid").pluck().all()
  for (const table of tables as string[]) {
    const said = findBrokenKey(db, table)
    if (said === undefined || (said.startsWith('foreign') && !said.includes(`- "${table}" referencing`))) continue
    notes.add(
      `Table ${JSON.stringify(table)}: SQLite cannot apply a foreign key of it (${said}). ` +
        'Requests that write such a table are not checked for foreign keys, as in programs that leave the checks off.',
    )
  }
}

/**
 * Whether SQLite says that it has no function of this name. A keyword, or the name of a table before its columns, is something else to it.
 */
function lacks(db: Database.Database, called: string): boolean {
  if (db.prepare('select 1 from sqlite_schema where name = ? collate nocase').get(called) !== undefined) return false
  try {
    db.prepare(`select ${called}()`)
    return false
  } catch (error) {
    return (error as Error).message === `no such function: ${called}`
  }
}
