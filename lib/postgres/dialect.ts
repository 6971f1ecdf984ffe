/** Dialect: what the stages ask of PostgreSQL without a connection: how plans compile, how values become parameters, and what its errors mean. */
import type { Dialect } from '../database/dialect.ts'
import { compileColumns, compileExists, compileReferrers, compileTaken } from '../sql/compile-checks.ts'
import { compileRead } from '../sql/compile-read.ts'
import { breaksConstraint, breaksReference, brokenCheck, failure, refusal, violation } from './server/errors.ts'
import type { CaseFolding } from './sql/case-folding.ts'
import { encode, encodeLinks, encodeList, encodePatterns } from './sql/encode.ts'
import { createFlavour } from './sql/flavour.ts'
import { describeUnstorable } from './sql/storable.ts'

/** Refuses a write that is to be a statement of the engine's: `PostgresConnection.writesAlone` lets none come here. */
export function notPlanned(): never {
  throw new Error('On PostgreSQL the unit of work of MikroORM writes all rows.')
}

/** Makes the dialect of a server. */
export function createDialect(folding: CaseFolding): Dialect {
  const flavour = createFlavour(folding)
  return {
    // Where a row stands; a changed row stands elsewhere. Nothing else says in which order rows came.
    insertionOrder: 'ctid',
    compile: plan => compileRead(plan, flavour),
    exists: (resource, scopeOf, list) => compileExists(flavour, resource, scopeOf, list),
    columns: (resource, columns) => compileColumns(flavour, resource, columns),
    taken: (resource, attributes, excludeSelf) => compileTaken(flavour, resource, attributes, excludeSelf),
    referrers: (resource, attribute) => compileReferrers(flavour, resource, attribute),
    describeUnstorable,
    findBound: value => value,
    writing: { insert: notPlanned, differs: notPlanned, update: notPlanned, delete: notPlanned, toParameter: notPlanned },
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
