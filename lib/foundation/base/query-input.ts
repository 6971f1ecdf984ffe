/** Query input: the query argument of `handle`. */

export type QueryInput = string | URLSearchParams | Readonly<Record<string, QueryGiven>>
type QueryGiven = QueryValue | ExpandedLists | readonly (QueryValue | ExpandedLists)[] | undefined
/** Lists of `expand` with parameters of their own: `{ posts: { status: 'published', limit: 3 } }`; `{ posts: 'count' }` counts. */
export interface ExpandedLists {
  readonly [path: string]: true | 'count' | { readonly [name: string]: QueryGiven } | undefined
}
/** A value of a query that is given as an object: `{ limit: 5, name: ['Ann', 'Bob'], user: null }`. */
export type QueryValue = string | number | bigint | boolean | null
