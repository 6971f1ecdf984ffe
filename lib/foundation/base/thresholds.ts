/**
 * Thresholds: sizes above which another way to the same answer is faster. spec/helpers/low-thresholds.ts changes sizes, to test both ways
 * on small tables.
 */
export const thresholds = {
  /** Rows of a SQLite table. On fewer, a joint statement for page and count is not faster. */
  countedTable: 4000,
  /** Matches that the joint statement finds at most. */
  countedMatches: 1000,
  /** For the joint statement, one row of so many may match. */
  countedShare: 10,
  /** From this offset on, statements find keys before rows. */
  deepOffset: 1000,
  /** Longer lists become one parameter: a statement's parameters are limited. */
  listedValues: 32,
  /** More patterns are matched by one function: a statement's comparisons are limited. */
  patterns: 8,
  /** More conditions are joined by halves: a parser nests a row as deep as long. */
  joined: 64,
  /** Characters of a text times characters of a piece: up to here, any search is quick. */
  quickSearch: 1_000_000,
  /** Records between two checks of the deadline. */
  recordsInTurn: 1000,
  /** Rows of one INSERT. */
  insertedRows: 64,
  insertedValues: 2000,
  /** Above, INSERTs exist for powers of two alone: clients decide about the number of rows. */
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
