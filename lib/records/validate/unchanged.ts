/**
 * Unchanged: leaves out of a change the values that equal the shown values. The stored values stay byte for byte: a date-time with
 * microseconds, a UUID in upper case, a stray value of a file.
 */
import { builtin } from '../../foundation/base/builtins.ts'
import type { FieldError } from '../../foundation/errors/errors.ts'
import { isRelation, type Attribute, type InnerAttribute, type Resource, type ScalarAttribute } from '../../model/model.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { readScalar, type ScalarType } from '../../foundation/values/scalar-type.ts'
import { isRendered } from './model-traits.ts'

/** Kinds of values that have one stored form: setting the same value again changes nothing. */
const ONE_FORM: ReadonlySet<string> = new Set(['integer', 'float', 'boolean', 'text', 'date'])

/** Whether the database may store a value of the body in another form, or MikroORM does not see that the value is stored. */
export function givesStoredForms(body: JsonObject, { byName }: Resource): boolean {
  for (const name in body) {
    const attribute = byName.get(name)
    if (attribute === undefined || mayHaveForms(attribute)) return true
  }
  return false
}

/** Whether a value of an attribute may be stored in several forms. */
export function mayHaveForms(attribute: Attribute): boolean {
  return !(hasOneForm(attribute) || isLink(attribute))
}

function hasOneForm(attribute: Attribute): attribute is ScalarAttribute {
  if (attribute.kind !== 'scalar' || attribute.render !== undefined || attribute.lazy === true) return false
  return attribute.type.loose !== true && ONE_FORM.has(attribute.type.kind)
}

/** Whether the attribute is a relation outside of the key: a link has one stored form. */
function isLink(attribute: Attribute): boolean {
  return attribute.kind === 'toMany' || attribute.kind === 'toOneOf' || (attribute.kind === 'toOne' && !attribute.primary)
}

/** Returns the names of attributes of a body that the application renders with other values. */
export function listRendered(body: JsonObject, { byName }: Resource): string[] {
  return Object.keys(body).filter(name => {
    const attribute = byName.get(name)
    return attribute !== undefined && !attribute.hidden && attribute.flag === undefined && isRendered(attribute)
  })
}

/** Errors of a relation that a body repeats as shown: the record is gone or out of sight, or two lists contradict each other. */
const OF_SHOWN: ReadonlySet<string> = new Set(['reference_not_found', 'null_not_allowed', 'value_invalid', 'conflict'])

/**
 * Returns the names of relations in a body that are refused, though they may be shown as they are given, in groups: lists that contradict
 * each other, such as all books and the favourite ones among them, do so together.
 */
export function listRefusedLinks(body: JsonObject, { byName }: Resource, errors: readonly FieldError[]): string[][] {
  const groups = new Map<string, string[]>()
  for (const { code, attribute: path = '' } of errors) {
    const name = path.split('.', 1)[0]!
    const attribute = byName.get(name)
    if (!OF_SHOWN.has(code) || !Object.hasOwn(body, name) || attribute === undefined || !isRelation(attribute)) continue
    if (code !== 'conflict') groups.set(name, [name])
    // Another attribute may contradict a foreign key of the record itself.
    else if (attribute.kind === 'toMany' && attribute.via.kind === 'foreign') groups.set(name, listSiblings(attribute.via, body, byName))
  }
  const isShown = (name: string): boolean => {
    const { hidden, flag } = byName.get(name)!
    return !hidden && flag === undefined
  }
  return [...groups.values()].filter(group => group.every(isShown))
}

/** Returns the lists of a body that have the columns of one foreign key. */
function listSiblings({ columns }: { readonly columns: readonly string[] }, body: JsonObject, byName: Resource['byName']): string[] {
  return Object.keys(body).filter(name => {
    const other = byName.get(name)
    return other?.kind === 'toMany' && other.via.kind === 'foreign' && other.via.columns.join('\0') === columns.join('\0')
  })
}

/** Returns the body without the groups of relations that are shown with the same links; the same body where there is none. */
export function omitUnchangedLinks(body: JsonObject, groups: readonly (readonly string[])[], shown: JsonObject): JsonObject {
  const same = groups.filter(group => group.every(name => builtin.util.isDeepStrictEqual(shown[name], body[name]))).flat()
  return same.length === 0 ? body : Object.fromEntries(Object.entries(body).filter(([name]) => !same.includes(name)))
}

/**
 * Returns the body without the values that equal those shown; the same body where there is none.
 *
 * @param byValue whether other spellings of a value equal it: one time in two zones, `1.5` and `1.50`; so it is in an existing database,
 * where links are compared, too
 */
export function omitUnchanged(
  body: JsonObject,
  { byName }: { readonly byName: ReadonlyMap<string, Attribute | InnerAttribute> },
  shown: readonly JsonObject[],
  byValue: boolean,
): JsonObject {
  let changed: Record<string, unknown> | undefined
  for (const name of Object.keys(body)) {
    const attribute = byName.get(name)
    // A read-only attribute is refused, whatever its value.
    if (attribute === undefined || attribute.readOnly) continue
    const given = body[name]
    // A statement that changes nothing may be refused all the same by a trigger of others.
    if (isLink(attribute) && !(byValue && attribute.kind === 'toOne' && !isObject(given))) continue
    const there = shown.filter(record => Object.hasOwn(record, name)).map(record => record[name])
    const isSame = (value: unknown): boolean =>
      builtin.util.isDeepStrictEqual(value, given) || (byValue && attribute.kind === 'scalar' && isSameValue(value, given, attribute.type))
    if (there.some(isSame)) {
      changed ??= { ...body }
      delete changed[name]
    } else if (attribute.kind === 'embedded' && !attribute.array && attribute.variants === undefined && isObject(given)) {
      const inside = omitUnchanged(given, attribute, there.filter(isObject), byValue)
      if (inside !== given) (changed ??= { ...body })[name] = inside
    }
  }
  return changed ?? body
}

/** The kinds of values that a body may spell in several ways. */
const SPELLINGS: ReadonlySet<string> = new Set(['bigint', 'decimal', 'datetime', 'time', 'uuid'])

function isSameValue(shown: unknown, given: unknown, type: ScalarType): boolean {
  if (!SPELLINGS.has(type.kind)) return false
  const [one, other] = [shown, given].map(value => readScalar(value, type))
  if (one === undefined || other === undefined) return false
  return type.kind === 'decimal' ? shortenDecimal(one as string) === shortenDecimal(other as string) : one === other
}

/** Returns a decimal without the zeros at its end, and without the sign of zero. */
function shortenDecimal(text: string): string {
  const short = text.includes('.') ? text.replace(/\.?0+$/, '') : text
  return short === '-0' ? '0' : short
}
