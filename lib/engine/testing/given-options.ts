/** Given options: what `engine.given` is called with, and what it gives. */

/**
 * Attributes as in a body of POST that are not made up. An object in a relation is completed too, an ID links, a number in a list makes
 * that many records.
 */
export type Overrides = Readonly<Record<string, unknown>>

/** Options of `engine.given` and `engine.given.many`. */
export interface GivenOptions {
  /** An integer that all made-up values follow from. Default: 1 in the first call without one, then 2, and so on. */
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

/** As methods, so that an engine with known names is an engine. */
interface GiveMethods<Name extends string> {
  /**
   * Inserts one record with all that the model needs, made up where the overrides leave it out: attributes and parents.
   *
   * @param name of the resource, singular or plural
   * @returns the record as the API shows it
   * @throws RestError when the overrides, or the made-up values, are refused by the model; nothing is inserted then. TypeError, RangeError
   * for options that are not of their form.
   * @example const order = await engine.given('order', { customer: { vip: true }, items: 3 }, { seed: 7 })
   */
  one(name: Name, overrides?: Overrides, options?: GivenOptions): Promise<GivenRecord>
  /**
   * Inserts many records in one transaction, each with parents of its own unless the overrides link one.
   *
   * @param overrides for all of them, or a function of the index of each, from 0 on
   * @returns the records in order
   * @throws as `given` does; the paths of faults begin with the index of the record.
   * @example const orders = await engine.given.many('order', 20, index => ({ number: `A-${index}` }))
   */
  many(name: Name, count: number, overrides?: Overrides | ((index: number) => Overrides), options?: GivenOptions): Promise<GivenRecord[]>
}

/** The seed of the values that are made up, and where a record stands in the paths of faults. */
export interface RecordMaking {
  readonly seed: number
  readonly pathOf: (index: number) => string
  /** Limit of the records, parents and lists included. */
  readonly most: number
}

/** @throws RangeError */
export function requireFew(count: number, most: number): void {
  if (count > most) throw new RangeError(`given: one request makes at most ${most} records, parents and lists included.`)
}
