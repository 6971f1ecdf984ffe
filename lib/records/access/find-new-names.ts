/**
 * Finds the names of a body that the model lacks, where the resource is `open`. Does not validate.
 *
 * ```
 * POST /v1/posts { "title": "x", "mood": "glad", "comments": [{ "stars": 5 }] } gives Post: mood, Comment: stars
 * ```
 */
import { isObject } from '../../foundation/json/json.ts'
import { addLearned, takesName, NOTHING_LEARNED, type LearnedNames } from '../../model/open-attributes.ts'
import { listTargets, type Attribute, type Resource } from '../../model/model.ts'
import type { Target } from './resolve-path.ts'

export function findNewNames(body: unknown, target: Target): LearnedNames | undefined {
  const found = new Map<string, Set<string>>()
  if (target.kind === 'collection' || target.kind === 'record') {
    // An array creates a record from each member.
    for (const record of Array.isArray(body) ? body : [body]) collectRecord(record, target.resource, found)
  } else if (target.kind === 'attribute') collectLinked(body, target.attribute, found)
  return asLearned(found)
}

/** @param data a seed: `{ posts: [{ mood: 'glad' }] }` */
export function findSeedNames(data: Readonly<Record<string, unknown>>, byName: ReadonlyMap<string, Resource>): LearnedNames | undefined {
  const found = new Map<string, Set<string>>()
  for (const [name, records] of Object.entries(data)) {
    const resource = byName.get(name)
    if (resource !== undefined && Array.isArray(records)) for (const record of records) collectRecord(record, resource, found)
  }
  return asLearned(found)
}

function asLearned(found: ReadonlyMap<string, ReadonlySet<string>>): LearnedNames | undefined {
  if (found.size === 0) return undefined
  return addLearned(NOTHING_LEARNED, Object.fromEntries([...found].map(([className, names]) => [className, [...names]])))
}

function collectRecord(body: unknown, { byName, open, className }: Resource, found: Map<string, Set<string>>): void {
  if (!isObject(body)) return
  for (const name of Object.keys(body)) {
    const value = body[name]
    // Only `handle` gives undefined.
    if (value === undefined) continue
    const attribute = byName.get(name)
    if (attribute !== undefined) collectLinked(value, attribute, found)
    else if (open !== undefined && takesName(name, open)) {
      const names = found.get(className)
      if (names === undefined) found.set(className, new Set([name]))
      else names.add(name)
    }
  }
}

/** Embedded objects take no new names. */
function collectLinked(value: unknown, attribute: Attribute, found: Map<string, Set<string>>): void {
  if (attribute.kind === 'scalar' || attribute.kind === 'embedded') return
  for (const item of Array.isArray(value) ? value : [value]) for (const target of listTargets(attribute)) collectRecord(item, target, found)
}
