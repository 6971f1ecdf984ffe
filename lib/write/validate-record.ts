/**
 * Validate: a body becomes a RecordInput, or a list of all its faults at once. What needs the database (whether references exist, whether values are
 * unique) is checked by check-database.ts; everything else is here, from the model alone.
 */
import { withArticle, withCapitalArticle } from '../base/article.ts'
import { restError } from '../base/errors.ts'
import type { FieldError } from '../base/errors.ts'
import { FieldErrors } from '../base/body-errors.ts'
import { describeKey, keyFromJson, partsOf, sameKey } from '../model/key.ts'
import type { KeyValues } from '../model/key.ts'
import { isRelation } from '../model/model.ts'
import type {
  Attribute,
  PolymorphicTarget,
  EmbeddedAttribute,
  RelationAttribute,
  Resource,
  ScalarAttribute,
  ToOneAttribute,
  ToOneOfAttribute,
  Variants,
} from '../model/model.ts'
import { countCharacters, describeScalar, readScalar } from '../values/scalar-type.ts'
import { formatHint, findNearest } from '../base/suggest.ts'
import { branchesFor, EVERYTHING, hasVisibleTarget, openNames } from '../plan/visibility.ts'
import type { Visibility } from '../plan/visibility.ts'
import type { LinkInput, ListInput, RecordInput, RecordRef, ValueInput } from './write-plan.ts'

/** What a body is held against. */
export interface Validation {
  readonly mode: 'create' | 'update'
  /** The body is a record of a seed, which may set what clients may only read. */
  readonly seeding?: boolean
  /** What exists for the caller: a relation to what does not is unknown. Default: everything. */
  readonly visibility?: Visibility
  /** The key of the record that is changed; a body may repeat it. */
  readonly key?: KeyValues
  /** The attribute that the path or the owner sets, so that the body need not. */
  /** The other side of the one-to-one by which its owner links the record, which is filled so. */
  readonly linkedFrom?: string | undefined
  readonly implied?: { readonly name: string; readonly key: KeyValues | undefined; readonly link?: ToOneAttribute | undefined }
}

type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The change that a body asks for. Faults are added to the list; the change is only fit to use when there are none.
 *
 * @throws Unasked
 */
export function validateRecord(body: unknown, of: Resource, validation: Validation, faults: FieldErrors, path = ''): RecordInput {
  const resource = validation.mode === 'create' ? classAsked(of, body as JsonObject) : of
  const values: ValueInput[] = []
  const links: LinkInput[] = []
  const lists: ListInput[] = []
  const given = body as JsonObject
  const owner = validation.key ?? keyGiven(given, resource)
  const { visibility = EVERYTHING } = validation
  const holder: ObjectHolder = { owner, seeding: validation.seeding === true, visibility }
  // What the path or the owner sets is known by that.
  const exists = (attribute: Attribute): boolean => attribute.name === validation.implied?.name || hasVisibleTarget(attribute, visibility)
  for (const name of Object.keys(given)) {
    const value = given[name]
    if (value === undefined) continue
    const at = join(path, name)
    const attribute = resource.byName.get(name)
    const isOpen = validation.seeding === true && attribute !== undefined && isStored(attribute)
    if (
      attribute === undefined ||
      (attribute.hidden && attribute.readOnly && !isOpen) ||
      !isOfClass(attribute, resource) ||
      !exists(attribute)
    ) {
      faults.describe(() =>
        unknownAttribute(
          name,
          at,
          resource.singular,
          resource.attributes.filter(known => isOfClass(known, resource)),
        ),
      )
    } else if (attribute.readOnly && !isOpen) {
      faults.push({ code: 'read_only', detail: `"${at}" is computed and cannot be written.`, attribute: at })
    } else if (!isAllowed(resource, attribute, value, at, validation, faults)) {
      // told already, or nothing to change
    } else if (isRelation(attribute)) {
      addRelation(attribute, value, at, holder, links, lists, faults)
    } else if (attribute.kind === 'toOneOf') {
      const link = linkOneOf(attribute, value, at, holder, faults)
      if (link !== undefined) links.push(link)
    } else {
      const inside = { mode: validation.mode, holder, links, within: [] }
      const change = validateValue(attribute, value, at, inside, faults)
      if (change !== undefined) values.push(change)
    }
  }
  if (validation.mode === 'create') {
    const lacking = requireAll(resource.attributes, given, path, validation, faults)
    refuseUnknownNeeds(lacking, `create ${resource.plural}`, exists)
  }
  return { resource, path, values, links, lists }
}

