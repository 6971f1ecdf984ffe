/** Dialect: what reading asks of PostgreSQL without a connection: how plans compile, and how values become parameters. */
import type { Dialect } from '../database/dialect.ts'
import { compileColumns, compileExists, compileReferrers, compileTaken } from '../sql/compile-checks.ts'
import { compileRead } from '../sql/compile-read.ts'
import type { CaseFolding } from './sql/case-folding.ts'
import { encode, encodeLinks, encodeList, encodePatterns } from './sql/encode.ts'
import { createFlavour } from './sql/flavour.ts'
import { describeUnstorable } from './sql/storable.ts'

/** What of a dialect compiles readings and the checks before a write, and binds their values. */
export type ReadingDialect = Pick<
  Dialect,
  | 'compile'
  | 'exists'
  | 'columns'
  | 'taken'
  | 'referrers'
  | 'describeUnstorable'
  | 'findBound'
  | 'encode'
  | 'encodeList'
  | 'encodeLinks'
  | 'encodePatterns'
>

/** Makes the dialect of a server. */
export function createReadingDialect(folding: CaseFolding): ReadingDialect {
  const flavour = createFlavour(folding)
  return {
    compile: plan => compileRead(plan, flavour),
    exists: (resource, scopeOf, list) => compileExists(flavour, resource, scopeOf, list),
    columns: (resource, columns) => compileColumns(flavour, resource, columns),
    taken: (resource, attributes, excludeSelf) => compileTaken(flavour, resource, attributes, excludeSelf),
    referrers: (resource, attribute) => compileReferrers(flavour, resource, attribute),
    describeUnstorable,
    findBound: value => value,
    encode,
    encodeList,
    encodeLinks,
    encodePatterns,
  }
}
