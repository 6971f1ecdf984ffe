/** Reads IDs that link records in a body, such as `{ "author": 3 }`, or `{ "authorId": 3 }` by the attribute option `ids`. */
import { withArticle } from '../../foundation/base/article.ts'
import { runtime } from '../../foundation/runtime/runtime.ts'
import type { JsonObject } from '../../foundation/json/json.ts'
import { describeKey, idFromJson, keyFromJson, type KeyValues, type RecordKey } from '../../model/key.ts'
import type { RelationAttribute, Resource, ScalarAttribute } from '../../model/model.ts'
import { readScalar } from '../../foundation/values/scalar-type.ts'
import type { ValidationContext } from './validation-context.ts'

/** Whether the IDs set the link. A relation given as well must agree, and sets the link. */
export function takesIds(ids: RelationAttribute & { readonly idsOf: string }, body: JsonObject, context: ValidationContext): boolean {
  const { kind, target, idsOf } = ids
  const value = body[ids.name]
  const isPlain =
    kind === 'toOne' ? isIdOrNull(value, target) : Array.isArray(value) && value.every(id => id !== null && isIdOrNull(id, target))
  if (!isPlain) {
    const what = kind === 'toOne' ? `the ID of ${withArticle(target.singular)}` : `an array of IDs of ${target.plural}`
    context.error('value_invalid', `must be ${what} (${describeKey(target)}); "${idsOf}" takes the attributes of a new one.`, { value })
    return false
  }
  const other = body[idsOf]
  if (other === undefined) return true
  if (!runtime.isSame(value, other)) context.error('conflict', `contradicts "${idsOf}": both say what one record links.`, { value })
  return false
}

function isIdOrNull(value: unknown, target: Resource): boolean {
  return value === null || readId(value, target) !== undefined
}

export function readId(value: unknown, target: Resource): RecordKey | undefined {
  // The database would store a lone surrogate as another character.
  return typeof value === 'string' && !value.isWellFormed() ? undefined : idFromJson(value, target)
}

/** Undefined where a part is missing. */
export function readGivenKey(body: JsonObject, resource: Resource): KeyValues | undefined {
  const key: KeyValues[number][] = []
  for (const name of resource.keyNames) {
    const attribute = resource.byName.get(name)!
    const value = body[name] ?? null
    if (value === null) return undefined
    const part =
      attribute.kind === 'toOne' ? keyFromJson(value, attribute.target) : [readScalar(value, (attribute as ScalarAttribute).type)]
    if (part === undefined || part.includes(undefined as never)) return undefined
    key.push(...(part as KeyValues))
  }
  return key
}
