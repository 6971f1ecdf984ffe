/**
 * Leaves out of a body what the client repeats as shown. Stored values stay byte for byte: a date-time with microseconds, a UUID in upper
 * case, a stray value of a file.
 */
import { runtime } from '../../foundation/runtime/runtime.ts'
import type { FieldError } from '../../foundation/errors/errors.ts'
import {
  isRelation,
  type Attribute,
  type InnerAttribute,
  type OpenAttributes,
  type Resource,
  type ScalarAttribute,
} from '../../model/model.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { readScalar, type ScalarType } from '../../foundation/values/scalar-type.ts'
import { isRendered } from './model-traits.ts'

/** Kinds whose equal values have one stored form. */
const ONE_FORM: ReadonlySet<string> = new Set(['integer', 'float', 'boolean', 'text', 'date'])

/** Whether a value may have another stored form, or a form hidden from MikroORM. */
export function givesStoredForms(body: JsonObject, { byName }: Resource): boolean {
  for (const name in body) {
    const attribute = byName.get(name)
    if (attribute === undefined || mayHaveForms(attribute)) return true
  }
  return false
}

export function mayHaveForms(attribute: Attribute): boolean {
  return !(hasOneForm(attribute) || isLink(attribute))
}

function hasOneForm(attribute: Attribute): attribute is ScalarAttribute {
  if (attribute.kind !== 'scalar' || attribute.render !== undefined || attribute.lazy === true) return false
  return attribute.type.loose !== true && ONE_FORM.has(attribute.type.kind)
}

/** A link outside of the key has one stored form. */
function isLink(attribute: Attribute): boolean {
  return attribute.kind === 'toMany' || attribute.kind === 'toOneOf' || (attribute.kind === 'toOne' && !attribute.primary)
}

export function listRendered(body: JsonObject, { byName }: Resource): string[] {
  return Object.keys(body).filter(name => {
    const attribute = byName.get(name)
    return attribute !== undefined && !attribute.hidden && attribute.flag === undefined && isRendered(attribute)
  })
}

/** Of a relation repeated as shown: the record is gone or hidden, or two lists contradict. */
const OF_SHOWN: ReadonlySet<string> = new Set(['reference_not_found', 'null_not_allowed', 'value_invalid', 'conflict'])

/** Refused relations that may be as shown, in groups: contradicting lists (all books, the favourite books) go together. */
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

function listSiblings({ columns }: { readonly columns: readonly string[] }, body: JsonObject, byName: Resource['byName']): string[] {
  return Object.keys(body).filter(name => {
    const other = byName.get(name)
    return other?.kind === 'toMany' && other.via.kind === 'foreign' && other.via.columns.join('\0') === columns.join('\0')
  })
}

export function omitUnchangedLinks(body: JsonObject, groups: readonly (readonly string[])[], shown: JsonObject): JsonObject {
  const same = groups.filter(group => group.every(name => runtime.isSame(shown[name], body[name]))).flat()
  return same.length === 0 ? body : Object.fromEntries(Object.entries(body).filter(([name]) => !same.includes(name)))
}

/**
 * @param byValue other spellings are equal, too (a time in two zones, `1.5` and `1.50`), and links are compared, as in an existing database
 */
export function omitUnchanged(
  body: JsonObject,
  { byName, open }: { readonly byName: ReadonlyMap<string, Attribute | InnerAttribute>; readonly open?: OpenAttributes | undefined },
  shown: readonly JsonObject[],
  byValue: boolean,
): JsonObject {
  let changed: Record<string, unknown> | undefined
  for (const name of Object.keys(body)) {
    const attribute = byName.get(name)
    if (attribute === undefined || attribute.readOnly) continue
    const given = body[name]
    // An exact resource may lack an attribute shown as null.
    if (given === null && open?.exact === true) continue
    // Links stay, except in an existing database: a trigger may refuse even a statement without effect.
    if (isLink(attribute) && !(byValue && attribute.kind === 'toOne' && !isObject(given))) continue
    const shownValues = shown.filter(record => Object.hasOwn(record, name)).map(record => record[name])
    const isSame = (value: unknown): boolean =>
      runtime.isSame(value, given) || (byValue && attribute.kind === 'scalar' && isSameValue(value, given, attribute.type))
    if (shownValues.some(isSame)) {
      changed ??= { ...body }
      delete changed[name]
    } else if (attribute.kind === 'embedded' && !attribute.array && attribute.variants === undefined && isObject(given)) {
      const changedInside = omitUnchanged(given, attribute, shownValues.filter(isObject), byValue)
      if (changedInside !== given) (changed ??= { ...body })[name] = changedInside
    }
  }
  return changed ?? body
}

const SPELLINGS: ReadonlySet<string> = new Set(['bigint', 'decimal', 'datetime', 'time', 'uuid'])

function isSameValue(shown: unknown, given: unknown, type: ScalarType): boolean {
  if (!SPELLINGS.has(type.kind)) return false
  const [one, other] = [shown, given].map(value => readScalar(value, type))
  if (one === undefined || other === undefined) return false
  return type.kind === 'decimal' ? shortenDecimal(one as string) === shortenDecimal(other as string) : one === other
}

function shortenDecimal(text: string): string {
  const short = text.includes('.') ? text.replace(/\.?0+$/, '') : text
  return short === '-0' ? '0' : short
}
