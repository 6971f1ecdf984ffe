/**
 * Made values: keeps the values made by functions of the model (`onCreate`, `onUpdate`) for a request. A write given up by statements is
 * repeated by the unit of work, or in another transaction. The repeated write takes the kept values in the same order, and no function is
 * called twice for a value.
 */
import type { EntityManager } from '@mikro-orm/core'
import { keepSurroundings } from '../../foundation/work/surroundings.ts'
import type { Computed } from '../../model/stored-table.ts'

/** Values of the write now calling a function. Functions of the model answer at once, so a module variable is enough. */
let current: MadeValues | undefined

/** By entity manager, for units of work repeating a write. */
const repeated = new WeakMap<object, MadeValues>()

/** By body of an array: the records may be created singly after all. */
const ofMembers = new WeakMap<object, MadeValues>()

export class MadeValues {
  #made: Map<object, unknown[]> | undefined
  /** By function, the number of values taken by the present try. */
  #taken: Map<object, number> | undefined

  /** Starts a try with the first values. */
  begin(): void {
    this.#taken = undefined
  }

  /** Starts a try of a unit of work. */
  beginIn(em: EntityManager): void {
    this.begin()
    if (this.#made !== undefined) repeated.set(em, this)
  }

  /** Returns the next value of a function: kept from an earlier try, or new. */
  next(source: object, make: () => unknown): unknown {
    this.#made ??= new Map()
    this.#taken ??= new Map()
    let made = this.#made.get(source)
    if (made === undefined) this.#made.set(source, (made = []))
    const at = this.#taken.get(source) ?? 0
    this.#taken.set(source, at + 1)
    if (at === made.length) made.push(make())
    return made[at]
  }
}

/** Returns the values kept for a body of an array, or none. */
export function valuesForMember(body: object): MadeValues {
  return ofMembers.get(body) ?? new MadeValues()
}

export function keepForMember(body: object, values: MadeValues): void {
  ofMembers.set(body, values)
}

/** Calls a function of the model for a record written by statements. */
export function compute(computed: Computed, entity: object, em: EntityManager, values: MadeValues): unknown {
  current = values
  try {
    return keepSurroundings(() => computed(entity, em))
  } finally {
    current = undefined
  }
}

/** Calls a function of the model, unless the asking write has a kept value. */
export function makeOnce(source: object, em: EntityManager, make: () => unknown): unknown {
  const values = current ?? repeated.get(em)
  if (values === undefined) return make()
  // A write begun by the function has separate values.
  current = undefined
  return values.next(source, make)
}