/** The class that a body asks for, by the attribute that tells it. */
export function classAsked(resource: Resource, given: JsonObject): Resource {
  const { hierarchy } = resource
  if (hierarchy?.attribute === undefined) return resource
  const told = given[hierarchy.attribute]
  return (typeof told === 'string' || typeof told === 'number' ? hierarchy.byValue.get(String(told)) : undefined) ?? resource
}

/** Whether records of the very class of the resource have the attribute. */
export function isOfClass({ of }: Attribute, { hierarchy }: Resource): boolean {
  return of === undefined || (hierarchy?.own !== undefined && of.has(hierarchy.own))
}

function join(path: string, name: string | number): string {
  return path === '' ? String(name) : `${path}.${name}`
}

/** The key that the body of a new record gives, so that what is nested in it may repeat it. */
function keyGiven(given: JsonObject, resource: Resource): KeyValues | undefined {
  const key: KeyValues[number][] = []
  for (const name of resource.keyNames) {
    const attribute = resource.byName.get(name)!
    const value = given[name] ?? null
    if (value === null) return undefined
    const part =
      attribute.kind === 'toOne' ? keyFromJson(value, attribute.target) : [readScalar(value, (attribute as ScalarAttribute).type)]
    if (part === undefined || part.includes(undefined as never)) return undefined
    key.push(...(part as KeyValues))
  }
  return key
}

function unknownAttribute(name: string, at: string, called: string, attributes: readonly Attribute[]): FieldError {
  const names = openNames(attributes.filter(attribute => !attribute.readOnly))
  const suggestion = findNearest(name, names)
  return {
    code: 'attribute_unknown',
    detail: `${withCapitalArticle(called)} has no attribute "${name.slice(0, 100)}".${formatHint(suggestion)}`,
    attribute: at,
    allowed: names,
    ...(suggestion === undefined ? {} : { suggestion }),
  }
}

/** Keys stay as they are, and what the path says is not said otherwise by the body. */
function isAllowed(
  resource: Resource,
  attribute: Attribute,
  value: unknown,
  at: string,
  validation: Validation,
  faults: FieldErrors,
): boolean {
  const { implied } = validation
  if (implied?.name === attribute.name && attribute.kind === 'toOneOf') {
    const linked = linkedBy(attribute, value)
    if (
      implied.key === undefined ||
      linked === undefined ||
      linked.branch.target !== implied.link?.target ||
      !sameKey(linked.key, implied.key)
    ) {
      faults.push({ code: 'conflict', detail: `"${at}" is given by the place of the record, and cannot be another.`, attribute: at, value })
    }
    return false
  }
  if (implied?.name === attribute.name && attribute.kind === 'toOne') {
    const key = keyFromJson(value, attribute.target)
    if (implied.key === undefined || key === undefined || !sameKey(key, implied.key)) {
      faults.push({ code: 'conflict', detail: `"${at}" is given by the place of the record, and cannot be another.`, attribute: at, value })
    }
    return false
  }
  if (validation.mode === 'update' && resource.hierarchy?.attribute === attribute.name) {
    if (String(value) !== resource.hierarchy.own) {
      faults.push({ code: 'key_fixed', detail: `"${at}" tells the class of the record and cannot be changed.`, attribute: at, value })
    }
    return false
  }
  if (
    validation.mode === 'update' &&
    validation.key !== undefined &&
    (attribute.kind === 'scalar' || attribute.kind === 'toOne') &&
    attribute.primary
  ) {
    const given =
      attribute.kind === 'toOne' ? keyFromJson(value, attribute.target) : value === null ? undefined : [readScalar(value, attribute.type)]
    if (given === undefined || !sameKey(given as KeyValues, partsOf(resource, attribute.name, validation.key))) {
      faults.push({ code: 'key_fixed', detail: `"${at}" is the key of the record and cannot be changed.`, attribute: at, value })
    }
    return false
  }
  return true
}

