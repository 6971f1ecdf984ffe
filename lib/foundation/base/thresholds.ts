/**
 * Thresholds: the sizes from which on the same answer is found in another way. What is read is the same on both sides of each; only the
 * time differs. Specs lower them (spec/helpers/low-thresholds.ts), so that small tables and short requests take both ways; nothing else
 * changes them.
 */
export const thresholds = {
  /** Rows of a table from which on a page may be read and counted by one statement: two statements on fewer take no longer. */
  countedTable: 4000,
  /** Matches that such a statement finds at most. */
  countedMatches: 1000,
  /** The part of a table that may match: one row of so many. */
  countedShare: 10,
  /** The offset from which on the keys of a page are found first, then its rows. */
  deepOffset: 1000,
  /** Values of one filter beyond which they are one parameter: the parameters of a statement are limited. */
  listedValues: 32,
  /** Patterns of one filter beyond which one function matches them: as many comparisons would be more than a statement takes. */
  patterns: 8,
  /** Conditions beyond which they are joined by halves: a parser nests what stands in a row as deep as it is long. */
  joined: 64,
  /** Characters of a text times characters of a piece up to which any search is quick. */
  quickSearch: 1_000_000,
  /** Records that are built between two looks at the deadline. */
  recordsInTurn: 1000,
  /** The rows that one statement inserts at most. */
  insertedRows: 64,
  /** The values that one statement inserts at most. */
  insertedValues: 2000,
  /** Rows up to which there is a statement for each number of them, beyond for each power of two: clients decide how many there are. */
  insertedEach: 8,
  /** Keys that are looked up by one statement of a link to a unique value. */
  lookedUp: 10_000,
  /** Characters of a query up to which it is kept parsed: a longer one has values that hardly come twice. */
  keptQuery: 300,
  /** Estimated bytes of plans that are kept: one that has been dropped is made again. */
  planBytes: 32 << 20,
  /** Characters from which on a JSON text is kept beside what was parsed of it: a shorter one is checked and copied in no time. */
  keptJson: 4096,
}
