/** Dialect: what the stages ask of SQLite without an open database: how plans compile, how values are stored, and what its errors mean. */
import type { Dialect } from '../database/dialect.ts'
import { compileColumns, compileExists, compileReferrers, compileTaken } from '../sql/compile-checks.ts'
import { compileRead } from '../sql/compile-read.ts'
import { breaksConstraint, breaksReference, brokenCheck, failure, refusal, violation } from './errors.ts'
import { encode, encodePattern } from './sql/encode.ts'

export const SQLITE: Dialect = {
  insertionOrder: 'rowid',
  compile: compileRead,
  exists: compileExists,
  columns: compileColumns,
  taken: compileTaken,
  referrers: compileReferrers,
  violation,
  brokenCheck,
  breaksReference,
  breaksConstraint,
  refusal,
  failure,
  encode,
  encodePattern,
}
