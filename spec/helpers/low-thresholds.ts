/**
 * Low thresholds: while they stand, small tables and short requests take the ways that large ones take. Engines must be made within, since
 * plans are kept.
 */
import { thresholds } from '../../lib/foundation/base/thresholds.ts'

const LOW: typeof thresholds = {
  countedTable: 0,
  countedMatches: 1000,
  countedShare: 0.1,
  deepOffset: 1,
  listedValues: 1,
  patterns: 0,
  joined: 1,
  quickSearch: 1,
  recordsInTurn: 1,
  insertedRows: 3,
  insertedValues: 12,
  insertedEach: 1,
  lookedUp: 1,
  keptQuery: 0,
  // Room for a dozen plans, so that some are found again and others dropped.
  planBytes: 64 << 10,
  keptJson: 0,
}

/** Lowers all thresholds, or those that are given. */
export function lowThresholds(values: Partial<typeof thresholds> = LOW): Disposable {
  const usual = { ...thresholds }
  Object.assign(thresholds, values)
  return { [Symbol.dispose]: () => Object.assign(thresholds, usual) }
}
