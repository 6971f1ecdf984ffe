/** Explained statements: query plans and missing indexes. */

export interface PlanStep {
  readonly detail: string
  /** The table that is read as a whole. */
  readonly table?: string
  /** At most 1,000,000; of a sort, the rows to sort. */
  readonly rows?: number
  /** Whether 1,000 rows or more are read to find or sort some. */
  readonly isCostly: boolean
  readonly children: readonly PlanStep[]
}

export interface IndexColumn {
  /** The column or expression in the statement. */
  readonly text: string
  /** Undefined for an expression. */
  readonly column: string | undefined
  readonly descending: boolean
}

export interface IndexAdvice {
  readonly table: string
  readonly columns: readonly IndexColumn[]
  /** Why: rows are read to find some (`scan`), or to sort all. */
  readonly reason: 'scan' | 'sort'
  /** The table that is read, not always the table of the index, and its rows, at most 1,000,000. */
  readonly scanned: string
  readonly rows: number
  /** Creates the index. */
  readonly sql: string
}

export interface StatementsExplained {
  readonly statements: readonly {
    readonly plan: readonly PlanStep[]
    /** The column that each parameter is compared with or written to; `limit`; `offset`; undefined if unclear. */
    readonly columns: readonly (string | undefined)[]
    readonly names: ReadonlySet<string>
    /** Whether text and plan may hold values of the request. */
    readonly holdsValues?: boolean
  }[]
  readonly advice: readonly IndexAdvice[]
}

export interface UnindexedLink {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: number
  /** Creates the index. */
  readonly sql: string
}
