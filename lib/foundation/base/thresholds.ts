/**
 * Sizes above which another way to the same answer is faster. Specs lower the sizes (spec/helpers/low-thresholds.ts), to test both ways on
 * small tables.
 */
export const thresholds = {
  /** Rows of a SQLite table: below, a joint statement for page and count is not faster. */
  countedTable: 4000,
  /** Most matches of the joint statement. */
  countedMatches: 1000,
  /** The joint statement may match one row in ten. */
  countedShare: 10,
  /** From here on, statements find keys before rows. */
  deepOffset: 1000,
  /** Longer lists become a single parameter: a statement's parameters are limited. */
  listedValues: 32,
  /** More patterns go to a function: a statement's comparisons are limited. */
  patterns: 8,
  /** More conditions are joined as a tree of halves: a parser would nest as deep as the row is long. */
  joined: 64,
  /** Characters of a text times characters of a piece: up to here, any search is quick. */
  quickSearch: 1_000_000,
  /** Records between two checks of the deadline. */
  recordsInTurn: 1000,
  /** Rows of an INSERT. */
  insertedRows: 64,
  insertedValues: 2000,
  /** Above, INSERTs have powers of two of rows: else clients would decide how many statements exist. */
  insertedEach: 8,
  /** Keys in a statement for links to a unique value. */
  lookedUp: 10_000,
  /** In characters: longer queries hardly repeat. */
  keptQuery: 300,
  /** Estimated bytes of cached plans. */
  planBytes: 32 << 20,
  /** In characters: shorter JSON is quickly checked and copied. */
  keptJson: 4096,
}
