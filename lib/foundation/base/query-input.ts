/** Query input: the query argument of `handle`. */

export type QueryInput = string | URLSearchParams | Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>
export type QueryValue = string | number | bigint | boolean | null
