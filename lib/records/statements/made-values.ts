/**
 * Made values: keeps what functions of the model (`onCreate`, `onUpdate`) gave to a request. A write that statements give up is repeated,
 * and takes the kept values in the same order: no function is called twice for a value.
 */
import type { EntityManager } from '@mikro-orm/core'
import { keepSurroundings } from '../../foundation/async/surroundings.ts'
import type { Computed } from '../../model/stored-table.ts'

/** Functions of the model answer at once, so a module variable is enough. */
let current: MadeValues | undefined

/** For units of work that repeat a write. */
const repeated = new WeakMap<object, MadeValues>()

/** By body of an array: the records may be created singly after all. */
const ofMembers = new WeakMap<object, MadeValues>()

export class MadeValues {
  #made: Map<object, unknown[]> | undefined
  /** How many values the present try has taken. */
  #taken: Map<object, number> | undefined

  begin(): void {
    this.#taken = undefined
  }

  beginIn(em: EntityManager): void {
    this.begin()
    if (this.#made !== undefined) repeated.set(em, this)
  }

  /** Returns a value kept from an earlier try, or a new value. */
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

export function valuesForMember(body: object): MadeValues {
  return ofMembers.get(body) ?? new MadeValues()
}

export function keepForMember(body: object, values: MadeValues): void {
  ofMembers.set(body, values)
}

export function compute(computed: Computed, entity: object, em: EntityManager, values: MadeValues): unknown {
  current = values
  try {
    return keepSurroundings(() => computed(entity, em))
  } finally {
    current = undefined
  }
}

/** Calls a function unless the asking write has kept a value. */
export function makeOnce(source: object, em: EntityManager, make: () => unknown): unknown {
  const values = current ?? repeated.get(em)
  if (values === undefined) return make()
  // A write begun by the function has separate values.
  current = undefined
  return values.next(source, make)
}
