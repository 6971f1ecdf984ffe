/** Compiles plans, encodes values and explains errors for PostgreSQL, without a connection. */
import type { Dialect } from '../../records/database/dialect.ts'
import {
  compileColumns,
  compileExisting,
  compileExists,
  compileReferrers,
  compileReferrersOfAll,
  compileTaken,
} from '../sql/compile-checks.ts'
import { compileRead } from '../sql/compile-read.ts'
import { compileDelete, compileDiffers, compileUpdate } from '../sql/compile-write.ts'
import { breaksConstraint, breaksReference, brokenCheck, failure, refusal, violation } from './server/errors.ts'
import { decodeBare } from './sql/decode.ts'
import { encode, encodeLinks, encodeList, encodePatterns } from './sql/encode.ts'
import type { Flavour } from '../sql/flavour.ts'
import { describeUnstorable, storesAll } from './sql/storable.ts'
import * as lists from './sql/write-lists.ts'
import { compileInsert, compileInsertRows, toParameter } from './sql/write-rows.ts'

export function createDialect(flavour: Flavour): Dialect {
  return {
    // Changed rows move, but no better order of insertion exists.
    insertionOrder: 'ctid',
    compile: plan => compileRead(plan, flavour),
    exists: (resource, scopeOf, list, shown) => compileExists(flavour, resource, scopeOf, list, shown),
    existing: (resource, scopeOf) => compileExisting(flavour, resource, scopeOf),
    columns: (resource, columns) => compileColumns(flavour, resource, columns),
    decode: decodeBare,
    taken: (resource, attributes, excludeSelf) => compileTaken(flavour, resource, attributes, excludeSelf),
    referrers: (resource, attribute) => compileReferrers(flavour, resource, attribute),
    referrersOfAll: (resource, attribute) => compileReferrersOfAll(flavour, resource, attribute),
    describeUnstorable,
    storesAll,
    findBound: value => value,
    writing: {
      insert: compileInsert,
      insertRows: compileInsertRows,
      differs: (table, columns) => compileDiffers(flavour, table, columns),
      update: (table, columns, guarded, seen) => compileUpdate(flavour, table, columns, guarded, { seen }),
      delete: table => compileDelete(flavour, table),
      deleteAll: lists.compileDeleteAll,
      link: lists.compileLink,
      unlink: lists.compileUnlink,
      deleteOthers: lists.compileDeleteOthers,
      others: lists.compileOthers,
      unlinked: lists.compileUnlinked,
      leave: (pivot, seen) => lists.compileLeave(flavour, pivot, seen),
      take: lists.compileTake,
      enter: lists.compileEnter,
      members: lists.compileMembers,
      toParameter,
    },
    failsWhole: true,
    violation,
    brokenCheck,
    breaksReference,
    breaksConstraint,
    refusal,
    failure,
    encode,
    encodeList,
    encodeLinks,
    encodePatterns,
    // PostgreSQL's texts have no NUL.
    readCursor: value => (value.startsWith('t') && !value.includes('\0') ? value.slice(1) : undefined),
  }
}
