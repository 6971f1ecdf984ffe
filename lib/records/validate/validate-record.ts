/** Turns a body into a RecordInput, or reports all errors at once, without the database (check-database.ts). */
import { isIds, withoutIds } from '../../model/ids-name.ts'
import { withArticle } from '../../foundation/base/article.ts'
import { isObject, type JsonObject } from '../../foundation/json/json.ts'
import { describeKey, isShownKey, type KeyValues, type RecordKey } from '../../model/key.ts'
import type {
  Attribute,
  EmbeddedAttribute,
  RelationAttribute,
  Resource,
  ScalarAttribute,
  ToManyAttribute,
  ToOneAttribute,
  ToOneOfAttribute,
  Variants,
} from '../../model/model.ts'
import { buildMember } from '../../model/open-attributes.ts'
import { branchesFor, hasVisibleTarget } from '../plan/visibility.ts'
import { formatMissing } from './check-database.ts'
import { findFixed, type ImpliedLink } from './fixed-attributes.ts'
import { addIssues } from './check-schemas.ts'
import { isFilled } from './fill-body.ts'
import { isMisfit, markNull } from './held-values.ts'
import { LIST_CHANGE, bodyOfNew, isListChange } from './list-change.ts'
import { readGivenKey, readId, takesIds } from './body-ids.ts'
import { markOwnLinks } from './own-links.ts'
import { findAskedClass, isOfClass } from './record-class.ts'
import { filledSide, owningAttribute, owningName } from './relation-sides.ts'
import { nameGiven } from './references.ts'
import { requireAttributes } from './required-attributes.ts'
import { refuseUnreachable, validateScalar } from './validate-scalar.ts'
import { suggestName, type ValidationContext } from './validation-context.ts'
import type { ExistingRef, LinkInput, ListInput, RecordInput, RecordRef, ValueInput } from './record-input.ts'

export interface Validation {
  readonly mode: 'create' | 'update'
  /** The body may repeat the key. */
  readonly key?: KeyValues
  /** The inverse side of the parent's 1:1, optional in the body. */
  readonly linkedFrom?: string | undefined
  /** Set by the path or the parent record, optional in the body. */
  readonly implied?: ImpliedLink
  /** The database refuses taken values: nothing looks before. */
  readonly uniquesLater?: boolean
  /** The database refuses missing members of lists as well. */
  readonly linksLater?: boolean
  /** Names of links whose values the holder keeps (held-values.ts). */
  readonly held?: ReadonlySet<string>
}

interface Holder {
  readonly mode: 'create' | 'update'
  readonly key: KeyValues | undefined
  /** Also links inside embedded objects. */
  readonly links: LinkInput[]
  readonly within: readonly EmbeddedAttribute[]
}

/**
 * The result is fit for use only without errors.
 *
 * @throws RuleNotEvaluated; RestError for too many records, and for a needed link to what the caller may not see
 */
export function validateRecord(body: JsonObject, of: Resource, validation: Validation, context: ValidationContext): RecordInput {
  const { mode, key, implied } = validation
  const resource = mode === 'create' ? findAskedClass(of, body) : of
  const values: ValueInput[] = []
  const lists: ListInput[] = []
  const holder = resource.open?.exact === true ? resource.open.holder : undefined
  const draft: Holder = { mode, key: key ?? readGivenKey(body, resource), links: [], within: [] }
  const { references } = context
  const outerName = references.ownName
  references.ownName = mode === 'create' ? nameGiven(body, resource) : undefined
  for (const name of Object.keys(body)) {
    const isLacking = body[name] === undefined
    if (isLacking && (mode === 'create' || holder === undefined)) continue
    const value = body[name] ?? null
    const isHeld = validation.held?.has(name) === true
    const place = context.at(name)
    const named = findAttribute(name, body, { resource, implied }, place)
    if (named === undefined) continue
    const attribute = withoutIds(named, resource.byName)
    if (isIds(named) && !isLacking && !isHeld && !takesIds(named, body, place)) continue
    const fixed = findFixed(attribute, resource, validation, references)
    if (fixed !== undefined) {
      if (!fixed.isSame(value)) place.error(fixed.code, fixed.text, { value })
    } else if (attribute.kind === 'toMany') {
      const list = validateList(attribute, value, draft, place)
      if (list !== undefined) lists.push(list)
    } else if (attribute.kind === 'toOne') {
      addLink(attribute, isHeld ? null : value, draft, place)
    } else if (attribute.kind === 'toOneOf') {
      const link = validateBranchLink(attribute, value, place)
      if (link !== undefined) draft.links.push(link)
    } else {
      const isPlain = holder === undefined || !isMisfit(attribute, value, context)
      const change = validateValue(isPlain ? attribute : buildMember(name, holder), value, draft, place)
      if (change === undefined) continue
      values.push(change)
      refuseUnreachable(change, resource, place)
      addIssues(body, name, place)
    }
    if (holder !== undefined && isHeld) values.push(...[validateScalar(buildMember(name, holder), value, place) ?? []].flat())
    else if (holder !== undefined) values.push(...markNull(holder, attribute, isLacking ? undefined : value, place))
  }
  references.ownName = outerName
  const change = { resource, path: context.path, values, links: draft.links, lists }
  return mode === 'update' ? change : completeNew(body, change, validation, context)
}

