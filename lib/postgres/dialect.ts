/** Dialect: what the stages ask of PostgreSQL without a connection: how plans compile, how values become parameters, and what its errors mean. */
import type { Dialect, WritingDialect } from '../database/dialect.ts'
import { compileColumns, compileExisting, compileExists, compileReferrers, compileTaken } from '../sql/compile-checks.ts'
import { compileRead } from '../sql/compile-read.ts'
import { breaksConstraint, breaksReference, brokenCheck, failure, refusal, violation } from './server/errors.ts'
import { encode, encodeLinks, encodeList, encodePatterns } from './sql/encode.ts'
import type { Flavour } from '../sql/flavour.ts'
import { describeUnstorable } from './sql/storable.ts'

/** Refuses a write that is to be a statement of the engine's: `PostgresConnection.writesAlone` lets none come here. */
export function notPlanned(): never {
  throw new Error('On PostgreSQL the unit of work of MikroORM writes all rows.')
}

const NOT_PLANNED: WritingDialect = {
  insert: notPlanned,
  insertRows: notPlanned,
  differs: notPlanned,
  update: notPlanned,
  delete: notPlanned,
  link: notPlanned,
  unlink: notPlanned,
  deleteOthers: notPlanned,
  others: notPlanned,
  unlinked: notPlanned,
  leave: notPlanned,
  enter: notPlanned,
  members: notPlanned,
  toParameter: notPlanned,
}

/** Makes the dialect of a server. */
export function createDialect(flavour: Flavour): Dialect {
  return {
    // Where a row stands; a changed row stands elsewhere. Nothing else says in which order rows came.
    insertionOrder: 'ctid',
    compile: plan => compileRead(plan, flavour),
    exists: (resource, scopeOf, list) => compileExists(flavour, resource, scopeOf, list),
    existing: (resource, scopeOf) => compileExisting(flavour, resource, scopeOf),
    columns: (resource, columns) => compileColumns(flavour, resource, columns),
    taken: (resource, attributes, excludeSelf) => compileTaken(flavour, resource, attributes, excludeSelf),
    referrers: (resource, attribute) => compileReferrers(flavour, resource, attribute),
    describeUnstorable,
    findBound: value => value,
    writing: NOT_PLANNED,
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
  }
}
