/**
 * Made values: what functions of the model (`onCreate`, `onUpdate`) have given for a request. A write that statements turn out not to do is
 * done again, by the unit of work or in another transaction: it gets the values that have been made, in the order in which they were asked
 * for, and each function is called once.
 */
import type { EntityManager } from '@mikro-orm/core'
import { keepSurroundings } from '../../foundation/work/surroundings.ts'
import type { Computed } from '../../model/stored-table.ts'

/** The values of the write that asks now. Functions of the model answer at once. */
let current: MadeValues | undefined

/** The values of units of work that do a write again. */
const repeated = new WeakMap<object, MadeValues>()

/** The values of the members of arrays, which may be created one by one after all. */
const ofMembers = new WeakMap<object, MadeValues>()

export class MadeValues {
  #made: Map<object, unknown[]> | undefined
  /** How many of them the present try has taken. */
  #taken: Map<object, number> | undefined

  /** The write begins, or begins again. */
  begin(): void {
    this.#taken = undefined
  }

  /** The write begins again as a unit of work. */
  beginIn(em: EntityManager): void {
    this.begin()
    if (this.#made !== undefined) repeated.set(em, this)
  }

  /** Returns the next value of a function: one that it has given in an earlier try, or a new one. */
  next(asked: object, make: () => unknown): unknown {
    this.#made ??= new Map()
    this.#taken ??= new Map()
    let made = this.#made.get(asked)
    if (made === undefined) this.#made.set(asked, (made = []))
    const at = this.#taken.get(asked) ?? 0
    this.#taken.set(asked, at + 1)
    if (at === made.length) made.push(make())
    return made[at]
  }
}

/** Returns the values of a body: those that it has got as a member of an array, or new ones. */
export function valuesForMember(body: object): MadeValues {
  return ofMembers.get(body) ?? new MadeValues()
}

export function keepForMember(body: object, values: MadeValues): void {
  ofMembers.set(body, values)
}

/** Asks a function of the model for a value of a record that statements write. */
export function compute(computed: Computed, entity: object, em: EntityManager, values: MadeValues): unknown {
  current = values
  try {
    return keepSurroundings(() => computed(entity, em))
  } finally {
    current = undefined
  }
}

/** Calls a function of the model, unless the write that asks has a value of it. */
export function makeOnce(asked: object, em: EntityManager, make: () => unknown): unknown {
  const values = current ?? repeated.get(em)
  if (values === undefined) return make()
  // A write that the function itself begins has values of its own.
  current = undefined
  return values.next(asked, make)
}
