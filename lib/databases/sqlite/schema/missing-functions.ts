/** Notes triggers with functions of another program, and foreign keys to nowhere. */
import type { RawDatabase } from '../driver/raw-database.ts'
import type { Notes } from '../../../foundation/errors/notes.ts'
import { tokenize, word } from '../../sql/sql-tokens.ts'
import { findBrokenKey } from '../database/broken-keys.ts'

interface Trigger {
  readonly name: string
  readonly table: string
  readonly sql: string
}

export function noteMissingFunctions(db: RawDatabase, notes: Notes): void {
  const triggers = db
    .prepare("select name, tbl_name as 'table', sql from sqlite_schema where type = 'trigger' order by tbl_name, name")
    .all() as Trigger[]
  const answers = new Map<string, boolean>()
  const isMissing = (functionName: string): boolean => {
    const known = answers.get(functionName)
    if (known !== undefined) return known
    const answer = lacks(db, functionName)
    answers.set(functionName, answer)
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

export function noteBrokenKeys(db: RawDatabase, notes: Notes): void {
  const tables = db.prepare("select name from sqlite_schema where type = 'table' and sql like '%references%' order by rowid").pluck().all()
  for (const table of tables as string[]) {
    const problem = findBrokenKey(db, table)
    if (problem === undefined || (problem.startsWith('foreign') && !problem.includes(`- "${table}" referencing`))) continue
    notes.add(
      `Table ${JSON.stringify(table)}: SQLite cannot apply a foreign key of it (${problem}). ` +
        'Requests that write such a table are not checked for foreign keys, as in programs that leave the checks off.',
    )
  }
}

/** A keyword, or a table before its columns, is no function. */
function lacks(db: RawDatabase, functionName: string): boolean {
  if (db.prepare('select 1 from sqlite_schema where name = ? collate nocase').get(functionName) !== undefined) return false
  try {
    db.prepare(`select ${functionName}()`)
    return false
  } catch (error) {
    return (error as Error).message === `no such function: ${functionName}`
  }
}
