/** The types behind `engine.explain`: plans of queries, advice for indexes. */

export interface PlanStep {
  readonly detail: string
  /** The table, if read as a whole. */
  readonly table?: string
  /** At most 1,000,000; of a sort, rows to sort. */
  readonly rows?: number
  /** Whether 1,000 rows or more are read for a few. */
  readonly isCostly: boolean
  readonly children: readonly PlanStep[]
}

export interface IndexColumn {
  /** The column or expression, as in the statement. */
  readonly text: string
  /** Undefined for an expression. */
  readonly column: string | undefined
  readonly descending: boolean
}

export interface IndexAdvice {
  readonly table: string
  readonly columns: readonly IndexColumn[]
  /** Rows are read to find some, or to sort all. */
  readonly reason: 'scan' | 'sort'
  /** The table read, maybe not the index's; its rows, at most 1,000,000. */
  readonly scanned: string
  readonly rows: number
  /** Creates the index. */
  readonly sql: string
}

export interface StatementsExplained {
  readonly statements: readonly {
    readonly plan: readonly PlanStep[]
    /** By parameter, the column compared or written; `limit`; `offset`; undefined if unclear. */
    readonly columns: readonly (string | undefined)[]
    readonly names: ReadonlySet<string>
    /** Whether text and plan may show values of requests. */
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