function completeNew(body: JsonObject, change: RecordInput, { implied, linkedFrom }: Validation, context: ValidationContext): RecordInput {
  const { resource, links, lists } = change
  const completed = links.length === 0 && lists.length === 0 ? change : markOwnLinks(change, implied)
  const filled = [implied?.name, linkedFrom, ...completed.links.slice(links.length).map(({ attribute }) => attribute.name)]
  requireAttributes(body, { attributes: resource.attributes, filled, action: `create ${resource.plural}` }, context)
  return completed
}

/** Adds an error where the name is no writable attribute. */
function findAttribute(
  name: string,
  body: JsonObject,
  { resource, implied }: { readonly resource: Resource; readonly implied: ImpliedLink | undefined },
  context: ValidationContext,
): Attribute | undefined {
  const attribute = resource.byName.get(name)
  const mayBeSet = attribute !== undefined && (isFilled(body, name) || (context.seeding && isStored(attribute)))
  if (
    attribute === undefined ||
    (attribute.hidden && attribute.readOnly && !mayBeSet) ||
    !isOfClass(attribute, resource) ||
    // The place of the record shows the link.
    !(withoutIds(attribute, resource.byName).name === implied?.name || hasVisibleTarget(attribute, context.visibility))
  ) {
    const attributes = (): Attribute[] => resource.attributes.filter(known => isOfClass(known, resource))
    return context.unknownAttribute(
      name,
      resource.singular,
      attributes,
      attribute !== undefined && isOfClass(attribute, resource) ? attribute : undefined,
    )
  }
  return attribute.readOnly && !mayBeSet ? context.error('read_only', 'is read-only.') : attribute
}

function isStored(attribute: Attribute): boolean {
  return attribute.kind !== 'scalar' || (attribute.source.kind === 'column' && !attribute.source.generated)
}

function validateValue(
  attribute: ScalarAttribute | EmbeddedAttribute,
  value: unknown,
  draft: Holder,
  context: ValidationContext,
): ValueInput | undefined {
  if (value === null) {
    const isNullable = attribute.nullable || (attribute.kind === 'scalar' && attribute.source.kind === 'none')
    if (!isNullable) return context.error('null_not_allowed', 'cannot be null.', { value })
    return { attribute, path: context.path, value } as ValueInput
  }
  return attribute.kind === 'embedded' ? validateEmbedded(attribute, value, draft, context) : validateScalar(attribute, value, context)
}

function validateEmbedded(
  attribute: EmbeddedAttribute,
  value: unknown,
  around: Holder,
  context: ValidationContext,
): ValueInput | undefined {
  const { path } = context
  const draft = { ...around, within: [...around.within, attribute] }
  if (!attribute.array) {
    const changes = validateObject(attribute, value, draft, context)
    return changes === undefined ? undefined : { attribute, path, value: changes }
  }
  if (!Array.isArray(value)) return context.error('value_invalid', 'must be an array of objects.', { value })
  // Replaced as a whole, each object is new.
  const anew: Holder = { ...draft, mode: 'create' }
  const members = value.map((member: unknown, index) => validateObject(attribute, member, anew, context.at(index)) ?? [])
  return { attribute, path, value: { members } }
}

