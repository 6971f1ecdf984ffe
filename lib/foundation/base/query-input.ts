/** The query argument of `handle`. */

export type QueryInput = string | URLSearchParams | QueryConditions
/** A value in a query object: `{ limit: 5, name: ['Ann', 'Bob'], user: null }`. */
export type QueryValue = string | number | bigint | boolean | null
/** Parameters by name, and groups: `{ 'age>=': 18, '|': [{ role: 'admin' }, { role: 'guest' }] }`. */
export interface QueryConditions {
  readonly [name: string]: QueryValue | QueryConditions | readonly (QueryValue | QueryConditions)[] | undefined
}