/** Adds the faults of what must be given and is not; gives the attributes. */
function requireAll(
  attributes: readonly Attribute[],
  given: JsonObject,
  path: string,
  { implied, linkedFrom, seeding }: Pick<Validation, 'implied' | 'linkedFrom' | 'seeding'>,
  faults: FieldErrors,
): readonly Attribute[] {
  const lacking: Attribute[] = []
  for (const attribute of attributes) {
    if (!attribute.required || attribute.name === implied?.name || attribute.name === linkedFrom) continue
    // In a seed the other record may say so.
    if (seeding === true && attribute.kind === 'toOne' && !attribute.owner) continue
    if (Object.hasOwn(given, attribute.name) && given[attribute.name] !== undefined) continue
    faults.describe(() => {
      const at = join(path, attribute.name)
      return { code: 'required', detail: `"${at}" must be given.`, attribute: at }
    })
    lacking.push(attribute)
  }
  return lacking
}

/** Refuses a record that cannot be without a link which does not exist for the caller: to ask for it would tell of it. */
function refuseUnknownNeeds(lacking: readonly Attribute[], what: string, exists: (attribute: Attribute) => boolean): void {
  if (lacking.every(exists)) return
  throw restError('forbidden', `You may not ${what}: a link that is needed leads to what you may not see.`)
}

/** The faults of an embedded object that a change makes anew, where there was none before: what it must have and was not given. */
export function requireEmbedded(
  attribute: EmbeddedAttribute,
  changes: readonly ValueInput[],
  links: readonly LinkInput[],
  at: string,
  visibility: Visibility,
): readonly FieldError[] {
  const own = links.filter(link => link.path === join(at, link.attribute.name))
  const given = Object.fromEntries([
    ...changes.map(change => [change.attribute.name, change.value]),
    ...own.map(link => [link.attribute.name, link.link]),
  ])
  const faults = new FieldErrors()
  const lacking = requireAll(attribute.attributes, given, at, {}, faults)
  refuseUnknownNeeds(lacking, `set "${at}"`, child => hasVisibleTarget(child, visibility))
  return faults.listed
}

/** Whether there is a place to write the attribute to; a computed one has none. */
function isStored(attribute: Attribute): boolean {
  return attribute.kind !== 'scalar' || (attribute.source.kind === 'column' && !attribute.source.generated)
}

/** What the values of a record are judged with. */
interface EmbeddedPosition {
  readonly mode: 'create' | 'update'
  readonly holder: ObjectHolder
  /** Gathers the links inside embedded objects. */
  readonly links: LinkInput[]
  /** The embedded objects around the value. */
  readonly within: readonly EmbeddedAttribute[]
}

/** A plain attribute or an embedded object. */
function validateValue(
  attribute: ScalarAttribute | EmbeddedAttribute,
  value: unknown,
  at: string,
  inside: EmbeddedPosition,
  faults: FieldErrors,
): ValueInput | undefined {
  if (value === null) {
    if (!attribute.nullable && !(attribute.kind === 'scalar' && attribute.source.kind === 'none')) {
      faults.push({ code: 'null_not_allowed', detail: `"${at}" cannot be null.`, attribute: at, value })
      return undefined
    }
    return { attribute, path: at, value } as ValueInput
  }
  return attribute.kind === 'embedded'
    ? validateEmbedded(attribute, value, at, inside, faults)
    : validateScalar(attribute, value, at, faults)
}

