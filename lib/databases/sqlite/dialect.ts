/** Compiles plans, encodes values and explains errors for SQLite, without an open database. */
import { runtime } from '../../foundation/runtime/runtime.ts'
import type { StoredColumn, StoredTable } from '../../model/stored-table.ts'
import type { DatabaseFailure, Dialect, Statement } from '../../records/database/dialect.ts'
import {
  compileColumns,
  compileExisting,
  compileExists,
  compileReferrers,
  compileReferrersOfAll,
  compileTaken,
} from '../sql/compile-checks.ts'
import { compileRead } from '../sql/compile-read.ts'
import { compileDelete, compileDiffers, compileInsert, compileInsertRows, compileUpdate } from '../sql/compile-write.ts'
import { name, tableName, text } from '../sql/sql.ts'
import { SQLITE_FLAVOUR } from './sql/flavour.ts'
import { encode, encodeLinks, encodeList, encodePatterns, toParameter } from './sql/encode.ts'
import { describeUnstorable, findBound, storesAll } from './sql/exact-decimals.ts'
import * as lists from './sql/write-lists.ts'

/** `typeof` of types with a single stored form. */
const STORAGE_CLASSES: ReadonlyMap<string, string> = new Map([
  ['text', "'text'"],
  ['integer', "'integer'"],
  ['float', "'integer', 'real'"],
])

function updatePlain(table: StoredTable, columns: readonly StoredColumn[]): Statement | undefined {
  const classes = columns.map(({ type }) => STORAGE_CLASSES.get(type?.kind ?? ''))
  if (classes.includes(undefined)) return undefined
  const holds = columns.map(({ column }, index) => `typeof(${name(column)}) in (${classes[index]!}, 'null')`)
  return compileUpdate(SQLITE_FLAVOUR, table, columns, true, { holds: text(holds.join(' and ')) })
}

function readCursor(value: string): unknown {
  const text = value.slice(1)
  if (value[0] === 'i') return BigInt(text)
  if (value[0] === 'r') return Number(text)
  return value[0] === 't' ? text : runtime.parseBytes(text, 'base64')
}

const UNWRITABLE =
  /^(?:cannot modify .+ because it is a view|cannot (?:INSERT into|UPDATE) generated column .+|table .+ may not be modified)$/

/** SQLite's message where the schema refuses a write: a trigger, a strict table, a missing table or function. */
function refusal(error: Error): string | undefined {
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

/** MikroORM's exceptions keep SQLite's code. */
function failure(error: unknown): DatabaseFailure | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    const { code } = cause as { code?: unknown }
    if (typeof code !== 'string') continue
    if (/^SQLITE_(?:BUSY|LOCKED)/.test(code)) return 'busy'
    if (/^SQLITE_(?:FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN|PERM|AUTH|NOMEM|PROTOCOL)/.test(code)) return 'failed'
  }
  return undefined
}

/** SQLite names columns only in the text of an error. */
function violation(error: Error): { table: string; columns: string[] } | undefined {
  const match = /(?:UNIQUE|NOT NULL|FOREIGN KEY) constraint failed: (.+)$/m.exec(error.message)
  if (match === null) return undefined
  const names = match[1]!.split(', ').map(item => item.split('.'))
  return { table: names[0]![0]!, columns: names.map(([, column]) => column ?? '') }
}

function brokenCheck(error: Error): string | undefined {
  return /CHECK constraint failed: (.+)$/m.exec(error.message)?.[1]
}

function breaksConstraint(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code?.startsWith('SQLITE_CONSTRAINT') === true
}

function breaksReference(error: Error): boolean {
  return (error as { code?: string }).code === 'SQLITE_CONSTRAINT_FOREIGNKEY'
}

/** Rows: a long table must not delay the start. */
const LOOKED_AT = 10_000

function compileNulKey(table: string, column: string): Statement {
  const keys = `select ${name(column)} as "key" from ${tableName(table)} limit ${LOOKED_AT}`
  return { sql: `select "key" from (${keys}) where typeof("key") = 'text' and instr("key", char(0)) > 0 limit 1`, bindings: [] }
}

export const SQLITE: Dialect = {
  insertionOrder: 'rowid',
  compile: plan => compileRead(plan, SQLITE_FLAVOUR),
  exists: (resource, scopeOf, list, shown) => compileExists(SQLITE_FLAVOUR, resource, scopeOf, list, shown),
  existing: (resource, scopeOf) => compileExisting(SQLITE_FLAVOUR, resource, scopeOf),
  nulKey: compileNulKey,
  columns: (resource, columns) => compileColumns(SQLITE_FLAVOUR, resource, columns),
  decode: value => value,
  readCursor,
  taken: (resource, attributes, excludeSelf) => compileTaken(SQLITE_FLAVOUR, resource, attributes, excludeSelf),
  referrers: (resource, attribute) => compileReferrers(SQLITE_FLAVOUR, resource, attribute),
  referrersOfAll: (resource, attribute) => compileReferrersOfAll(SQLITE_FLAVOUR, resource, attribute),
  writing: {
    insert: (table, columns) => compileInsert(SQLITE_FLAVOUR, table, columns),
    insertRows: (table, columns, rows) => compileInsertRows(SQLITE_FLAVOUR, table, columns, rows),
    differs: (table, columns) => compileDiffers(SQLITE_FLAVOUR, table, columns),
    update: (table, columns, guarded, seen) => compileUpdate(SQLITE_FLAVOUR, table, columns, guarded, { seen }),
    updatePlain,
    delete: table => compileDelete(SQLITE_FLAVOUR, table),
    deleteAll: lists.compileDeleteAll,
    link: lists.compileLink,
    unlink: lists.compileUnlink,
    deleteOthers: lists.compileDeleteOthers,
    others: lists.compileOthers,
    unlinked: lists.compileUnlinked,
    leave: lists.compileLeave,
    take: lists.compileTake,
    enter: lists.compileEnter,
    members: lists.compileMembers,
    toParameter,
  },
  failsWhole: false,
  violation,
  brokenCheck,
  breaksReference,
  breaksConstraint,
  refusal,
  failure,
  describeUnstorable,
  storesAll,
  findBound,
  encode,
  encodeList,
  encodeLinks,
  encodePatterns,
}
