/** Query names: operators, reserved and unchecked parameters. */

export type OrderSign = '>=' | '<=' | '>' | '<'

/** The engine's table does not compile if an operator is missing. */
export type FilterSign = '=' | '!=' | '~=' | '~~=' | OrderSign

/** A filter on an attribute `limit` is `limit_`. The engine's table does not compile if a name is missing. */
export type ReservedOfClient = 'limit' | 'offset' | 'sort' | 'depth' | 'attributes' | 'expand'

type FreeValue = string | number | bigint | boolean | Date | null

/** Replace checked parameters. An array repeats the parameter; objects are conditions in brackets. */
export interface FreeParameters {
  readonly [name: string]: FreeValue | FreeParameters | readonly (FreeValue | FreeParameters)[] | undefined
}
