/**
 * Thresholds: sizes above which another way to the same answer is faster. Specs change sizes (spec/helpers/low-thresholds.ts), to test both
 * ways on small tables.
 */
export const thresholds = {
  /** Rows of a table. On fewer, one statement for page and count is no faster than two. */
  countedTable: 4000,
  /** Matches that this statement finds at most. */
  countedMatches: 1000,
  /** For this statement, one row of so many may match. */
  countedShare: 10,
  /** The offset from which on keys are found before rows. */
  deepOffset: 1000,
  /** Longer lists become one parameter: a statement's parameters are limited. */
  listedValues: 32,
  /** More patterns are matched by one function: a statement's comparisons are limited. */
  patterns: 8,
  /** More conditions are joined by halves: a parser nests a row as deep as the row is long. */
  joined: 64,
  /** Characters of a text times characters of a piece: up to here, any search is quick. */
  quickSearch: 1_000_000,
  /** Records between two checks of the deadline. */
  recordsInTurn: 1000,
  insertedRows: 64,
  insertedValues: 2000,
  /** Above, statements exist for powers of two alone: clients decide about the number of rows. */
  insertedEach: 8,
  /** Keys that one statement looks up for links to a unique value. */
  lookedUp: 10_000,
  /** In characters: longer queries hardly repeat. */
  keptQuery: 300,
  /** Estimated bytes of cached plans. */
  planBytes: 32 << 20,
  /** In characters: shorter JSON is quickly checked and copied. */
  keptJson: 4096,
}
