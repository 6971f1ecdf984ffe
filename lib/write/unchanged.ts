/**
 * Unchanged: what a body gives as it is shown is left out of the change, so that the stored value stays as it is, byte for byte: a date-time with microseconds,
 * a UUID in upper case, a value that does not fit its column. What a file holds has more forms than what is shown of it.
 */
import { builtin } from '../base/builtins.ts'
import type { Attribute, InnerAttribute, Resource, ScalarAttribute } from '../model/model.ts'
import { isObject } from '../base/json.ts'
import type { JsonObject } from '../base/json.ts'

/** Kinds of values that are stored in one form, the one that entities hold: setting the same again changes nothing. */
const OF_ONE_FORM: ReadonlySet<string> = new Set(['integer', 'float', 'boolean', 'text', 'date'])

/** Whether something that a body gives may be stored in another form than that in which it would be written. */
export function givesForms(body: JsonObject, { byName }: Resource): boolean {
  for (const name in body) {
    const attribute = byName.get(name)
    if (attribute === undefined || !(isOfOneForm(attribute) || isLink(attribute))) return true
  }
  return false
}

function isOfOneForm(attribute: Attribute): attribute is ScalarAttribute {
  if (attribute.kind !== 'scalar' || attribute.render !== undefined) return false
  return attribute.type.loose !== true && OF_ONE_FORM.has(attribute.type.kind)
}

/** Whether the attribute is a relation outside of the key: what links the same record again is no other form of it. */
function isLink(attribute: Attribute): boolean {
  return attribute.kind === 'toMany' || attribute.kind === 'toOneOf' || (attribute.kind === 'toOne' && !attribute.primary)
}

/** The names of what a body gives and a function shows in another way. */
export function renderedIn(body: JsonObject, { byName }: Resource): string[] {
  return Object.keys(body).filter(name => {
    const attribute = byName.get(name)
    return attribute !== undefined && !attribute.hidden && attribute.flag === undefined && isRendered(attribute)
  })
}

function isRendered(attribute: Attribute | InnerAttribute): boolean {
  return attribute.render !== undefined || (attribute.kind === 'embedded' && attribute.attributes.some(isRendered))
}

/** The body without the values that are as they are shown. The same body where there is none. */
export function withoutUnchanged(
  body: JsonObject,
  { byName }: { readonly byName: ReadonlyMap<string, Attribute | InnerAttribute> },
  shown: readonly JsonObject[],
): JsonObject {
  let changed: Record<string, unknown> | undefined
  for (const name of Object.keys(body)) {
    const attribute = byName.get(name)
    // What nobody may write is refused, whatever it is.
    if (attribute === undefined || isLink(attribute) || attribute.readOnly) continue
    const given = body[name]
    const there = shown.filter(record => Object.hasOwn(record, name)).map(record => record[name])
    if (there.some(value => builtin.util.isDeepStrictEqual(value, given))) {
      changed ??= { ...body }
      delete changed[name]
    } else if (attribute.kind === 'embedded' && !attribute.array && attribute.variants === undefined && isObject(given)) {
      const inside = withoutUnchanged(given, attribute, there.filter(isObject))
      if (inside !== given) (changed ??= { ...body })[name] = inside
    }
  }
  return changed ?? body
}