function validateObject(attribute: EmbeddedAttribute, value: unknown, draft: Holder, context: ValidationContext): ValueInput[] | undefined {
  if (!isObject(value)) return context.error('value_invalid', 'must be an object.', { value })
  const { variants, attributes, byName } = attribute
  if (variants !== undefined) return validateVariant(attribute, variants, value, draft, context)
  const changes: ValueInput[] = []
  for (const name of Object.keys(value)) {
    const inner = value[name]
    if (inner === undefined) continue
    const child = byName.get(name)
    const place = context.at(name)
    if (child === undefined || !hasVisibleTarget(child, context.visibility)) {
      place.unknownAttribute(name, attribute.name, () => attributes)
    } else if (child.readOnly) {
      place.error('read_only', 'is read-only.')
    } else if (child.kind === 'toOne') {
      addLink(child, inner, draft, place)
    } else {
      const change = validateValue(child, inner, draft, place)
      if (change !== undefined) changes.push(change)
    }
  }
  if (draft.mode === 'create') requireAttributes(value, { attributes, action: `set "${context.path}"` }, context)
  return changes
}

function validateVariant(
  attribute: EmbeddedAttribute,
  { discriminator, byValue }: Variants,
  value: JsonObject,
  draft: Holder,
  context: ValidationContext,
): ValueInput[] | undefined {
  const given = value[discriminator]
  const attributes = typeof given === 'string' || typeof given === 'number' ? byValue.get(String(given)) : undefined
  if (attributes === undefined) {
    const place = context.at(discriminator)
    const allowed = [...byValue.keys()]
    if (given === undefined) return place.error('required', 'must be given.', { allowed })
    return place.error('not_allowed', `must be one of ${quoteAll(allowed)}.`, { value: given, allowed })
  }
  const byName = new Map(attributes.map(child => [child.name, child]))
  return validateObject({ ...attribute, variants: undefined, attributes, byName }, value, { ...draft, mode: 'create' }, context)
}

function quoteAll(names: readonly string[]): string {
  return names.map(name => JSON.stringify(name)).join(', ')
}

const CHANGE_FORM = 'an object with "connect" and "disconnect", arrays of IDs'

function validateList(attribute: ToManyAttribute, value: unknown, draft: Holder, context: ValidationContext): ListInput | undefined {
  if (isObject(value)) return validateListChange(attribute, value, draft, context)
  if (!Array.isArray(value)) return context.error('value_invalid', `must be an array of IDs or objects, or ${CHANGE_FORM}.`, { value })
  const items = value.map((item: unknown, index) => {
    // A repeated ID creates a single record.
    if (attribute.creates === true && value.indexOf(item) < index) return undefined
    return validateReference(attribute, item, draft, context.at(index))
  })
  return { attribute, path: context.path, items: items.filter(item => item !== undefined) }
}

/** Takes IDs alone. */
function validateListChange(
  attribute: ToManyAttribute,
  value: JsonObject,
  draft: Holder,
  context: ValidationContext,
): ListInput | undefined {
  if (!isListChange(value)) return context.error('value_invalid', `must be an array of IDs or objects, or ${CHANGE_FORM}.`, { value })
  const { target } = attribute
  const { create = false } = value
  if (typeof create !== 'boolean') context.at('create').error('value_invalid', 'must be true or false.', { value: create })
  else if (create && target.shownKey === undefined) {
    const why = `works where clients know the ${target.plural} by a unique attribute, which makes one by it.`
    context.at('create').error('value_invalid', why, { value: create })
  }
  const [items, removed] = LIST_CHANGE.map(name => {
    const place = context.at(name)
    const { [name]: ids = [] } = value
    if (!Array.isArray(ids)) return place.error('value_invalid', 'must be an array of IDs.', { value: ids }) ?? []
    return ids.flatMap((id: unknown, index) => {
      if (ids.indexOf(id) < index) return []
      const at = place.at(index)
      context.errors.countRecord()
      const key = readId(id, target)
      if (key === undefined)
        return at.error('value_invalid', `must be the ID of ${withArticle(target.singular)} (${describeKey(target)}).`, { value: id }) ?? []
      if (name === 'connect') return connect(key, id, { attribute, change: value, parent: draft.key }, at) ?? []
      return isShownKey(key)
        ? (at.references.refer(target, key, id, at.path) ?? [])
        : { kind: 'existing' as const, key, path: at.path, given: id }
    })
  }) as [RecordRef[], ExistingRef[]]
  const overlap = removed.find(({ given }) => items.some(item => item.kind === 'existing' && item.given === given))
  if (overlap !== undefined) context.error('conflict', `links and unlinks one ${target.singular}.`, { value: overlap.given })
  return { attribute, path: context.path, items, removed }
}

