/** Explained statements: what a database says of statements that have run, and of the indexes that it lacks. */

/** A step of a query plan, in the database's own words. */
export interface PlanStep {
  readonly detail: string
  /** The table that is gone through as a whole, by its name in the database. */
  readonly table?: string
  /** How many rows that are, at most 1,000,000. Of a sort: how many are gone through beside it. */
  readonly rows?: number
  /** Whether 1,000 rows or more are gone through to find some, or to sort them. */
  readonly isCostly: boolean
  readonly children: readonly PlanStep[]
}

/** One column of an index, or expression. */
export interface IndexColumn {
  /** As the statement writes it. */
  readonly text: string
  /** Undefined for an expression. */
  readonly column: string | undefined
  readonly descending: boolean
}

/** An index that the database would use. */
export interface IndexAdvice {
  readonly table: string
  readonly columns: readonly IndexColumn[]
  /** The work without it: rows are gone through to find some, or to sort all. */
  readonly reason: 'scan' | 'sort'
  /** The table that is gone through, which need not be that of the index, and its rows, at most 1,000,000. */
  readonly scanned: string
  readonly rows: number
  /** The statement that makes it. */
  readonly sql: string
}

/** What the database says of statements. */
export interface StatementsExplained {
  readonly statements: readonly {
    readonly plan: readonly PlanStep[]
    /** The column that each parameter is compared with or written to, or `limit` or `offset`, where the text shows it. */
    readonly columns: readonly (string | undefined)[]
    /** The names that the statement holds. */
    readonly names: ReadonlySet<string>
    /** Whether its text and its plan may hold values of the request. */
    readonly holdsValues?: boolean
  }[]
  readonly advice: readonly IndexAdvice[]
}

/** Columns that refer to another table, without an index that begins with them. */
export interface UnindexedLink {
  readonly table: string
  readonly columns: readonly string[]
  /** Rows of the table; one more than was asked for when there are more. */
  readonly rows: number
  /** The statement that creates the index. */
  readonly sql: string
}
