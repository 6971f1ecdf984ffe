/** The client's types for names in queries, such as the operators in `age>=`, reserved parameters, parameters without checks. */

export type OrderSign = '>=' | '<=' | '>' | '<'

/** The compiler compares with the engine's operators. */
export type FilterSign = '=' | '!=' | '~=' | '~~=' | OrderSign

/** A filter on an attribute `limit` is `limit_`. The compiler compares with the engine's parameters. */
export type ReservedOfClient = 'limit' | 'offset' | 'sort' | 'depth' | 'attributes' | 'expand'

type FreeValue = string | number | bigint | boolean | Date | null

/** Replace checked parameters. An array repeats the parameter; objects are conditions in brackets. */
export interface FreeParameters {
  readonly [name: string]: FreeValue | FreeParameters | readonly (FreeValue | FreeParameters)[] | undefined
}
