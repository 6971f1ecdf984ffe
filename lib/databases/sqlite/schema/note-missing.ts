/** Notes tables and columns that a file lacks and does not get, missing functions of triggers, and missing targets of foreign keys. */
import type { MikroORM } from '@mikro-orm/core'
import type { SqlSchemaGenerator } from '@mikro-orm/sqlite'
import type { Notes } from '../../../foundation/errors/notes.ts'
import type { SqliteDatabase } from '../database/sqlite-database.ts'
import { SCHEMA_WAYS } from '../../orm/suggest-fill.ts'
import type { RawDatabase } from '../driver/raw-database.ts'
import { tokenize, word } from '../../sql/sql-tokens.ts'
import { findBrokenKey } from '../database/file-links.ts'

const SHOWN = 5

/** @throws Error in one line, with the missing names. */
export function checkTables(orm: MikroORM, handle: SqliteDatabase, path: string): void {
  const missing = listMissing(orm, handle)
  if (missing.length === 0) return
  throw new Error(
    `${path} lacks what the entities need, and is opened for reading only, so that it cannot be made: ${formatNames(missing)}.`,
  )
}

export function noteMissing(orm: MikroORM, handle: SqliteDatabase, schema: string, notes: Notes): void {
  const missing = listMissing(orm, handle)
  if (missing.length > 0)
    notes.add(
      `The ${schema === 'keep' ? 'file' : 'database'} lacks what the entities need, and "schema" is "${schema}", ` +
        `so that it is not made: ${formatNames(missing)}. Requests for it fail until it is there.${schema === 'keep' ? SCHEMA_WAYS : ''}`,
    )
}

function listMissing(orm: MikroORM, handle: SqliteDatabase): string[] {
  const schema = (orm.schema as SqlSchemaGenerator).getTargetSchema()
  return [...schema.getTables(), ...schema.getViews()].flatMap(wanted => {
    const found = handle.all('select name from pragma_table_xinfo(?)', [wanted.name]).map(([name]) => String(name).toLowerCase())
    if (found.length === 0) return [`"${wanted.name}"`]
    const columns = 'getColumns' in wanted ? wanted.getColumns() : []
    return columns.filter(({ name }) => !found.includes(name.toLowerCase())).map(({ name }) => `"${wanted.name}"."${name}"`)
  })
}

function formatNames(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : ''
  return names.slice(0, SHOWN).join(', ') + more
}

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
