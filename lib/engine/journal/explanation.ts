/** The types of `engine.explain`: statements, query plans and missing indexes of a request, without secrets. */
import type { PlanStep } from '../../records/database/explained-statements.ts'
import type { RestResponse } from '../../foundation/base/response.ts'

/** A statement with its plan. */
export interface ExplainedStatement {
  readonly sql: string
  /** In the order of the text. `[secret]` stands for secrets, `[12 bytes]` for blobs, a text for integers beyond 2^53. */
  readonly parameters: readonly (string | number | null)[]
  /** Milliseconds. */
  readonly duration: number
  /** Rows returned or changed. Undefined when the statement failed. */
  readonly rows: number | undefined
  /** Steps of SQLite's `explain query plan`, or of PostgreSQL's plan. Empty for `begin`, `commit` and the like. */
  readonly plan: readonly PlanStep[]
}

/** A missing index that the database's planner would use. */
export interface IndexHint {
  /** `scan`: all rows are read to find some. `sort`: all rows are sorted. */
  readonly reason: 'scan' | 'sort'
  readonly table: string
  /** As named by the statement. */
  readonly scanned: string
  /** Rows of the table, counted up to 1,000,000. */
  readonly rows: number
  /** The resource's name in the plural. Undefined for a table without a resource, such as a pivot table. */
  readonly resource: string | undefined
  /** Attributes to index, as named by queries; else columns or expressions. */
  readonly attributes: readonly string[]
  /** Creates the index. */
  readonly sql: string
  /** The change of the entity. Undefined without entities, or without a short form in MikroORM. */
  readonly entity: string | undefined
  /** As a sentence. */
  readonly detail: string
}

/** The statements, plans and times of a request, and hints for indexes. */
export interface Explanation {
  readonly method: string
  /** With the query as sent, without secrets. */
  readonly path: string
  readonly status: number
  /** Milliseconds in all. */
  readonly duration: number
  /** Milliseconds of each stage. */
  readonly timing: Readonly<Record<string, number>>
  /** Whether all plans came from the cache. Undefined without plans. */
  readonly cached: boolean | undefined
  /**
   * How the request has written, and why: `by statements of a plan`, or `by MikroORM's unit of work, since …`. Empty without writes;
   * several ways for a bulk.
   */
  readonly writes: readonly string[]
  readonly statements: readonly ExplainedStatement[]
  /** For tables of 1,000 rows or more. */
  readonly hints: readonly IndexHint[]
  readonly response: RestResponse
}
