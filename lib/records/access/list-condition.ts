/**
 * List condition: the `where` of a list in the model, as a Condition: it is the same for everybody, and so are the values in it.
 * Refuses with a plain Error, by entity and property, what cannot be translated; `requireConditions` does so when the engine is created.
 */
import { FilterQueryReader } from './orm-filter.ts'
import type { Model, ToManyAttribute } from '../../model/model.ts'
import type { Condition } from '../plan/read-plan.ts'

const known = new WeakMap<object, Condition>()

/** The condition that the records of a list meet beside their link; undefined where all that are linked are of it. */
export function parseListCondition({ where, target, name }: ToManyAttribute): Condition | undefined {
  if (where === undefined) return undefined
  let condition = known.get(where)
  if (condition === undefined) {
    condition = new FilterQueryReader('model').read(where, target, `the "where" of "${name}"`)
    known.set(where, condition)
  }
  return condition
}

/** @throws Error for a list whose condition cannot be translated. */
export function requireConditions({ entities }: Model): void {
  for (const { className, attributes } of entities) {
    for (const attribute of attributes) {
      if (attribute.kind !== 'toMany') continue
      try {
        parseListCondition(attribute)
      } catch (error) {
        throw new Error(`${className}.${attribute.property} cannot be served: ${(error as Error).message}`, { cause: error })
      }
    }
  }
}
