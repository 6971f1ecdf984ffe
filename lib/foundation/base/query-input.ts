/** Query input: the query of a request as a caller gives it to `handle`. */

/** The query argument of `handle`. */
export type QueryInput = string | URLSearchParams | Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>
/** A value of a query that is given as an object. */
export type QueryValue = string | number | bigint | boolean | null