function connect(
  key: RecordKey,
  id: unknown,
  { attribute, change, parent }: { readonly attribute: ToManyAttribute; readonly change?: JsonObject; readonly parent: Holder['key'] },
  context: ValidationContext,
): RecordRef | undefined {
  const { target } = attribute
  const body = bodyOfNew(change, id, attribute)
  if (body === undefined || !isShownKey(key)) return refer(key, id, target, context)
  const found = context.references.refer(target, key, id, context.path)
  if (found === undefined && context.seeding) context.references.addNewName(target, key)
  return found ?? { kind: 'new', record: validateRecord(body, target, validationOfNested(attribute, parent), context) }
}

function addLink(attribute: ToOneAttribute, value: unknown, draft: Holder, context: ValidationContext): void {
  const { path } = context
  const place = draft.within.length === 0 ? {} : { within: draft.within }
  if (value === null) {
    if (attribute.nullable) draft.links.push({ attribute, ...place, path, link: null })
    else context.error('null_not_allowed', 'cannot be null: the record needs one.', { value })
    return
  }
  const link = validateReference(attribute, value, draft, context)
  if (link !== undefined) draft.links.push({ attribute, ...place, path, link })
}

function validateReference(
  attribute: RelationAttribute,
  value: unknown,
  { key: parent }: Holder,
  context: ValidationContext,
): RecordRef | undefined {
  const { target } = attribute
  context.errors.countRecord()
  if (isObject(value) && !target.readOnly) {
    return { kind: 'new', record: validateRecord(value, target, validationOfNested(attribute, parent), context) }
  }
  const key = readId(value, target)
  if (key !== undefined)
    return attribute.kind === 'toMany' ? connect(key, value, { attribute, parent }, context) : refer(key, value, target, context)
  const text = `must be the ID of ${withArticle(target.singular)} (${describeKey(target)}) or an object to create one.`
  return context.error('value_invalid', text, { value })
}

function validationOfNested(attribute: RelationAttribute, parent: Holder['key']): Validation {
  const name = owningName(attribute)
  const implied = name === undefined ? {} : { implied: { name, key: parent, link: owningAttribute(attribute) } }
  return { mode: 'create', ...implied, linkedFrom: filledSide(attribute) }
}

function refer(id: RecordKey, given: unknown, target: Resource, context: ValidationContext): RecordRef | undefined {
  const { path } = context
  if (!isShownKey(id)) return { kind: 'existing', key: id, path, given }
  const found = context.references.refer(target, id, given, path)
  if (found === undefined)
    context.errors.push({ code: 'reference_not_found', detail: `"${path}"${formatMissing(id, target)}`, attribute: path, value: given })
  return found
}

/** The object's type names the resource. `id` alone beside it links, anything else creates. */
function validateBranchLink(attribute: ToOneOfAttribute, value: unknown, context: ValidationContext): LinkInput | undefined {
  const { path } = context
  const branches = branchesFor(attribute, context.visibility)
  if (value === null && attribute.nullable) return { attribute: branches[0]!, path, link: null }
  if (value === null) return context.error('null_not_allowed', 'cannot be null: the record needs one.', { value })
  const { typeName } = attribute
  const allowed = branches.map(({ target }) => target.singular)
  if (!isObject(value)) {
    const named = `"${typeName}" (one of ${quoteAll(allowed)})`
    const text = `must be an object with ${named}, and either "id" to link or the attributes of a new record.`
    return context.error('value_invalid', text, { value })
  }
  const { [typeName]: type, ...rest } = value
  const place = context.at(typeName)
  if (type === undefined) return place.error('required', `must be given: one of ${quoteAll(allowed)}.`, { allowed })
  const branch = branches.find(({ target }) => target.singular === type)
  if (branch === undefined) {
    const suggested = typeof type === 'string' ? suggestName(type, allowed) : {}
    return place.error('not_allowed', `must be one of ${quoteAll(allowed)}.`, { value: type, allowed, ...suggested })
  }
  context.errors.countRecord()
  const link = validateBranchReference(rest, branch.target, context)
  return link && { attribute: branch, path, link }
}

function validateBranchReference(rest: JsonObject, target: Resource, context: ValidationContext): RecordRef | undefined {
  const { id } = rest
  const isLink = Object.keys(rest).length === 1 && id !== undefined
  if (!isLink && !target.readOnly) return { kind: 'new', record: validateRecord(rest, target, { mode: 'create' }, context) }
  const place = context.at('id')
  const key = readId(id ?? null, target)
  if (key !== undefined) return refer(key, id, target, place)
  return place.error('value_invalid', `must be the ID of ${withArticle(target.singular)} (${describeKey(target)}).`, { value: id })
}
