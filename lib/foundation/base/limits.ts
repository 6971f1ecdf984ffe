/** The limits of requests, with their defaults. */

/** Limits of one request. */
export interface Limits {
  /** Page size when a list names none. Default 100. */
  readonly defaultLimit: number
  /** Largest page size; a larger `limit` is clamped to it. Default 1000. */
  readonly maxLimit: number
  /** Relations in one path of a filter, sort key, expand or attributes. Default 5. */
  readonly maxPathRelations: number
  /** Filters, flags and custom parameters in one request, together. Default 50. */
  readonly maxFilters: number
  /** Values in the comma-separated list of one filter. Default 1000. */
  readonly maxListValues: number
  /** Wildcard stars in one value of a filter. Default 10. */
  readonly maxStars: number
  /** Keys of `sort`. Default 20. */
  readonly maxSortKeys: number
  /** Paths that `|` separates in one filter. Default 20. */
  readonly maxOrPaths: number
  /** Names of one path inside a JSON value. Default 20. */
  readonly maxJsonNames: number
  /** Names in `attributes`. Default 1000. */
  readonly maxAttributes: number
  /** Paths in `expand`. Default 50. */
  readonly maxExpand: number
  /** Characters of all names and values of a query together. Default 1048576. */
  readonly maxQueryLength: number
  /** Records of all levels of an answer together; ten IDs of a list count as one. Default 100000. */
  readonly maxRecords: number
  /** Size of an answer, in bytes, estimated while its rows become records. Default 67108864 (64 MiB). */
  readonly maxAnswerBytes: number
  /** Records that one body makes or links, beside the one of its path. Default 1000. */
  readonly maxBodyRecords: number
  /** Records of an array that is posted. Default 1000. */
  readonly maxBulk: number
  /** Errors of a body that an answer lists; the others are counted. Default 100. */
  readonly maxErrors: number
  /** Size of a request body over HTTP or fetch, in bytes. Default 1048576 (1 MiB). */
  readonly maxBodyBytes: number
  /** Milliseconds that a request may take; 0: no limit. Default 5000 over HTTP, and none in the process. */
  readonly timeout: number | undefined
}

/** The default of `limits.timeout` over HTTP, in milliseconds. */
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
