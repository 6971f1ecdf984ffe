/** The parts of SQLite without an open database: compiles plans, encodes values, explains errors. */
import { runtime } from '../../foundation/runtime/runtime.ts'
import type { StoredColumn, StoredTable } from '../../model/stored-table.ts'
import type { Dialect, Statement } from '../../records/database/dialect.ts'
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
import { name, text } from '../sql/sql.ts'
import { breaksConstraint, breaksReference, brokenCheck, failure, refusal, violation } from './errors.ts'
import { SQLITE_FLAVOUR } from './sql/flavour.ts'
import { encodeLinks, encodeList, encodePatterns } from './sql/encode-list.ts'
import { encode, toParameter } from './sql/encode.ts'
import { describeUnstorable, findBound, storesAll } from './sql/exact-decimals.ts'
import { compileNulKey } from './sql/nul-keys.ts'
import * as lists from './sql/write-lists.ts'

/** Types with a single stored form, and the results of `typeof` for their values. */
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