function validateScalar(attribute: ScalarAttribute, value: unknown, at: string, faults: FieldErrors): ValueInput | undefined {
  const { type } = attribute
  const typed = readScalar(value, type)
  // What nobody may see is not repeated in an answer either: it may be a password.
  const shown = attribute.hidden ? {} : { value }
  if (typed === undefined || (type.kind === 'text' && !(typed as string).isWellFormed())) {
    const isEnum = type.items !== undefined
    faults.push({
      code: isEnum ? 'not_allowed' : 'value_invalid',
      detail: `"${at}" must be ${describeScalar(type)}.`,
      attribute: at,
      ...shown,
      ...(isEnum ? { allowed: type.items } : {}),
      ...(isEnum && type.kind !== 'array' && typeof value === 'string' ? suggestionOf(value, type.items.map(String)) : {}),
    })
    return undefined
  }
  if (type.kind === 'text' && type.length !== undefined && countCharacters(typed as string) > type.length) {
    faults.push({ code: 'too_long', detail: `"${at}" may have at most ${type.length} characters.`, attribute: at, ...shown })
    return undefined
  }
  return { attribute, path: at, value: typed }
}

function suggestionOf(name: string, known: readonly string[]): { suggestion?: string } {
  const suggestion = findNearest(name, known)
  return suggestion === undefined ? {} : { suggestion }
}

function validateEmbedded(
  attribute: EmbeddedAttribute,
  value: unknown,
  at: string,
  around: EmbeddedPosition,
  faults: FieldErrors,
): ValueInput | undefined {
  const inside = { ...around, within: [...around.within, attribute] }
  if (!attribute.array) {
    const changes = validateObject(attribute, value, at, inside, faults)
    return changes === undefined ? undefined : { attribute, path: at, value: changes }
  }
  if (!Array.isArray(value)) {
    faults.push({ code: 'value_invalid', detail: `"${at}" must be an array of objects.`, attribute: at, value })
    return undefined
  }
  // A list is replaced as a whole, so each of its objects is a new one.
  const anew: EmbeddedPosition = { ...inside, mode: 'create' }
  const members = value.map((member: unknown, index) => validateObject(attribute, member, join(at, index), anew, faults) ?? [])
  return { attribute, path: at, value: { members } }
}

function validateObject(
  attribute: EmbeddedAttribute,
  value: unknown,
  at: string,
  inside: EmbeddedPosition,
  faults: FieldErrors,
): ValueInput[] | undefined {
  if (!isObject(value)) {
    faults.push({ code: 'value_invalid', detail: `"${at}" must be an object.`, attribute: at, value })
    return undefined
  }
  const { variants } = attribute
  if (variants !== undefined) return validateVariant(attribute, variants, value, at, inside, faults)
  const changes: ValueInput[] = []
  for (const name of Object.keys(value)) {
    const inner = value[name]
    if (inner === undefined) continue
    const child = attribute.byName.get(name)
    const path = join(at, name)
    if (child === undefined) {
      faults.describe(() => unknownAttribute(name, path, attribute.name, attribute.attributes))
    } else if (!hasVisibleTarget(child, inside.holder.visibility)) {
      faults.describe(() => unknownAttribute(name, path, attribute.name, attribute.attributes))
    } else if (child.readOnly) {
      faults.push({ code: 'read_only', detail: `"${path}" is computed and cannot be written.`, attribute: path })
    } else if (child.kind === 'toOne') {
      addLink(child, inner, path, inside, faults)
    } else {
      const change = validateValue(child, inner, path, inside, faults)
      if (change !== undefined) changes.push(change)
    }
  }
  if (inside.mode === 'create') {
    const lacking = requireAll(attribute.attributes, value, at, {}, faults)
    refuseUnknownNeeds(lacking, `set "${at}"`, child => hasVisibleTarget(child, inside.holder.visibility))
  }
  return changes
}

