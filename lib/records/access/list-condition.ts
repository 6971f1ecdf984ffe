/** Turns a model's `where` of a list into a Condition, once. */
import { FilterQueryReader } from './orm-filter.ts'
import type { Model, ToManyAttribute } from '../../model/model.ts'
import type { Condition } from '../plan/read-plan.ts'

const known = new WeakMap<object, Condition>()

/** Undefined for a list of all linked records. */
export function parseListCondition({ where, target, name }: ToManyAttribute): Condition | undefined {
  if (where === undefined) return undefined
  let condition = known.get(where)
  if (condition === undefined) {
    condition = new FilterQueryReader('model').read(where, target, `the "where" of "${name}"`)
    known.set(where, condition)
  }
  return condition
}

/** @throws Error with entity and property for an untranslatable `where`, when the engine is created */
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
