/** Evolve option: checks `fill`, `renamed` and `drop`. Throws TypeError for other forms, and for another `schema`. */
import type { Evolving } from '../../records/database/evolving.ts'
import { isObject } from '../../foundation/json/json.ts'

/** For `schema: 'evolve'` alone. */
const OPTIONS = ['fill', 'renamed', 'drop'] as const

/** @param given the options as they were given */
export function checkEvolve(given: Partial<Pick<Evolving, 'fill' | 'renamed' | 'drop'>> & { readonly schema?: string }): void {
  const [first] = OPTIONS.filter(name => given[name] !== undefined)
  if (first === undefined) return
  if (given.schema !== 'evolve') throw new TypeError(`RestEngine.create: "${first}" goes with schema: 'evolve'.`)
  for (const name of ['fill', 'renamed'] as const) {
    const example = name === 'fill' ? '{ notes: { stars: 0 } }' : "{ notes: { title: 'headline' } }"
    const value = given[name] ?? {}
    if (!isObject(value) || !Object.values(value).every(isObject))
      throw new TypeError(`RestEngine.create: "${name}" must be an object of objects, by resource: ${example}.`)
  }
  for (const [resource, names] of Object.entries(given.renamed ?? {}))
    for (const [old, next] of Object.entries(names))
      if (typeof next !== 'string')
        throw new TypeError(`RestEngine.create: "renamed.${resource}.${old}" must be the new name of the property, a text.`)
  if (given.drop !== undefined && typeof given.drop !== 'boolean') throw new TypeError('RestEngine.create: "drop" must be true or false.')
}
