/** Limits of one request. */
export interface Limits {
  /** Page size of a list without `limit`. Default 100. */
  readonly defaultLimit: number
  /** Largest page size; clamps a larger `limit`. Default 1000. */
  readonly maxLimit: number
  /** Relations in a path of a filter, sort key, expand or attributes. Default 5. */
  readonly maxPathRelations: number
  /** Filters, flags and custom parameters of a request together. Default 50. */
  readonly maxFilters: number
  /** Values in the comma-separated list of a filter. Default 1000. */
  readonly maxListValues: number
  /** Wildcard stars in a filter's value. Default 10. */
  readonly maxStars: number
  /** Keys of `sort`. Default 20. */
  readonly maxSortKeys: number
  /** Paths in a filter, separated by `|`. Default 20. */
  readonly maxOrPaths: number
  /** Names of a path inside a JSON value. Default 20. */
  readonly maxJsonNames: number
  /** Names in `attributes`. Default 1000. */
  readonly maxAttributes: number
  /** Paths in `expand`. Default 50. */
  readonly maxExpand: number
  /** Characters of all names and values of a query. Default 1048576. */
  readonly maxQueryLength: number
  /** Records of all levels of an answer; ten IDs of a list count as a record. Default 100000. */
  readonly maxRecords: number
  /** Estimated bytes of an answer. Default 67108864 (64 MiB). */
  readonly maxAnswerBytes: number
  /** Records created or linked by a body, beside the record of the path. Default 1000. */
  readonly maxBodyRecords: number
  /** Records of a posted array. Default 1000. */
  readonly maxBulk: number
  /** Listed errors of a body; others are counted. Default 100. */
  readonly maxErrors: number
  /** Bytes of a request body over HTTP or fetch. Default 1048576 (1 MiB). */
  readonly maxBodyBytes: number
  /** Milliseconds for a request; 0: no limit. Default 5000 over HTTP, none in the process. */
  readonly timeout: number | undefined
}

export const HTTP_TIMEOUT = 5000

export const DEFAULT_LIMITS: Limits = Object.freeze({
  defaultLimit: 100,
  maxLimit: 1000,
  maxPathRelations: 5,
  maxFilters: 50,
  maxListValues: 1000,
  maxStars: 10,
  maxSortKeys: 20,
  maxOrPaths: 20,
  maxJsonNames: 20,
  maxAttributes: 1000,
  maxExpand: 50,
  maxQueryLength: 1_048_576,
  maxRecords: 100_000,
  maxAnswerBytes: 67_108_864,
  maxBodyRecords: 1000,
  maxBulk: 1000,
  maxErrors: 100,
  maxBodyBytes: 1_048_576,
  timeout: undefined,
})
