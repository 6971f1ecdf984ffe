/** The types of `engine.given`, arguments and results. */

/**
 * Attributes, as in a body of POST, that are not made up. An object in a relation is completed, an ID links, a number in a list makes so
 * many records.
 */
export type Overrides = Readonly<Record<string, unknown>>

/** Options of `engine.given`. */
export interface GivenOptions {
  /** Determines all made-up values. Default: 1 in the first call without a seed, then 2, and so on. */
  readonly seed?: number
}

/** A record as the API shows it. */
export type GivenRecord = Record<
  string,
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read records freely: what they hold follows from the model
  any
>

/** `engine.given`. */
export type Give<Name extends string = string> = GiveMethods<Name>['one'] & Pick<GiveMethods<Name>, 'many'>

/** Methods, not properties: so an engine with known names counts as an engine. */
interface GiveMethods<Name extends string> {
  /**
   * Inserts a record with everything the model needs, making up missing attributes and parents.
   *
   * @param name of the resource, singular or plural
   * @returns the record as the API shows it
   * @throws RestError when the model refuses overrides or made-up values; then nothing is inserted. TypeError, RangeError for malformed
   * options
   * @example const order = await engine.given('order', { customer: { vip: true }, items: 3 }, { seed: 7 })
   */
  one(name: Name, overrides?: Overrides, options?: GivenOptions): Promise<GivenRecord>
  /**
   * Inserts many records in one transaction, each with its own parents unless the overrides link one.
   *
   * @param overrides for all, or a function of the index, from 0
   * @returns the records in order
   * @throws as `given`; paths of faults begin with the record's index
   * @example const orders = await engine.given.many('order', 20, index => ({ number: `A-${index}` }))
   */
  many(name: Name, count: number, overrides?: Overrides | ((index: number) => Overrides), options?: GivenOptions): Promise<GivenRecord[]>
}

export interface RecordMaking {
  readonly seed: number
  readonly pathOf: (index: number) => string
  /** Counts parents and lists, too. */
  readonly maxRecords: number
}

/** @throws RangeError */
export function requireFew(count: number, maxRecords: number): void {
  if (count > maxRecords) throw new RangeError(`given: one request makes at most ${maxRecords} records, parents and lists included.`)
}
