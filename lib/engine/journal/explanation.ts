/** Explanation: what is said of a request: its statements, their query plans and missing indexes, as plain data without secrets. */
import type { PlanStep } from '../../records/database/explained-statements.ts'
import type { RestResponse } from '../../foundation/base/response.ts'

/** A statement that a request has run. */
export interface ExplainedStatement {
  readonly sql: string
  /** The bound values in the order of the text. `[secret]` replaces secrets, `[12 bytes]` blobs, a text integers beyond 2^53. */
  readonly parameters: readonly (string | number | null)[]
  /** Milliseconds. */
  readonly duration: number
  /** Rows that it returned or changed. Undefined when it failed. */
  readonly rows: number | undefined
  /** The database's plan: the steps of SQLite's `explain query plan`. Empty for statements without a plan, such as `begin` and `commit`. */
  readonly plan: readonly PlanStep[]
}

/** A missing index, which the database's planner would use: it was asked. */
export interface IndexHint {
  /** `scan`: all rows of the table are read to find some. `sort`: all rows are sorted. */
  readonly reason: 'scan' | 'sort'
  /** The table that the index is for. */
  readonly table: string
  /** The table that is read, which may be another one, and the number of its rows, at most 1,000,000. */
  readonly scanned: string

  readonly rows: number
  /** Plural name of the resource of the table. Undefined for a table without a resource, such as the pivot table of a many-to-many list. */
  readonly resource: string | undefined
  /** The attributes of the index, as a query writes them. Where a column has no attribute, the column or expression. */
  readonly attributes: readonly string[]
  /** The statement that creates it. */
  readonly sql: string
  /**
   * The change of the entity that adds the index. Undefined where MikroORM's definition has no short form for it, or where there are no
   * entities.
   */
  readonly entity: string | undefined
  /** The hint as a sentence. */
  readonly detail: string
}

/** The time and the statements of a request, as `engine.explain` returns them. Plain data. */
export interface Explanation {
  readonly method: string
  /** With the query, as it was sent, without secrets. */
  readonly path: string
  readonly status: number
  /** Milliseconds in all. */
  readonly duration: number
  readonly timing: Readonly<Record<string, number>>
  /** Whether all plans came from the engine's cache. Undefined when none was needed. */
  readonly cached: boolean | undefined
  /**
   * By which way the request has written, and why: `by statements of a plan`, or `by MikroORM's unit of work, since …`. Empty for one that
   * writes nothing; a bulk may have gone several ways.
   */
  readonly writes: readonly string[]
  /** In the order of their execution. */
  readonly statements: readonly ExplainedStatement[]
  /** Missing indexes. Empty without any, and for tables of fewer than 1,000 rows. */
  readonly hints: readonly IndexHint[]
  /** The answer of the request. */
  readonly response: RestResponse
}