/** An object of one of several classes says which one it is of, and is replaced as a whole. */
function validateVariant(
  attribute: EmbeddedAttribute,
  { discriminator, byValue }: Variants,
  value: JsonObject,
  at: string,
  inside: EmbeddedPosition,
  faults: FieldErrors,
): ValueInput[] | undefined {
  const told = value[discriminator]
  const attributes = typeof told === 'string' || typeof told === 'number' ? byValue.get(String(told)) : undefined
  if (attributes === undefined) {
    const path = join(at, discriminator)
    faults.push(
      told === undefined
        ? { code: 'required', detail: `"${path}" must be given.`, attribute: path, allowed: [...byValue.keys()] }
        : {
            code: 'not_allowed',
            detail: `"${path}" must be one of ${[...byValue.keys()].map(key => JSON.stringify(key)).join(', ')}.`,
            attribute: path,
            value: told,
            allowed: [...byValue.keys()],
          },
    )
    return undefined
  }
  const byName = new Map(attributes.map(child => [child.name, child]))
  return validateObject({ ...attribute, variants: undefined, attributes, byName }, value, at, { ...inside, mode: 'create' }, faults)
}

/** The record that a relation is of: what is nested in it is judged by the same rules. */
interface ObjectHolder {
  readonly owner: KeyValues | undefined
  readonly seeding: boolean
  readonly visibility: Visibility
}

function addRelation(
  attribute: RelationAttribute,
  value: unknown,
  at: string,
  holder: ObjectHolder,
  links: LinkInput[],
  lists: ListInput[],
  faults: FieldErrors,
): void {
  if (attribute.kind === 'toOne') {
    addLink(attribute, value, at, { holder, links, within: [] }, faults)
    return
  }
  if (!Array.isArray(value)) {
    faults.push({ code: 'value_invalid', detail: `"${at}" must be an array of IDs or objects.`, attribute: at, value })
    return
  }
  const items = value.map((item: unknown, index) => referTo(attribute, item, join(at, index), holder, faults))
  lists.push({ attribute, path: at, items: items.filter(item => item !== undefined) })
}

/**
 * The link of a relation to one of several resources: an object that tells which. With nothing but an `id` beside that it links, with anything else it
 * creates.
 */
function linkOneOf(
  attribute: ToOneOfAttribute,
  value: unknown,
  at: string,
  { seeding, visibility }: ObjectHolder,
  faults: FieldErrors,
): LinkInput | undefined {
  const { typeName, nullable } = attribute
  const branches = branchesFor(attribute, visibility)
  if (value === null) {
    if (nullable) return { attribute: branches[0]!, path: at, link: null }
    faults.push({ code: 'null_not_allowed', detail: `"${at}" cannot be null: the record needs one.`, attribute: at, value })
    return undefined
  }
  const allowed = branches.map(({ target }) => target.singular)
  const names = allowed.map(name => JSON.stringify(name)).join(', ')
  if (!isObject(value)) {
    const detail = `"${at}" must be an object with "${typeName}" (one of ${names}), and either "id" to link or the attributes of a new record.`
    faults.push({ code: 'value_invalid', detail, attribute: at, value })
    return undefined
  }
  const { [typeName]: told, ...rest } = value
  const branch = branches.find(({ target }) => target.singular === told)
  const path = join(at, typeName)
  if (told === undefined) faults.push({ code: 'required', detail: `"${path}" must be given: one of ${names}.`, attribute: path, allowed })
  if (branch === undefined) {
    if (told === undefined) return undefined
    const suggested = typeof told === 'string' ? suggestionOf(told, allowed) : {}
    faults.push({ code: 'not_allowed', detail: `"${path}" must be one of ${names}.`, attribute: path, value: told, allowed, ...suggested })
    return undefined
  }
  faults.countRecord()
  const isLink = Object.keys(rest).length === 1 && rest['id'] !== undefined
  if (!isLink && !branch.target.readOnly) {
    return {
      attribute: branch,
      path: at,
      link: { kind: 'new', record: validateRecord(rest, branch.target, { mode: 'create', seeding, visibility }, faults, at) },
    }
  }
  const { id } = rest
  const place = join(at, 'id')
  const key = typeof id === 'string' && !id.isWellFormed() ? undefined : keyFromJson(id ?? null, branch.target)
  if (key !== undefined) return { attribute: branch, path: at, link: { kind: 'existing', key, path: place, given: id } }
  const detail = `"${place}" must be the ID of a ${branch.target.singular} (${describeKey(branch.target)}).`
  faults.push({ code: 'value_invalid', detail, attribute: place, value: id })
  return undefined
}

