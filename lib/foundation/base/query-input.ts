/** Query input: the query argument of `handle`. */

export type QueryInput = string | URLSearchParams | Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>
/** A value of a query that is given as an object: `{ limit: 5, name: ['Ann', 'Bob'], user: null }`. */
export type QueryValue = string | number | bigint | boolean | null
