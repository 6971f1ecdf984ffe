/** Query names: what queries are written with: operators, reserved names, and parameters that are not checked. */

/** An operator behind a name that compares by order. */
export type OrderSign = '>=' | '<=' | '>' | '<'

/** All operators of filters: those of the table of the engine, which does not compile otherwise. */
export type FilterSign = '=' | '!=' | '~=' | OrderSign

/** Attributes of these names are filtered with an underscore behind them; the table of the engine does not compile otherwise. */
export type ReservedOfClient = 'limit' | 'offset' | 'sort' | 'depth' | 'attributes' | 'expand'

/** A value of a parameter that is not checked. */
type FreeValue = string | number | bigint | boolean | Date | null

/** Parameters that are not checked, as the API takes them; an array repeats the parameter. They replace those of the same name. */
export interface FreeParameters {
  readonly [name: string]: FreeValue | readonly FreeValue[] | undefined
}