/** The record that the body of a relation to one of several resources means, where it only links. */
export function linkedBy(attribute: ToOneOfAttribute, value: unknown): { branch: PolymorphicTarget; key: KeyValues } | undefined {
  if (!isObject(value)) return undefined
  const { [attribute.typeName]: told, id } = value
  const branch = attribute.branches.find(({ target }) => target.singular === told)
  const key = branch && id !== undefined ? keyFromJson(id, branch.target) : undefined
  return branch === undefined || key === undefined || Object.keys(value).length > 2 ? undefined : { branch, key }
}

function addLink(
  attribute: ToOneAttribute,
  value: unknown,
  at: string,
  { holder, links, within }: Omit<EmbeddedPosition, 'mode'>,
  faults: FieldErrors,
): void {
  const place = within.length === 0 ? {} : { within }
  if (value === null) {
    if (attribute.nullable) links.push({ attribute, ...place, path: at, link: null })
    else faults.push({ code: 'null_not_allowed', detail: `"${at}" cannot be null: the record needs one.`, attribute: at, value })
    return
  }
  const link = referTo(attribute, value, at, holder, faults)
  if (link !== undefined) links.push({ attribute, ...place, path: at, link })
}

/** An ID links, an object creates. */
function referTo(
  attribute: RelationAttribute,
  value: unknown,
  at: string,
  { owner, seeding, visibility }: ObjectHolder,
  faults: FieldErrors,
): RecordRef | undefined {
  const { target } = attribute
  faults.countRecord()
  if (isObject(value) && !target.readOnly) {
    const name = owningName(attribute)
    const implied = name === undefined ? {} : { implied: { name, key: owner, link: owningAttribute(attribute) } }
    const as = { mode: 'create', seeding, visibility, ...implied, linkedFrom: filledSide(attribute) } as const
    return { kind: 'new', record: validateRecord(value, target, as, faults, at) }
  }
  // A lone surrogate cannot be stored: the database would take it for another character.
  const key = typeof value === 'string' && !value.isWellFormed() ? undefined : keyFromJson(value, target)
  if (key === undefined) {
    faults.push({
      code: 'value_invalid',
      detail: `"${at}" must be the ID of ${withArticle(target.singular)} (${describeKey(target)}) or an object to create one.`,
      attribute: at,
      value,
    })
    return undefined
  }
  return { kind: 'existing', key, path: at, given: value }
}

/** The other side of a one-to-one that its owning side fills. */
export function filledSide(relation: RelationAttribute): string | undefined {
  return relation.kind === 'toOne' && relation.owner && relation.unique ? relation.otherSide : undefined
}

/** The attribute of the target that holds the foreign key of a relation's other side; of one to several entities, what links this one. */
export function owningAttribute(relation: RelationAttribute): ToOneAttribute | undefined {
  const name = owningName(relation)
  const attribute = name === undefined ? undefined : relation.target.byName.get(name)
  if (attribute?.kind !== 'toOneOf') return attribute as ToOneAttribute | undefined
  const { discriminator } = relation.kind === 'toOne' ? relation : (relation.via as typeof relation.via & { kind: 'foreign' })
  return attribute.branches.find(branch => branch.discriminator.value === discriminator!.value)
}

/** The attribute of a nested record that its owner sets: the other side of the relation, where that holds the foreign key. */
export function owningName(relation: RelationAttribute): string | undefined {
  if (relation.kind === 'toMany') return relation.via.kind === 'foreign' ? relation.via.attribute : undefined
  return relation.owner ? undefined : relation.otherSide
}

/** Refuses a body that is no object, where one is due. */
export function requireObject(body: unknown, what: string): JsonObject {
  if (isObject(body)) return body
  const given = body === undefined ? 'no body' : body === null ? 'null' : Array.isArray(body) ? 'an array' : `a ${typeof body}`
  throw restError('body_invalid', `The body must be a JSON object ${what}, got ${given}.`)
}
